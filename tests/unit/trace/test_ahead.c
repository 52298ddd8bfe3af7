/* Frames that are made ahead, for readers that keep different numbers of units, are those that each
 * trace makes by itself. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/format/ahead.h"
#include "unit/fixture/make_profile.h"
#include "unit/fixture/same_frame.h"

enum { LAYERS = 2, HEADS = 2, STEPS = 20, SEQUENCES = 2, READERS = 4 };

static const size_t plenty = (size_t)64 << 20;

static struct trace *make(double keep, uint64_t seed)
{
    static struct trace_profile_head heads[LAYERS * HEADS];
    for (uint32_t i = 0; i < LAYERS * HEADS; i++) {
        heads[i] = make_plain_head();
        heads[i].slope = -(double)i;
        heads[i].spread[0] = 2;
        heads[i].score[0] = heads[i].score[PROFILE_PARTS - 1] = .5;
        heads[i].recent = .1;
    }
    struct trace_profile profile = make_profile(heads, LAYERS, HEADS);
    struct trace_geometry geometry = make_geometry(LAYERS, HEADS, 900, STEPS);
    geometry.sequences = SEQUENCES;
    geometry.keep = keep;
    geometry.seed = seed;
    return make_generated(&profile, &geometry);
}

/* All frames of layer 1, reader after reader; `times` over. */
static void compare(struct trace *const *traces, size_t bytes, uint32_t times)
{
    struct error why;
    struct trace_room room = {bytes};
    struct trace_ahead *ahead =
        trace_ahead_create((const struct trace *const *)traces, READERS, 1, &room, &why);
    assert_non_null(ahead);
    struct trace_frame frame, own;
    trace_frame_init(&frame);
    trace_frame_init(&own);
    uint32_t tiles = trace_tiles(trace_header(traces[0])), frames = SEQUENCES * tiles;
    for (uint32_t i = 0; i < READERS * times * frames; i++) {
        uint32_t reader = i / (times * frames), sequence = i % frames / tiles, tile = i % tiles;
        make_check(trace_ahead_read(ahead, reader, sequence, tile, &frame, &why), &why);
        make_check(trace_read(traces[reader], sequence, tile, 1, &own, &why), &why);
        assert_same_frame(trace_header(traces[reader]), &frame, &own);
    }
    trace_frame_release(&frame);
    trace_frame_release(&own);
    trace_ahead_destroy(ahead);
    assert_int_equal(atomic_load(&room.bytes), bytes);
}

static void frames_made_ahead_are_those_of_each_trace(void **state)
{
    (void)state;
    struct trace *traces[READERS] = {make(.1, 1), make(.02, 1), make(.3, 1), make(.1, 1)};
    compare(traces, plenty, 1);
    compare(traces, plenty, 2); /* who knows the future reads twice */
    compare(traces, 0, 1);
    compare(traces, 300000, 1); /* room for some */
    for (uint32_t i = 0; i < READERS; i++) {
        trace_close(traces[i]);
    }
}

static void a_stream_leaves_out_the_number_of_units_alone(void **state)
{
    (void)state;
    struct trace *traces[] = {make(.1, 1), make(.2, 1), make(.1, 2)};
    uint64_t stream[3], hash[3];
    struct error why;
    for (uint32_t i = 0; i < 3; i++) {
        make_check(trace_stream(traces[i], &stream[i], &why), &why);
        make_check(trace_hash(traces[i], &hash[i], &why), &why);
        trace_close(traces[i]);
    }
    assert_true(stream[0] == stream[1]);
    assert_true(stream[0] != stream[2]);
    assert_true(hash[0] != hash[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_made_ahead_are_those_of_each_trace),
        cmocka_unit_test(a_stream_leaves_out_the_number_of_units_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
