/* http_replies.c -- a table in which a newcomer takes the place of whoever stands there.
 *
 * Making an answer costs some thirty allocations, so a hit takes one that is made. They are not kept with the
 * entries: with many entries and loops they would outgrow the pictures, and nobody would count them. An
 * answer points to the bytes of its entry and holds no reference, so it may outlive them here; its serial is
 * then asked for no more. Threads: one. */
#include "server/http_replies.h"

#include <stdlib.h>

struct slot {
    uint64_t name; /* serial and variant; 0 = empty */
    void *reply;
};

struct http_replies {
    void (*destroy)(void *reply);
    struct slot slots[HTTP_REPLIES_SLOTS];
};

enum err http_replies_create(void (*destroy)(void *reply), struct http_replies **ret_replies)
{
    struct http_replies *r = calloc(1, sizeof(*r));
    if (!r)
        return ERR_OOM;
    r->destroy = destroy;
    *ret_replies = r;
    return ERR_NONE;
}

void http_replies_destroy(struct http_replies *r)
{
    if (!r)
        return;
    for (int i = 0; i < HTTP_REPLIES_SLOTS; i++)
        if (r->slots[i].name)
            r->destroy(r->slots[i].reply);
    free(r);
}

/* Serials begin at 1, so no name is 0. */
static uint64_t name_of(uint64_t serial, int variant)
{
    return serial * HTTP_REPLIES_VARIANTS + (unsigned)variant;
}

/* Neighbours in time lie apart, and so do the variants of one entry. */
static size_t place_of(uint64_t name)
{
    return (size_t)(name * 0x9e3779b97f4a7c15u >> 32) % HTTP_REPLIES_SLOTS;
}

void *http_replies_find(const struct http_replies *r, uint64_t serial, int variant)
{
    uint64_t name = name_of(serial, variant);
    const struct slot *s = &r->slots[place_of(name)];
    return s->name == name ? s->reply : NULL;
}

void http_replies_keep(struct http_replies *r, uint64_t serial, int variant, void *reply)
{
    uint64_t name = name_of(serial, variant);
    struct slot *s = &r->slots[place_of(name)];
    if (s->name)
        r->destroy(s->reply);
    *s = (struct slot){.name = name, .reply = reply};
}
