/* test_metrics.c -- counts, histograms and the text that Prometheus reads. The service behind the text is
 * made of fakes, so that every number in it is known. What counts here counts for the whole program, so tests
 * look at differences or at series that no other test touches. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/problem.h"
#include "renderer/base/attr.h"
#include "renderer/renderer.h"
#include "server/http.h"
#include "server/metrics_private.h"
#include "server/routes.h"

#define THREADS 100 /* more than there are shards */
#define EACH    2000
#define NAMES   200  /* metrics in the text at most */
#define FDS     1024 /* descriptors of this program are below it */

/* ---- the service behind the text ---- */

static struct pipeline_stats stats;
static struct renderer_status status;
static struct service service;

static const struct route fake_routes[] = {{.path = "/planet"}, {.path = "/readyz"}};

int route_count(void)
{
    return (int)ARRAY_LEN(fake_routes);
}

const struct route *route_at(int i)
{
    return &fake_routes[i];
}

void pipeline_stats(struct pipeline *p, struct pipeline_stats *ret_stats)
{
    (void)p;
    *ret_stats = stats;
}

void renderer_status(struct renderer *r, struct renderer_status *ret_status)
{
    (void)r;
    *ret_status = status;
}

static int reset(void **state)
{
    (void)state;
    memset(&stats, 0, sizeof(stats));
    memset(&status, 0, sizeof(status));
    snprintf(status.backend, sizeof(status.backend), "%s", "cpu");
    snprintf(status.device, sizeof(status.device), "%s", "avx2, 8 lanes");
    status.self_test_ok = true;
    atomic_store(&service.draining, false);
    return 0;
}

/* The text, which the caller frees. */
static char *text_now(void)
{
    struct blob text = {0};
    assert_int_equal(metrics_write(&service, &text), ERR_NONE);
    assert_int_equal(blob_append(&text, "", 1), ERR_NONE);
    return (char *)text.data;
}

/* Whether the text has this line. */
static bool has_line(const char *text, const char *line)
{
    size_t len = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && at[len] == '\n')
            return true;
    return false;
}

static void expect(const char *text, const char *line)
{
    if (!has_line(text, line))
        fail_msg("no line \"%s\" in:\n%s", line, text);
}

/* The value of one series, as text; fails if it isn't there. */
static double value_of(const char *text, const char *series)
{
    size_t len = strlen(series);
    for (const char *at = text; (at = strstr(at, series)); at++)
        if ((at == text || at[-1] == '\n') && at[len] == ' ')
            return strtod(at + len, NULL);
    fail_msg("no series \"%s\" in:\n%s", series, text);
    return 0;
}

/* ---- counting ---- */

static void *count_many(void *arg)
{
    int n = (int)(intptr_t)arg;
    for (int i = 0; i < EACH; i++) {
        metrics_in_flight(1);
        metrics_connections(1);
        metrics_answer(n % 2, n % 3 ? 200 : 304);
        metrics_time(METRIC_ENCODE, "gl", BODY_GAS, FORMAT_GIF, 1000);
        metrics_in_flight(-1);
        metrics_connections(-1);
    }
    return NULL;
}

static void counts_of_many_threads_add_up(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uint64_t expected[2][2] = {{0}};
    struct metrics_counts before, after;
    struct metrics_histogram h;
    metrics_counts(&before);
    for (int i = 0; i < THREADS; i++) {
        expected[i % 2][i % 3 ? 0 : 1] += EACH;
        assert_int_equal(pthread_create(&threads[i], NULL, count_many, (void *)(intptr_t)i), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    metrics_counts(&after);
    for (int route = 0; route < 2; route++)
        for (int column = 0; column < 2; column++)
            assert_int_equal(after.answers[route][column] - before.answers[route][column],
                             expected[route][column]);
    assert_int_equal(after.in_flight, before.in_flight);
    assert_int_equal(after.connections, before.connections);
    metrics_histogram(METRIC_ENCODE, 1, BODY_GAS, FORMAT_GIF, &h);
    assert_int_equal(h.counts[0], THREADS * EACH);
    assert_int_equal(h.sum_ns, (uint64_t)THREADS * EACH * 1000);
}

static void every_status_of_an_error_has_a_count_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < METRICS_STATUSES; i++)
        assert_true((metrics_status_at(i) >= 200) == (i < METRICS_STATUSES - 1));
    for (int err = 0; err < ERR_COUNT; err++) {
        bool found = false;
        for (int i = 0; i < METRICS_STATUSES && !found; i++)
            found = metrics_status_at(i) == problem_status((enum err)err);
        if (!found)
            fail_msg("status %d of %s is counted as other", problem_status((enum err)err),
                     err_name((enum err)err));
    }
}

