/* Scenarios: what is laid over what, the points of a sweep, what is refused and how. */
#include "decode/mechanism_values.h"
#include "model/sharding.h"
#include "unit/fixture/fault.h"
#include "unit/fixture/tiny.h"

#include <math.h>

/* The tests run in the folder of their files, so that messages name those as s.yaml. */
static int enter(void **state)
{
    return enter_folder(state) != 0 || chdir(folder) != 0;
}

static int leave(void **state)
{
    return chdir("/") != 0 || leave_folder(state) != 0;
}

static bool load_text(const char *text, const char *const *overrides, struct scenario *out,
                      struct error *why)
{
    static const char *const files[] = {"s.yaml"};
    uint32_t count = 0;
    while (overrides[count] != NULL) {
        count++;
    }
    write_text("s.yaml", text);
    return scenario_load(files, 1, overrides, count, out, why);
}

static struct point point_of(const struct scenario *scenario, uint32_t index)
{
    struct point point;
    struct error why;
    if (!scenario_point(scenario, index, &point, &why)) {
        fail_msg("point %u: %s", index, message_of(&why));
    }
    return point;
}

/* The place, the quoted names and the nearest one (fault.h). A fault of an override is the command
 * line's, a fault in a file is the file's. */
static void check_fault(const char *what, const struct error *why, const char *fault)
{
    char text[FAULT_SIZE];
    if (strcmp(fault_of(why, text), fault) != 0) {
        fail_msg("'%s' gives '%s', expected '%s': %s", what, text, fault, message_of(why));
    }
    if (fault[0] != ' ' && fault[0] != '\0') {
        bool typed = strncmp(fault, "--set", strlen("--set")) == 0;
        assert_int_equal(why->kind, typed ? ERROR_USAGE : ERROR_FAILURE);
    }
}

#define BASE_FOR_CONTEXTS                                                                          \
    "model: llama-3-8b\nhardware: a40\nsystem: fullattn\ntrace: assumed:hit=93%\n"
#define BASE BASE_FOR_CONTEXTS "context: 1000\n"

/* ---- layers ---------------------------------------------------------------------------------- */

static void later_files_and_overrides_win(void **state)
{
    static const char *const files[] = {"a.yaml", "b.yaml"};
    static const char *const overrides[] = {"context=4000", "batch=7", "context=5000"};
    (void)state;
    struct scenario scenario;
    struct error why;
    write_text("a.yaml", BASE "batch: 2\nsteps: 3\nseed: 4\nmechanisms: {launch: graph}\n");
    write_text("b.yaml", "batch: 5\nsteps: 6\nmechanisms: {operators: 9}\n");
    assert_true(scenario_load(files, 2, overrides, 3, &scenario, &why));
    assert_int_equal(scenario.points, 1);
    struct point point = point_of(&scenario, 0);
    assert_int_equal(point.setup.context, 5000);                    /* the last override */
    assert_int_equal(point.setup.batch, 7);                         /* an override */
    assert_int_equal(point.setup.steps, 6);                         /* the second file */
    assert_int_equal(point.setup.seed, 4);                          /* the first */
    assert_int_equal(point.setup.mechanisms->launch, LAUNCH_GRAPH); /* maps merge */
    assert_int_equal(point.setup.mechanisms->operators, 9);
    assert_string_equal(point.setup.model.name, "llama-3-8b");
    point_release(&point);
    scenario_release(&scenario);
}

static void override_reaches_inside(void **state)
{
    (void)state;
    struct setup setup =
        SETUP("system=clo", "mechanisms.policy.eta=0.5", "mechanisms.sync=gpu", "dtype.kv=fp8",
              "hardware.link.h2d=50GB/s", "hardware.host.cores=12");
    struct trust trust = {.basis = BASIS_MEASURED};
    assert_near(setup.mechanisms->policy_values[0], .5, 0);
    assert_near(setup.mechanisms->policy_values[1], 3, 0); /* the preset's */
    assert_int_equal(setup.model.kv, DTYPE_FP8);
    assert_int_equal(setup.model.weights, DTYPE_BF16);
    assert_near(profile_value(&setup.profile, CURVE_LINK_IN, 0, &trust), 50e9, 0);
    assert_near(profile_value(&setup.profile, CURVE_LINK_OUT, 0, &trust), 26e9, 0);
    assert_near(profile_value(&setup.profile, CURVE_HOST_CORES, 0, &trust), 12, 0);
    assert_string_equal(setup.profile.name, "a40*");
    setup_release(&setup);
}

/* Parts by name can be reached into as well. */
static void override_reaches_into_parts_of_a_machine(void **state)
{
    (void)state;
    struct setup setup = SETUP("hardware={gpu: h200, link: pcie5-x16, host: epyc-9654}",
                               "hardware.link.d2h=1GB/s", "hardware.gpu=a40");
    struct trust trust = {.basis = BASIS_MEASURED};
    assert_near(profile_value(&setup.profile, CURVE_LINK_IN, 0, &trust), 50e9, 0);
    assert_near(profile_value(&setup.profile, CURVE_LINK_OUT, 0, &trust), 1e9, 0);
    assert_near(profile_value(&setup.profile, CURVE_GPU_HBM_BANDWIDTH, 0, &trust), 696e9, 0);
    setup_release(&setup);
}

