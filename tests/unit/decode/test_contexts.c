/* Batches that mix contexts: the key `contexts`, a schedule worked out by hand, and what holds of
 * any mixture beside runs of its contexts alone. */
#include "unit/fixture/expected_times.h"

#include "core/named.h"
#include "predict/decode/run.h"
#include "predict/scenario/point.h"

/* ---- the key --------------------------------------------------------------------------------- */

static const struct {
    const char *contexts, *batch;
    uint32_t sequences; /* SETUP_BATCH_MAX: as many as fit */
    const char *cohorts;
} readings[] = {
    {"[4K, 128K, 131072]", "", 3, "4096x1 131072x2"},
    {"[131072, 4096tok, 128K]", "3", 3, "4096x1 131072x2"},
    {"{128K: 2, 4K: 1}", "", 3, "4096x1 131072x2"},
    {"{128K: 2, 4K: 1, 131072: 3}", "6", 6, "4096x1 131072x5"},
    {"{4K: 25%, 128K: 75%}", "8", 8, "4096x2 131072x6"},
    {"{4K: 33.3%, 8K: 66.7%}", "4", 4, "4096x1 8192x3"},
    {"{1K: 33.333%, 2K: 33.333%, 3K: 33.334%}", "7", 7, "1024x2 2048x2 3072x3"},
    {"{4K: 6, 128K: 2}", "max", SETUP_BATCH_MAX, "4096x3 131072x1"},
    {"{4K: 75%, 128K: 25%}", "max", SETUP_BATCH_MAX, "4096x3 131072x1"},
    {"[1000, 1000, 1000]", "", 3, "1000x1"},
    {"{1000: 100%}", "5", 5, "1000x1"},
    {"{1000: 7}", "max", SETUP_BATCH_MAX, "1000x1"},
};

static void contexts_are_counted_and_sorted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(readings); i++) {
        char contexts[128], batch[32], text[128] = "";
        snprintf(contexts, sizeof contexts, "contexts=%s", readings[i].contexts);
        snprintf(batch, sizeof batch, "batch=%s", readings[i].batch);
        print_message("# %s %s\n", contexts, batch);
        struct setup setup = SETUP("context=", contexts, batch);
        for (uint32_t c = 0; c < setup_cohort_count(&setup); c++) {
            struct setup_cohort cohort = setup_cohort(&setup, c);
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%llux%u", c > 0 ? " " : "",
                     (unsigned long long)cohort.context, cohort.sequences);
        }
        assert_string_equal(text, readings[i].cohorts);
        assert_int_equal(setup.batch, readings[i].sequences);
        setup_release(&setup);
    }
}

static const struct {
    const char *overrides[5], *message;
} refusals[] = {
    {{"contexts=[4K, 8K]"}, "both 'context' and 'contexts' are given"},
    {{"context=", "contexts=4K"}, "'contexts' must be"},
    {{"context=", "contexts=[]"}, "'contexts' must be"},
    {{"context=", "contexts={}"}, "'contexts' must be"},
    {{"context=", "contexts=[4K, 8K]", "batch=3"}, "'batch' is 3, but 'contexts' has 2"},
    {{"context=", "contexts={4K: 1, 8K: 3}", "batch=3"}, "'batch' is 3, but 'contexts' has 4"},
    {{"context=", "contexts=[4K, 8K]", "batch=max"}, "'contexts' lists"},
    {{"context=", "contexts=[4K, {8K: 1}]"}, "'contexts' has an item"},
    {{"context=", "contexts=[4K, 0]"}, "0 tokens"},
    {{"context=", "contexts=[4K, many]"}, "'many'"},
    {{"context=", "contexts={4K: 0, 8K: 1}"}, "'0'"},
    {{"context=", "contexts={4K: 1.5, 8K: 1}"}, "'1.5'"},
    {{"context=", "contexts={4K: 3x, 8K: 1}"}, "'3x'"},
    {{"context=", "contexts={4K: [1], 8K: 1}"}, "'4K'"},
    {{"context=", "contexts={4K: 50%, 8K: 1}"}, "'contexts' mixes"},
    {{"context=", "contexts={4K: 50%, 8K: 40%}", "batch=10"},
     "the shares of 'contexts' add up to 90 %"},
    {{"context=", "contexts={4K: 50%, 8K: 50%}"}, "'contexts' has shares, but 'batch'"},
    {{"context=", "contexts={4K: 1%, 8K: 99%}", "batch=10"}, "none of 10 sequences has 4096"},
    {{"context=", "contexts={4K: 900000, 8K: 900000}"},
     "'contexts' has more than 1048576 sequences"},
    {{"context=", "contexts=[4K, 8K]", "prompt=1000"}, "'contexts' differ"},
    {{"context=", "contexts=[100, 8K]", "prompt=context", "output=200"},
     "a context of 100 tokens leaves no prompt"},
};

