/* Policies, worked by hand.
 *
 * A step of a case is a word: the wanted blocks as letters, best first. What is expected of it is a
 * word of as many letters: an h for each hit, then an m for each miss.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/next_use.h"
#include "policy/policy.h"
#include "unit/fixture/rounds.h"

#include <stdio.h>
#include <string.h>

enum { BLOCKS = 26, ROW_MOST = 32 };

static const uint8_t no_mass[ROW_MOST];

static struct policy *create(const char *name, const double *values, struct policy_env env)
{
    struct error why;
    const struct policy_kind *kind = policy_find(name, NULL, 0, &why);
    assert_non_null(kind);
    struct policy *policy = policy_create(kind, values, &env, &why);
    if (!policy) {
        fail_msg("%s: %s", name, why.found);
    }
    return policy;
}

/* The demand for the blocks that the first `count` letters name. */
static struct demand letters_demand(const char *letters, size_t count, uint32_t units[ROW_MOST])
{
    for (size_t i = 0; i < count; i++) {
        units[i] = (uint32_t)(letters[i] - 'A');
    }
    return (struct demand){
        .units = units, .mass = no_mass, .wanted = (uint32_t)count, .recorded = (uint32_t)count};
}

/* The next uses in steps of letters with blanks between. */
static struct next_use future_of(const char *steps)
{
    struct error why;
    struct next_use future = {.count = 0};
    uint32_t units[ROW_MOST];
    while (*steps) {
        size_t count = strcspn(steps, " ");
        struct demand demand = letters_demand(steps, count, units);
        assert_true(next_use_add(&future, &demand, &why));
        steps += count + (steps[count] == ' ');
    }
    assert_true(next_use_resolve(&future, BLOCKS, &why));
    return future;
}

static struct outcome access_letters(struct policy *policy, const char *letters, size_t count)
{
    uint32_t units[ROW_MOST];
    struct demand demand = letters_demand(letters, count, units);
    struct outcome outcome;
    policy_access(policy, &demand, &outcome);
    return outcome;
}

struct block_case {
    const char *claim;
    const char *policy;
    enum policy_order order;
    uint32_t capacity;
    const char *steps, *expected;
};

