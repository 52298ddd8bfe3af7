/* What a CPU pool attends to: heads dealt to tasks and padded, over a batch as one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "decode/replay/ledger.h"
#include "decode/replay/replay.h"
#include "unit/fixture/make_trace.h"

enum { MOST_HEADS = 12, MOST_SEQUENCES = 40 };

struct pad_case {
    uint64_t tokens[MOST_HEADS];
    uint32_t heads;
    uint64_t each, padded, worst;
};

static const struct pad_case pad_cases[] = {
    {{5, 2, 3, 7, 1, 1}, 6, 2, 26, 14},   /* 5 5 | 7 7 | 1 1 */
    {{5, 2, 3, 7, 1, 1}, 6, 1, 19, 7},    /* a task each: nothing is padded */
    {{5, 2, 3, 7, 1}, 5, 3, 15 + 14, 15}, /* 5 5 5 | 7 7 */
    {{5, 2, 3, 7, 1, 1}, 6, 6, 42, 42},   /* one task */
    {{5, 2, 3, 7, 1, 1}, 6, 12, 42, 84},  /* of two sequences that are alike */
    {{0, 0, 4, 0}, 4, 2, 8, 8},           /* an empty task is none */
    {{9}, 1, 1, 9, 9},
};

static void tasks_are_padded_to_their_longest_head(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pad_cases / sizeof *pad_cases; i++) {
        const struct pad_case *worked = &pad_cases[i];
        uint64_t padded, worst;
        cpu_heads_pad(worked->tokens, worked->heads, worked->each, &padded, &worst);
        assert_int_equal(padded, worked->padded);
        assert_int_equal(worst, worked->worst);
    }
}

static void threads_share_pairs_evenly(void **state)
{
    (void)state;
    assert_int_equal(cpu_heads_each(8, 64), 1);
    assert_int_equal(cpu_heads_each(64, 64), 1);
    assert_int_equal(cpu_heads_each(65, 64), 2);
    assert_int_equal(cpu_heads_each(512, 64), 8);
    assert_int_equal(cpu_heads_each(0, 64), 1);
}

/* Sequences of equal heads: their tasks are those of all pairs in a row, dealt naively, wherever a
 * task holds whole sequences or a whole part of one. */
static void sequences_alike_are_dealt_as_pairs_in_a_row(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct error why;
        gsl_rng *random = random_stream(seed, "test.cpu_heads", 0, &why);
        uint32_t heads = 1 + (uint32_t)gsl_rng_uniform_int(random, MOST_HEADS);
        uint32_t sequences = 1 + (uint32_t)gsl_rng_uniform_int(random, MOST_SEQUENCES);
        uint64_t tokens[MOST_HEADS], padded, worst, all = 0, longest_task = 0;
        for (uint32_t i = 0; i < heads; i++) {
            tokens[i] = gsl_rng_uniform_int(random, 100);
        }
        uint64_t threads = 1 + gsl_rng_uniform_int(random, 2 * heads * sequences);
        uint64_t each = cpu_heads_each((uint64_t)heads * sequences, threads);
        gsl_rng_free(random);
        if (each > heads ? each % heads != 0 || sequences % (each / heads) != 0
                         : heads % each != 0) {
            continue;
        }
        for (uint64_t first = 0; first < (uint64_t)heads * sequences; first += each) {
            uint64_t longest = 0;
            for (uint64_t pair = first; pair < first + each; pair++) {
                uint64_t length = tokens[pair % heads];
                longest = length > longest ? length : longest;
            }
            all += longest * each;
            longest_task = longest * each > longest_task ? longest * each : longest_task;
        }
        cpu_heads_pad(tokens, heads, each, &padded, &worst);
        if (padded * sequences != all || worst != longest_task) {
            fail_msg("seed %d: %llu padded, worst %llu; naively %llu, %llu", (int)seed,
                     (unsigned long long)(padded * sequences), (unsigned long long)worst,
                     (unsigned long long)all, (unsigned long long)longest_task);
        }
    }
}

/* ---- in a replay ----------------------------------------------------------------------------- */

/* A policy that holds nothing and keeps for the CPU the recorded units of even number. */
static void even_access(struct policy *policy, const struct demand *demand, struct outcome *outcome)
{
    (void)policy;
    for (uint32_t i = 0; i < demand->recorded; i++) {
        outcome->for_cpu += demand->units[i] % 2 == 0;
    }
}

static const struct policy_kind even = {
    .name = "even",
    .chooses_own = true,
    .names_for_cpu = true,
    .size = sizeof(struct policy),
    .access = even_access,
};

static char folder[32];

static int enter_folder(void **state)
{
    (void)state;
    make_folder(folder);
    return 0;
}