/* What a scenario that says only what it must gets. */
static void defaults_are_as_documented(void **state)
{
    static const char *const overrides[] = {"model=llama-3-8b", "hardware=a40", "system=clo",
                                            "context=131072"};
    (void)state;
    struct scenario scenario;
    struct error why;
    assert_true(scenario_load(NULL, 0, overrides, 4, &scenario, &why));
    struct point point = point_of(&scenario, 0);
    assert_int_equal(point.setup.batch, 1);
    assert_int_equal(point.setup.steps, SETUP_STEPS_ALL);
    assert_int_equal(point.setup.warmup, SETUP_WARMUP_AUTO);
    assert_int_equal(point.setup.seed, 1);
    assert_int_equal(point.setup.order, POLICY_BATCH);
    assert_int_equal(point.setup.model.tensor_parallel, 1);
    assert_near(point.setup.hbm_usable, .9, 0);
    assert_int_equal(point.setup.hbm_reserve, 0);
    assert_int_equal(point.setup.kv_pool_tokens, 0);
    assert_int_equal(point.setup.room[TIER_HOST], 0);
    assert_string_equal(point.setup.trace_name, "ensemble");
    assert_int_equal(point.family_count, 3);
    assert_non_null(point.setup.trace);
    assert_int_equal(point.setup.trace_basis, BASIS_MEASURED);
    point_release(&point);
    scenario_release(&scenario);
}

/* What `trace` defaults to: the model's own recording, else the ensemble, whose first recording the
 * setup has; where that does not suffice, which is told, the published profile, else a recording of
 * another model. */
static const struct {
    const char *overrides[4];
    const char *trace;
    enum basis basis;
    uint32_t layers, kv_heads;
    uint32_t context;
    const char *fault;
} default_traces[] = {
    {{"model=smollm2-135m", "context=2048"}, "smollm2-135m", BASIS_MEASURED, 30, 3, 3840, ""},
    {{"model=gemma-3-270m", "context=2048"}, "gemma-3-270m", BASIS_MEASURED, 3, 1, 3840, ""},
    {{"model=qwen2.5-14b", "context=2048"}, "ensemble", BASIS_MEASURED, 30, 3, 3840, ""},
    {{"context=4294967296"}, "ensemble", BASIS_MEASURED, 30, 3, 3840, ""},
    {{"system=hisparse", "context=8192"},
     "llama-3-8b-like",
     BASIS_PUBLISHED,
     32,
     8,
     8192,
     "a selection of 25 %"},
    {{"context=69", "warmup=100"},
     "llama-3-8b-like",
     BASIS_PUBLISHED,
     32,
     8,
     69,
     "the recording has 76 steps"},
    /* latent KV is one head */
    {{"model=deepseek-v3.2", "warmup=100"},
     "llama-3-8b-like",
     BASIS_PUBLISHED,
     61,
     1,
     131072,
     "steps"},
    {{"context=68", "warmup=100"},
     "smollm2-135m",
     BASIS_MEASURED,
     30,
     3,
     3840,
     "the context has 68 tokens"},
    {{"warmup=131041"},
     "smollm2-135m",
     BASIS_MEASURED,
     30,
     3,
     3840,
     "a generated trace of 131073 steps"},
};

static void default_trace_is_the_nearest_to_the_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(default_traces); i++) {
        const char *const *o = default_traces[i].overrides;
        struct setup setup =
            SETUP("trace=", "steps=", o[0], o[1] != NULL ? o[1] : "seed=1", "seed=2");
        const struct trace_header *header = trace_header(setup.trace);
        assert_string_equal(setup.trace_name, default_traces[i].trace);
        bool fault = default_traces[i].fault[0] != '\0';
        assert_int_equal(setup.trace_fault[0] != '\0', fault);
        assert_non_null(strstr(setup.trace_fault, default_traces[i].fault));
        assert_int_equal(setup.trace_recorded, fault && default_traces[i].basis == BASIS_MEASURED);
        assert_int_equal(setup.trace_basis, default_traces[i].basis);
        assert_int_equal(header->layers, default_traces[i].layers);
        assert_int_equal(header->kv_heads, default_traces[i].kv_heads);
        assert_int_equal(header->context, default_traces[i].context);
        setup_release(&setup);
    }
}