/* clang-format off */
static const struct block_case block_cases[] = {
    {"none never hits", "none", POLICY_BATCH, 0, "A A AB", "m m mm"},

    {"lru, 2 blocks, A leaves for C", "lru", POLICY_SEQUENTIAL, 2, "A B A C B", "m m h m m"},
    {"lru, 2 blocks, a hit saves A", "lru", POLICY_SEQUENTIAL, 2, "A B A C A", "m m h m h"},
    {"lru, a batch ranks by want: C leaves first", "lru", POLICY_BATCH, 3, "ABC D AB", "mmm m hh"},
    {"lru, a batch ranks by want: then B", "lru", POLICY_BATCH, 3, "ABC D C B A", "mmm m m m m"},
    {"lru, hits are touched", "lru", POLICY_BATCH, 2, "AB B C B", "mm h m h"},
    {"lru, a batch looks before it touches", "lru", POLICY_BATCH, 4, "ABCD EFAB ABCD",
     "mmmm hhmm hhmm"},
    {"lru, one at a time loses what the step wants next", "lru", POLICY_SEQUENTIAL, 4,
     "ABCD EFAB ABCD", "mmmm hhmm mmmm"},
    {"lru, of a demand above the cache the best stay", "lru", POLICY_BATCH, 2, "ABCD AB CD",
     "mmmm hh mm"},
    {"lru, a best hit stays above the cache", "lru", POLICY_BATCH, 2, "AB BCDE BC A",
     "mm hmmm hh m"},
    {"lru, no block, no hit", "lru", POLICY_BATCH, 0, "A A", "m m"},
    {"lru, no block, no hit, one at a time", "lru", POLICY_SEQUENTIAL, 0, "AB BA", "mm mm"},

    {"fifo, 2 blocks, a hit does not save A", "fifo", POLICY_SEQUENTIAL, 2, "A B A C A",
     "m m h m m"},
    {"fifo, 2 blocks, B outlives A", "fifo", POLICY_SEQUENTIAL, 2, "A B A C B", "m m h m h"},
    {"fifo, a batch admits worst first: C leaves first", "fifo", POLICY_BATCH, 3, "ABC D AB",
     "mmm m hh"},
    {"fifo, hits are not touched", "fifo", POLICY_BATCH, 2, "AB B C B", "mm h m m"},
    {"fifo, a batch looks before it admits", "fifo", POLICY_BATCH, 2, "AB CB B C", "mm hm m h"},
    {"fifo, one at a time admits before it looks", "fifo", POLICY_SEQUENTIAL, 2, "AB BC", "mm mm"},
    {"fifo, of misses above the cache the best stay", "fifo", POLICY_BATCH, 2, "ABCD AB CD",
     "mmmm hh mm"},
    {"fifo, no block, no hit", "fifo", POLICY_BATCH, 0, "A A", "m m"},

    {"lfu, what was hit stays", "lfu", POLICY_SEQUENTIAL, 2, "A A B C A B", "m h m m h m"},
    {"lfu, of equals the one touched longest ago leaves", "lfu", POLICY_SEQUENTIAL, 2, "A B C B",
     "m m m h"},
    {"lfu, a count is lost on eviction", "lfu", POLICY_SEQUENTIAL, 2, "A A B B B C A C B",
     "m h m h h m m m h"},
    {"lfu, a batch touches hits before it admits", "lfu", POLICY_BATCH, 2, "AB BC B A",
     "mm hm h m"},

    {"clock, a hit saves A once", "clock", POLICY_SEQUENTIAL, 2, "A B A C A", "m m h m h"},
    {"clock, and not twice", "clock", POLICY_SEQUENTIAL, 2, "A B A C D A", "m m h m m m"},
    {"clock, a new block has no mark", "clock", POLICY_SEQUENTIAL, 2, "A B C A C", "m m m m h"},
    {"clock, the hand comes round to C", "clock", POLICY_SEQUENTIAL, 3, "A B C D E C F G H C",
     "m m m m m h m m m m"},
    {"clock, no block, no hit", "clock", POLICY_BATCH, 0, "AB BA", "mm mm"},

    {"sieve, the hand stays ahead of C", "sieve", POLICY_SEQUENTIAL, 3, "A B C D E C F G H C",
     "m m m m m h m m m h"},
    {"sieve, a hit saves A", "sieve", POLICY_SEQUENTIAL, 3, "A B C A D E A F D",
     "m m m h m m h m m"},
    {"sieve, a cache of one", "sieve", POLICY_SEQUENTIAL, 1, "A A B B C A", "m h m h m m"},

    {"arc, a scan leaves what was seen again", "arc", POLICY_SEQUENTIAL, 2, "A A B C D E A",
     "m h m m m m h"},
    /* B was seen once and comes back: target 1, A leaves; A comes back: target 0, B leaves */
    {"arc, a ghost moves the target", "arc", POLICY_SEQUENTIAL, 2, "A A B C A B C A C",
     "m h m m h m h m h"},

    /* A in the small queue, B in the main one */
    {"s3fifo, two hits lead to the main queue", "s3fifo", POLICY_SEQUENTIAL, 2, "A B A A C A B",
     "m m h h m h m"},
    {"s3fifo, one hit does not", "s3fifo", POLICY_SEQUENTIAL, 2, "A B A C A", "m m h m m"},
    {"s3fifo, a ghost enters the main queue, where a hit saves B", "s3fifo", POLICY_SEQUENTIAL, 2,
     "A B C A B D B A", "m m m m h m h m"},

    {"lecar, where LRU and LFU agree no lot is drawn", "lecar", POLICY_SEQUENTIAL, 2, "A B C B",
     "m m m h"},
    {"lecar, a cache of one", "lecar", POLICY_BATCH, 1, "A A B A", "m h m m"},

    {"prefix, the first two blocks stay whatever is wanted", "prefix", POLICY_BATCH, 2,
     "C A ABC CB", "m h hhm hm"},
    {"prefix, no block, no hit", "prefix", POLICY_SEQUENTIAL, 0, "A A", "m m"},

    {"opt, C is admitted and B leaves", "opt", POLICY_SEQUENTIAL, 2, "A B C A B", "m m m h m"},
    {"opt:bypass, C is not", "opt:bypass", POLICY_SEQUENTIAL, 2, "A B C A B", "m m m h h"},
    {"opt, one after the other, worst first", "opt", POLICY_SEQUENTIAL, 1, "AB BA", "mm hm"},
    {"opt, a batch looks first", "opt", POLICY_BATCH, 1, "AB BA", "mm hm"},
};
/* clang-format on */

static void blocks_hit_and_miss_as_worked_by_hand(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof block_cases / sizeof *block_cases; c++) {
        const struct block_case *worked = &block_cases[c];
        struct next_use future = future_of(worked->steps);
        struct policy *policy = create(worked->policy, NULL,
                                       (struct policy_env){.blocks = BLOCKS,
                                                           .capacity = worked->capacity,
                                                           .wanted = ROW_MOST,
                                                           .order = worked->order,
                                                           .next_use = future.access});
        char found[128] = "";
        size_t length = 0;
        for (const char *step = worked->steps; *step;) {
            size_t count = strcspn(step, " ");
            struct outcome outcome = access_letters(policy, step, count);
            for (uint32_t i = 0; i < outcome.hit; i++) {
                found[length++] = 'h';
            }
            for (uint32_t i = 0; i < outcome.missed; i++) {
                found[length++] = 'm';
            }
            step += count;
            if (*step == ' ') {
                found[length++] = *step++;
            }
        }
        policy_destroy(policy);
        next_use_release(&future);
        if (strcmp(found, worked->expected) != 0) {
            fail_msg("%s: %s gives %s, not %s", worked->claim, worked->steps, found,
                     worked->expected);
        }
    }
}