static void contradictions_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct setup setup;
        struct error why;
        if (try_setup(refusals[i].overrides, &setup, &why) ||
            strstr(message_of(&why), refusals[i].message) == NULL) {
            fail_msg("%s: '%s', not '%s'", refusals[i].overrides[1], message_of(&why),
                     refusals[i].message);
        }
    }
}

static void too_many_different_contexts_are_refused(void **state)
{
    char contexts[2048] = "contexts=[1";
    struct setup setup;
    struct error why;
    (void)state;
    for (int i = 2; i <= SETUP_MOST_COHORTS + 1; i++) {
        size_t used = strlen(contexts);
        snprintf(contexts + used, sizeof contexts - used, ", %d", i);
    }
    strcat(contexts, "]");
    assert_false(try_setup(OVERRIDES("context=", contexts), &setup, &why));
    assert_non_null(strstr(message_of(&why), "'contexts' has more than 128"));
}

/* Prompts are what lies before half of the output. */
static void prompts_follow_from_contexts(void **state)
{
    (void)state;
    struct setup setup =
        SETUP("context=", "contexts=[1000, 3000, 3000]", "prompt=context", "output=201");
    assert_int_equal(setup.cohorts[0].prompt, 899);
    assert_int_equal(setup.cohorts[1].prompt, 2899);
    assert_int_equal(setup.context, 2333);
    setup_release(&setup);
    setup = SETUP("context=1000", "prompt=context", "output=200");
    assert_int_equal(setup.prompt, 900);
    setup_release(&setup);
}

static void check_same_run(const char *const *a, const char *const *b)
{
    struct point first = make_point(a), second = make_point(b);
    char run[17], other[17];
    struct error why;
    assert_true(run_identity(&first, run, &why) && run_identity(&second, other, &why));
    assert_string_equal(run, other);
    assert_string_equal(first.scenario, second.scenario);
    point_release(&first);
    point_release(&second);
}

/* Not only as good as the plain run: the same one. */
static void equal_contexts_are_the_plain_run(void **state)
{
    (void)state;
    check_same_run(OVERRIDES("context=", "contexts=[9000, 9000]"),
                   OVERRIDES("context=9000", "batch=2"));
    check_same_run(OVERRIDES("context=", "contexts={9000: 100%}", "batch=max"),
                   OVERRIDES("context=9000", "batch=max"));
    check_same_run(OVERRIDES("contexts=", "batch=1"), OVERRIDES(NULL));
}