/* All layers of SmolLM2, or every fifth; of Gemma's, those without a sliding window. */
static void recording_of_all_layers_that_grow_is_the_models_own(void **state)
{
    (void)state;
    static const struct {
        const char *model, *trace;
        bool own;
    } cases[] = {
        {"model=smollm2-135m", "trace=smollm2-135m", true},
        {"model=smollm2-135m", "trace=smollm2-135m-code", false},
        {"model=gemma-3-270m", "trace=gemma-3-270m-code", true},
        {"model=gemma-3-4b", "trace=gemma-3-270m", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup setup = SETUP(cases[i].model, cases[i].trace, "context=2048");
        print_message("# %s %s\n", cases[i].model, cases[i].trace);
        assert_int_equal(setup.trace_is_model, cases[i].own);
        setup_release(&setup);
    }
}

/* A server takes the ensemble, too, unless a selection in tokens is more of the shortest prompt than
 * the recordings keep. */
/* All KV in HBM: the rows of a profile need not hold it, however long the context is. */
static void a_trace_that_nothing_asks_limits_no_context(void **state)
{
    (void)state;
    struct setup setup =
        SETUP("context=1048576", "trace=llama-3-8b-like", "hardware=h100-sxm", "tensor_parallel=8");
    setup_release(&setup);
}

static void a_server_has_the_ensemble_if_it_suffices(void **state)
{
    static const struct {
        const char *system, *workload, *trace, *fault;
    } cases[] = {
        {"system=vllm", "workload=conversations", "ensemble", ""},
        {"system=retroinfer", "workload=synthetic:prompt=3000,output=10", "ensemble", ""},
        {"system=hisparse", "workload=synthetic:prompt=10300,output=10", "ensemble", ""},
        {"system=hisparse", "workload=synthetic:prompt=9000,output=10", "llama-3-8b-like",
         "a selection of 22.7 %"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct point point = POINT("trace=", "context=", cases[i].system, cases[i].workload);
        print_message("# %s %s\n", cases[i].system, cases[i].workload);
        assert_string_equal(point.setup.trace_name, cases[i].trace);
        assert_non_null(strstr(point.setup.trace_fault, cases[i].fault));
        point_release(&point);
    }
}

static void tokens_may_be_counted_in_powers_of_1024(void **state)
{
    (void)state;
    struct setup setup = SETUP("context=128K", "kv_pool_tokens=256K", "mechanisms.recent=1K");
    assert_int_equal(setup.context, 131072);
    assert_int_equal(setup.kv_pool_tokens, 256 << 10);
    assert_int_equal(setup.mechanisms->recent.value, 1024);
    setup_release(&setup);
}

/* An empty value says nothing: the default stays. */
static void empty_value_is_the_default(void **state)
{
    (void)state;
    struct setup setup =
        SETUP("batch=", "steps=", "warmup=", "seed=", "order=", "tensor_parallel=",
              "data_parallel=", "expert_parallel=", "pipeline_parallel=", "expert_exchange=",
              "expert_skew=", "dtype=", "hbm_usable=", "hbm_reserve=", "kv_pool_tokens=",
              "host_memory=", "mechanisms=", "sweep=", "trace=");
    assert_int_equal(setup.batch, 1);
    assert_int_equal(setup.steps, SETUP_STEPS_ALL);
    assert_int_equal(setup.warmup, SETUP_WARMUP_AUTO);
    assert_int_equal(setup.seed, 1);
    assert_int_equal(model_gpus(&setup.model), 1);
    assert_int_equal(setup.model.parallel.experts, 1);
    assert_near(setup.hbm_usable, .9, 0);
    assert_string_equal(setup.trace_name, "ensemble");
    setup_release(&setup);
}

static void every_key_is_read(void **state)
{
    (void)state;
    struct setup setup =
        SETUP("batch=max", "steps=12", "warmup=3", "seed=77", "order=sequential",
              "tensor_parallel=2", "dtype={weights: fp8, kv: int8}", "hbm_usable=50%",
              "hbm_reserve=2GiB", "kv_pool_tokens=41408", "host_memory=1.5GiB");
    assert_int_equal(setup.batch, SETUP_BATCH_MAX);
    assert_int_equal(setup.steps, 12);
    assert_int_equal(setup.warmup, 3);
    assert_int_equal(setup.seed, 77);
    assert_int_equal(setup.order, POLICY_SEQUENTIAL);
    assert_int_equal(setup.model.tensor_parallel, 2);
    assert_int_equal(setup.model.weights, DTYPE_FP8);
    assert_int_equal(setup.model.kv, DTYPE_INT8);
    assert_near(setup.hbm_usable, .5, 0);
    assert_int_equal(setup.hbm_reserve, 2ULL << 30);
    assert_int_equal(setup.kv_pool_tokens, 41408);
    assert_int_equal(setup.room[TIER_HOST], 3ULL << 29);
    setup_release(&setup);
    setup = SETUP("model=qwen3-30b-a3b", "hardware=h200", "tensor_parallel=2", "data_parallel=4",
                  "expert_parallel=8", "pipeline_parallel=3", "expert_exchange=all-to-all",
                  "expert_skew=0.25");
    assert_int_equal(setup.model.parallel.data, 4);
    assert_int_equal(setup.model.parallel.experts, 8);
    assert_int_equal(setup.model.parallel.pipeline, 3);
    assert_true(setup.model.parallel.all_to_all);
    assert_near(setup.model.parallel.skew, .25, 0);
    assert_int_equal(model_gpus(&setup.model), 24);
    setup_release(&setup);
}

static const struct {
    const char *trace;
    double hit, spread;
} assumed[] = {
    {"trace=assumed:hit=93%,spread=5%", .93, .05},  {"trace=assumed:hit=93%", .93, 0},
    {"trace=assumed:hit=0.5,spread=0.25", .5, .25}, {"trace=assumed:hit=100%", 1, 0},
    {"trace=assumed:hit=0%,spread=0%", 0, 0},
};

static void assumed_ledgers_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(assumed); i++) {
        struct setup setup = SETUP(assumed[i].trace);
        assert_null(setup.trace);
        assert_near(setup.assumed_hit, assumed[i].hit, 0);
        assert_near(setup.assumed_spread, assumed[i].spread, 0);
        assert_string_equal(setup.trace_name, assumed[i].trace + strlen("trace="));
        setup_release(&setup);
    }
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static void last_key_of_a_sweep_is_fastest(void **state)
{
    static const uint32_t points[][3] = {{1000, 1, 1}, {1000, 1, 2}, {1000, 4, 1}, {1000, 4, 2},
                                         {1000, 9, 1}, {1000, 9, 2}, {2000, 1, 1}, {2000, 1, 2},
                                         {2000, 4, 1}, {2000, 4, 2}, {2000, 9, 1}, {2000, 9, 2}};
    (void)state;
    struct scenario scenario;
    struct error why;
    assert_true(load_text(BASE_FOR_CONTEXTS "sweep:\n  context: [1000, 2000]\n  batch: [1, 4, 9]\n"
                                            "  mechanisms.operators: [1, 2]\n",
                          OVERRIDES("seed=3"), &scenario, &why));
    assert_int_equal(scenario.points, COUNT(points));
    for (uint32_t i = 0; i < COUNT(points); i++) {
        struct point point = point_of(&scenario, i);
        assert_int_equal(point.setup.context, points[i][0]);
        assert_int_equal(point.setup.batch, points[i][1]);
        assert_int_equal(point.setup.mechanisms->operators, points[i][2]);
        assert_int_equal(point.setup.seed, 3);
        point_release(&point);
    }
    scenario_release(&scenario);
}

static void an_override_holds_instead_of_a_files_sweep_of_its_key(void **state)
{
    static const char swept[] =
        BASE_FOR_CONTEXTS "sweep:\n  context: [1000, 2000]\n  batch: [1, 4, 9]\n";
    (void)state;
    struct scenario scenario;
    struct error why;
    assert_true(load_text(swept, OVERRIDES("batch=7"), &scenario, &why));
    assert_int_equal(scenario.points, 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct point point = point_of(&scenario, i);
        assert_int_equal(point.setup.context, i == 0 ? 1000 : 2000);
        assert_int_equal(point.setup.batch, 7);
        point_release(&point);
    }
    scenario_release(&scenario);
    assert_true(load_text(swept, OVERRIDES("batch=7", "context=3000"), &scenario, &why));
    assert_int_equal(scenario.points, 1);
    assert_null(scenario.sweep);
    scenario_release(&scenario);
}

/* What a second file says ends a sweep of the first, and what it sweeps holds over what that says;
 * a part of a machine stands beside the machines that are swept. */
static void a_later_file_replaces_what_an_earlier_one_sweeps(void **state)
{
    static const struct {
        const char *first, *second;
        uint32_t points;
    } cases[] = {
        {"batch: 1\nsweep: {context: [1000, 2000], seed: [1, 2, 3]}\n", "context: 3000\n", 3},
        {"batch: 1\nsweep: {context: [1000, 2000]}\n", "context: 3000\n", 1},
        {"context: 1000\nsweep: {batch: [1, 2]}\n", "batch:\n", 1},
        {"context: 1000\nbatch: 7\n", "sweep: {batch: [1, 2]}\n", 2},
        {"context: 1000\nsweep: {batch: [1, 2]}\n", "sweep: {batch: [1, 2, 4]}\n", 3},
        {"context: 1000\nsweep: {mechanisms.operators: [1, 2]}\n", "mechanisms: {operators: 3}\n",
         1},
        {"context: 1000\nsweep: {mechanisms.operators: [1, 2]}\n", "mechanisms: {launch: graph}\n",
         2},
        {"context: 1000\nsweep: {hardware: [a40, h200]}\n", "hardware: rtx-4090\n", 1},
        {"context: 1000\nsweep: {hardware: [a40, h200]}\n", "hardware: {link: pcie5-x16}\n", 2},
        {"context: 1000\nsweep: {hardware.link: [pcie4-x16, pcie5-x16]}\n", "hardware: h200\n", 2},
        {"context: 1000\nsweep: {hardware.link: [pcie4-x16, pcie5-x16]}\n",
         "hardware: {link: pcie6-x16}\n", 1},
    };
    static const char *const files[] = {"a.yaml", "b.yaml"};
    static const char head[] = "model: llama-3-8b\nsystem: fullattn\ntrace: assumed:hit=93%\n";
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char first[512];
        struct scenario scenario;
        struct error why;
        snprintf(first, sizeof first, "%s%s%s", head,
                 strstr(cases[i].first, "hardware: [") != NULL ? "" : "hardware: a40\n",
                 cases[i].first);
        write_text("a.yaml", first);
        write_text("b.yaml", cases[i].second);
        if (!scenario_load(files, 2, NULL, 0, &scenario, &why)) {
            fail_msg("'%s' under '%s': %s", cases[i].first, cases[i].second, message_of(&why));
        }
        if (scenario.points != cases[i].points) {
            fail_msg("'%s' under '%s': %u points", cases[i].first, cases[i].second,
                     scenario.points);
        }
        struct point last = point_of(&scenario, scenario.points - 1);
        point_release(&last);
        scenario_release(&scenario);
    }
}