/* But those that compare queries or choose what is attended to, which have tests of their own. */
static void every_policy_has_a_case(void **state)
{
    (void)state;
    for (size_t row = 0; policies[row]; row++) {
        bool found = policies[row]->needs_queries || policies[row]->chooses_own;
        for (size_t c = 0; c < sizeof block_cases / sizeof *block_cases; c++) {
            found = found || strcmp(block_cases[c].policy, policies[row]->name) == 0;
        }
        if (!found) {
            fail_msg("policy '%s' has no case worked by hand", policies[row]->name);
        }
    }
}

/* The second of two steps over a cache of 3 blocks. */
struct count_case {
    const char *policy, *first, *second;
    uint32_t expected[7]; /* hit, missed, admitted, evicted, lookups, updates, inserts */
};

static const struct count_case count_cases[] = {
    {"none", "ABC", "ABD", {0, 3, 0, 0, 0, 0, 0}},
    {"lru", "ABC", "ABD", {2, 1, 1, 1, 3, 2, 1}},
    {"lru", "AB", "CA", {1, 1, 1, 0, 2, 1, 1}},
    {"lru", "ABC", "DAEFB", {2, 3, 2, 2, 5, 1, 2}}, /* D A E stay */
    {"fifo", "ABC", "ABD", {2, 1, 1, 1, 3, 0, 1}},
    {"fifo", "AB", "CA", {1, 1, 1, 0, 2, 0, 1}},
    {"fifo", "ABC", "DEAFG", {1, 4, 3, 3, 5, 0, 3}}, /* D E F stay */
    {"lfu", "ABC", "ABD", {2, 1, 1, 1, 3, 2, 1}},
    {"clock", "ABC", "ABD", {2, 1, 1, 1, 3, 0, 1}},   /* a hit sets a bit */
    {"clock", "ABC", "DEAFG", {1, 4, 4, 4, 5, 0, 4}}, /* F and G come, and A leaves, on the way */
    {"arc", "AB", "CA", {1, 1, 1, 0, 2, 1, 1}},
    {"lecar", "ABC", "ABD", {2, 1, 1, 1, 3, 2, 1}},
    {"s3fifo", "ABC", "ABD", {2, 1, 1, 1, 3, 0, 1}}, /* a hit counts */
    {"sieve", "ABC", "ABD", {2, 1, 1, 1, 3, 0, 1}},
    {"prefix", "ABC", "ABD", {2, 1, 0, 0, 0, 0, 0}},
    {"opt", "ABC", "ABD", {2, 1, 1, 1, 3, 2, 1}},
    {"opt:bypass", "AB", "CA", {1, 1, 1, 0, 2, 1, 1}},
    {"opt:bypass", "ABC", "ABD", {2, 1, 0, 0, 3, 2, 0}}, /* D is never wanted again */
};

static void managers_do_what_was_counted_by_hand(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof count_cases / sizeof *count_cases; c++) {
        const struct count_case *worked = &count_cases[c];
        char steps[2 * ROW_MOST];
        snprintf(steps, sizeof steps, "%s %s", worked->first, worked->second);
        struct next_use future = future_of(steps);
        struct policy *policy = create(worked->policy, NULL,
                                       (struct policy_env){.blocks = BLOCKS,
                                                           .capacity = 3,
                                                           .wanted = ROW_MOST,
                                                           .order = POLICY_BATCH,
                                                           .next_use = future.access});
        access_letters(policy, worked->first, strlen(worked->first));
        struct outcome out = access_letters(policy, worked->second, strlen(worked->second));
        policy_destroy(policy);
        next_use_release(&future);
        const uint32_t found[] = {out.hit,     out.missed,  out.admitted, out.evicted,
                                  out.lookups, out.updates, out.inserts};
        print_message("%s: %s, then %s\n", worked->policy, worked->first, worked->second);
        for (size_t i = 0; i < 7; i++) {
            assert_int_equal(found[i], worked->expected[i]);
        }
        assert_false(out.reused);
    }
}

/* A and B overflow into the main queue. C, hit twice in the small one, moves there when D comes. */
static void s3fifo_moves_blocks_only_when_it_evicts(void **state)
{
    (void)state;
    struct policy *policy =
        create("s3fifo", NULL,
               (struct policy_env){
                   .blocks = BLOCKS, .capacity = 3, .wanted = ROW_MOST, .order = POLICY_BATCH});
    access_letters(policy, "ABC", 3);
    assert_int_equal(access_letters(policy, "C", 1).updates, 0);
    struct outcome out = access_letters(policy, "CD", 2);
    assert_int_equal(out.hit, 1);
    assert_int_equal(out.updates, 1);
    assert_int_equal(out.inserts, 1);
    policy_destroy(policy);
}