static void order_of_contexts_says_nothing(void **state)
{
    (void)state;
    check_same_run(OVERRIDES("context=", "contexts=[9000, 8K, 9000]"),
                   OVERRIDES("context=", "contexts=[8K, 9000, 9000]"));
    check_same_run(OVERRIDES("context=", "contexts=[9000, 8K, 9000]"),
                   OVERRIDES("context=", "contexts={9000: 2, 8192: 1}", "batch=3"));
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* Attention is as long as the tokens of both, 80 + 8 * 1500; the rest as in test_pipeline.c for two
 * sequences. */
static void attention_reads_the_tokens_of_each(void **state)
{
    const struct expected_times expected = {
        .step = 25000 + 2 * (28404 + 12080 + 140820) + 20340,
        .parts = {[PART_COMPUTE] = 382948, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {181304, 181304},
    };
    (void)state;
    check(2, "mechanisms={resident_heads: all, operators: 8, launch: graph}",
          OVERRIDES("context=", "contexts=[1000, 500]"), &expected);
}

/* RetroInfer's shape, of which test_pipeline.c works out a sequence of 1600 tokens: here beside one
 * of 3200, on 8 cores. Of 104 and 200 clusters 10 and 20 are wanted by each of 4 heads, 160 and 320
 * tokens, and half of them hit: 960 tokens are missed, 192000 B, by the worst head 160.
 *
 *   retrieve  (104 + 200) * 4 centroids of 256 B, 3112.96 ns, and top-k 10000: 13113
 *   ids       2000 + 8 B * (10 + 20) * 4 at 10 B/ns: 2096
 *   lookup    waking 8 threads 2000, or 1, 8 jobs of 10 or 20 lookups * 100 and the caller: 2500
 *   estimate  (26 + 50) * 4 * 200 B, 608 ns: no shorter than 1000
 *   transfer  1000, then 192000 B at 8 B/ns: 25000; the worst head's 32000 B at 4 B/ns take less
 *   hits      384000 B read and written: 3840 alone. The loads hold 32 CTAs of 256 threads, a
 *             quarter of 16 SMs with 2048: a third longer beside them, 5120
 *   attend    2 * 40 + 8 * (160 + 320) = 3920
 *   update    waking 1 thread, 7 others 1750, or 1, 8 jobs of 10 or 20 updates * 200 and the
 *             caller: 4750
 *   admit     the longer heads' 32000 B by a CTA of 1 B/ns each: 32000
 *   writeback 2000 + 1600 B at 10 B/ns, beside the edge, which it costs 16 ns of HBM
 *
 *  launch  token 20000, pre 21000 (23000), retrieve 24000 (26000), sync 64613-84613, estimate
 *          85613, wakes all 87613, woken from the lookup 88113, wakes one 88363, transfer 89363, hits
 *          90363, attend 91363, woken from the update 92863, admit 93863, post 94863, ...
 *  main    pre 21000-49404, retrieve -62517, estimate 85613-86613, hits 90363-95483, attend
 *          114363-118283, admit -150283, post -291103, edge -311459
 *  d2h     ids 62517-64613
 *  pool    woken 85863, lookup -87863; woken 88613, update -92613
 *  side    transfer 89363-114363
 *
 * The step goes back over edge, post, admit, attend, transfer, its launch, the update's waking,
 * lookup, its waking, the estimate's launch, sync, ids, retrieve, pre, its launch and the token. */
static void the_longest_decide_where_pairs_work_side_by_side(void **state)
{
    const struct expected_times expected = {
        .step = 311459,
        .parts = {[PART_COMPUTE] = 28404 + 3920 + 140820 + 20356,
                  [PART_RETRIEVAL] = 13113,
                  [PART_LAUNCH] = 3000,
                  [PART_SYNC] = 22096,
                  [PART_LOOKUP] = 2000,
                  [PART_HANDOFF] = 750,
                  [PART_LINK] = 25000,
                  [PART_MERGE] = 32000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 4000,
                   [PART_SYNC] = 22096,
                   [PART_LOOKUP] = 1250,
                   [PART_HANDOFF] = 500,
                   [PART_LINK] = 18880,
                   [PART_OVERHEAD] = 20000},
        .layers = {270103},
        .in = 192000,
        .out = 960 + 1600,
    };
    (void)state;
    check(1,
          "mechanisms={policy: lru, budget: 3x, granularity: 16tok, sinks: 0tok, recent: 0tok,"
          " selection: 10%, retrieval: clusters, retrieval_bytes: 256B, retrieval_tokens: 16tok,"
          " retrieval_kernels: 3, estimation: 25%, manager: cpu, update: blocking,"
          " transfer: sm-zero-copy, transfer_ctas: 4, merge: yes, sync: cpu, syncs: 1,"
          " operators: 8}",
          OVERRIDES("context=", "contexts=[3200, 1600]", "trace=assumed:hit=50%",
                    "hardware.host.cores=8", "hardware.host.pool_wake=250ns"),
          &expected);
}

/* Micro-batches of at most 2000 tokens: the one of 1500 with one of 500, then three of 500. What
 * crosses for each is its own tokens' KV, and buffers hold the larger. */
static void micro_batches_hold_their_own_tokens(void **state)
{
    (void)state;
    struct setup setup =
        make_tiny(2,
                  "mechanisms={prefetch: whole-layer, micro_batch: balanced, sinks: 0tok,"
                  " recent: 0tok, micro_batch_tokens: 2000tok, operators: 8}",
                  OVERRIDES("context=", "contexts=[500, 500, 1500, 500, 500]"));
    struct course course;
    make_course(&setup, &course);
    const struct packing *packing = &course.plan.micro_batches;
    assert_int_equal(packing->count, 2);
    assert_memory_equal(packing_of(packing, 0), ((const uint32_t[]){1, 1}), 8);
    assert_memory_equal(packing_of(packing, 1), ((const uint32_t[]){3, 0}), 8);
    assert_int_equal(course.plan.memory.in[TIER_GPU].buffers, 2 * 2000 * 800);
    assert_int_equal(course.timing.step[0].moved[WAY_IN], 2 * 3500 * 800);
    double bytes[2] = {0};
    for (engine_task_id task = 0; task < engine_task_count(course.pipe.engine); task++) {
        const struct engine_record *record = engine_task_record(course.pipe.engine, task);
        const struct pipe_mark *mark = &course.pipe.marks[record->tag];
        if (mark->step == 1 && mark->layer == 0 && strcmp(mark->stage, "load") == 0 &&
            record->resource == course.pipe.resource[PIPE_IN]) {
            bytes[mark->micro_batch] = 10.0 * (double)(mark->alone_ns - 2000);
        }
    }
    assert_near(bytes[0], 1500 * 800, 10); /* each starts the next one's */
    assert_near(bytes[1], 2000 * 800, 10);
    course_release(&course);
    setup_release(&setup);
}

/* A budget in bytes is shared in proportion to contexts: 2 * (1000 + 3000) tokens * 4 heads * 200 B
 * would hold everything. */
static void bytes_are_shared_in_proportion(void **state)
{
    (void)state;
    struct setup setup = make_tiny(1,
                                   "mechanisms={policy: lru, sinks: 0tok, recent: 0tok,"
                                   " granularity: 1tok, budget: 640kB}",
                                   OVERRIDES("context=", "contexts={1000: 2, 3000: 2}"));
    struct plan plan = make_plan(&setup);
    assert_int_equal(plan.cohorts[0].sizes.cache_tokens, 100);
    assert_int_equal(plan.cohorts[1].sizes.cache_tokens, 300);
    assert_int_equal(plan.memory.in[TIER_GPU].cache, 640000);
    plan_release(&plan);
    setup_release(&setup);
}

/* As much of a mixture as fits; and of sequences that do not fit, how long they may be. 800 B a
 * token; 20 806 000 B of weights, and of workspace 2000 B of hidden state and 12000 of the
 * activation function's operands a sequence. 34 sequences are 26 and 8, 98 000 tokens or 78 876 000
 * B with the workspace; 35 would be 26 and 9. */
static void a_mixture_is_scaled_to_what_fits(void **state)
{
    (void)state;
    const char *full = "mechanisms={resident_heads: all, operators: 8, launch: graph}";
    struct setup setup = make_tiny(
        1, full,
        OVERRIDES("context=", "contexts={1000: 75%, 9000: 25%}", "batch=max", "hbm_usable=1%"));
    struct plan plan = make_plan(&setup);
    assert_int_equal(plan.max_batch, 34);
    assert_int_equal(plan.batch, 34);
    assert_int_equal(plan.memory.in[TIER_GPU].all, 20806000 + 78876000);
    assert_int_equal(plan.cohorts[0].sequences, 26);
    assert_int_equal(plan.cohorts[1].sequences, 8);
    assert_true(plan.fits);
    plan_release(&plan);
    setup_release(&setup);
    setup =
        make_tiny(1, full, OVERRIDES("context=", "contexts=[1000, 70000, 90000]", "hbm_usable=1%"));
    plan = make_plan(&setup);
    assert_false(plan.fits);
    assert_int_equal(plan.max_context, (79194000 - 42000 - 800000) / 1600);
    assert_int_equal(plan.cohorts[2].context, 90000);
    plan_release(&plan);
    setup_release(&setup);
}

/* ---- any mixture ----------------------------------------------------------------------------- */

static void each_system(const char *const *overrides, void (*check_system)(struct setup *setup))
{
    char **systems;
    size_t count;
    struct error why;
    assert_true(find_names("scenarios/systems", "yaml", &systems, &count, &why));
    for (size_t i = 0; i < count; i++) {
        char system[64], model[128];
        const char *all[12] = {tiny_model(3, model), tiny_machine, system};
        snprintf(system, sizeof system, "system=%s", systems[i]);
        print_message("# %s\n", systems[i]);
        for (size_t o = 0; overrides[o] != NULL; o++) {
            all[3 + o] = overrides[o];
        }
        struct setup setup = make_setup(all);
        check_system(&setup);
        setup_release(&setup);
        free(systems[i]);
    }
    free(systems);
}

/* Let a setup of one context say that its sequences are of several, which happen to be alike. */
static void split_batch(struct setup *setup, const uint32_t *sequences, uint32_t count)
{
    setup->cohorts = calloc(count, sizeof *setup->cohorts);
    assert_non_null(setup->cohorts);
    setup->cohort_count = count;
    for (uint32_t i = 0; i < count; i++) {
        setup->cohorts[i] =
            (struct setup_cohort){setup->context, setup->prompt, sequences[i], setup->trace};
    }
}

static void assert_same_timing(const struct timing *a, const struct timing *b)
{
    assert_int_equal(a->steps, b->steps);
    assert_memory_equal(a->step, b->step, a->steps * sizeof *a->step);
    assert_memory_equal(a->part_ns, b->part_ns, PART_COUNT * sizeof *a->part_ns);
    assert_memory_equal(a->stall_ns, b->stall_ns, PART_COUNT * sizeof *a->stall_ns);
    assert_memory_equal(a->layer_ns, b->layer_ns, a->layers * sizeof *a->layer_ns);
}

static void assert_same_memory(const struct memory *a, const struct memory *b)
{
    assert_memory_equal(a->in, b->in, sizeof a->in);
}

/* Cohorts that are planned, replayed and added up apart give what one does, to the byte: also each
 * sequence's place in the batch, from which it reads the trace. And to the nanosecond, but where
 * pairs work side by side and a recording tells cohorts apart, of which the longest then decides.
 */
static void check_split(struct setup *setup)
{
    static const uint32_t sequences[] = {1, 3, 1};
    struct course plain, split;
    make_course(setup, &plain);
    split_batch(setup, sequences, 3);
    make_course(setup, &split);
    assert_int_equal(split.plan.cohort_count, 3);
    assert_same_memory(&plain.plan.memory, &split.plan.memory);
    assert_int_equal(plain.plan.max_batch, split.plan.max_batch);
    for (size_t i = 0; plain.used != NULL && i < (size_t)plain.used->steps * 3; i++) {
        struct ledger_row a = plain.used->rows[i], b = split.used->rows[i];
        assert_near(a.mass, b.mass, 1e-6 * a.mass);
        a.mass = b.mass = 0;
        assert_memory_equal(&a, &b, sizeof a);
    }
    for (uint32_t s = 0; s < plain.timing.steps; s++) {
        assert_int_equal(plain.timing.step[s].moved[WAY_IN], split.timing.step[s].moved[WAY_IN]);
        assert_int_equal(plain.timing.step[s].moved[WAY_OUT], split.timing.step[s].moved[WAY_OUT]);
    }
    const struct mechanisms *m = setup->mechanisms;
    if (setup->trace == NULL || (m->manager == MANAGER_GPU && !m->merge)) {
        assert_same_timing(&plain.timing, &split.timing);
    }
    course_release(&split);
    course_release(&plain);
}

static void alike_cohorts_are_one(void **state)
{
    (void)state;
    each_system(OVERRIDES("context=1000", "batch=5", "steps=3"), check_split);
    each_system(OVERRIDES("context=1000", "batch=5", "steps=2", "trace=assumed:hit=60%,spread=20%"),
                check_split);
    each_system(OVERRIDES("context=12000", "batch=5", "steps=4", "trace=smollm2-135m"),
                check_split);
}

/* Bytes each way over all steps, the time of a step, what is wanted, and memory. */
struct sum {
    int64_t in, out, ns;
    uint64_t wanted;
    struct memory memory;
};

static struct sum sum_of_run(struct setup *setup)
{
    struct course course;
    make_course(setup, &course);
    struct sum sum = {.ns = course.timing.total_ns, .memory = course.plan.memory};
    for (uint32_t s = 0; s < course.timing.steps; s++) {
        sum.in += course.timing.step[s].moved[WAY_IN];
        sum.out += course.timing.step[s].moved[WAY_OUT];
    }
    for (size_t i = 0; course.used != NULL && i < (size_t)course.used->steps * course.used->layers;
         i++) {
        sum.wanted += course.used->rows[i].wanted;
    }
    course_release(&course);
    return sum;
}

/* The same where all sequences have one context. */
static struct sum sum_alone(const struct setup *setup, uint64_t context, uint32_t batch)
{
    struct setup own = setup_at(setup, context);
    own.batch = batch;
    return sum_of_run(&own);
}

/* Is each sequence planned and asked for by itself? A budget in bytes is shared by all, resident
 * heads are chosen for all, CAPTURE's balance is one of all, and the CPU is asked for all heads of
 * a layer in which any keeps something. */
static bool is_by_sequence(const struct mechanisms *m)
{
    return !m->budget.rest && m->budget.unit != UNIT_BYTES &&
           m->resident_heads != RESIDENT_DIFFICULTY && !m->balance && m->attention != ATTEND_HYBRID;
}

/* What is streamed crosses once, whatever the batch. */
static int64_t streamed_bytes(const struct setup *setup, uint32_t steps)
{
    struct setup none = setup_at(setup, setup->cohorts[0].context);
    bool streams = none.mechanisms->weights < 1 && none.mechanisms->weights_at == WEIGHTS_AT_GPU;
    struct plan plan = make_plan(&none);
    int64_t bytes = (int64_t)plan.memory.in[TIER_HOST].weights * steps;
    plan_release(&plan);
    return streams ? bytes : 0;
}

static void check_sums_of_runs(struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    struct sum mixed = sum_of_run(setup), apart = {0};
    int64_t again = -streamed_bytes(setup, setup->steps);
    for (uint32_t i = 0; i < setup->cohort_count; i++) {
        struct sum alone = sum_alone(setup, setup->cohorts[i].context, setup->cohorts[i].sequences);
        apart.in += alone.in;
        apart.out += alone.out;
        apart.wanted += alone.wanted;
        apart.memory.in[TIER_GPU].window += alone.memory.in[TIER_GPU].window;
        apart.memory.in[TIER_GPU].kv += alone.memory.in[TIER_GPU].kv;
        apart.memory.in[TIER_GPU].metadata += alone.memory.in[TIER_GPU].metadata;
        apart.memory.in[TIER_GPU].cache += alone.memory.in[TIER_GPU].cache;
        apart.memory.in[TIER_HOST].kv += alone.memory.in[TIER_HOST].kv;
        again += streamed_bytes(setup, setup->steps);
    }
    if (is_by_sequence(m)) {
        assert_int_equal(mixed.wanted, apart.wanted);
        assert_in_range(mixed.in - (apart.in - again) + 64, 0, 128);
        assert_in_range(mixed.out - apart.out + 64, 0, 128);
        assert_int_equal(mixed.memory.in[TIER_GPU].window, apart.memory.in[TIER_GPU].window);
        assert_int_equal(mixed.memory.in[TIER_GPU].kv, apart.memory.in[TIER_GPU].kv);
        assert_int_equal(mixed.memory.in[TIER_GPU].metadata, apart.memory.in[TIER_GPU].metadata);
        assert_int_equal(mixed.memory.in[TIER_GPU].cache, apart.memory.in[TIER_GPU].cache);
        assert_int_equal(mixed.memory.in[TIER_HOST].kv, apart.memory.in[TIER_HOST].kv);
    }
}

static void a_mixture_moves_and_holds_what_its_runs_do(void **state)
{
    (void)state;
    each_system(OVERRIDES("context=", "contexts={1000: 2, 3000: 1, 4000: 3}", "steps=2"),
                check_sums_of_runs);
    each_system(
        OVERRIDES("context=", "contexts={12000: 1, 30000: 1}", "steps=4", "trace=smollm2-135m"),
        check_sums_of_runs);
}

/* No mixture is quicker than as many of its shortest, or slower than as many of its longest. */
static void check_between(struct setup *setup)
{
    uint32_t last = setup->cohort_count - 1;
    struct sum mixed = sum_of_run(setup);
    struct sum least = sum_alone(setup, setup->cohorts[0].context, setup->batch);
    struct sum most = sum_alone(setup, setup->cohorts[last].context, setup->batch);
    if (mixed.ns < least.ns || mixed.ns > most.ns) {
        fail_msg("%lld ns, not %lld ... %lld", (long long)mixed.ns, (long long)least.ns,
                 (long long)most.ns);
    }
}

static void a_mixture_lies_between_its_shortest_and_longest(void **state)
{
    (void)state;
    each_system(OVERRIDES("context=", "contexts={1000: 2, 3000: 1, 4000: 3}", "steps=2"),
                check_between);
    each_system(OVERRIDES("context=", "contexts=[1000, 20000]", "steps=2"), check_between);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_are_counted_and_sorted),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(too_many_different_contexts_are_refused),
        cmocka_unit_test(prompts_follow_from_contexts),
        cmocka_unit_test(equal_contexts_are_the_plain_run),
        cmocka_unit_test(order_of_contexts_says_nothing),
        cmocka_unit_test(attention_reads_the_tokens_of_each),
        cmocka_unit_test(the_longest_decide_where_pairs_work_side_by_side),
        cmocka_unit_test(micro_batches_hold_their_own_tokens),
        cmocka_unit_test(bytes_are_shared_in_proportion),
        cmocka_unit_test(a_mixture_is_scaled_to_what_fits),
        cmocka_unit_test(alike_cohorts_are_one),
        cmocka_unit_test(a_mixture_moves_and_holds_what_its_runs_do),
        cmocka_unit_test(a_mixture_lies_between_its_shortest_and_longest),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
