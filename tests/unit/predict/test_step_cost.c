/* A server's steps against runs of the pipeline with the same sequences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/engine_of.h"
#include "unit/fixture/make_setup.h"

#include "core/random.h"
#include "decode/cost/cost.h"
#include "decode/cost/attention.h"
#include "unit/fixture/run_setup.h"
#include "predict/server/step_cost.h"

#include <math.h>

enum { SEQUENCES = 16, TOKENS = 60000 };

static const struct decode_range range = {SEQUENCES, 100, TOKENS};

static struct error why;

static double step_ns(struct step_cost *cost, const struct step_load *load)
{
    struct step_time time;
    struct step_clock clock = step_cost_clock(cost);
    if (!clock.step(clock.context, load, &time, &why)) {
        fail_msg("%s", message_of(&why));
    }
    return (double)time.ns;
}

static double run_ns(const struct point *server, const struct run_context *runs, uint32_t batch,
                     uint64_t tokens)
{
    struct result result;
    struct setup setup = server->setup;
    setup.batch = batch;
    setup.context = tokens / batch;
    assert_true(run_setup(&setup, runs, &result, &why));
    assert_true(result_cell(&result, COLUMN(step_us))->set);
    double ns = (double)result_cell(&result, COLUMN(step_us))->integer;
    result_release(&result);
    return ns;
}

/* At least 100 tokens a sequence, so that none is a window and nothing else. */
static void check_steps(const char *system)
{
    const char *const overrides[] = {system, "hardware=h200", "trace=assumed:hit=90%,spread=5%",
                                     "steps=1", NULL};
    struct point point = make_point(overrides);
    struct run_context runs;
    make_runs(&runs, 1);
    struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
    gsl_rng *random = random_stream(3, "test.step-cost", 0, &why);
    assert_true(cost != NULL && random != NULL);
    for (int i = 0; i < 25; i++) {
        uint32_t batch = 1 + (uint32_t)gsl_rng_uniform_int(random, SEQUENCES);
        uint64_t each = 100 + gsl_rng_uniform_int(random, TOKENS / batch - 100);
        struct step_load load = {.decodes = batch, .decode_tokens = batch * each};
        double exact = run_ns(&point, &runs, batch, batch * each);
        assert_near(step_ns(cost, &load), exact, 0.01 * exact);
    }
    gsl_rng_free(random);
    step_cost_destroy(cost);
    run_context_release(&runs);
    point_release(&point);
}

static void steps_are_within_a_percent_of_the_pipeline(void **state)
{
    (void)state;
    const char *const systems[] = {"system=vllm", "system=fullattn", "system=litecache",
                                   "system=retroinfer-10pct"};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        print_message("%s\n", systems[i]);
        check_steps(systems[i]);
    }
}

/* 15 sequences of 1000 tokens and one of 17 000 attend to 2000 in the mean, and take as long as
 * sequences of 2000 + 3 % of 15 000. */
static void uneven_contexts_take_longer_than_even_ones(void **state)
{
    (void)state;
    struct point point = POINT("system=vllm", "hardware=rtx-4090", "steps=1");
    struct run_context runs;
    make_runs(&runs, 1);
    struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
    assert_true(cost != NULL);
    struct step_load uneven = {.decodes = 16, .decode_tokens = 32000, .longest = 17000};
    struct step_load even = {.decodes = 16, .decode_tokens = 16 * 2450, .longest = 2450};
    uneven.decode_squares = 15 * 1e6 + 17000.0 * 17000;
    even.decode_squares = 16 * 2450.0 * 2450;
    assert_near(step_ns(cost, &uneven), step_ns(cost, &even), 1);
    step_cost_destroy(cost);
    run_context_release(&runs);
    point_release(&point);
}

/* 16 sequences on each of two ranks that share experts, half of 1000 tokens and half of 3000: a
 * rank's sum has the deviation sqrt(16 * 1000^2 * 1/2) = 2828, and the larger of two is 0.5642 of
 * that above 32 000. */