static void next_uses_are_numbered_worst_first(void **state)
{
    (void)state;
    struct next_use future = future_of("AB BC A"); /* B A, C B, A */
    const uint32_t expected[] = {3, 4, NEXT_USE_NEVER, NEXT_USE_NEVER, NEXT_USE_NEVER};
    assert_int_equal(future.count, 5);
    assert_memory_equal(future.access, expected, sizeof expected);
    next_use_release(&future);
}

/* QSAC over query vectors of two numbers. Against (5, 0): (12, 5) has cosine 12/13 = .923, (3, 4)
 * .6, (7, 24) .28, (10, 49) .19996, (0, 5) 0, (-3, 4) -.6. */
enum { STEPS_MOST = 4, HEADS = 2 };

struct query_case {
    const char *claim;
    double values[4]; /* eta, power, adaptive, aggregate */
    uint32_t heads;
    float importance[HEADS];
    int8_t query[STEPS_MOST][HEADS][2];
    const char *expected; /* h or m a step */
};

/* clang-format off */
static const struct query_case query_cases[] = {
    {"a similar query reuses", {.8, 3, 1, 0}, 1, {1}, {{{5, 0}}, {{12, 5}}}, "mh"},
    {"a turned query misses", {.8, 3, 1, 0}, 1, {1}, {{{5, 0}}, {{3, 4}}}, "mm"},
    {"length means nothing", {1, 3, 1, 0}, 1, {1}, {{{5, 0}}, {{100, 0}}, {{1, 0}}}, "mhh"},
    {"a reuse leaves the label (.86 to the last query)", {.8, 3, 1, 0}, 1, {1},
     {{{5, 0}}, {{12, 5}}, {{3, 4}}}, "mhm"},
    {"a miss moves the label", {.8, 3, 1, 0}, 1, {1},
     {{{5, 0}}, {{3, 4}}, {{5, 0}}, {{3, 4}}}, "mmmm"},
    {"a miss moves the label there", {.8, 3, 1, 0}, 1, {1},
     {{{5, 0}}, {{3, 4}}, {{3, 4}}, {{5, 12}}}, "mmhh"},

    /* s = .9: share .729, theta = .729 x .6435 + .271 x 3.1416 = 1.3205, its cosine .248 */
    {"importance .9 asks for .248, and .28 is enough", {.8, 3, 1, 0}, 1, {.9f},
     {{{5, 0}}, {{7, 24}}}, "mh"},
    {"importance .9 asks for .248, and .2 is not", {.8, 3, 1, 0}, 1, {.9f},
     {{{5, 0}}, {{10, 49}}}, "mm"},
    {"without adaption .9 asks for .8", {.8, 3, 0, 0}, 1, {.9f}, {{{5, 0}}, {{7, 24}}}, "mm"},
    {"importance 0 fetches once", {.8, 3, 1, 0}, 1, {0},
     {{{5, 0}}, {{-3, 4}}, {{-5, 0}}, {{0, 0}}}, "mhhh"},
    {"without adaption importance 0 is as any", {.8, 3, 0, 0}, 1, {0},
     {{{5, 0}}, {{12, 5}}, {{3, 4}}}, "mhm"},

    /* cosines .923 and .6: harmonic 2 / (1.0833 + 1.6667) = .727, minimum .6 */
    {"harmonic .727 is above .7", {.7, 3, 1, 0}, 2, {1, 1},
     {{{5, 0}, {5, 0}}, {{12, 5}, {3, 4}}}, "mh"},
    {"harmonic .727 is below .75", {.75, 3, 1, 0}, 2, {1, 1},
     {{{5, 0}, {5, 0}}, {{12, 5}, {3, 4}}}, "mm"},
    {"minimum .6 is below .7", {.7, 3, 1, 1}, 2, {1, 1},
     {{{5, 0}, {5, 0}}, {{12, 5}, {3, 4}}}, "mm"},
    {"minimum .6 is above .55", {.55, 3, 1, 1}, 2, {1, 1},
     {{{5, 0}, {5, 0}}, {{12, 5}, {3, 4}}}, "mh"},
    /* 2 / (1 / .28 - 1 / .6) would be 1.05: the least, -.6, decides */
    {"a negative cosine does not pass for a similar one", {.8, 3, 1, 0}, 2, {1, 1},
     {{{5, 0}, {5, 0}}, {{7, 24}, {-3, 4}}}, "mm"},
    {"nor does a right angle", {.1, 3, 1, 0}, 2, {1, 1}, {{{5, 0}, {5, 0}}, {{5, 0}, {0, 5}}}, "mm"},
    {"or a null query", {.1, 3, 1, 0}, 2, {1, 1}, {{{5, 0}, {5, 0}}, {{5, 0}, {0, 0}}}, "mm"},
    /* s = .5: share .125, theta = .125 x .6435 + .875 x 3.1416 = 2.829, its cosine -.952 */
    {"a head of little importance has reused at -.6", {.8, 3, 1, 0}, 2, {.5f, .5f},
     {{{5, 0}, {5, 0}}, {{7, 24}, {-3, 4}}}, "mh"},
    {"equal cosines stay what they are", {.8, 3, 1, 0}, 2, {.5f, .5f},
     {{{5, 0}, {5, 0}}, {{-3, 4}, {-3, 4}}, {{-5, 0}, {-5, 0}}, {{3, -4}, {3, -4}}}, "mhmh"},

    /* power 0: the threshold is eta whatever the importance, which then only weighs */
    {"a head without importance has no say", {.8, 0, 1, 0}, 2, {1, 0},
     {{{5, 0}, {5, 0}}, {{12, 5}, {-3, 4}}}, "mh"},
    {"the head with importance has it", {.8, 0, 1, 0}, 2, {0, 1},
     {{{5, 0}, {5, 0}}, {{12, 5}, {3, 4}}}, "mm"},
    /* weights 1 and 1/4: 1.25 / (1.0833 + .41667) = .8333 */
    {"harmonic, weighted: .833 is above .83", {.83, 0, 1, 0}, 2, {1, .25f},
     {{{5, 0}, {5, 0}}, {{12, 5}, {3, 4}}}, "mh"},
    {"harmonic, weighted: .833 is below .84", {.84, 0, 1, 0}, 2, {1, .25f},
     {{{5, 0}, {5, 0}}, {{12, 5}, {3, 4}}}, "mm"},
    /* mean importance 1/2, power 1: theta = (.6435 + 3.1416) / 2 = 1.8925, its cosine -.316 */
    {"the threshold takes the mean importance", {.8, 1, 1, 1}, 2, {1, 0},
     {{{5, 0}, {5, 0}}, {{5, 0}, {0, 5}}, {{5, 0}, {-3, 4}}}, "mhm"},
};
/* clang-format on */

