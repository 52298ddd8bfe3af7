/* The LRU curve of one pass: worked by hand, and against an LRU cache of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/stack.h"
#include "unit/fixture/rounds.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MOST = 300, STEPS = 120 };

/* Steps as words of letters, best first; misses of caches of 0, 1, 2 ... blocks. */
struct hand_case {
    const char *claim;
    enum policy_order order;
    const char *steps;
    uint64_t misses[6];
};

static const struct hand_case hand_cases[] = {
    /* depths: - - 2 1 - 3 3 */
    {"one by one", POLICY_SEQUENTIAL, "A B A A C B A", {7, 6, 5, 3, 3, 3}},
    /* worst first: B A, then B (depth 2), then A (depth 2) */
    {"one by one, worst first", POLICY_SEQUENTIAL, "AB AB", {4, 4, 2, 2, 2, 2}},
    /* before the second step A is first and B second */
    {"a batch looks before it touches", POLICY_BATCH, "AB AB", {4, 3, 2, 2, 2, 2}},
    /* C B A, then A 1, D -, C 3: A D C B, and again B 4 */
    {"a batch, ranks change", POLICY_BATCH, "ABC CDA B", {7, 6, 6, 5, 4, 4}},
};

static void misses_of_every_size_are_as_worked_by_hand(void **state)
{
    (void)state;
    struct error why;
    for (size_t c = 0; c < sizeof hand_cases / sizeof *hand_cases; c++) {
        const struct hand_case *worked = &hand_cases[c];
        struct stack *stack = stack_create(5, worked->order, &why);
        assert_non_null(stack);
        for (const char *step = worked->steps; *step;) {
            uint32_t units[5], count = (uint32_t)strcspn(step, " ");
            for (uint32_t i = 0; i < count; i++) {
                units[i] = (uint32_t)(step[i] - 'A');
            }
            struct demand demand = {.units = units, .wanted = count};
            stack_access(stack, &demand, true);
            step += count + (step[count] == ' ');
        }
        uint64_t misses[6];
        stack_misses(stack, misses);
        stack_destroy(stack);
        for (uint32_t size = 0; size <= 5; size++) {
            if (misses[size] != worked->misses[size]) {
                fail_msg("%s: %u blocks miss %u times, not %u", worked->claim, size,
                         (unsigned)misses[size], (unsigned)worked->misses[size]);
            }
        }
    }
}

/* Demands that prefer small numbers, each block at most once in one. */
struct request_stream {
    gsl_rng *random;
    uint32_t blocks, wanted_most;
    uint32_t units[BLOCKS_MOST];
};

static void stream_start(struct request_stream *stream, uint64_t seed)
{
    struct error why;
    stream->random = random_stream(seed, "test.stack", 0, &why);
    assert_non_null(stream->random);
    stream->blocks = 1 + (uint32_t)gsl_rng_uniform_int(stream->random, BLOCKS_MOST);
    stream->wanted_most = 1 + (uint32_t)gsl_rng_uniform_int(stream->random, stream->blocks);
}

static struct demand stream_step(struct request_stream *stream)
{
    uint32_t tries = (uint32_t)gsl_rng_uniform_int(stream->random, stream->wanted_most + 1);
    uint32_t wanted = 0;
    while (tries-- > 0) {
        double where = gsl_rng_uniform(stream->random);
        uint32_t unit = (uint32_t)(where * where * stream->blocks);
        bool there = false;
        for (uint32_t i = 0; i < wanted; i++) {
            there = there || stream->units[i] == unit;
        }
        stream->units[wanted] = unit;
        wanted += !there;
    }
    return (struct demand){.units = stream->units, .wanted = wanted};
}

/* Misses of LRU at one size, from step `warmup` on. */
static uint64_t replay_misses(uint64_t seed, enum policy_order order, uint32_t size,
                              uint32_t warmup)
{
    struct error why;
    struct request_stream stream;
    stream_start(&stream, seed);
    struct policy_env env = {
        .blocks = stream.blocks, .capacity = size, .wanted = stream.wanted_most, .order = order};
    struct policy *policy = policy_create(policy_find("lru", NULL, 0, &why), NULL, &env, &why);
    assert_non_null(policy);
    uint64_t misses = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        struct demand demand = stream_step(&stream);
        struct outcome outcome;
        policy_access(policy, &demand, &outcome);
        misses += step < warmup ? 0 : outcome.missed;
    }
    policy_destroy(policy);
    gsl_rng_free(stream.random);
    return misses;
}

static void every_size_equals_its_replay(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS(40, 10); seed++) {
        struct error why;
        struct request_stream stream;
        stream_start(&stream, seed);
        uint32_t blocks = stream.blocks, warmup = seed % 3 == 0 ? STEPS / 2 : 0;
        enum policy_order order = seed % 2 ? POLICY_BATCH : POLICY_SEQUENTIAL;
        struct stack *stack = stack_create(blocks, order, &why);
        assert_non_null(stack);
        for (uint32_t step = 0; step < STEPS; step++) {
            struct demand demand = stream_step(&stream);
            stack_access(stack, &demand, step >= warmup);
        }
        uint64_t misses[BLOCKS_MOST + 1];
        stack_misses(stack, misses);
        stack_destroy(stack);
        gsl_rng_free(stream.random);
        for (uint32_t size = 0; size <= blocks; size++) {
            uint64_t expected = replay_misses(seed, order, size, warmup);
            if (misses[size] != expected) {
                fail_msg("seed %u: %u of %u blocks miss %u times, not %u", (unsigned)seed, size,
                         blocks, (unsigned)misses[size], (unsigned)expected);
            }
        }
    }
}

static void too_many_blocks_are_refused(void **state)
{
    (void)state;
    struct error why;
    assert_null(stack_create(UINT32_MAX, POLICY_BATCH, &why));
    assert_string_equal(why.found, "4294967295 blocks are too many for a cache");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misses_of_every_size_are_as_worked_by_hand),
        cmocka_unit_test(every_size_equals_its_replay),
        cmocka_unit_test(too_many_blocks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