static void a_status_or_route_that_is_not_known_is_counted_all_the_same(void **state)
{
    (void)state;
    metrics_answer(1, 418);
    metrics_answer(1, 418);
    metrics_answer(-1, 404);
    metrics_answer(METRICS_ROUTES_MAX + 7, 404);
    metrics_answer(1, 0);
    char *text = text_now();
    expect(text, "planetd_requests_total{route=\"/readyz\",status=\"other\"} 3");
    expect(text, "planetd_requests_total{route=\"none\",status=\"404\"} 2");
    free(text);
}

static void requests_in_flight_and_connections_go_up_and_down(void **state)
{
    (void)state;
    metrics_in_flight(1);
    metrics_in_flight(1);
    metrics_connections(1);
    char *text = text_now();
    expect(text, "planetd_requests_in_flight 2");
    expect(text, "planetd_connections 1");
    free(text);
    metrics_in_flight(-1);
    metrics_in_flight(-1);
    metrics_connections(-1);
    text = text_now();
    expect(text, "planetd_requests_in_flight 0");
    expect(text, "planetd_connections 0");
    free(text);
}

/* ---- histograms ---- */

static void the_bounds_rise_and_their_labels_say_the_same(void **state)
{
    (void)state;
    assert_int_equal(metrics_bounds[0].ns, 50000);                                  /* 50 us */
    assert_int_equal(metrics_bounds[METRICS_BOUNDS - 1].ns, UINT64_C(30000000000)); /* 30 s */
    for (int i = 0; i < METRICS_BOUNDS; i++) {
        assert_float_equal(strtod(metrics_bounds[i].le, NULL) * 1e9, (double)metrics_bounds[i].ns, 0.5);
        assert_true(i == 0 || metrics_bounds[i].ns > metrics_bounds[i - 1].ns);
    }
}

static void a_time_equal_to_a_bound_is_within_it(void **state)
{
    (void)state;
    struct metrics_histogram h;
    for (int i = 0; i < METRICS_BOUNDS; i++) {
        metrics_time(METRIC_QUEUE_WAIT, "gl", BODY_MOON, FORMAT_PNG, metrics_bounds[i].ns);
        metrics_time(METRIC_QUEUE_WAIT, "gl", BODY_MOON, FORMAT_PNG, metrics_bounds[i].ns + 1);
    }
    metrics_histogram(METRIC_QUEUE_WAIT, 1, BODY_MOON, FORMAT_PNG, &h);
    assert_int_equal(h.counts[0], 1);
    for (int i = 1; i < METRICS_BOUNDS; i++)
        assert_int_equal(h.counts[i], 2);
    assert_int_equal(h.counts[METRICS_BOUNDS], 1);
}

static void buckets_are_cumulative_and_the_last_one_is_the_count(void **state)
{
    (void)state;
    metrics_time(METRIC_RENDER, "null", BODY_LAVA, FORMAT_PNG, 40000);
    metrics_time(METRIC_RENDER, "null", BODY_LAVA, FORMAT_PNG, 60000);
    metrics_time(METRIC_RENDER, "null", BODY_LAVA, FORMAT_PNG, 2000000000);
    metrics_time(METRIC_RENDER, "null", BODY_LAVA, FORMAT_PNG, 99000000000);
    char *text = text_now();
#define SERIES "backend=\"null\",body=\"lava\",format=\"png\""
    expect(text, "planetd_render_seconds_bucket{" SERIES ",le=\"0.00005\"} 1");
    expect(text, "planetd_render_seconds_bucket{" SERIES ",le=\"0.0001\"} 2");
    expect(text, "planetd_render_seconds_bucket{" SERIES ",le=\"1.0\"} 2");
    expect(text, "planetd_render_seconds_bucket{" SERIES ",le=\"2.5\"} 3");
    expect(text, "planetd_render_seconds_bucket{" SERIES ",le=\"30.0\"} 3");
    expect(text, "planetd_render_seconds_bucket{" SERIES ",le=\"+Inf\"} 4");
    expect(text, "planetd_render_seconds_sum{" SERIES "} 101.000100000");
    expect(text, "planetd_render_seconds_count{" SERIES "} 4");
#undef SERIES
    free(text);
}