/* Equation 10 by hand: s 1, .5, .25 and sim .6, .923, .28 give 1.75 / (1.6667 + .5417 + .8929) = .5643.
 * Equations 7 to 9 take the KV head's importance: of .9 they ask for .248 at eta .8, of 1 for eta itself. */
static void the_aggregate_weighs_query_heads_and_the_threshold_the_kv_head(void **state)
{
    (void)state;
    static const struct {
        double eta;
        float kv;
        bool reused;
    } cases[] = {{.56, 1, true}, {.57, 1, false}, {.8, .9f, true}, {.8, 1, false}, {1, 0, true}};
    static const float importance[] = {1, .5f, .25f};
    static const int8_t queries[2][3][2] = {{{5, 0}, {5, 0}, {5, 0}}, {{3, 4}, {12, 5}, {7, 24}}};
    static const uint32_t units[] = {3, 7, 1};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const double values[4] = {cases[c].eta, 3, 1, 0};
        struct policy *policy = create("qsac", values,
                                       (struct policy_env){.blocks = BLOCKS,
                                                           .capacity = 3,
                                                           .wanted = 3,
                                                           .query_heads = 3,
                                                           .head_dim = 2,
                                                           .importance = importance,
                                                           .kv_importance = &cases[c].kv});
        struct outcome outcome;
        for (size_t step = 0; step < 2; step++) {
            struct demand demand = {.units = units,
                                    .mass = no_mass,
                                    .wanted = 3,
                                    .recorded = 3,
                                    .query = &queries[step][0][0],
                                    .query_heads = 3,
                                    .head_dim = 2,
                                    .query_stride = 1};
            policy_access(policy, &demand, &outcome);
        }
        print_message("# case %zu\n", c);
        assert_int_equal(outcome.reused, cases[c].reused);
        policy_destroy(policy);
    }
}