static void ranks_wait_for_the_one_with_the_longest_sequences(void **state)
{
    (void)state;
    struct point point =
        POINT("system=vllm", "model=qwen3-30b-a3b", "hardware=h100-sxm", "hardware.gpus=2",
              "data_parallel=2", "expert_parallel=2", "steps=1");
    struct run_context runs;
    make_runs(&runs, 1);
    struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
    assert_true(cost != NULL);
    struct step_load uneven = {.decodes = 32, .decode_tokens = 64000};
    uneven.decode_squares = 16 * 1e6 + 16 * 9e6;
    struct step_load even = {.decodes = 32, .decode_tokens = 2 * (32000 + 1596)};
    assert_near(step_ns(cost, &uneven), step_ns(cost, &even), 1);
    step_cost_destroy(cost);
    run_context_release(&runs);
    point_release(&point);
}

/* One prompt of 1000 tokens in a step of its own, and the products and attention of that. */
static void a_prompt_adds_its_products_and_attention(void **state)
{
    (void)state;
    const struct step_chunk chunk = {.start = 0, .tokens = 1000};
    struct point point = POINT("system=vllm", "hardware=h200", "steps=1");
    struct run_context runs;
    make_runs(&runs, 1);
    struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
    assert_true(cost != NULL);
    double expected = run_ns(&point, &runs, 1, 1);
    for (uint32_t layer = 0; layer < point.setup.model.layer_count; layer++) {
        expected += cost_stage(&point.setup, layer, MODEL_PRE, 1000, 0, 1).ns -
                    cost_stage(&point.setup, layer, MODEL_PRE, 1, 0, 1).ns +
                    cost_stage(&point.setup, layer, MODEL_POST, 1000, 0, 1).ns -
                    cost_stage(&point.setup, layer, MODEL_POST, 1, 0, 1).ns;
        struct prompt_attention work = {0};
        prompt_attention_add(&work, &point.setup.model, layer, 0, 1000);
        expected += kernel_prompt_attention(&point.setup.profile, &work).ns;
    }
    struct step_load load = {.chunks = &chunk, .chunk_count = 1};
    assert_near(step_ns(cost, &load), expected, 0.01 * expected);
    step_cost_destroy(cost);
    run_context_release(&runs);
    point_release(&point);
}

/* Two GPUs, whose all-reduce takes 10 us and 0.1 ns a byte, or ten times as long. A row of 4096
 * values has 8192 B, and each of 32 layers two all-reduces: of all rows of the step together. The
 * 128 256 logits of each sequence are gathered, as half of their bytes are reduced. */
static void prompts_have_all_reduces(void **state)
{
    static const struct step_chunk chunks[] = {{.start = 0, .tokens = 2048},
                                               {.start = 2048, .tokens = 313}};
    static const char *const curves[] = {
        "hardware.gpu.collective={points: [[0B, 10us], [100MB, 10010us]], basis: assumed,"
        " range: [50%, 200%], source: made up}",
        "hardware.gpu.collective={points: [[0B, 100us], [100MB, 100100us]], basis: assumed,"
        " range: [50%, 200%], source: made up}"};
    const struct step_load loads[] = {
        {.chunks = chunks, .chunk_count = 1},
        {.chunks = chunks + 1, .chunk_count = 1},
        {.chunks = chunks, .chunk_count = 1, .decodes = 8, .decode_tokens = 8000},
        {.decodes = 8, .decode_tokens = 8000}};
    const double rows[] = {2048, 313, 2048 + 8, 8}, sequences[] = {1, 1, 8, 8};
    double ns[2][COUNT(loads)];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct point point = POINT("system=vllm", "model=llama-3-8b", "hardware=a40",
                                   "tensor_parallel=2", "steps=1", curves[i]);
        struct run_context runs;
        make_runs(&runs, 1);
        struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
        assert_true(cost != NULL);
        for (size_t j = 0; j < COUNT(loads); j++) {
            ns[i][j] = step_ns(cost, &loads[j]);
        }
        step_cost_destroy(cost);
        run_context_release(&runs);
        point_release(&point);
    }
    for (size_t j = 0; j < COUNT(loads); j++) {
        double more =
            9 * 32 * 2 * (10000 + 0.1 * 8192 * rows[j]) + 9 * (10000 + 0.1 * 128256 * sequences[j]);
        assert_near(ns[1][j] - ns[0][j], more, 0.01 * more);
    }
}