/* What an earlier file sweeps inside of maps would hold over a later layer. */
static void a_layer_says_nothing_that_all_swept_maps_say(void **state)
{
    static const struct {
        const char *override, *fault; /* NULL: it may be set */
    } cases[] = {
        {"mechanisms.operators=9", "--set 'mechanisms' 'operators'"},
        {"mechanisms={operators: 9}", "--set 'mechanisms' 'operators'"},
        {"mechanisms.launch=graph", NULL},
        {"sweep.mechanisms=[{operators: 2}, {operators: 3}]", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scenario scenario;
        struct error why;
        bool good = load_text(BASE "sweep: {mechanisms: [{operators: 5}, {operators: 7}]}\n",
                              OVERRIDES(cases[i].override), &scenario, &why);
        if (good != (cases[i].fault == NULL)) {
            fail_msg("%s: %s", cases[i].override, good ? "laid" : message_of(&why));
        }
        if (!good) {
            check_fault(cases[i].override, &why, cases[i].fault);
        }
        scenario_release(&scenario);
    }
}

static void a_layer_says_a_key_or_sweeps_it(void **state)
{
    static const struct {
        const char *file, *overrides[3], *fault;
    } cases[] = {
        {BASE "batch: 2\nsweep:\n  batch: [1, 4]\n", {NULL}, "s.yaml:8 'batch'"},
        {BASE "sweep:\n  hardware: [a40, h200]\n", {NULL}, "s.yaml:7 'hardware'"},
        {BASE "mechanisms:\n  operators: 5\nsweep: {mechanisms.operators: [1, 4]}\n",
         {NULL},
         "s.yaml:8 'mechanisms.operators'"},
        {BASE, {"batch=2", "sweep.batch=[1, 4]"}, "--set 'batch'"},
        {BASE, {"sweep={seed: [1, 4]}", "seed=7"}, "--set 'seed'"},
        {BASE,
         {"sweep.mechanisms.operators=[1, 4]", "mechanisms={operators: 7}"},
         "--set 'mechanisms.operators'"},
        {BASE,
         {"mechanisms.sync=cpu", "sweep={mechanisms: [{sync: gpu, launch: graph}, {sync: cpu}]}"},
         "--set 'mechanisms' 'sync'"},
        {"model: llama-3-8b\nsystem: fullattn\ncontext: 1000\nhardware: {link: pcie5-x16}\n"
         "sweep: {hardware: [{gpu: a40, link: pcie4-x16}, {gpu: h200, link: pcie6-x16}]}\n",
         {NULL},
         "s.yaml:5 'hardware' 'link'"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct scenario scenario;
        struct error why;
        assert_false(load_text(cases[i].file, cases[i].overrides, &scenario, &why));
        check_fault(cases[i].file, &why, cases[i].fault);
    }
}

/* What one of the maps leaves open is said beside them; a link of another name has what is said of
 * links. */
static void a_layer_may_say_what_swept_maps_leave_open(void **state)
{
    static const char *const files[] = {
        BASE "mechanisms: {operators: 5}\n"
             "sweep: {mechanisms: [{operators: 7, launch: graph}, {launch: eager}]}\n",
        "model: llama-3-8b\nsystem: fullattn\ncontext: 1000\nhardware: {link: {h2d: 1GB/s}}\n"
        "sweep: {hardware: [{gpu: a40, link: pcie4-x16}, {gpu: h200, link: pcie6-x16}]}\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        struct scenario scenario;
        struct error why;
        if (!load_text(files[i], OVERRIDES(NULL), &scenario, &why)) {
            fail_msg("%s", message_of(&why));
        }
        assert_int_equal(scenario.points, 2);
        scenario_release(&scenario);
    }
}

/* A map is laid key by key on what is there, in a second file as in --set, whole or by its keys. */
static void a_map_is_laid_alike_by_a_file_and_an_override(void **state)
{
    static const struct {
        const char *file, *override;
    } ways[] = {
        {"mechanisms: {operators: 7}\n", NULL},
        {"{}\n", "mechanisms={operators: 7}"},
        {"{}\n", "mechanisms.operators=7"},
    };
    static const char *const files[] = {"a.yaml", "b.yaml"};
    (void)state;
    write_text("a.yaml", BASE "mechanisms: {launch: graph, operators: 5}\n");
    for (size_t i = 0; i < COUNT(ways); i++) {
        struct scenario scenario;
        struct error why;
        write_text("b.yaml", ways[i].file);
        uint32_t count = ways[i].override != NULL;
        if (!scenario_load(files, 2, &ways[i].override, count, &scenario, &why)) {
            fail_msg("%s", message_of(&why));
        }
        struct point point = point_of(&scenario, 0);
        assert_int_equal(point.setup.mechanisms->launch, LAUNCH_GRAPH);
        assert_int_equal(point.setup.mechanisms->operators, 7);
        point_release(&point);
        scenario_release(&scenario);
    }
}

/* A key inside of what another key of the sweep sets must not be lost below it. */
static void keys_of_a_sweep_are_laid_in_their_order(void **state)
{
    static const double h2d[] = {1e9, 2e9, 1e9, 2e9}, bandwidth[] = {696e9, 696e9, 4.8e12, 4.8e12};
    (void)state;
    struct scenario scenario;
    struct error why;
    assert_true(load_text("model: llama-3-8b\nsystem: fullattn\ncontext: 1000\n"
                          "trace: assumed:hit=93%\n"
                          "sweep:\n  hardware: [a40, h200]\n"
                          "  hardware.link.h2d: [1GB/s, 2GB/s]\n",
                          OVERRIDES("seed=3"), &scenario, &why));
    assert_int_equal(scenario.points, 4);
    for (uint32_t i = 0; i < 4; i++) {
        struct point point = point_of(&scenario, i);
        struct trust trust = {.basis = BASIS_MEASURED};
        const struct profile *profile = &point.setup.profile;
        assert_near(profile_value(profile, CURVE_LINK_IN, 0, &trust), h2d[i], 0);
        assert_near(profile_value(profile, CURVE_GPU_HBM_BANDWIDTH, 0, &trust), bandwidth[i], 0);
        point_release(&point);
    }
    scenario_release(&scenario);
}

static void sweep_may_hold_maps_and_empty_values(void **state)
{
    (void)state;
    struct scenario scenario;
    struct error why;
    assert_true(load_text(BASE
                          "sweep:\n  mechanisms:\n  - {launch: graph}\n  -\n  - {operators: 5}\n",
                          OVERRIDES("mechanisms.operators=7"), &scenario, &why));
    static const int launches[] = {LAUNCH_GRAPH, LAUNCH_EAGER, LAUNCH_EAGER};
    static const uint64_t operators[] = {7, 7, 5}; /* the override holds where no value is */
    assert_int_equal(scenario.points, COUNT(operators));
    for (uint32_t i = 0; i < COUNT(operators); i++) {
        struct point point = point_of(&scenario, i);
        assert_int_equal(point.setup.mechanisms->launch, launches[i]);
        assert_int_equal(point.setup.mechanisms->operators, operators[i]);
        point_release(&point);
    }
    scenario_release(&scenario);
}

/* "KEY=[1, 1, ...]" with `count` values. */
static char *long_list(const char *key, uint32_t count)
{
    char *text = malloc(64 + 3 * (size_t)count);
    assert_non_null(text);
    size_t length = (size_t)sprintf(text, "sweep.%s=[", key);
    for (uint32_t i = 0; i < count; i++) {
        length += (size_t)sprintf(text + length, "1, ");
    }
    strcpy(text + length, "]");
    return text;
}

static void a_million_points_are_the_most(void **state)
{
    static const struct {
        uint32_t batches, seeds, steps, points; /* 0: refused */
    } cases[] = {{100, 100, 100, 1000000},
                 {1000, 1000, 1, 1000000},
                 {100, 100, 101, 0},
                 {1001, 1000, 1, 0},
                 {10000, 10000, 10000, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *batches = long_list("batch", cases[i].batches);
        char *seeds = long_list("seed", cases[i].seeds);
        char *steps = long_list("steps", cases[i].steps);
        struct scenario scenario;
        struct error why;
        bool good = load_text(BASE, OVERRIDES(batches, seeds, steps), &scenario, &why);
        assert_int_equal(good, cases[i].points > 0);
        if (good) {
            assert_int_equal(scenario.points, cases[i].points);
            struct point last = point_of(&scenario, cases[i].points - 1);
            point_release(&last);
            scenario_release(&scenario);
        } else {
            check_fault(batches, &why, "--set");
            assert_non_null(strstr(why.found, "1000000"));
        }
        free(batches);
        free(seeds);
        free(steps);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void no_scenario_is_refused(void **state)
{
    (void)state;
    struct scenario scenario;
    struct error why;
    assert_false(scenario_load(NULL, 0, NULL, 0, &scenario, &why));
    check_fault("nothing", &why, "");
    assert_int_equal(why.kind, ERROR_USAGE);
    assert_null(scenario.root);
}

/* Overrides laid over BASE, and their faults. */
static const struct {
    const char *override, *fault; /* NULL: good */
} bad_overrides[] = {
    {"batsh=2", "--set 'batsh' 'scenario' nearest 'batch'"},
    {"batch", "--set 'batch'"},
    {"=3", "--set '=3'"},
    {"", "--set ''"},
    {"model.name=x", "--set 'name'"},
    {"model.slidng_window=64", "--set 'slidng_window' nearest 'sliding_window'"},
    {"a..b=1", "--set 'a..b'"},
    {"model=", " 'model'"},
    {"hardware=", " 'hardware'"},
    {"system=", " 'system'"},
    {"context=", " 'context'"},
    {"model=llama-3-8bb", "--set 'llama-3-8bb' nearest 'llama-3-8b'"},
    {"hardware=a41", "--set 'a41' nearest 'a40'"},
    {"system=fulatn", "--set 'fulatn' nearest 'fullattn'"},
    {"trace=smolm2", "--set 'smolm2' nearest 'smollm2-135m'"},
    {"trace=", NULL}, /* the default */
    {"trace=./none.swt", "./none.swt"},
    {"system=fullattn,clo", "--set 'system' 'fullattn,clo'"},
    {"sweep.batch=1,2", "--set 'sweep.batch' '1,2'"},
    {"model=[a]", "--set 'model'"},
    {"hardware=[a40]", "--set 'hardware'"},
    {"context=0", "--set 'context' '0'"},
    {"context=\"\"", "--set 'context' ''"},
    {"context=-1", "--set 'context' '-1'"},
    {"context=1.5", "--set 'context' '1.5'"},
    {"context=8KiB", "--set 'context' '8KiB'"},
    {"context=4294967297", "--set 'context' '4294967297'"},
    {"context=[1, 2]", "--set 'context'"},
    {"batch=0", "--set 'batch' '0'"},
    {"batch=most", "--set 'batch' 'most'"},
    {"batch=1048577", "--set 'batch' '1048577'"},
    {"steps=0", "--set 'steps' '0'"},
    {"steps=auto", "--set 'steps' 'auto'"},
    {"steps=65537", "--set 'steps' '65537'"},
    {"steps=99999999999999999999", "--set 'steps' '99999999999999999999'"},
    {"warmup=all", "--set 'warmup' 'all'"},
    {"warmup=-1", "--set 'warmup' '-1'"},
    {"seed=x", "--set 'seed' 'x'"},
    {"order=random", "--set 'random' 'order'"},
    {"tensor_parallel=0", "--set 'tensor_parallel' '0'"},
    {"tensor_parallel=3", "s.yaml:1"},
    {"tensor_parallel=64", "s.yaml:1"},
    {"data_parallel=0", "--set 'data_parallel' '0'"},
    {"data_parallel=1025", "--set 'data_parallel' '1025'"},
    {"data_parallel=two", "--set 'data_parallel' 'two'"},
    {"pipeline_parallel=100", "s.yaml:1"},
    {"expert_parallel=2", "s.yaml:1 'llama-3-8b'"},
    {"expert_exchange=gather", "--set 'gather' 'expert_exchange' nearest 'all-gather'"},
    {"expert_exchange=all-to-all", "s.yaml:1 'llama-3-8b'"},
    {"expert_skew=-1", "--set 'expert_skew' '-1'"},
    {"expert_skew=11", "--set 'expert_skew' '11'"},
    {"expert_skew=50%", "--set 'expert_skew' '50%'"},
    {"dtype.kv=fp7", "--set 'fp7' nearest 'fp8'"},
    {"dtype.v=fp8", "--set 'v' 'dtype'"},
    {"dtype=fp8", "--set 'dtype'"},
    {"rate=", "--set 'rate'"}, /* not a decode step */
    {"clients=", "--set 'clients'"},
    {"hbm_usable=0%", "--set 'hbm_usable' '0%'"},
    {"hbm_usable=101%", "--set 'hbm_usable' '101%'"},
    {"hbm_usable=90", "--set 'hbm_usable' '90' nearest '90%'"},
    {"hbm_reserve=2", "--set 'hbm_reserve' '2'"},
    {"hbm_reserve=2GB/s", "--set 'hbm_reserve' '2GB/s'"},
    {"kv_pool_tokens=1GiB", "--set 'kv_pool_tokens' '1GiB'"},
    {"host_memory=10", "--set 'host_memory' '10'"},
    {"host_memory=0B", "--set 'host_memory' '0B'"},
    {"kv_pool_tokens=0", "--set 'kv_pool_tokens' '0'"},
    {"mechanisms=[sync]", "--set 'mechanisms'"},
    {"mechanisms.sink=4tok", "--set 'sink' 'mechanisms' nearest 'sinks'"},
    {"hardware.link.h2q=1GB/s", "--set 'h2q' 'link' nearest 'h2d'"},
    {"hardware.link.h2d=1GB", "--set 'link.h2d' '1GB'"},
    {"hardware={gpu: a40}", NULL}, /* a part of the machine that the file says */
    {"trace=assumed:", "--set 'trace'"},
    {"trace=\"assumed:\"", "--set 'assumed:'"},
    {"trace=assumed:hit=", "--set 'assumed:hit='"},
    {"trace=ensembl", "--set 'ensembl' nearest 'ensemble'"},
    {"trace=assumed:hit=9 3%", "--set 'hit' '9 3%' nearest '%'"},
    {"trace=assumed:hit=93%,", "--set 'assumed:hit=93%,'"},
    {"trace=assumed:hit=93%,spread=", "--set 'assumed:hit=93%,spread='"},
    {"trace=assumed:hit=93%,spread=5%,x", "--set 'spread' '5%,x'"},
    {"trace=assumed:hit=93%,spread=5% x", "--set 'assumed:hit=93%,spread=5% x'"},
    {"trace=assumed:spread=5%,hit=93%", "--set 'assumed:spread=5%,hit=93%'"},
    {"trace=assumed:hit=101%", "--set '101%'"},
    {"trace=assumed:hit=93", "--set 'hit' '93' nearest '93%'"},
    {"trace=assumed:hit=-1%", "--set 'hit' '-1%'"},
    {"trace=assumed:hit=0000000000000000000000000000000000000000000093%",
     "--set 'assumed:hit=0000000000000000000000000000000000000000000093%'"},
    {"sweep=[1]", "--set 'sweep'"},
    {"sweep.batch=3", "--set 'batch' 'sweep'"},
    {"sweep.batch=[]", "--set 'batch' 'sweep'"},
    {"sweep.batch={a: 1}", "--set 'batch' 'sweep'"},
    {"sweep.sweep=[1, 2]", "--set"},
    {"sweep.batsh=[1, 2]", "--set 'batsh' 'scenario' nearest 'batch'"},
    {"sweep.batch=[0, 2]", "--set 'batch' '0'"},
};

static void bad_overrides_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_overrides); i++) {
        struct scenario scenario;
        struct point point;
        struct error why;
        bool loaded = load_text(BASE, OVERRIDES(bad_overrides[i].override), &scenario, &why);
        bool good = loaded && scenario_point(&scenario, 0, &point, &why);
        if (loaded) {
            scenario_release(&scenario);
        }
        if (good) {
            point_release(&point);
        }
        if (good != (bad_overrides[i].fault == NULL)) {
            fail_msg("'%s' is %s", bad_overrides[i].override, good ? "accepted" : "refused");
        }
        if (!good) {
            check_fault(bad_overrides[i].override, &why, bad_overrides[i].fault);
        }
    }
}

/* Files and their faults. */
static const struct {
    const char *text, *fault; /* NULL: good */
} bad_files[] = {
    {"", "s.yaml:1"},
    {"# nothing\n", "s.yaml:1"},
    {"[a, b]\n", "s.yaml:1"},
    {"just words\n", "s.yaml:1"},
    {BASE "\nbatsh: 2\n", "s.yaml:7 'batsh' 'scenario' nearest 'batch'"},
    {BASE "batch: 0\n", "s.yaml:6 'batch' '0'"},
    {BASE "mechanisms:\n  sync: maybe\n", "s.yaml:7 'maybe' 'sync'"},
    {BASE "context: 5\n", "s.yaml:6 'context'"}, /* twice */
    {"model: a: b\n", "s.yaml:1"},
    {"hardware: a40\nsystem: clo\ncontext: 1\n", " 'model'"},
    {BASE "sweep:\n  batch: 3\n", "s.yaml:7 'batch' 'sweep'"},
    {BASE "sweep: 3\n", "s.yaml:6 'sweep'"},
    {"model: llama-3-8b\nhardware: a40\ncontext: 1000\nsweep:\n  system: [clo,\n    cloo]\n",
     "s.yaml:6 'cloo' nearest 'clo'"},
    {"model: llama-3-8b\nsystem: fullattn\ncontext: 1000\nhardware: {gpu: a40}\n",
     " 'a40' 'host.launch' 'fullattn'"},
    {BASE "sweep: {batch: [1, 0]}\n", NULL}, /* its first point is good */
};

static void bad_files_are_refused_by_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad_files); i++) {
        struct scenario scenario;
        struct point point;
        struct error why = {.found = ""};
        bool loaded = load_text(bad_files[i].text, OVERRIDES(NULL), &scenario, &why);
        bool good = loaded && scenario_point(&scenario, 0, &point, &why);
        if (loaded) {
            scenario_release(&scenario);
        }
        if (good) {
            point_release(&point);
        }
        if (good != (bad_files[i].fault == NULL)) {
            fail_msg("'%s' is %s", bad_files[i].text, good ? "accepted" : "refused");
        }
        if (!good) {
            check_fault(bad_files[i].text, &why, bad_files[i].fault);
        }
    }
}