static void only_series_with_samples_are_written(void **state)
{
    (void)state;
    metrics_time(METRIC_RENDER, "cpu", BODY_ICE, FORMAT_GIF, 1);
    char *text = text_now();
    assert_non_null(
        strstr(text, "planetd_render_seconds_count{backend=\"cpu\",body=\"ice\",format=\"gif\"}"));
    assert_null(strstr(text, "{backend=\"cpu\",body=\"ice\",format=\"png\""));
    assert_null(strstr(text, "planetd_encode_seconds_count{backend=\"cpu\""));
    free(text);
}

static void lookups_have_one_histogram_for_all(void **state)
{
    (void)state;
    metrics_time(METRIC_LOOKUP, "cpu", BODY_GAS, FORMAT_PNG, 3000000);
    metrics_time(METRIC_LOOKUP, NULL, -1, -1, 4000000);
    char *text = text_now();
    expect(text, "planetd_lookup_seconds_count 2");
    expect(text, "planetd_lookup_seconds_sum 0.007000000");
    expect(text, "planetd_lookup_seconds_bucket{le=\"0.005\"} 2");
    free(text);
}

static void a_backend_that_is_not_known_is_counted_as_other(void **state)
{
    (void)state;
    metrics_time(METRIC_RENDER, "quantum", BODY_GAS, FORMAT_PNG, 1);
    metrics_time(METRIC_RENDER, "cpu", BODY_COUNT, FORMAT_PNG, 1); /* no such body: nowhere to count it */
    metrics_time(METRIC_RENDER, "cpu", BODY_GAS, FORMAT_COUNT, 1);
    metrics_time(METRIC_RENDER, "cpu", -1, FORMAT_PNG, 1);
    char *text = text_now();
    expect(text, "planetd_render_seconds_count{backend=\"other\",body=\"gas\",format=\"png\"} 1");
    free(text);
}

/* ---- the text ---- */

static void fill_stats(void)
{
    stats = (struct pipeline_stats){
        .cache = {.hits = 999,
                  .misses = 102,
                  .insertions = 103,
                  .evictions = 104,
                  .bytes = 105,
                  .entries = 106,
                  .budget = 107},
        .hits = 101,
        .misses = 108,
        .coalesced = 109,
        .renders = 110,
        .cancelled = 111,
        .shed = 150,
        .shed_share = 38,
        .looking = 113,
        .queued = 114,
        .running = 115,
        .queued_work_ns = 1500000000,
        .queued_work_max_ns = 20000000000,
        .stores =
            {
                [STORE_DISK] = {.hits = 201,
                                .misses = 202,
                                .corrupt = 203,
                                .errors = 204,
                                .skipped = 205,
                                .writes = 206,
                                .dropped = 207,
                                .evictions = 208,
                                .bytes = 209,
                                .entries = 210,
                                .budget = 211,
                                .up = true},
                [STORE_SHARED] = {.hits = 301,
                                  .misses = 302,
                                  .corrupt = 303,
                                  .errors = 304,
                                  .skipped = 305,
                                  .writes = 306,
                                  .dropped = 307},
            },
        .store_there = {true, true},
    };
}

