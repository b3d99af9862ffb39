/* metrics_text.c -- the numbers as Prometheus text, format 0.0.4.
 *
 * The table metrics.def declares each metric and says how its samples are written. All facts are gathered
 * first, so that numbers which belong together are of about one moment, and from snapshots that no render
 * holds a lock on: a scrape is answered when everything else is saturated. Numbers are written as integers or
 * as integer nanoseconds with a point, so no locale and no rounding can change them.
 *
 * A histogram has a series for each backend, body and format, but only once it has a sample: a scrape stays
 * small, and a graph shows no lines of zeros. Threads: any. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/text.h"
#include "api/version.h"
#include "renderer/bodies.h"
#include "renderer/renderer.h"
#include "server/log.h"
#include "server/metrics_private.h"
#include "server/routes.h"

#define FIRST_BYTES ((size_t)32768) /* most texts fit */
#define VALUE_BYTES 32

enum tier { TIER_MEMORY, TIER_DISK, TIER_SHARED, TIERS_COUNT };
#define ALL     (1 << TIER_MEMORY | 1 << TIER_DISK | 1 << TIER_SHARED)
#define LOCAL   (1 << TIER_MEMORY | 1 << TIER_DISK)
#define OUTSIDE (1 << TIER_DISK | 1 << TIER_SHARED)

static const char *const tier_names[TIERS_COUNT] = {"memory", "disk", "shared"};

/* Everything that the text tells, except the histograms. */
struct facts {
    struct pipeline_stats pipeline;
    struct renderer_status renderer;
    struct metrics_counts counts;
    struct metrics_process process;
    bool there[TIERS_COUNT];
    struct store_stats tiers[TIERS_COUNT];
    bool ready, draining;
};

struct text {
    struct blob out;
    enum err err;     /* the first failure; then nothing more is written */
    const char *name; /* of the metric whose samples come now */
};

struct label {
    const char *name, *value;
};
#define LABELS(...) ((const struct label[]){__VA_ARGS__, {NULL, NULL}})

static void put(struct text *t, const char *bytes, size_t len)
{
    if (!t->err)
        t->err = blob_append(&t->out, bytes, len);
}

static void put_text(struct text *t, const char *text)
{
    put(t, text, strlen(text));
}

/* A label's value: backslash, quote and newline are escaped. What a driver calls itself might not be UTF-8,
 * which the format demands: then every byte that is not ASCII becomes a question mark. */
static void put_value(struct text *t, const char *value)
{
    bool sound = text_is_utf8(value, strlen(value));
    for (const char *c = value; *c; c++) {
        if (*c == '\\' || *c == '"')
            put(t, (const char[]){'\\', *c}, 2);
        else if (*c == '\n')
            put(t, "\\n", 2);
        else
            put(t, sound || (unsigned char)*c < 128 ? c : "?", 1);
    }
}

static void begin(struct text *t, const char *name, const char *type, const char *help)
{
    t->name = name;
    put_text(t, "# HELP ");
    put_text(t, name);
    put_text(t, " ");
    put_text(t, help);
    put_text(t, "\n# TYPE ");
    put_text(t, name);
    put_text(t, " ");
    put_text(t, type);
    put_text(t, "\n");
}

/* One sample. `labels` ends with a NULL name; NULL = none. */
static void sample(struct text *t, const char *suffix, const struct label *labels, const char *value)
{
    put_text(t, t->name);
    put_text(t, suffix);
    for (int i = 0; labels && labels[i].name; i++) {
        put_text(t, i ? "," : "{");
        put_text(t, labels[i].name);
        put_text(t, "=\"");
        put_value(t, labels[i].value);
        put_text(t, "\"");
    }
    put_text(t, labels && labels[0].name ? "} " : " ");
    put_text(t, value);
    put_text(t, "\n");
}

static void number_of(struct text *t, const char *suffix, const struct label *labels, uint64_t n)
{
    char value[VALUE_BYTES];
    snprintf(value, sizeof(value), "%" PRIu64, n);
    sample(t, suffix, labels, value);
}