static void queries_reuse_and_miss_as_worked_by_hand(void **state)
{
    (void)state;
    static const uint32_t units[] = {3, 7, 1};
    for (size_t c = 0; c < sizeof query_cases / sizeof *query_cases; c++) {
        const struct query_case *worked = &query_cases[c];
        struct policy *policy = create("qsac", worked->values,
                                       (struct policy_env){.blocks = BLOCKS,
                                                           .capacity = 3,
                                                           .wanted = 3,
                                                           .query_heads = worked->heads,
                                                           .head_dim = 2,
                                                           .importance = worked->importance});
        for (size_t step = 0; worked->expected[step]; step++) {
            bool hit = worked->expected[step] == 'h';
            struct demand demand = {.units = units,
                                    .mass = no_mass,
                                    .wanted = 3,
                                    .recorded = 3,
                                    .query = &worked->query[step][0][0],
                                    .query_heads = worked->heads,
                                    .head_dim = 2,
                                    .query_stride = 1};
            struct outcome outcome;
            policy_access(policy, &demand, &outcome);
            if (outcome.reused != hit) {
                fail_msg("%s: step %zu is a %s", worked->claim, step, hit ? "miss" : "hit");
            }
            assert_int_equal(outcome.hit, hit ? 3 : 0);
            assert_int_equal(outcome.missed, hit ? 0 : 3);
            assert_int_equal(outcome.admitted, hit ? 0 : 3);
            assert_int_equal(outcome.evicted, hit || step == 0 ? 0 : 3);
            assert_int_equal(outcome.lookups, worked->heads);
            assert_int_equal(outcome.updates, hit ? 0 : worked->heads);
            assert_int_equal(outcome.inserts, hit ? 0 : 3);
        }
        policy_destroy(policy);
    }
}

static void fetching_attends_to_the_mass_that_is_wanted(void **state)
{
    (void)state;
    const uint32_t units[] = {4, 2, 5, 1, 0, 3};
    struct demand demand = {
        .units = units, .mass = no_mass, .wanted = 5, .recorded = 6, .wanted_mass = .875f};
    const char *const names[] = {"none", "lru", "fifo"};
    for (size_t p = 0; p < 3; p++) {
        struct policy *policy =
            create(names[p], NULL, (struct policy_env){.blocks = 6, .capacity = 2, .wanted = 5});
        for (uint32_t step = 0; step < 3; step++) {
            struct outcome outcome;
            policy_access(policy, &demand, &outcome);
            assert_float_equal(outcome.attended.mass, .875, 1e-6);
        }
        policy_destroy(policy);
    }
}

/* Mass codes 10, 20, 30 are a half, a quarter, an eighth. */
static void reuse_attends_to_the_mass_of_the_old_set(void **state)
{
    (void)state;
    const int8_t query[] = {5, 0};
    const uint32_t fetched[] = {0, 1, 9};
    const uint32_t now[] = {2, 0, 3, 1, 4}; /* 0 is wanted now, 1 recorded, 9 neither */
    const uint8_t mass[] = {10, 20, 30, 30, 30};
    struct policy *policy =
        create("qsac", NULL,
               (struct policy_env){
                   .blocks = 10, .capacity = 3, .wanted = 3, .query_heads = 1, .head_dim = 2});
    struct demand demand = {.units = fetched,
                            .mass = mass,
                            .wanted = 3,
                            .recorded = 3,
                            .wanted_mass = .875f,
                            .query = query,
                            .query_heads = 1,
                            .head_dim = 2,
                            .query_stride = 1};
    struct outcome outcome;
    policy_access(policy, &demand, &outcome);
    assert_float_equal(outcome.attended.mass, .875, 1e-6);
    demand.units = now;
    demand.recorded = 5;
    policy_access(policy, &demand, &outcome);
    assert_true(outcome.reused);
    assert_float_equal(outcome.attended.mass, .25 + .125, 1e-6);
    policy_destroy(policy);
}

/* A step of a policy that weighs: blocks as letters, what they weigh (a: a half, b: a quarter, c:
 * an eighth), and how many of them are wanted. Blocks A and F are in the window of others. */
struct weight_step {
    const char *letters, *weights;
    uint32_t wanted;
    uint32_t expected[4]; /* hit, missed, for the CPU, held */
    double mass, born_lost;
};

static void weigh_steps(const char *name, const double *values, uint32_t capacity, double decoded,
                        double born, const struct weight_step *steps, size_t count)
{
    struct policy *policy = create(name, values,
                                   (struct policy_env){.blocks = 6,
                                                       .capacity = capacity,
                                                       .wanted = 3,
                                                       .sinks = 1,
                                                       .recent = 1,
                                                       .warmup = 2,
                                                       .decoded = decoded,
                                                       .born = born});
    for (size_t s = 0; s < count; s++) {
        uint32_t units[ROW_MOST], length = (uint32_t)strlen(steps[s].letters);
        uint8_t mass[ROW_MOST];
        struct demand demand = letters_demand(steps[s].letters, length, units);
        demand.wanted = steps[s].wanted;
        demand.mass = mass;
        for (uint32_t i = 0; i < length; i++) {
            mass[i] = (uint8_t)(10 * (steps[s].weights[i] - 'a' + 1));
            demand.wanted_mass += i < demand.wanted ? trace_mass[mass[i]] : 0;
        }
        struct outcome out;
        policy_access(policy, &demand, &out);
        uint32_t found[] = {out.hit, out.missed, out.for_cpu, policy->held};
        for (size_t i = 0; i < 4; i++) {
            if (found[i] != steps[s].expected[i]) {
                fail_msg("%s, step %zu, figure %zu: %u, not %u", name, s, i, found[i],
                         steps[s].expected[i]);
            }
        }
        assert_float_equal(out.attended.mass, steps[s].mass, 1e-6);
        assert_float_equal(out.born_lost, steps[s].born_lost, 1e-6);
    }
    policy_destroy(policy);
}