static void every_number_stands_under_its_own_name(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "planetd_coalesced_total 109",
        "planetd_shed_total{reason=\"queue\"} 112",
        "planetd_shed_total{reason=\"share\"} 38",
        "planetd_cancelled_total 111",
        "planetd_renders_total 110",
        "planetd_flights{state=\"looking\"} 113",
        "planetd_flights{state=\"queued\"} 114",
        "planetd_flights{state=\"running\"} 115",
        "planetd_queue_length 114",
        "planetd_queue_work_seconds 1.500000000",
        "planetd_queue_work_max_seconds 20.000000000",
        "planetd_cache_hits_total{tier=\"memory\"} 101",
        "planetd_cache_hits_total{tier=\"disk\"} 201",
        "planetd_cache_hits_total{tier=\"shared\"} 301",
        "planetd_cache_misses_total{tier=\"memory\"} 102",
        "planetd_cache_misses_total{tier=\"disk\"} 202",
        "planetd_cache_misses_total{tier=\"shared\"} 302",
        "planetd_cache_writes_total{tier=\"memory\"} 103",
        "planetd_cache_writes_total{tier=\"disk\"} 206",
        "planetd_cache_writes_total{tier=\"shared\"} 306",
        "planetd_cache_evictions_total{tier=\"memory\"} 104",
        "planetd_cache_evictions_total{tier=\"disk\"} 208",
        "planetd_cache_corrupt_total{tier=\"disk\"} 203",
        "planetd_cache_corrupt_total{tier=\"shared\"} 303",
        "planetd_cache_errors_total{tier=\"disk\"} 204",
        "planetd_cache_errors_total{tier=\"shared\"} 304",
        "planetd_cache_skipped_total{tier=\"disk\"} 205",
        "planetd_cache_skipped_total{tier=\"shared\"} 305",
        "planetd_cache_dropped_total{tier=\"disk\"} 207",
        "planetd_cache_dropped_total{tier=\"shared\"} 307",
        "planetd_cache_bytes{tier=\"memory\"} 105",
        "planetd_cache_bytes{tier=\"disk\"} 209",
        "planetd_cache_entries{tier=\"memory\"} 106",
        "planetd_cache_entries{tier=\"disk\"} 210",
        "planetd_cache_budget_bytes{tier=\"memory\"} 107",
        "planetd_cache_budget_bytes{tier=\"disk\"} 211",
        "planetd_cache_up{tier=\"disk\"} 1",
        "planetd_cache_up{tier=\"shared\"} 0",
        "planetd_device_losses_total 3",
        "planetd_self_test_ok 1",
        "planetd_ready 1",
        "planetd_draining 0",
    };
    fill_stats();
    status.device_losses = 3;
    char *text = text_now();
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        expect(text, lines[i]);
    free(text);
}

static void a_cache_that_is_not_there_has_no_series(void **state)
{
    (void)state;
    fill_stats();
    stats.store_there[STORE_SHARED] = false;
    char *text = text_now();
    assert_non_null(strstr(text, "{tier=\"disk\"}"));
    assert_null(strstr(text, "{tier=\"shared\"}"));
    free(text);
}

static void a_renderer_that_draws_wrong_pixels_or_a_shutdown_is_not_ready(void **state)
{
    (void)state;
    status.self_test_ok = false;
    char *text = text_now();
    expect(text, "planetd_ready 0");
    expect(text, "planetd_self_test_ok 0");
    expect(text, "planetd_draining 0");
    free(text);
    status.self_test_ok = true;
    atomic_store(&service.draining, true);
    text = text_now();
    expect(text, "planetd_ready 0");
    expect(text, "planetd_self_test_ok 1");
    expect(text, "planetd_draining 1");
    free(text);
}

static void what_a_driver_calls_itself_is_escaped(void **state)
{
    (void)state;
    snprintf(status.device, sizeof(status.device), "%s", "a\"b\\c\nd \xc2\xae");
    char *text = text_now();
    assert_non_null(strstr(text, "device=\"a\\\"b\\\\c\\nd \xc2\xae\""));
    free(text);
    snprintf(status.device, sizeof(status.device), "%s", "GPU \xae}");
    text = text_now();
    assert_non_null(strstr(text, "device=\"GPU ?}\""));
    free(text);
}

/* Copies the metric's name out of a sample line: a histogram's without _bucket, _sum, _count. */
static void name_of_sample(const char *line, bool is_histogram, char *to, size_t size)
{
    static const char *const suffixes[] = {"_bucket", "_sum", "_count"};
    snprintf(to, size, "%.*s", (int)strcspn(line, "{ "), line);
    size_t len = strlen(to);
    for (size_t i = 0; is_histogram && i < ARRAY_LEN(suffixes); i++) {
        size_t suffix = strlen(suffixes[i]);
        if (len > suffix && strcmp(to + len - suffix, suffixes[i]) == 0)
            to[len - suffix] = '\0';
    }
}