static void seconds_of(struct text *t, const char *suffix, const struct label *labels, uint64_t ns)
{
    char value[VALUE_BYTES];
    snprintf(value, sizeof(value), "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
    sample(t, suffix, labels, value);
}

/* ---- what metrics.def calls ---- */

static void number(struct text *t, const struct label *labels, uint64_t n)
{
    number_of(t, "", labels, n);
}

static void count(struct text *t, const struct label *labels, int n)
{
    number_of(t, "", labels, n > 0 ? (uint64_t)n : 0);
}

static void seconds(struct text *t, const struct label *labels, uint64_t ns)
{
    seconds_of(t, "", labels, ns);
}

static void known(struct text *t, uint64_t n)
{
    if (n)
        number(t, NULL, n);
}

static void known_seconds(struct text *t, uint64_t ns)
{
    if (ns)
        seconds(t, NULL, ns);
}

#define TIERS(which, field)                                                                                  \
    for (int i = 0; i < TIERS_COUNT; i++)                                                                    \
        if (f->there[i] && ((which)&1 << i))                                                                 \
    number(t, LABELS({"tier", tier_names[i]}), f->tiers[i].field)

static void answers(struct text *t, const struct facts *f)
{
    for (int row = 0; row <= METRICS_ROUTES_MAX; row++)
        for (int column = 0; column < METRICS_STATUSES; column++) {
            uint64_t n = f->counts.answers[row][column];
            char status[VALUE_BYTES] = "other";
            if (metrics_status_at(column))
                snprintf(status, sizeof(status), "%d", metrics_status_at(column));
            const char *route = row < route_count() ? route_at(row)->path : "none";
            if (n)
                number(t, LABELS({"route", route}, {"status", status}), n);
        }
}

static void shed(struct text *t, const struct facts *f)
{
    const struct pipeline_stats *p = &f->pipeline;
    number(t, LABELS({"reason", "queue"}), p->shed > p->shed_share ? p->shed - p->shed_share : 0);
    number(t, LABELS({"reason", "share"}), p->shed_share);
}

static void flights(struct text *t, const struct facts *f)
{
    count(t, LABELS({"state", "looking"}), f->pipeline.looking);
    count(t, LABELS({"state", "queued"}), f->pipeline.queued);
    count(t, LABELS({"state", "running"}), f->pipeline.running);
}

static void build_info(struct text *t, const struct facts *f)
{
    char revision[VALUE_BYTES];
    snprintf(revision, sizeof(revision), "%d", RENDERER_REVISION);
    number(t,
           LABELS({"version", PLANETD_VERSION}, {"revision", revision}, {"backend", f->renderer.backend},
                  {"device", f->renderer.device}, {"libraries", encoder_libraries()}),
           1);
}

#define HISTOGRAM_LABELS 4 /* backend, body, format, le */

/* The series of one histogram, or nothing when it has no sample. The count is what the buckets hold, whatever
 * was added while they were read. */
static void histogram(struct text *t, enum metric_time which, int backend, int body, int format)
{
    struct metrics_histogram h;
    struct label labels[HISTOGRAM_LABELS + 1] = {{NULL, NULL}};
    uint64_t below = 0, all = 0;
    int n = 0;
    metrics_histogram(which, backend, body, format, &h);
    for (int i = 0; i <= METRICS_BOUNDS; i++)
        all += h.counts[i];
    if (!all)
        return;
    if (which != METRIC_LOOKUP) {
        labels[n++] = (struct label){"backend", metrics_backend_at(backend)};
        labels[n++] = (struct label){"body", bodies[body].name};
        labels[n++] = (struct label){"format", encoders[format].name};
    }
    for (int i = 0; i <= METRICS_BOUNDS; i++) {
        below += h.counts[i];
        labels[n] = (struct label){"le", i < METRICS_BOUNDS ? metrics_bounds[i].le : "+Inf"};
        number_of(t, "_bucket", labels, below);
    }
    labels[n] = (struct label){NULL, NULL};
    seconds_of(t, "_sum", labels, h.sum_ns);
    number_of(t, "_count", labels, all);
}

static void times(struct text *t, enum metric_time which)
{
    for (int backend = 0; backend < METRICS_BACKENDS; backend++)
        for (int body = 0; body < BODY_COUNT; body++)
            for (int format = 0; format < FORMAT_COUNT; format++)
                histogram(t, which, backend, body, format);
}

/* ---- the whole ---- */

static void facts_gather(struct service *s, struct facts *ret_facts)
{
    static const enum tier tier_of[STORE_TIERS] = {[STORE_DISK] = TIER_DISK, [STORE_SHARED] = TIER_SHARED};
    struct facts *f = ret_facts;
    memset(f, 0, sizeof(*f));
    pipeline_stats(s->pipeline, &f->pipeline);
    renderer_status(s->renderer, &f->renderer);
    metrics_counts(&f->counts);
    metrics_process(&f->process);
    f->draining = atomic_load(&s->draining);
    f->ready = !*ready_reason(&f->renderer, &f->pipeline, f->draining);

    const struct pipeline_stats *p = &f->pipeline;
    f->there[TIER_MEMORY] = true;
    f->tiers[TIER_MEMORY] = (struct store_stats){
        .hits = p->hits,
        .misses = p->cache.misses,
        .writes = p->cache.insertions,
        .evictions = p->cache.evictions,
        .bytes = p->cache.bytes,
        .entries = p->cache.entries,
        .budget = p->cache.budget,
    };
    for (int i = 0; i < STORE_TIERS; i++) {
        f->there[tier_of[i]] = p->store_there[i];
        f->tiers[tier_of[i]] = p->stores[i];
    }
}

static void write_all(struct text *t, const struct facts *f)
{
#define METRIC(type, name, help, samples)                                                                    \
    begin(t, #name, #type, help);                                                                            \
    samples;
#include "server/metrics.def"
#undef METRIC
}

enum err metrics_write(struct service *s, struct blob *ret_text)
{
    struct facts f;
    struct text t = {0};
    facts_gather(s, &f);
    t.err = blob_reserve(&t.out, FIRST_BYTES);
    write_all(&t, &f);
    if (t.err) {
        blob_free(&t.out);
        return t.err;
    }
    blob_free(ret_text);
    *ret_text = blob_take(&t.out);
    return ERR_NONE;
}
