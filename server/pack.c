/* pack.c -- writes archives and multipart bodies around files that others send. A ZIP library would want a
 * file to seek in, or buffers of its own; what is stored as it is needs neither, and three records. Threads:
 * one at a time. */
#include "server/pack.h"

#include <libdeflate.h>
#include <stdio.h>
#include <string.h>

#define ZIP_LOCAL     0x04034b50u /* signatures: APPNOTE 4.3.7, 4.3.12, 4.3.16 */
#define ZIP_CENTRAL   0x02014b50u
#define ZIP_END       0x06054b50u
#define ZIP_VERSION   20u /* 2.0: what readers of today expect */
#define ZIP_UTF8      0x0800u
#define ZIP_DATE      0x0021u /* 1980-01-01 */
#define ZIP_LEAST_END 22u
#define ZIP_MOST      0xffffffffu /* this and more are written in other records */
#define LOCAL_BYTES   30u
#define CENTRAL_BYTES 46u

void pack_init(struct pack *p, enum batch_container container, uint64_t name_high, uint64_t name_low)
{
    *p = (struct pack){.container = container};
    snprintf(p->boundary, sizeof(p->boundary), "planetd-%016llx%016llx", (unsigned long long)name_high,
             (unsigned long long)name_low);
}

void pack_finish(struct pack *p)
{
    blob_free(&p->directory);
}

/* ---- ZIP: numbers are little-endian ---- */

struct record {
    uint8_t bytes[CENTRAL_BYTES];
    size_t len;
};

static void put16(struct record *r, unsigned n)
{
    r->bytes[r->len++] = (uint8_t)n;
    r->bytes[r->len++] = (uint8_t)(n >> 8);
}

static void put32(struct record *r, uint32_t n)
{
    put16(r, n & 0xffff);
    put16(r, n >> 16);
}

/* What both records of a file have: from the version needed to the length of extra fields. */
static void put_file(struct record *r, uint32_t crc, uint32_t size, size_t name_len)
{
    put16(r, ZIP_VERSION);
    put16(r, ZIP_UTF8);
    put16(r, 0); /* stored */
    put16(r, 0); /* time */
    put16(r, ZIP_DATE);
    put32(r, crc);
    put32(r, size);
    put32(r, size);
    put16(r, (unsigned)name_len);
    put16(r, 0);
}

static enum err record_append(struct blob *out, const struct record *r, const char *name, size_t name_len)
{
    enum err err = blob_append(out, r->bytes, r->len);
    return err || !name_len ? err : blob_append(out, name, name_len);
}

static enum err zip_head(struct pack *p, const struct pack_file *file, struct blob *out)
{
    size_t name_len = strlen(file->name);
    uint64_t after = p->offset + LOCAL_BYTES + name_len + file->len;
    uint64_t whole = after + p->directory.len + CENTRAL_BYTES + name_len + ZIP_LEAST_END;
    if (whole >= ZIP_MOST || p->count >= BATCH_MAX)
        return ERR_ENCODE;
    uint32_t crc = libdeflate_crc32(0, file->bytes, file->len), size = (uint32_t)file->len;
    struct record local = {.len = 0}, central = {.len = 0};
    put32(&local, ZIP_LOCAL);
    put_file(&local, crc, size, name_len);
    put32(&central, ZIP_CENTRAL);
    put16(&central, ZIP_VERSION); /* made by; on a system whose attributes are those of MS-DOS */
    put_file(&central, crc, size, name_len);
    put16(&central, 0); /* comment, disk, attributes */
    put16(&central, 0);
    put16(&central, 0);
    put32(&central, 0);
    put32(&central, (uint32_t)p->offset);
    enum err err = record_append(&p->directory, &central, file->name, name_len);
    if (!err)
        err = record_append(out, &local, file->name, name_len);
    p->offset = after;
    p->count++;
    return err;
}

static enum err zip_end(const struct pack *p, struct blob *out)
{
    struct record end = {.len = 0};
    put32(&end, ZIP_END);
    put16(&end, 0); /* this disk, that of the directory */
    put16(&end, 0);
    put16(&end, p->count);
    put16(&end, p->count);
    put32(&end, (uint32_t)p->directory.len);
    put32(&end, (uint32_t)p->offset);
    put16(&end, 0);
    enum err err = p->directory.len ? blob_append(out, p->directory.data, p->directory.len) : ERR_NONE;
    return err ? err : record_append(out, &end, NULL, 0);
}

/* ---- Multipart ---- */

static enum err line(struct blob *out, const char *name, const char *value, const char *more)
{
    if (!value)
        return ERR_NONE;
    enum err err = blob_append(out, name, strlen(name));
    if (!err)
        err = blob_append(out, value, strlen(value));
    return err ? err : blob_append(out, more, strlen(more));
}

static enum err part_head(struct pack *p, const struct pack_file *file, struct blob *out)
{
    char length[24];
    snprintf(length, sizeof(length), "%zu", file->len);
    enum err err = line(out, p->count++ ? "\r\n--" : "--", p->boundary, "\r\n");
    if (!err)
        err = line(out, "Content-Type: ", file->type, "\r\n");
    if (!err)
        err = line(out, "Content-Length: ", length, "\r\n");
    if (!err)
        err = line(out, "Content-Disposition: inline; filename=\"", file->name, "\"\r\n");
    if (!err)
        err = line(out, "Content-Location: ", file->location, "\r\n");
    if (!err)
        err = line(out, "ETag: ", file->etag, "\r\n");
    return err ? err : blob_append(out, "\r\n", 2);
}

enum err pack_head(struct pack *p, const struct pack_file *file, struct blob *out)
{
    return p->container == BATCH_ZIP ? zip_head(p, file, out) : part_head(p, file, out);
}

enum err pack_end(struct pack *p, struct blob *out)
{
    return p->container == BATCH_ZIP ? zip_end(p, out) : line(out, "\r\n--", p->boundary, "--\r\n");
}
