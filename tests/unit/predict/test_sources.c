/* What the points of a command share: recordings by path, equal generated traces, requests; and
 * that the last reference frees it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/stop_flag.h"
#include "predict/scenario/sources.h"
#include "unit/fixture/make_profile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[32], path[64], other_path[64], requests_path[64];
static struct sources *sources;

static int start(void **state)
{
    (void)state;
    struct error why;
    make_folder(folder);
    make_path(folder, "a.swt", path);
    make_path(folder, "b.swt", other_path);
    make_path(folder, "requests.csv", requests_path);
    sources = sources_create(&why);
    return sources == NULL;
}

static int leave(void **state)
{
    (void)state;
    unlink(path);
    unlink(other_path);
    unlink(requests_path);
    return rmdir(folder);
}

/* A trace of one layer and one head; `name` is its profile's. */
static struct trace *generate(uint32_t context, uint64_t seed, const char *name)
{
    struct error why;
    struct trace_profile_head head = make_plain_head();
    struct trace_profile profile = make_profile(&head, 1, 1);
    struct trace_geometry geometry = make_geometry(1, 1, context, 8);
    geometry.seed = seed;
    struct trace *trace = trace_open_generated(&profile, name, &geometry, &why);
    make_check(trace != NULL, &why);
    return trace;
}

static struct trace *share(uint32_t context, uint64_t seed, const char *name)
{
    struct error why;
    struct trace *trace = sources_generated(sources, generate(context, seed, name), &why);
    make_check(trace != NULL, &why);
    return trace;
}

static void record(const char *to)
{
    struct error why;
    struct trace *trace = generate(500, 1, "test.yaml");
    make_check(trace_copy(trace, to, 1, &why), &why);
    trace_close(trace);
}

static struct trace *open_recording(const char *from)
{
    struct error why;
    struct trace *trace = sources_recording(sources, from, &why);
    make_check(trace != NULL, &why);
    return trace;
}

static bool can_read(const struct trace *trace)
{
    struct error why;
    struct trace_frame frame = {0};
    bool good = trace_read(trace, 0, 0, 0, &frame, &why);
    trace_frame_release(&frame);
    return good;
}

static uint32_t count_open_files(void)
{
    uint32_t count = 0;
    DIR *all = opendir("/proc/self/fd");
    assert_non_null(all);
    while (readdir(all) != NULL) {
        count++;
    }
    closedir(all);
    return count;
}

static void equal_generated_traces_are_one(void **state)
{
    (void)state;
    struct trace *first = share(500, 1, "test.yaml"), *again = share(500, 1, "test.yaml");
    assert_ptr_equal(again, first);
    trace_close(first);
    assert_true(can_read(again));
    trace_close(again);
    sources_release(sources);
}

/* The name is in the results, so traces whose profiles have other names stay apart. */
static void traces_that_differ_are_kept_apart(void **state)
{
    (void)state;
    struct trace *all[] = {share(500, 1, "test.yaml"), share(600, 1, "test.yaml"),
                           share(500, 2, "test.yaml"), share(500, 1, "other.yaml")};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            assert_ptr_not_equal(all[i], all[j]);
        }
    }
    for (int i = 0; i < 4; i++) {
        trace_close(all[i]);
    }
    sources_release(sources);
}

static void a_recording_is_opened_once_a_path(void **state)
{
    (void)state;
    record(path);
    record(other_path);
    uint32_t before = count_open_files();
    struct trace *first = open_recording(path), *again = open_recording(path);
    struct trace *other = open_recording(other_path);
    assert_ptr_equal(again, first);
    assert_ptr_not_equal(other, first);
    assert_int_equal(count_open_files(), before + 2);
    trace_close(first);
    trace_close(again);
    trace_close(other);
    sources_release(sources);
}

/* Equal rows and the same name: still what a file holds is not what a profile generates. */
static void a_recording_is_no_generated_trace(void **state)
{
    (void)state;
    record(path);
    struct trace *recording = open_recording(path), *generated = share(500, 1, path);
    assert_ptr_not_equal(generated, recording);
    assert_ptr_equal(open_recording(path), recording);
    trace_close(recording);
    trace_close(recording);
    trace_close(generated);
    sources_release(sources);
}

