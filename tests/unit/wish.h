/* Schedules worked out by hand, on the model and the machine of tiny.h: what a step comes to, and a
 * check of all steps against it.
 *
 * A test's comment is the whole schedule of a step: nanoseconds since the last kernel of the step
 * before ended. Launches of a layer with 8 operators are 3 for pre, 1 for attend, 4 for post; 3 for
 * the edge. */
#ifndef WISH_H
#define WISH_H

#include "tiny.h"

#include "make_timing.h"

/* What a schedule comes to, a step. */
struct wish {
    int64_t step, parts[PART_COUNT], stalls[PART_COUNT], layers[2], in, out;
};

static inline void check_sums(const char *what, const int64_t *sums, const int64_t *wish,
                              uint32_t steps)
{
    for (int part = 0; part < PART_COUNT; part++) {
        if (sums[part] != wish[part] * steps) {
            fail_msg("%s of '%s': %lld in %u steps, not %lld a step", what,
                     pipeline_part_names[part], (long long)sums[part], steps,
                     (long long)wish[part]);
        }
    }
}

/* Three steps of `layers` layers of the tiny model with these mechanisms and overrides, laid over a
 * bare system. */
static inline struct setup make_tiny(uint32_t layers, const char *mechanisms,
                                     const char *const *overrides)
{
    char model[128], bare[128];
    const char *all[16] = {tiny_model(layers, model),
                           tiny_machine,
                           bare_system(bare),
                           "context=1000",
                           "steps=3",
                           mechanisms};
    for (size_t i = 0; overrides[i] != NULL; i++) {
        all[6 + i] = overrides[i];
    }
    return make_setup(all);
}

/* Each of its steps comes to this. */
static inline void check(uint32_t layers, const char *mechanisms, const char *const *overrides,
                         const struct wish *wish)
{
    struct setup setup = make_tiny(layers, mechanisms, overrides);
    struct course course;
    make_course(&setup, &course);
    const struct timing *timing = &course.timing;
    assert_int_equal(timing->steps, 3);
    for (uint32_t s = 0; s < 3; s++) {
        assert_int_equal(timing->step[s].ns, wish->step);
        assert_int_equal(timing->step[s].h2d_bytes, wish->in);
        assert_int_equal(timing->step[s].d2h_bytes, wish->out);
    }
    assert_int_equal(timing->total_ns, 3 * wish->step);
    check_sums("part", timing->part_ns, wish->parts, 3);
    check_sums("stall", timing->stall_ns, wish->stalls, 3);
    for (uint32_t l = 0; l < layers; l++) {
        assert_int_equal(timing->layer_ns[l], 3 * wish->layers[l]);
    }
    course_release(&course);
    setup_release(&setup);
}

#endif