static void files_that_cannot_be_read_are_refused(void **state)
{
    static const char *const names[] = {"none.yaml", ".", "binary.yaml"};
    (void)state;
    write_text("binary.yaml", "\x7f"
                              "ELF\x01\x02");
    for (size_t i = 0; i < COUNT(names); i++) {
        struct scenario scenario;
        struct error why;
        assert_false(scenario_load(&names[i], 1, NULL, 0, &scenario, &why));
        assert_string_equal(why.file, names[i]);
        assert_int_equal(why.kind, ERROR_FAILURE);
        assert_null(scenario.root);
    }
}

static void later_points_are_refused_alone(void **state)
{
    (void)state;
    struct scenario scenario;
    struct point point;
    struct error why;
    assert_true(load_text(BASE "sweep: {batch: [1, 0]}\n", OVERRIDES(NULL), &scenario, &why));
    assert_false(scenario_point(&scenario, 1, &point, &why));
    check_fault("batch of 0", &why, "s.yaml:6 'batch' '0'");
    point = point_of(&scenario, 0);
    assert_int_equal(point.setup.batch, 1);
    point_release(&point);
    scenario_release(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_files_and_overrides_win),
        cmocka_unit_test(override_reaches_inside),
        cmocka_unit_test(override_reaches_into_parts_of_a_machine),
        cmocka_unit_test(defaults_are_as_documented),
        cmocka_unit_test(tokens_may_be_counted_in_powers_of_1024),
        cmocka_unit_test(default_trace_is_the_nearest_to_the_model),
        cmocka_unit_test(recording_of_all_layers_that_grow_is_the_models_own),
        cmocka_unit_test(a_trace_that_nothing_asks_limits_no_context),
        cmocka_unit_test(a_server_has_the_ensemble_if_it_suffices),
        cmocka_unit_test(empty_value_is_the_default),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(assumed_ledgers_are_read),
        cmocka_unit_test(last_key_of_a_sweep_is_fastest),
        cmocka_unit_test(an_override_holds_instead_of_a_files_sweep_of_its_key),
        cmocka_unit_test(a_later_file_replaces_what_an_earlier_one_sweeps),
        cmocka_unit_test(a_layer_says_nothing_that_all_swept_maps_say),
        cmocka_unit_test(a_layer_says_a_key_or_sweeps_it),
        cmocka_unit_test(a_layer_may_say_what_swept_maps_leave_open),
        cmocka_unit_test(a_map_is_laid_alike_by_a_file_and_an_override),
        cmocka_unit_test(keys_of_a_sweep_are_laid_in_their_order),
        cmocka_unit_test(sweep_may_hold_maps_and_empty_values),
        cmocka_unit_test(a_million_points_are_the_most),
        cmocka_unit_test(no_scenario_is_refused),
        cmocka_unit_test(bad_overrides_are_refused),
        cmocka_unit_test(bad_files_are_refused_by_line),
        cmocka_unit_test(files_that_cannot_be_read_are_refused),
        cmocka_unit_test(later_points_are_refused_alone),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