/* What a step of 16 decodes of 3000 tokens takes longer with a chunk of 256 tokens beside. */
static double chunk_ns(const char *model, const char *engine, const char *hardware)
{
    static const struct step_chunk chunk = {.start = 0, .tokens = 256};
    struct point point =
        POINT(system_in(engine), model, hardware, "steps=1", engine, "mechanisms.launch_cost=1x");
    struct run_context runs;
    make_runs(&runs, 1);
    struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
    assert_true(cost != NULL);
    struct step_load load = {.decodes = 16, .decode_tokens = 16 * 3000};
    double alone = step_ns(cost, &load);
    load.chunks = &chunk;
    load.chunk_count = 1;
    double ns = step_ns(cost, &load) - alone;
    step_cost_destroy(cost);
    run_context_release(&runs);
    point_release(&point);
    return ns;
}

/* One call takes decodes and chunk: on a GPU with FlashAttention 2 in vLLM, not in SGLang, and not of a model with
 * attention sinks. The CPU's time is hidden. */
static void one_call_slows_decodes_down(void **state)
{
    (void)state;
    static const struct {
        const char *model, *hardware;
        bool one_call;
    } rows[] = {{"model=llama-3-8b", "hardware=rtx-4090", true},
                {"model=llama-3-8b", "hardware=h200", false},
                {"model=gpt-oss-20b", "hardware=rtx-4090", false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        double apart = chunk_ns(rows[i].model, "engine=sglang-0.5", rows[i].hardware);
        double longer = chunk_ns(rows[i].model, "engine=vllm-0.14", rows[i].hardware) - apart;
        assert_true(rows[i].one_call ? longer > 1e6 : fabs(longer) < 0.2e6);
    }
}

/* A step of a chunk of 16 tokens alone, or of a decode alone. */
static double launched_ns(const char *engine, int compile, bool prompt, const char *launch)
{
    static const struct step_chunk chunk = {.start = 0, .tokens = 16};
    struct point point =
        POINT(system_in(engine), "model=llama-3-8b", "hardware=h200", "steps=1", launch, engine);
    struct run_context runs;
    make_runs(&runs, 1);
    point.workload.compile = compile;
    point.setup.engine.launches = compile == COMPILE_EAGER;
    struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
    assert_true(cost != NULL);
    struct step_load load = {.chunks = &chunk, .chunk_count = 1};
    double ns =
        step_ns(cost, prompt ? &load : &(struct step_load){.decodes = 1, .decode_tokens = 1000});
    step_cost_destroy(cost);
    run_context_release(&runs);
    point_release(&point);
    return ns;
}

/* 32 layers of 11 kernels at 100 us, and Python for 6.4 times as long, are 225 ms, more than a short step
 * takes. SGLang launches prompts so, vLLM every step if it is eager. The CPU schedules for 1.5 ms and 13.7 us
 * beside. */
static void steps_without_graphs_wait_for_launches(void **state)
{
    (void)state;
    static const char slow[] = "hardware.host.launch={value: 100us, basis: assumed, range: [50%, "
                               "200%], source: made up}";
    static const char fast[] = "hardware.host.launch={value: 1ns, basis: assumed, range: [50%, "
                               "200%], source: made up}";
    static const struct {
        const char *engine;
        int compile;
        bool prompt, waits;
    } cases[] = {
        {"engine=sglang-0.5", COMPILE_COLD, true, true},
        {"engine=sglang-0.5", COMPILE_COLD, false, false},
        {"engine=vllm-0.14", COMPILE_COLD, true, false},
        {"engine=vllm-0.14", COMPILE_EAGER, true, true},
        {"engine=vllm-0.14", COMPILE_EAGER, false, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double with = launched_ns(cases[i].engine, cases[i].compile, cases[i].prompt, slow);
        double without = launched_ns(cases[i].engine, cases[i].compile, cases[i].prompt, fast);
        print_message("# case %zu: %g and %g ns\n", i, with, without);
        assert_near(with, cases[i].waits ? 32 * 11 * 6.4 * 100e3 + 1.5e6 + 13.7e3 : without, 1e3);
        assert_true(without < 10e6);
    }
}

/* ---- ranks and stages --------------------------------------------------------------------- */

/* A server of several passes, its runs, and the cost of its steps. */
struct served_by {
    struct point point;
    struct run_context runs;
    struct step_cost *cost;
};

static void begin_server(struct served_by *server, const char *model, const char *one,
                         const char *two)
{
    server->point = POINT("system=vllm", "hardware=h200", "steps=1", model, one, two);
    make_runs(&server->runs, 1);
    server->cost = step_cost_create(&server->point, &range, &server->runs, &why);
    if (server->cost == NULL) {
        fail_msg("%s", message_of(&why));
    }
}

static void end_server(struct served_by *server)
{
    step_cost_destroy(server->cost);
    run_context_release(&server->runs);
    point_release(&server->point);
}

/* Products and exchanges of all layers. */
static double layers_ns(const struct setup *setup, struct model_rows rows)
{
    double ns = 0;
    uint64_t kernels;
    for (uint32_t layer = 0; layer < setup->model.layer_count; layer++) {
        ns += cost_row_stage(setup, layer, MODEL_PRE, rows, 0, 1).ns +
              cost_row_stage(setup, layer, MODEL_POST, rows, 0, 1).ns +
              cost_exchanges(setup, layer, rows, &kernels).ns;
    }
    return ns;
}

static double attention_ns(const struct setup *setup, uint64_t tokens)
{
    double ns = 0;
    for (uint32_t layer = 0; layer < setup->model.layer_count; layer++) {
        struct prompt_attention work = {0};
        prompt_attention_add(&work, &setup->model, layer, 0, tokens);
        ns += kernel_prompt_attention(&setup->profile, &work).ns;
    }
    return ns;
}

/* Two ranks share 8 sequences as two batches of 4, and 7 no better. A prompt is of one rank: 1000
 * rows there, and 1000 of all. Of two prompts each rank has one; the longer one decides. */
static void ranks_that_share_experts_step_together(void **state)
{
    (void)state;
    static const struct step_chunk chunks[] = {{0, 1000}, {0, 600}};
    struct served_by server;
    begin_server(&server, "model=qwen3-30b-a3b", "data_parallel=2", "expert_parallel=2");
    const struct setup *setup = &server.point.setup;
    double four = run_ns(&server.point, &server.runs, 4, 4 * 1000);
    struct step_load load = {.decodes = 8, .decode_tokens = 8000};
    assert_near(step_ns(server.cost, &load), four, 0.01 * four);
    load = (struct step_load){.decodes = 7, .decode_tokens = 7000};
    assert_near(step_ns(server.cost, &load), four, 0.01 * four);
    double least = run_ns(&server.point, &server.runs, 1, 1) -
                   layers_ns(setup, (struct model_rows){.own = 1, .all = 2}) +
                   attention_ns(setup, 1000);
    load = (struct step_load){.chunks = chunks, .chunk_count = 1};
    double expected = least + layers_ns(setup, (struct model_rows){.own = 1000, .all = 1000});
    assert_near(step_ns(server.cost, &load), expected, 0.01 * expected);
    load.chunk_count = 2;
    expected = least + layers_ns(setup, (struct model_rows){.own = 1000, .all = 1600});
    assert_near(step_ns(server.cost, &load), expected, 0.01 * expected);
    end_server(&server);
}

/* Stages compute two batches of 4 one after the other, and two prompts at the same time. */
static void stages_compute_passes_side_by_side(void **state)
{
    (void)state;
    static const struct step_chunk chunks[] = {{0, 1000}, {0, 600}};
    struct served_by server;
    begin_server(&server, "model=llama-3-8b", "pipeline_parallel=2", "tensor_parallel=2");
    const struct setup *setup = &server.point.setup;
    double four = run_ns(&server.point, &server.runs, 4, 4 * 1000);
    struct step_load load = {.decodes = 8, .decode_tokens = 8000};
    assert_near(step_ns(server.cost, &load), four, 0.01 * four);
    load = (struct step_load){.chunks = chunks, .chunk_count = 1};
    double one = step_ns(server.cost, &load);
    double expected = run_ns(&server.point, &server.runs, 1, 1) + attention_ns(setup, 1000) +
                      layers_ns(setup, (struct model_rows){.own = 1000, .all = 1000}) -
                      layers_ns(setup, (struct model_rows){.own = 1, .all = 1});
    assert_near(one, expected, 0.01 * expected);
    load.chunk_count = 2;
    assert_true(step_ns(server.cost, &load) == one);
    end_server(&server);
}

static void loads_and_fetches_share_the_link(void **state)
{
    (void)state;
    struct point point =
        POINT("system=litecache", "hardware=h200", "trace=assumed:hit=50%,spread=0%", "steps=1");
    struct run_context runs;
    make_runs(&runs, 1);
    struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
    assert_true(cost != NULL);
    struct step_clock clock = step_cost_clock(cost);
    struct step_load load = {.decodes = 8, .decode_tokens = 40000};
    struct step_time alone, beside;
    assert_true(clock.step(clock.context, &load, &alone, &why));
    load.pending[flow_loaded(1)] = true;
    assert_true(clock.step(clock.context, &load, &beside, &why));
    assert_true(beside.ns > alone.ns);
    double in = clock.shares->set.channel_capacity[0];
    assert_true(beside.rate[flow_loaded(1)] >= 0.499 * in && beside.rate[flow_loaded(1)] < in);
    step_cost_destroy(cost);
    run_context_release(&runs);
    point_release(&point);
}

/* Two GPUs below one uplink copy at the same time, each over half of it. */
static void gpus_below_one_uplink_share_it(void **state)
{
    (void)state;
    struct point point = POINT("system=two-tier", "hardware=h200", "steps=1");
    double one[] = {2};
    struct curve *sharers = &point.setup.profile.curves[CURVE_LINK_GPUS_PER_UPLINK];
    double *said = sharers->value;
    struct run_context runs;
    make_runs(&runs, 1);
    struct step_cost *alone = step_cost_create(&point, &range, &runs, &why);
    point.setup.model.tensor_parallel = 2;
    sharers->value = one;
    struct step_cost *both = step_cost_create(&point, &range, &runs, &why);
    assert_true(alone != NULL && both != NULL);
    const struct flow_set *whole = &step_cost_clock(alone).shares->set,
                          *half = &step_cost_clock(both).shares->set;
    assert_int_equal(whole->channel_count, 3);
    for (int i = 0; i < 3; i++) { /* in, out and both */
        assert_true(half->channel_capacity[i] == whole->channel_capacity[i] / 2);
    }
    step_cost_destroy(alone);
    step_cost_destroy(both);
    run_context_release(&runs);
    sharers->value = said;
    point_release(&point);
}

/* 8 sequences, or 8 and a chunk. The scheduler takes 1.5 ms, and 13.7 us for each of 8 or 9 sequences.
 * A server of no known engine adds the 1.5 ms to its step. vLLM hides the CPU behind the GPU and adds
 * the gap of 0.25 ms; with 100 ms of scheduler it waits for the CPU. What is added is assumed, and
 * the GPU waits for it. */
static void the_cpu_is_added_or_hidden(void **state)
{
    (void)state;
    static const struct step_chunk chunk = {.start = 0, .tokens = 1000};
    const struct step_load loads[] = {
        {.decodes = 8, .decode_tokens = 8000},
        {.decodes = 8, .decode_tokens = 8000, .chunks = &chunk, .chunk_count = 1}};
    const struct {
        const char *overhead;
        const char *engine;
        double more_ns[COUNT(loads)]; /* than the GPU takes; 0: the step is 100 ms of CPU */
    } cases[] = {
        {"mechanisms.step_overhead=0us", "engine=none", {0, 0}},
        {"mechanisms.step_overhead=1500us", "engine=none", {1500000, 1500000}},
        {"mechanisms.step_overhead=1500us", "engine=vllm-0.19", {250000, 250000}},
        {"mechanisms.step_overhead=100ms", "engine=vllm-0.19", {0, 0}},
    };
    double gpu_ns[COUNT(loads)] = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct point point =
            POINT("system=vllm", "hardware=h200", "steps=1", cases[i].overhead, cases[i].engine);
        struct run_context runs;
        make_runs(&runs, 1);
        struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
        assert_non_null(cost);
        for (size_t j = 0; j < COUNT(loads); j++) {
            struct step_time time;
            struct step_clock clock = step_cost_clock(cost);
            assert_true(clock.step(clock.context, &loads[j], &time, &why));
            gpu_ns[j] = i == 0 ? (double)time.ns : gpu_ns[j];
            double cpu_ns = 100e6 + 13700 * (8 + (double)j);
            double expected = i == 3 ? cpu_ns : gpu_ns[j] + cases[i].more_ns[j];
            assert_near((double)time.ns, expected, 1e-5 * expected);
            assert_true(i == 0 || time.stall_ns[PART_OVERHEAD] >= (int64_t)(expected - gpu_ns[j]));
        }
        step_cost_destroy(cost);
        run_context_release(&runs);
        point_release(&point);
    }
}

/* All is measured but the link, which only loads cross. */
static void loads_rest_on_the_link(void **state)
{
    (void)state;
    struct point point = POINT("system=vllm", "hardware=h200", "steps=1",
                               "mechanisms.step_overhead=0us", "engine=none");
    for (int id = 0; id < CURVE_COUNT; id++) {
        point.setup.profile.curves[id].basis = BASIS_MEASURED;
    }
    point.setup.profile.curves[CURVE_LINK_IN].basis = BASIS_ASSUMED;
    struct run_context runs;
    make_runs(&runs, 1);
    struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
    assert_true(cost != NULL);
    struct step_load load = {.decodes = 1, .decode_tokens = 1000};
    step_ns(cost, &load);
    struct step_about about;
    step_cost_about(cost, false, &about);
    assert_int_equal(about.trust.basis, BASIS_MEASURED);
    step_cost_about(cost, true, &about);
    assert_int_equal(about.trust.basis, BASIS_ASSUMED);
    step_cost_destroy(cost);
    run_context_release(&runs);
    point_release(&point);
}

/* A step beside a copy to the host, in which 8 sequences of 4000 tokens decode. */
static double beside_a_save(const char *system, const char *h2d)
{
    struct point point = POINT(system, "hardware=a40", "trace=assumed:hit=50%", "steps=1", h2d);
    struct run_context runs;
    make_runs(&runs, 1);
    const struct decode_range exact = {8, 4000, 4000};
    struct step_cost *cost = step_cost_create(&point, &exact, &runs, &why);
    assert_true(cost != NULL);
    struct step_load load = {.decodes = 8, .decode_tokens = 8 * 4000};
    load.pending[flow_saved(1)] = true;
    double ns = step_ns(cost, &load);
    step_cost_destroy(cost);
    run_context_release(&runs);
    point_release(&point);
    return ns;
}

/* The link carries 37 GB/s both ways, and kernels load 25 GB/s. What is more than that to the GPU
 * is no part of what fetches lose to a copy. */
static void a_faster_link_makes_no_step_beside_copies_slower(void **state)
{
    (void)state;
    const char *const systems[] = {"system=capture-act", "system=infinigen",
                                   "system=retroinfer-10pct", "system=litecache"};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        double slow = beside_a_save(systems[i], "hardware.link.h2d=26GB/s");
        double fast = beside_a_save(systems[i], "hardware.link.h2d=200GB/s");
        print_message("%s %.0f %.0f\n", systems[i], slow, fast);
        assert_true(fast <= 1.01 * slow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_within_a_percent_of_the_pipeline),
        cmocka_unit_test(uneven_contexts_take_longer_than_even_ones),
        cmocka_unit_test(ranks_wait_for_the_one_with_the_longest_sequences),
        cmocka_unit_test(a_prompt_adds_its_products_and_attention),
        cmocka_unit_test(prompts_have_all_reduces),
        cmocka_unit_test(one_call_slows_decodes_down),
        cmocka_unit_test(steps_without_graphs_wait_for_launches),
        cmocka_unit_test(ranks_that_share_experts_step_together),
        cmocka_unit_test(stages_compute_passes_side_by_side),
        cmocka_unit_test(loads_and_fetches_share_the_link),
        cmocka_unit_test(gpus_below_one_uplink_share_it),
        cmocka_unit_test(the_cpu_is_added_or_hidden),
        cmocka_unit_test(loads_rest_on_the_link),
        cmocka_unit_test(a_faster_link_makes_no_step_beside_copies_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