static void each_metric_comes_once_with_help_and_type_before_its_samples(void **state)
{
    (void)state;
    static char names[NAMES][80];
    char type[20] = "", name[80], help[80] = "";
    int count = 0, samples = 0;
    fill_stats();
    for (int which = 0; which < METRIC_TIMES; which++)
        metrics_time((enum metric_time)which, "gl-software", BODY_DESERT, FORMAT_PNG, 1);
    metrics_answer(0, 200);
    char *text = text_now(), *rest = NULL;
    assert_int_equal(text[strlen(text) - 1], '\n');
    assert_null(strstr(text, "\n\n"));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (sscanf(line, "# HELP %79s", help) == 1) {
            assert_true(strlen(line) > strlen("# HELP ") + strlen(help) + 10); /* it says something */
            for (int i = 0; i < count; i++)
                assert_string_not_equal(names[i], help);
            assert_true(count < NAMES);
            snprintf(names[count++], sizeof(names[0]), "%s", help);
        } else if (sscanf(line, "# TYPE %79s %19s", name, type) == 2) {
            assert_string_equal(name, help);
            assert_true(!strcmp(type, "counter") || !strcmp(type, "gauge") || !strcmp(type, "histogram"));
            assert_int_equal(!strcmp(type, "counter"),
                             strlen(name) > 6 && !strcmp(name + strlen(name) - 6, "_total"));
        } else {
            assert_int_not_equal(line[0], '#');
            name_of_sample(line, strcmp(type, "histogram") == 0, name, sizeof(name));
            assert_string_equal(name, help);
            samples++;
        }
    }
    assert_true(count > 30);
    assert_true(samples > count);
    free(text);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void no_series_comes_twice(void **state)
{
    (void)state;
    static const char *series[4000];
    size_t count = 0;
    fill_stats();
    metrics_answer(0, 200);
    metrics_answer(-1, 200);
    char *text = text_now(), *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        if (line[0] != '#') {
            assert_true(count < ARRAY_LEN(series));
            *strrchr(line, ' ') = '\0';
            series[count++] = line;
        }
    qsort(series, count, sizeof(series[0]), by_text);
    for (size_t i = 1; i < count; i++)
        assert_string_not_equal(series[i - 1], series[i]);
    free(text);
}

static void writing_replaces_what_was_in_the_blob(void **state)
{
    (void)state;
    struct blob text = {0};
    assert_int_equal(blob_append(&text, "old", 3), ERR_NONE);
    assert_int_equal(metrics_write(&service, &text), ERR_NONE);
    assert_memory_equal(text.data, "# HELP ", 7);
    blob_free(&text);
}

static void the_process_knows_its_memory_files_time_and_start(void **state)
{
    (void)state;
    char *text = text_now();
    double files = value_of(text, "process_open_fds"), start = value_of(text, "process_start_time_seconds");
    int open_now = 0;
    for (int fd = 0; fd < FDS; fd++)
        open_now += fcntl(fd, F_GETFD) >= 0;
    assert_float_equal(files, open_now, 0.1);
    assert_true(value_of(text, "process_resident_memory_bytes") > 100000);
    assert_true(value_of(text, "process_max_fds") >= files);
    assert_true(value_of(text, "process_cpu_seconds_total") > 0);
    assert_true(start <= (double)time(NULL) + 1 && start > (double)time(NULL) - 3600);
    free(text);

    int fds[2] = {open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY)};
    text = text_now();
    assert_float_equal(value_of(text, "process_open_fds"), files + 2, 0.1);
    assert_float_equal(value_of(text, "process_start_time_seconds"), start, 1e-6); /* it doesn't move */
    free(text);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(counts_of_many_threads_add_up, reset),
        cmocka_unit_test_setup(every_status_of_an_error_has_a_count_of_its_own, reset),
        cmocka_unit_test_setup(a_status_or_route_that_is_not_known_is_counted_all_the_same, reset),
        cmocka_unit_test_setup(requests_in_flight_and_connections_go_up_and_down, reset),
        cmocka_unit_test_setup(the_bounds_rise_and_their_labels_say_the_same, reset),
        cmocka_unit_test_setup(a_time_equal_to_a_bound_is_within_it, reset),
        cmocka_unit_test_setup(buckets_are_cumulative_and_the_last_one_is_the_count, reset),
        cmocka_unit_test_setup(only_series_with_samples_are_written, reset),
        cmocka_unit_test_setup(lookups_have_one_histogram_for_all, reset),
        cmocka_unit_test_setup(a_backend_that_is_not_known_is_counted_as_other, reset),
        cmocka_unit_test_setup(every_number_stands_under_its_own_name, reset),
        cmocka_unit_test_setup(a_cache_that_is_not_there_has_no_series, reset),
        cmocka_unit_test_setup(a_renderer_that_draws_wrong_pixels_or_a_shutdown_is_not_ready, reset),
        cmocka_unit_test_setup(what_a_driver_calls_itself_is_escaped, reset),
        cmocka_unit_test_setup(each_metric_comes_once_with_help_and_type_before_its_samples, reset),
        cmocka_unit_test_setup(no_series_comes_twice, reset),
        cmocka_unit_test_setup(writing_replaces_what_was_in_the_blob, reset),
        cmocka_unit_test_setup(the_process_knows_its_memory_files_time_and_start, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