static int leave_folder(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

enum { LAYERS = 3, HEADS = 5, WARMUP = 2, STEPS = 5 };

static struct ledger run_heads(const struct trace *trace, const struct replay_head *heads,
                               uint32_t batch, uint32_t threads)
{
    struct error why;
    struct ledger ledger;
    const struct replay_plan plan = {.layers = LAYERS,
                                     .kv_heads = HEADS,
                                     .batch = batch,
                                     .context = 400,
                                     .heads = heads,
                                     .policy = &even,
                                     .selection = 1, /* the trace keeps less */
                                     .manager_unit = 1,
                                     .warmup = WARMUP,
                                     .steps = STEPS,
                                     .cpu_threads = threads};
    ledger_init(&ledger);
    make_check(replay_run(trace, &plan, 1, &ledger, &why), &why);
    return ledger;
}

/* A head by itself, in a batch of one: what it keeps at each step. */
static void read_head(const struct trace *trace, uint32_t layer, uint32_t head,
                      uint64_t kept[STEPS])
{
    struct replay_head heads[LAYERS * HEADS] = {0};
    heads[layer * HEADS + head].offloaded = true;
    struct ledger ledger = run_heads(trace, heads, 1, 1);
    for (uint32_t s = 0; s < STEPS; s++) {
        const struct ledger_row *row = &ledger.rows[s * LAYERS + layer];
        kept[s] = row->for_cpu;
        assert_int_equal(row->wanted, row->for_cpu);
        assert_int_equal(row->for_cpu_padded, row->for_cpu);
    }
    ledger_release(&ledger);
}

static void check_layer(const struct trace *trace, uint32_t layer, const struct replay_head *heads,
                        uint32_t batch, uint32_t threads)
{
    uint64_t kept[HEADS][STEPS];
    uint32_t count = 0;
    for (uint32_t head = 0; head < HEADS; head++) {
        if (heads[layer * HEADS + head].offloaded) {
            read_head(trace, layer, head, kept[count++]);
        }
    }
    struct ledger ledger = run_heads(trace, heads, batch, threads);
    uint64_t each = cpu_heads_each((uint64_t)count * batch, threads);
    for (uint32_t s = 0; s < STEPS; s++) {
        uint64_t all = 0, all_padded = 0, longest = 0;
        for (uint32_t b = 0; b < batch; b++) {
            uint64_t tokens[HEADS], padded, worst;
            for (uint32_t i = 0; i < count; i++) {
                tokens[i] = kept[i][(s + b * STEPS / batch) % STEPS];
                all += tokens[i];
            }
            cpu_heads_pad(tokens, count, each, &padded, &worst);
            all_padded += padded;
            longest = worst > longest ? worst : longest;
        }
        const struct ledger_row *row = &ledger.rows[s * LAYERS + layer];
        assert_int_equal(row->for_cpu, all);
        assert_int_equal(row->for_cpu_padded, all_padded);
        assert_int_equal(row->for_cpu_worst, longest);
        assert_true(row->for_cpu_padded >= row->for_cpu);
        assert_int_equal(row->wanted, row->hit + row->missed + row->for_cpu);
    }
    ledger_release(&ledger);
}

static void a_batch_is_padded_as_its_sequences_one_by_one(void **state)
{
    static const uint32_t batches[] = {1, 2, 3, 7, 12}, threads[] = {1, 4, 64};
    struct trace_header header = make_header();
    char path[64];
    struct error why;
    (void)state;
    header.sequences = 1;
    header.layers = 2;
    header.kv_heads = 2;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        make_trace(&header, make_path(folder, "random.swt", path), seed);
        struct trace *trace = trace_open(path, &why);
        make_check(trace != NULL, &why);
        struct replay_head heads[LAYERS * HEADS];
        for (uint32_t i = 0; i < LAYERS * HEADS; i++) {
            heads[i] = (struct replay_head){.offloaded = i % 4 != 3, .importance = 1};
        }
        for (size_t i = 0; i < 15; i++) {
            check_layer(trace, (uint32_t)(i % LAYERS), heads, batches[i % 5], threads[i / 5]);
        }
        trace_close(trace);
    }
}

/* Half of 1000 tokens lie in the window. Of the others two heads keep a fifth on average, one more
 * than the other: in tasks of two the CPU pads them to the longer. */
static void assumed_heads_keep_what_does_not_hit(void **state)
{
    static const struct replay_head both[] = {{.offloaded = true, .importance = 1},
                                              {.offloaded = true, .importance = 1}};
    const struct replay_plan plan = {.layers = 1,
                                     .kv_heads = 2,
                                     .batch = 6,
                                     .context = 1000,
                                     .heads = both,
                                     .policy = &even,
                                     .selection = 1,
                                     .capacity = .5,
                                     .manager_unit = 1,
                                     .steps = 2,
                                     .cpu_threads = 6};
    struct ledger ledger;
    struct error why;
    (void)state;
    ledger_init(&ledger);
    make_check(replay_assumed(.8, .2, 1, &plan, &ledger, &why), &why);
    const struct ledger_row *row = &ledger.rows[1];
    assert_int_equal(row->hit, 12 * 500);
    assert_int_equal(row->missed, 0);
    assert_int_equal(row->for_cpu, 12 * 100); /* a fifth of 500 */
    assert_int_equal(row->wanted, row->hit + row->for_cpu);
    assert_true(row->for_cpu_padded > row->for_cpu);
    assert_int_equal(row->for_cpu_padded % 12, 0); /* six times two heads as long as the longer */
    assert_int_equal(row->for_cpu_worst, row->for_cpu_padded / 6);
    ledger_release(&ledger);
    make_check(replay_assumed(.8, 0, 1, &plan, &ledger, &why), &why);
    assert_int_equal(ledger.rows[0].for_cpu_padded, 12 * 100);
    ledger_release(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_padded_to_their_longest_head),
        cmocka_unit_test(threads_share_pairs_evenly),
        cmocka_unit_test(sequences_alike_are_dealt_as_pairs_in_a_row),
        cmocka_unit_test(a_batch_is_padded_as_its_sequences_one_by_one),
        cmocka_unit_test(assumed_heads_keep_what_does_not_hit),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