static void a_recording_that_is_missing_is_not_kept(void **state)
{
    (void)state;
    struct error why;
    assert_null(sources_recording(sources, path, &why));
    assert_string_equal(why.file, path);
    record(path);
    trace_close(open_recording(path));
    sources_release(sources);
}

static void the_last_reference_frees_everything(void **state)
{
    (void)state;
    record(path);
    uint32_t before = count_open_files();
    assert_ptr_equal(sources_hold(sources), sources);
    struct trace *trace = open_recording(path);
    trace_close(trace);
    assert_int_equal(count_open_files(), before + 1);
    sources_release(sources);
    assert_int_equal(count_open_files(), before + 1); /* one reference is left */
    trace = open_recording(path);
    sources_release(sources);
    assert_int_equal(count_open_files(), before + 1); /* the trace is held here */
    assert_true(can_read(trace));
    trace_close(trace);
    assert_int_equal(count_open_files(), before);
    assert_null(sources_hold(NULL));
    sources_release(NULL);
}

static void without_sources_nothing_is_shared(void **state)
{
    (void)state;
    struct error why;
    record(path);
    struct trace *first = sources_recording(NULL, path, &why);
    struct trace *again = sources_recording(NULL, path, &why);
    assert_ptr_not_equal(again, first);
    trace_close(first);
    trace_close(again);
    struct trace *fresh = generate(500, 1, "test.yaml");
    assert_ptr_equal(sources_generated(NULL, fresh, &why), fresh);
    trace_close(fresh);
    assert_null(sources_files(NULL));
    sources_watch(NULL, NULL);
    sources_release(sources);
}

/* Traces that are open, and traces that are opened later. */
static void a_raised_flag_stops_all_traces(void **state)
{
    (void)state;
    struct stop_flag stop = {false};
    record(path);
    struct trace *before = share(500, 1, "test.yaml");
    sources_watch(sources, &stop);
    struct trace *later = share(500, 2, "test.yaml"), *recording = open_recording(path);
    assert_true(can_read(before) && can_read(later) && can_read(recording));
    atomic_store(&stop.raised, true);
    assert_false(can_read(before) || can_read(later) || can_read(recording));
    sources_watch(sources, NULL);
    assert_true(can_read(before) && can_read(later) && can_read(recording));
    trace_close(before);
    trace_close(later);
    trace_close(recording);
    sources_release(sources);
}

static const struct requests *read_requests(uint64_t limit)
{
    struct error why;
    return sources_requests(sources, requests_path, &(struct requests_options){.limit = limit},
                            &why);
}

static void write_requests(const char *lines)
{
    FILE *file = fopen(requests_path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "arrived_at,num_prefill_tokens,num_decode_tokens\n%s", lines) > 0);
    assert_int_equal(fclose(file), 0);
}

static void requests_are_read_once_a_limit(void **state)
{
    (void)state;
    write_requests("0,7,5\n1,9,2\n");
    const struct requests *all = read_requests(0), *first = read_requests(1);
    assert_non_null(all);
    assert_non_null(first);
    assert_int_equal(all->count, 2);
    assert_int_equal(first->count, 1);
    write_requests("0,7,5\n");
    assert_ptr_equal(read_requests(0), all);
    assert_ptr_equal(read_requests(1), first);
    assert_int_equal(all->count, 2);
    sources_release(sources);
}

static void requests_that_are_refused_are_not_kept(void **state)
{
    (void)state;
    write_requests("0,7,x\n");
    assert_null(read_requests(0));
    write_requests("0,7,5\n");
    const struct requests *all = read_requests(0);
    assert_non_null(all);
    assert_int_equal(all->count, 1);
    sources_release(sources);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, start, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(equal_generated_traces_are_one),
        IN_FOLDER(traces_that_differ_are_kept_apart),
        IN_FOLDER(a_recording_is_opened_once_a_path),
        IN_FOLDER(a_recording_is_no_generated_trace),
        IN_FOLDER(a_recording_that_is_missing_is_not_kept),
        IN_FOLDER(the_last_reference_frees_everything),
        IN_FOLDER(without_sources_nothing_is_shared),
        IN_FOLDER(a_raised_flag_stops_all_traces),
        IN_FOLDER(requests_are_read_once_a_limit),
        IN_FOLDER(requests_that_are_refused_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