/* Room for two: the last, E, and one more. Sums of two steps: B 1/2, C 1/4 + 1/4, D 1/8. */
static void heavy_hitters_stay_and_the_rest_is_gone(void **state)
{
    (void)state;
    const double values[] = {.5, 1};
    const struct weight_step steps[] = {
        {"BC", "ab", 2, {0, 2, 0, 0}, .75, 0},
        {"CD", "bc", 1, {0, 1, 0, 2}, .25, 0},
        {"BCE", "abc", 3, {2, 0, 0, 2}, .375, 0},
        {"BDC", "aac", 2, {2, 0, 0, 2}, .125, 0},
    };
    weigh_steps("heavy-hitter", values, 2, 0, 0, steps, 4);
}

/* Room for three, of which two places are for the last; half a block is born at each step. At the
 * end of the warm-up one of these places has born tokens, the other E. C weighs as much as B and
 * comes later: it stays. Two steps on, both places have born tokens: E has to be heavier than C,
 * and goes. Then more are born than two places hold: of 2 1/2 blocks, 1/2 may be lost. */
static void tokens_born_push_out_the_last_ones(void **state)
{
    (void)state;
    const double values[] = {.67, 1}, beside[] = {.67, 0};
    const struct weight_step steps[] = {
        {"BC", "ab", 2, {0, 2, 0, 0}, .75, 0},     {"CD", "bb", 2, {0, 2, 0, 3}, .5, 0},
        {"BCE", "abc", 3, {3, 0, 0, 3}, .375, 0},  {"CEB", "aab", 3, {3, 0, 0, 3}, .5, 0},
        {"EDC", "abc", 3, {3, 0, 0, 3}, .125, .2},
    };
    weigh_steps("heavy-hitter", values, 3, 0, .5, steps, 5);
    const struct weight_step stay[] = {
        {"BC", "ab", 2, {0, 2, 0, 0}, .75, 0},    {"CD", "bb", 2, {0, 2, 0, 3}, .5, 0},
        {"BCE", "abc", 3, {3, 0, 0, 3}, .375, 0}, {"CEB", "aab", 3, {3, 0, 0, 3}, 1, 0},
        {"EDC", "abc", 3, {3, 0, 0, 3}, .875, 0},
    };
    weigh_steps("heavy-hitter", beside, 3, 0, .5, stay, 5);
    const struct weight_step all[] = {
        {"BC", "ab", 2, {0, 2, 0, 0}, .75, 0},
        {"CD", "bb", 2, {0, 2, 0, 4}, .5, 0},
        {"BCE", "abc", 3, {4, 0, 0, 4}, .875, 0},
        {"CEB", "aab", 3, {4, 0, 0, 4}, 1.25, 0},
    };
    weigh_steps("heavy-hitter", values, 4, 0, .5, all, 4); /* nothing is dropped */
}

/* D and E are the window: what the CPU keeps of B and C weighs over 1/2. First it attends to B and C alone,
 * 2/3 and 1/3. Then to C and half of the quarter that is not recorded, B's or E's: 4/5, so that the
 * averages are 1/3 and 17/30, and C is kept. By itself it weighs 1 and rises to 47/60 while B stays
 * as it is; at the next prompt, two steps on, B weighs 8/11 beside half of what is not recorded,
 * and C nothing: 35/66 and 47/120. B is kept. */
static void the_cpu_keeps_what_weighs_enough(void **state)
{
    (void)state;
    const double values[] = {.5, 1, 2};
    const struct weight_step steps[] = {
        {"BC", "ab", 2, {2, 0, 2, 2}, .75, 0},    {"CD", "ab", 2, {2, 0, 2, 2}, .75, 0},
        {"BDC", "bcc", 3, {2, 0, 1, 2}, .25, 0},  {"BE", "ac", 1, {2, 0, 2, 2}, .625, 0},
        {"BCE", "abc", 2, {2, 0, 1, 2}, .625, 0},
    };
    weigh_steps("window-maw", values, 2, 0, 0, steps, 5);
}

/* D and E are the window; B and C left it in decode, where a block was kept that weighed over a quarter, an
 * even share of the window and its A and F. D, the window's oldest, stands for both: it weighs 4/5 of
 * what the GPU attends to, then 2/7, in the mean 19/35. Both are kept, though B is far below the even
 * share of the two that a prompt would ask for. Where D weighs nothing, neither is. */
