/* A generated trace that remembers its frames gives the same frames as one that does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/parallel.h"
#include "core/stop_flag.h"
#include "trace/format/ahead.h"
#include "unit/fixture/make_profile.h"
#include "unit/fixture/same_frame.h"

enum { LAYERS = 3, HEADS = 2, STEPS = 20, SEQUENCES = 2, THREADS = 4 };

static const size_t plenty = (size_t)64 << 20;

/* Each layer and head draws its own rows. */
static struct trace *make(void)
{
    static struct trace_profile_head heads[LAYERS * HEADS];
    for (uint32_t i = 0; i < LAYERS * HEADS; i++) {
        heads[i] = make_plain_head();
        heads[i].slope = -(double)i;
    }
    struct trace_profile profile = make_profile(heads, LAYERS, HEADS);
    struct trace_geometry geometry = make_geometry(LAYERS, HEADS, 500, STEPS);
    geometry.sequences = SEQUENCES;
    return make_generated(&profile, &geometry);
}

static size_t left_of(struct trace_room *room)
{
    return atomic_load(&room->bytes);
}

static void read_frame(const struct trace *trace, uint32_t number, struct trace_frame *frame)
{
    struct error why;
    uint32_t tiles = trace_tiles(trace_header(trace)), layer = number % LAYERS;
    uint32_t tile = number / LAYERS % tiles, sequence = number / LAYERS / tiles;
    make_check(trace_read(trace, sequence, tile, layer, frame, &why), &why);
}

static uint32_t frames_of(const struct trace *trace)
{
    return SEQUENCES * trace_tiles(trace_header(trace)) * LAYERS;
}

static void compare_frame(const struct trace *plain, const struct trace *remembered,
                          uint32_t number)
{
    struct trace_frame made, kept;
    trace_frame_init(&made);
    trace_frame_init(&kept);
    read_frame(plain, number, &made);
    read_frame(remembered, number, &kept);
    assert_same_frame(trace_header(plain), &made, &kept);
    trace_frame_release(&made);
    trace_frame_release(&kept);
}

/* Read all frames `times` over, from both. */
static void compare(const struct trace *plain, const struct trace *remembered, uint32_t times)
{
    for (uint32_t i = 0; i < times * frames_of(plain); i++) {
        compare_frame(plain, remembered, i % frames_of(plain));
    }
}

/* Items that are done at the same time read the same frame. */
static bool compare_item(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    const struct trace *const *traces = context;
    (void)thread;
    (void)why;
    compare_frame(traces[0], traces[1], index / THREADS);
    return true;
}

static void a_remembered_frame_is_the_frame_that_was_made(void **state)
{
    (void)state;
    struct trace_room room = {plenty};
    struct trace *plain = make(), *trace = make();
    trace_remember(trace, &room);
    compare(plain, trace, 1);
    size_t left = left_of(&room);
    assert_true(left < plenty);
    compare(plain, trace, 2);
    assert_int_equal(left_of(&room), left); /* each frame is kept once */
    trace_close(trace);
    trace_close(plain);
}

/* The frames that were read first stay; the others are made again each time. */
static void a_room_that_is_too_small_keeps_what_fits(void **state)
{
    (void)state;
    struct trace_room room = {plenty};
    struct trace *plain = make(), *trace = make();
    struct trace_frame frame;
    trace_frame_init(&frame);
    trace_remember(trace, &room);
    read_frame(trace, 0, &frame);
    size_t one = plenty - left_of(&room);
    trace_close(trace);

    trace = make();
    atomic_store(&room.bytes, 2 * one + one / 2);
    trace_remember(trace, &room);
    compare(plain, trace, 2);
    size_t left = left_of(&room);
    assert_true(left < one);
    read_frame(trace, 0, &frame);
    assert_int_equal(left_of(&room), left);
    trace_close(trace);

    trace = make();
    atomic_store(&room.bytes, one - 1);
    trace_remember(trace, &room);
    read_frame(trace, 0, &frame);
    assert_int_equal(left_of(&room), one - 1); /* does not fit, and takes nothing */
    trace_frame_release(&frame);
    trace_close(trace);
    trace_close(plain);
}