static void what_left_in_decode_was_weighed_in_the_window(void **state)
{
    (void)state;
    const double values[] = {.5, 1, 0};
    const struct weight_step heavy[] = {
        {"DB", "ab", 2, {2, 0, 2, 2}, .75, 0},
        {"CD", "bc", 2, {2, 0, 2, 2}, .375, 0},
        {"CB", "ab", 2, {2, 0, 2, 2}, .75, 0},
    };
    weigh_steps("window-maw", values, 2, 2, 0, heavy, 3);
    const struct weight_step light[] = {
        {"EB", "ab", 2, {2, 0, 2, 2}, .75, 0},
        {"CE", "bc", 2, {2, 0, 2, 2}, .375, 0},
        {"CB", "ab", 2, {2, 0, 0, 2}, 0, 0},
    };
    weigh_steps("window-maw", values, 2, 2, 0, light, 3);
}

struct refusal {
    const char *policy;
    double values[4];
    struct policy_env env;
    const char *found;
};

static const float too_important[] = {1.5f};

static const struct refusal refusals[] = {
    {"lru",
     {0},
     {.blocks = 4, .capacity = 5},
     "the cache has room for 5 blocks, but there are only 4"},
    {"lru", {0}, {.blocks = UINT32_MAX}, "4294967295 blocks are too many for a cache"},
    {"arc", {0}, {.blocks = 1u << 29}, "536870912 blocks are too many for a cache"},
    {"lfu", {0}, {.blocks = UINT32_MAX}, "4294967295 blocks are too many for a cache"},
    {"heavy-hitter",
     {1.5},
     {.blocks = 4, .capacity = 4},
     "parameter 'recent' is 1.5, out of range for policy 'heavy-hitter'"},
    {"window-maw", {.1, 1, .5}, {.blocks = 4, .capacity = 4}, "policy 'window-maw' has append 0.5"},
    {"window-maw",
     {.1, .2, 0},
     {.blocks = 4, .capacity = 4},
     "parameter 'beta' is 0.2, out of range for policy 'window-maw'"},
    {"opt", {0}, {.blocks = 4, .capacity = 4}, "policy 'opt' needs to know the future"},
    {"qsac",
     {.8, 3, 1, 0},
     {.blocks = 4, .capacity = 4},
     "policy 'qsac' compares queries, but the trace has no queries"},
    {"qsac",
     {.8, 3, 1, 0},
     {.blocks = 9, .capacity = 4, .wanted = 5, .query_heads = 1},
     "policy 'qsac' has a cache of 4 blocks, but a head wants 5"},
    {"qsac",
     {1.1, 3, 1, 0},
     {.query_heads = 1},
     "parameter 'eta' is 1.1, out of range for policy 'qsac'"},
    {"qsac",
     {.8, -1, 1, 0},
     {.query_heads = 1},
     "parameter 'power' is -1, out of range for policy 'qsac'"},
    {"qsac", {.8, 3, 1, .5}, {.query_heads = 1}, "policy 'qsac' has adaptive 1, aggregate 0.5"},
    {"qsac",
     {.8, 3, 1, 0},
     {.query_heads = 1, .importance = too_important},
     "the importance of a head is 1.5"},
};

static void impossible_settings_are_refused(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof refusals / sizeof *refusals; c++) {
        struct error why;
        const struct policy_kind *kind = policy_find(refusals[c].policy, NULL, 0, &why);
        assert_null(policy_create(kind, refusals[c].values, &refusals[c].env, &why));
        assert_string_equal(why.found, refusals[c].found);
    }
}

static void an_unknown_policy_names_the_nearest(void **state)
{
    (void)state;
    struct error why;
    assert_null(policy_find("lur", "a.yaml", 3, &why));
    assert_string_equal(why.found, "unknown policy 'lur'");
    assert_string_equal(why.nearest, "lru");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_hit_and_miss_as_worked_by_hand),
        cmocka_unit_test(every_policy_has_a_case),
        cmocka_unit_test(managers_do_what_was_counted_by_hand),
        cmocka_unit_test(s3fifo_moves_blocks_only_when_it_evicts),
        cmocka_unit_test(next_uses_are_numbered_worst_first),
        cmocka_unit_test(queries_reuse_and_miss_as_worked_by_hand),
        cmocka_unit_test(the_aggregate_weighs_query_heads_and_the_threshold_the_kv_head),
        cmocka_unit_test(fetching_attends_to_the_mass_that_is_wanted),
        cmocka_unit_test(reuse_attends_to_the_mass_of_the_old_set),
        cmocka_unit_test(heavy_hitters_stay_and_the_rest_is_gone),
        cmocka_unit_test(tokens_born_push_out_the_last_ones),
        cmocka_unit_test(the_cpu_keeps_what_weighs_enough),
        cmocka_unit_test(what_left_in_decode_was_weighed_in_the_window),
        cmocka_unit_test(impossible_settings_are_refused),
        cmocka_unit_test(an_unknown_policy_names_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