static void traces_share_a_room(void **state)
{
    (void)state;
    struct trace_room room = {plenty};
    struct trace *plain = make(), *first = make(), *second = make();
    trace_remember(first, &room);
    trace_remember(second, &room);
    compare(plain, first, 1);
    size_t taken = plenty - left_of(&room);
    compare(plain, second, 1);
    assert_int_equal(left_of(&room), plenty - 2 * taken);
    trace_close(first);
    trace_close(second);
    trace_close(plain);
}

/* Threads that make the same frame at the same time keep it once. */
static void threads_keep_a_frame_once(void **state)
{
    (void)state;
    struct error why;
    struct trace_room room = {plenty};
    struct trace *plain = make(), *trace = make();
    trace_remember(trace, &room);
    compare(plain, trace, 1);
    size_t left = left_of(&room);
    trace_close(trace);

    trace = make();
    atomic_store(&room.bytes, plenty);
    trace_remember(trace, &room);
    const struct trace *traces[] = {plain, trace};
    assert_true(parallel_for(THREADS * frames_of(plain), THREADS, compare_item, traces, &why));
    assert_int_equal(left_of(&room), left);
    trace_close(trace);
    trace_close(plain);
}

/* Rows are not made for readers of queries, so what these read is not kept. */
static void a_frame_without_rows_is_not_kept(void **state)
{
    (void)state;
    struct error why;
    struct trace_room room = {plenty};
    struct trace *plain = make(), *trace = make();
    struct trace_frame frame;
    trace_frame_init(&frame);
    trace_remember(trace, &room);
    make_check(trace_read_queries(trace, 0, 0, 0, &frame, &why), &why);
    assert_int_equal(left_of(&room), plenty);
    trace_frame_release(&frame);
    compare(plain, trace, 2);
    trace_close(trace);
    trace_close(plain);
}

static void a_stop_ends_reading_of_remembered_frames(void **state)
{
    (void)state;
    struct error why;
    struct stop_flag stop = {false};
    struct trace_room room = {plenty};
    struct trace *trace = make();
    struct trace_frame frame;
    trace_frame_init(&frame);
    trace_stop_when(trace, &stop);
    trace_remember(trace, &room);
    read_frame(trace, 0, &frame);
    read_frame(trace, 0, &frame);
    atomic_store(&stop.raised, true);
    assert_false(trace_read(trace, 0, 0, 0, &frame, &why));
    trace_stop_when(trace, NULL);
    read_frame(trace, 0, &frame);
    trace_frame_release(&frame);
    trace_close(trace);
}

static void a_held_trace_is_open_until_its_last_close(void **state)
{
    (void)state;
    struct trace_room room = {plenty};
    struct trace *plain = make(), *trace = make();
    trace_remember(trace, &room);
    assert_ptr_equal(trace_hold(trace), trace);
    assert_ptr_equal(trace_hold(trace), trace);
    trace_close(trace);
    compare(plain, trace, 1);
    trace_close(trace);
    compare(plain, trace, 1);
    trace_close(trace);
    trace_close(plain);
    assert_null(trace_hold(NULL));
    trace_close(NULL);
}

/* What a file holds is read from there. */
static void a_recording_remembers_nothing(void **state)
{
    (void)state;
    char folder[32], path[64];
    struct error why;
    struct trace_room room = {plenty};
    struct trace *plain = make();
    make_path(make_folder(folder), "a.swt", path);
    make_check(trace_copy(plain, path, 1, &why), &why);
    struct trace *trace = trace_open(path, &why);
    make_check(trace != NULL, &why);
    trace_remember(trace, &room);
    compare(plain, trace, 2);
    assert_int_equal(left_of(&room), plenty);
    trace_close(trace);
    trace_close(plain);
    remove(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remembered_frame_is_the_frame_that_was_made),
        cmocka_unit_test(a_room_that_is_too_small_keeps_what_fits),
        cmocka_unit_test(traces_share_a_room),
        cmocka_unit_test(threads_keep_a_frame_once),
        cmocka_unit_test(a_frame_without_rows_is_not_kept),
        cmocka_unit_test(a_stop_ends_reading_of_remembered_frames),
        cmocka_unit_test(a_held_trace_is_open_until_its_last_close),
        cmocka_unit_test(a_recording_remembers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
