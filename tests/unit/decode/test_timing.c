/* What holds for every schedule: parts and stalls add up, no resource is busier than the step, no
 * time passes in which nothing happens, what the ledger misses crosses the link. */
#include "unit/fixture/tiny.h"

#include "core/named.h"
#include "core/random.h"
#include "decode/cost/attention.h"
#include "decode/system.h"
#include "decode/time/fetch.h"
#include "decode/time/hybrid.h"
#include "decode/time/prefill.h"
#include "decode/time/stages.h"
#include "unit/fixture/make_timing.h"
#include "unit/fixture/mechanism_choice.h"

#include <math.h>

/* ---- properties ------------------------------------------------------------------------------ */

/* What a schedule is compared with; all within the reported steps. */
struct totals {
    int64_t from_ns, to_ns;
    int64_t busiest_ns; /* of a resource */
    int64_t serial_ns;  /* of all tasks */
    int64_t main_ns;
};

static const struct pipeline_beside decode_alone = {0};

static int64_t clipped(const struct engine_record *record, const struct totals *totals)
{
    int64_t from = record->start_ns > totals->from_ns ? record->start_ns : totals->from_ns;
    int64_t to = record->end_ns < totals->to_ns ? record->end_ns : totals->to_ns;
    return to > from ? to - from : 0;
}

static struct totals totals_of(const struct pipe *pipe)
{
    int64_t busy[PIPE_RESOURCE_COUNT] = {0};
    struct totals totals = {
        .from_ns = engine_task_record(pipe->engine, pipe->step_end[0])->end_ns,
        .to_ns = engine_task_record(pipe->engine, pipe->step_end[pipe->steps - 1])->end_ns,
    };
    for (engine_task_id task = 0; task < engine_task_count(pipe->engine); task++) {
        const struct engine_record *record = engine_task_record(pipe->engine, task);
        int64_t ns = clipped(record, &totals);
        totals.serial_ns += ns;
        for (int i = 0; i < PIPE_RESOURCE_COUNT; i++) {
            busy[i] += record->resource == pipe->resource[i] ? ns : 0;
        }
    }
    for (int i = 0; i < PIPE_RESOURCE_COUNT; i++) {
        totals.busiest_ns = busy[i] > totals.busiest_ns ? busy[i] : totals.busiest_ns;
    }
    totals.main_ns = busy[PIPE_MAIN];
    return totals;
}

static int64_t sum_of(const int64_t *numbers, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(numbers[i] >= 0);
        sum += numbers[i];
    }
    return sum;
}

/* What the CPU answers for one pair: the output and a log-sum-exp of each query head. */
static uint64_t answer_bytes(const struct model *model)
{
    uint64_t width = model->kv_lora > 0 ? model->kv_lora : model->head_dim;
    return model_query_heads(model) / model_kv_heads(model) * (2 * width + 4);
}

/* Over the sequences of the batch: entries of their indices, and tokens kept as activations. */
static double sum_entries(const struct plan *plan)
{
    double entries = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        entries += (double)plan->cohorts[i].sizes.entries * plan->cohorts[i].sequences;
    }
    return entries;
}

static uint64_t sum_activations(const struct plan *plan)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        tokens += plan->cohorts[i].sizes.split.act_host * plan->cohorts[i].sequences;
    }
    return tokens;
}

/* Bytes that the ledger says cross the link in a step, and streamed weights and indices. */
static int64_t bytes_due(const struct course *course, uint32_t step)
{
    const struct setup *setup = course->setup;
    const struct plan *plan = &course->plan;
    uint64_t tokens = 0, answers = 0;
    int64_t weights = 0, activations = 0, index = 0;
    for (uint32_t l = 0; l < plan->layers; l++) {
        if (course->used != NULL) {
            const struct ledger_row *row = &course->used->rows[(size_t)step * plan->layers + l];
            bool whole = cpu_attends_whole(setup, l), apart = cpu_attends_selected(setup, l);
            tokens += whole || apart ? 0 : row->missed;
            answers +=
                whole || (apart && row->missed > 0) || row->for_cpu > 0 ? row->offloaded_heads : 0;
            index +=
                setup->mechanisms->retrieval_stream && !setup_loads_whole(setup, l)
                    ? llround(sum_entries(plan) * retrieval_entry_bytes(setup) * plan->offloaded[l])
                    : 0;
            index += llround(fetch_fill_bytes(setup, row));
            activations += (int64_t)(plan->offloaded[l] > 0 ? sum_activations(plan) : 0) *
                           (int64_t)model_activation_bytes(&setup->model);
        }
        int64_t parts = setup->mechanisms->weights_spread ? plan->micro_batches.count : 1;
        if (setup->mechanisms->weights_at == WEIGHTS_AT_CPU) { /* sums of products, bf16 */
            weights += (int64_t)plan->batch * setup_queries(setup) * setup->model.hidden * 2;
            continue;
        }
        if (setup->mechanisms->halves) {
            weights +=
                parts * llround(streamed_weight_bytes(setup, l, HALF_ATTENTION) / (double)parts);
            weights += parts * llround(streamed_weight_bytes(setup, l, HALF_FFN) / (double)parts);
        } else {
            weights += parts * llround(streamed_weight_bytes(setup, l, HALF_BOTH) / (double)parts);
        }
    }
    return weights + activations + index +
           llround((double)tokens * (double)model_kv_head_bytes(&setup->model) *
                   keys_host_share(setup)) +
           (int64_t)(answers * answer_bytes(&setup->model));
}

/* New KV leaves at each step; of a window that is full a block now and then, and queries where the CPU
 * attends, or hidden states where it multiplies. */
static bool writes_back(const struct course *course, uint32_t step)
{
    bool turn = (step + 1) % course->setup->mechanisms->granularity == 0, moves = false;
    bool writes = course->setup->mechanisms->weights_at == WEIGHTS_AT_CPU;
    if (mechanisms_drop(course->setup->mechanisms)) {
        return writes;
    }
    for (uint32_t c = 0; c < course->plan.cohort_count; c++) {
        const struct cohort *cohort = &course->plan.cohorts[c];
        bool full = course->setup->mechanisms->attention != ATTEND_HYBRID ||
                    cohort->context > cohort->sizes.cache_tokens;
        moves = moves || (turn && full);
    }
    for (uint32_t l = 0; course->used != NULL && l < course->plan.layers; l++) {
        const struct ledger_row *row = &course->used->rows[(size_t)step * course->plan.layers + l];
        bool leaves = course->plan.offloaded[l] > 0 && !cpu_attends(course->setup, l);
        writes = writes || moves || row->for_cpu > 0 || leaves;
    }
    return writes;
}

static void check_times(const struct course *course)
{
    const struct timing *timing = &course->timing;
    struct totals totals = totals_of(&course->pipe);
    int64_t steps = 0;
    for (uint32_t s = 0; s < timing->steps; s++) {
        assert_true(timing->step[s].ns > 0);
        steps += timing->step[s].ns;
    }
    assert_int_equal(steps, timing->total_ns);
    assert_int_equal(totals.to_ns - totals.from_ns, timing->total_ns);
    assert_int_equal(sum_of(timing->part_ns, PART_COUNT), timing->total_ns);
    assert_int_equal(sum_of(timing->basis_ns, BASIS_COUNT), timing->total_ns);
    assert_int_equal(sum_of(timing->stall_ns, PART_COUNT), timing->total_ns - totals.main_ns);
    assert_true(totals.busiest_ns <= timing->total_ns);
    assert_true(timing->total_ns <= totals.serial_ns);
    assert_true(sum_of(timing->layer_ns, timing->layers) <= timing->total_ns);
}

/* Blocks of `n` tokens of which one at least is missed, `missed` of `all` at random. */
static double blocks_due(const struct mechanisms *m, double missed, double all)
{
    double entries = (double)m->disk_block / (double)m->retrieval_tokens;
    double none = pow(1 - missed / all, entries > 1 ? entries : 1);
    return all * m->disk_kv / (double)m->disk_block * (1 - none);
}

/* Bytes that the drive reads in a step: of whole layers and weights their share, of a selection the
 * pages of blocks. */
static double disk_due(const struct course *course, uint32_t step)
{
    const struct setup *setup = course->setup;
    const struct mechanisms *m = setup->mechanisms;
    const struct plan *plan = &course->plan;
    double head = (double)model_kv_head_bytes(&setup->model), weights = 0, bytes = 0;
    double block = ceil((double)m->disk_block * head / 4096) * 4096;
    for (uint32_t l = 0; l < plan->layers; l++) {
        weights += streamed_weight_bytes(setup, l, HALF_BOTH);
        for (uint32_t c = 0; course->used != NULL && c < plan->cohort_count; c++) {
            const struct ledger_row *row =
                &ledger_part(course->used, c)[(size_t)step * plan->layers + l];
            const struct cohort *cohort = &plan->cohorts[c];
            double pairs = row->offloaded_heads, tokens = (double)cohort->context * pairs;
            double kept = (double)cohort->sizes.split.act_host * cohort->sequences *
                          (double)model_activation_bytes(&setup->model) * (pairs > 0);
            bytes += setup_loads_whole(setup, l) ? m->disk_kv * ((double)row->missed * head + kept)
                     : tokens > 0 ? blocks_due(m, (double)row->missed, tokens) * block
                                  : 0;
            bytes += setup_loads_whole(setup, l) ? 0 : m->disk_kv * fetch_fill_bytes(setup, row);
        }
    }
    return bytes + m->disk_weights * weights;
}

static void check_bytes(const struct course *course)
{
    double rounded = 4.0 * course->plan.layers * (course->plan.micro_batches.count + 2);
    for (uint32_t s = 0; s < course->timing.steps; s++) {
        assert_int_equal(course->timing.step[s].moved[WAY_IN], bytes_due(course, s));
        assert_int_equal(course->timing.step[s].moved[WAY_OUT] > 0, writes_back(course, s));
        assert_near((double)course->timing.step[s].moved[WAY_DISK_IN], disk_due(course, s),
                    rounded);
        assert_true(course->timing.step[s].moved[WAY_DISK_OUT] <=
                    course->timing.step[s].moved[WAY_OUT]);
    }
}

static void check_course(const struct course *course)
{
    check_times(course);
    check_bytes(course);
    if (course->used == NULL) {
        assert_int_equal(course->timing.part_ns[PART_LINK], 0);
    }
}

/* ---- systems --------------------------------------------------------------------------------- */

static const struct {
    const char *overrides[5];
} situations[] = {
    {{"hardware=a40", "context=131072", "batch=1"}},
    {{"hardware=a40", "context=8192", "batch=16"}},
    {{"hardware=h100-sxm", "context=32768", "batch=4", "trace=assumed:hit=60%,spread=20%"}},
    {{"hardware=rtx-4090", "context=70", "batch=1", "trace=assumed:hit=0%"}},
    {{"model=gpt-oss-120b", "hardware=h200", "context=100000", "batch=3"}},
    {{"model=qwen2.5-14b", "hardware=h100-sxm", "tensor_parallel=4", "batch=2"}},
    {{"model=opt-30b", "hardware=rtx-pro-6000", "context=2048", "batch=64"}},
    {{"model=deepseek-v3.2", "hardware=h200", "tensor_parallel=8", "batch=8"}},
    {{"model=glm-5.3", "hardware=b200", "tensor_parallel=8", "batch=2"}},
    {{"model=llama-4-scout", "hardware=b300", "context=20000", "batch=2"}},
    {{"model=qwen3-next-80b-a3b", "hardware=b200", "context=65536", "batch=4"}},
    {{"model=qwen3-30b-a3b", "hardware=h200", "data_parallel=4", "expert_parallel=4"}},
    {{"model=qwen3-30b-a3b", "hardware=h200", "data_parallel=2", "expert_skew=1"}},
    {{"context=", "contexts={1K: 2, 16K: 1, 128K: 1}"}},
    {{"model=opt-30b", "hardware=rtx-pro-6000", "context=", "contexts=[100, 2K, 300, 1000]"}},
};

/* Run every `stride`-th shipped system with these overrides. */
static void for_systems(const char *const *overrides, size_t first, size_t stride,
                        void (*check)(const struct course *))
{
    char **systems;
    size_t count;
    struct error why;
    assert_true(find_names("scenarios/systems", "yaml", &systems, &count, &why));
    for (size_t i = 0; i < count; i++) {
        if (i % stride != first) {
            free(systems[i]);
            continue;
        }
        char system[64];
        const char *all[8] = {system};
        snprintf(system, sizeof system, "system=%s", systems[i]);
        for (size_t o = 0; overrides[o] != NULL; o++) {
            all[1 + o] = overrides[o];
        }
        struct setup setup = make_setup(all);
        struct course course;
        if (!try_course(&setup, &course, &why)) { /* 1.8 % of 70 tokens are no cluster */
            assert_non_null(strstr(message_of(&why), "is empty"));
            setup_release(&setup);
            free(systems[i]);
            continue;
        }
        check(&course);
        course_release(&course);
        setup_release(&setup);
        free(systems[i]);
    }
    free(systems);
}

static void for_every_system(const char *const *overrides, void (*check)(const struct course *))
{
    for_systems(overrides, 0, 1, check);
}

/* Each situation has every eighth system, the next one others: neighbours are alike. */
static void times_and_bytes_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(situations); i++) {
        const char *overrides[8] = {"steps=2"};
        for (size_t o = 0; situations[i].overrides[o] != NULL; o++) {
            overrides[1 + o] = situations[i].overrides[o];
        }
        for_systems(overrides, i % 8, 8, check_course);
    }
}

static void times_and_bytes_add_up_on_a_recording(void **state)
{
    (void)state;
    for_systems(OVERRIDES("trace=smollm2-135m", "steps=3", "batch=2"), 0, 5, check_course);
    for_systems(OVERRIDES("trace=smollm2-135m", "steps=3", "context=", "contexts=[32K, 90K, 32K]"),
                2, 5, check_course);
}

/* Nothing crosses the link to the GPU when all hit, but whole layers that nothing speculates for,
 * and an index that lies on the host. */
static void check_all_hit(const struct course *course)
{
    check_course(course);
    const struct mechanisms *m = course->setup->mechanisms;
    if (!setup_loads_whole(course->setup, 0) && m->weights == 1 && !m->retrieval_stream) {
        assert_int_equal(course->timing.part_ns[PART_LINK], 0);
        assert_int_equal(course->timing.stall_ns[PART_LINK], 0);
        assert_int_equal(course->timing.step[0].moved[WAY_IN], 0);
    }
}

static void all_hits_never_wait_for_the_link(void **state)
{
    (void)state;
    for_every_system(OVERRIDES("trace=assumed:hit=100%", "steps=2"), check_all_hit);
    for_every_system(OVERRIDES("trace=assumed:hit=100%", "steps=2", "context=8192", "batch=8"),
                     check_all_hit);
}

/* The same run twice gives the same nanoseconds; equal steps take equal times once the pipeline has
 * settled. */
static void check_steady(const struct course *course)
{
    struct course again;
    make_course(course->setup, &again);
    assert_memory_equal(course->timing.part_ns, again.timing.part_ns,
                        PART_COUNT * sizeof *again.timing.part_ns);
    assert_memory_equal(course->timing.stall_ns, again.timing.stall_ns,
                        PART_COUNT * sizeof *again.timing.stall_ns);
    for (uint32_t s = 0; s < 4; s++) {
        assert_int_equal(course->timing.step[s].ns, again.timing.step[s].ns);
    }
    assert_int_equal(course->timing.step[3].ns, course->timing.step[2].ns);
    course_release(&again);
}

static void equal_steps_take_equal_times(void **state)
{
    (void)state;
    for_every_system(OVERRIDES("steps=4"), check_steady);
    for_every_system(OVERRIDES("steps=4", "context=", "contexts=[4K, 64K]"), check_steady);
}

/* The task of a stage of a step and layer. */
static const struct engine_record *task_of(const struct pipe *pipe, const char *stage,
                                           uint32_t step, uint32_t layer, int resource)
{
    for (engine_task_id task = 0; task < engine_task_count(pipe->engine); task++) {
        const struct engine_record *record = engine_task_record(pipe->engine, task);
        const struct pipe_mark *mark = &pipe->marks[record->tag];
        if (mark->step == step && mark->layer == layer && strcmp(mark->stage, stage) == 0 &&
            record->resource == pipe->resource[resource]) {
            return record;
        }
    }
    fail_msg("no '%s' in layer %u", stage, layer);
    return NULL;
}

/* Whole layers are asked for by a launch thread that is far ahead. Layer l + 1 is fetched in layer
 * l, into the buffer that layer l - 1 attended to. */
static void buffers_are_not_filled_while_in_use(void **state)
{
    enum { BUFFERED = 4 };
    (void)state;
    char model[128], bare[128];
    struct setup setup =
        SETUP(tiny_model(BUFFERED, model), tiny_machine, bare_system(bare), "context=1000",
              "steps=2", "trace=assumed:hit=0%", "mechanisms={full_layers: 4, operators: 8}",
              "hardware.link.h2d=50GB/s");
    struct course course;
    make_course(&setup, &course);
    for (uint32_t l = 1; l + 1 < BUFFERED; l++) {
        const struct engine_record *fetch = task_of(&course.pipe, "load", 1, l, PIPE_IN);
        const struct engine_record *used = task_of(&course.pipe, "attend", 1, l - 1, PIPE_MAIN);
        const struct engine_record *use = task_of(&course.pipe, "attend", 1, l + 1, PIPE_MAIN);
        assert_int_equal(fetch->start_ns, used->end_ns); /* nothing else holds it up */
        assert_true(use->start_ns >= fetch->end_ns);
    }
    course_release(&course);
    setup_release(&setup);
}

/* ---- monotony -------------------------------------------------------------------------------- */

static int64_t time_of(const char *const *overrides)
{
    struct setup setup = make_setup(overrides);
    struct course course;
    make_course(&setup, &course);
    int64_t ns = course.timing.total_ns;
    course_release(&course);
    setup_release(&setup);
    return ns;
}

/* Figures from worse to better; where nothing is shared, nothing gets slower by a better one. */
struct improvement {
    const char *system, *key, *values[6];
};
static const struct improvement improvements[] = {
    {"system=fullattn", "hardware.gpu.hbm_bandwidth", {"300GB/s", "600GB/s", "1TB/s", "4TB/s"}},
    {"system=fullattn", "hardware.gpu.flops_bf16", {"1TFLOP/s", "10TFLOP/s", "100TFLOP/s"}},
    {"system=fullattn", "hardware.host.launch", {"200us", "50us", "6us", "1us", "0ns"}},
    {"system=fullattn", "hardware.gpu.kernel_floor", {"100us", "10us", "1us"}},
    {"system=vllm", "hardware.gpu.hbm_bandwidth", {"300GB/s", "600GB/s", "1TB/s", "4TB/s"}},
    {"system=vllm", "hardware.host.sync", {"1ms", "100us", "10us"}},
    {"system=vllm", "mechanisms.step_overhead", {"10ms", "1ms", "0us"}},
    {"system=fullattn", "context", {"1000000", "100000", "10000", "1000"}},
    {"system=fullattn", "batch", {"64", "8", "2", "1"}},
    {"system=retroinfer-10pct", "hardware.host.pool_wake", {"30us", "10us", "1us"}},
    {"system=retroinfer-10pct", "hardware.host.sync", {"200us", "50us", "10us"}},
    {"system=infinigen", "hardware.link.h2d", {"5GB/s", "20GB/s", "50GB/s"}},
    {"system=flexgen", "hardware.link.h2d", {"8GB/s", "20GB/s", "55GB/s", "100GB/s", "400GB/s"}},
    {"system=flexgen", "hardware.host.pageable", {"5GB/s", "20GB/s", "50GB/s"}},
    {"system=infinigen", "hardware.host.gather", {"5GB/s", "20GB/s", "50GB/s"}},
    {"system=infinigen", "hardware.host.gather_span", {"0.5x", "1x", "1.3x"}},
    {"system=clo", "trace", {"assumed:hit=0%", "assumed:hit=50%", "assumed:hit=100%"}},
    {"system=retroinfer-10pct", "trace", {"assumed:hit=0%", "assumed:hit=50%", "assumed:hit=100%"}},
    {"system=hisparse", "hardware.gpu.sector", {"4KiB", "128B", "32B"}},
    {"system=infinigen", "mechanisms.retrieval_id_bytes", {"64B", "8B", "4B"}},
    {"system=hgca", "trace", {"assumed:hit=0%", "assumed:hit=50%", "assumed:hit=100%"}},
    {"system=hgca", "hardware.host.attention", {"5GB/s", "50GB/s", "500GB/s"}},
};

/* The same with all KV on a disk. */
static const struct improvement drives[] = {
    {"system=flexgen", "hardware.disk.read", {"1GB/s", "3GB/s", "12GB/s", "100GB/s"}},
    {"system=flexgen", "hardware.disk.latency", {"10ms", "100us", "1us"}},
    {"system=litecache", "hardware.disk.read", {"1GB/s", "3GB/s", "12GB/s", "100GB/s"}},
    {"system=retroinfer-10pct", "hardware.disk.read_one", {"10MB/s", "100MB/s", "1GB/s"}},
    {"system=infinigen", "mechanisms.disk_kv", {"100%", "50%", "1%", "0%"}},
    {"system=infinigen", "mechanisms.disk_depth", {"1", "4", "32"}},
    {"system=infinigen", "mechanisms.disk_weights", {"100%", "50%", "0%"}},
};

static void check_improvement(const struct improvement *improvement, const char *disk,
                              const char *kept)
{
    int64_t last = INT64_MAX, first = 0;
    for (size_t v = 0; improvement->values[v] != NULL; v++) {
        char override[128];
        snprintf(override, sizeof override, "%s=%s", improvement->key, improvement->values[v]);
        int64_t ns = time_of(OVERRIDES(improvement->system, "steps=2", disk, kept, override));
        if (ns > last) {
            fail_msg("%s, %s: %lld ns after %lld", improvement->system, override, (long long)ns,
                     (long long)last);
        }
        first = v == 0 ? ns : first;
        last = ns;
    }
    if (last >= first) {
        fail_msg("%s, %s changes nothing", improvement->system, improvement->key);
    }
}

static void better_figures_are_never_slower(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(improvements); i++) {
        check_improvement(&improvements[i], "steps=2", "steps=2");
    }
    for (size_t i = 0; i < COUNT(drives); i++) {
        check_improvement(
            &drives[i],
            "hardware.disk={capacity: 4TB, read: {value: 6GB/s, basis: measured, source: x},"
            " read_one: 1GB/s, write: 3GB/s, latency: 80us}",
            "mechanisms={weights: 50%, disk_kv: 100%, disk_depth: 4}");
    }
}

/* A slower head than the others holds up its layer: with the same mean, more spread is slower. */
static void worst_head_decides(void **state)
{
    (void)state;
    int64_t even = time_of(OVERRIDES("system=retroinfer-10pct", "trace=assumed:hit=80%,spread=0%",
                                     "mechanisms.transfer_ctas=1", "mechanisms.hit_ctas=16"));
    int64_t uneven =
        time_of(OVERRIDES("system=retroinfer-10pct", "trace=assumed:hit=80%,spread=20%",
                          "mechanisms.transfer_ctas=1", "mechanisms.hit_ctas=16"));
    assert_true(uneven > even);
}

/* ---- every mechanism ------------------------------------------------------------------------- */

static bool is_chosen(const struct mechanisms *mechanisms, struct choice choice)
{
    const void *at = (const char *)mechanisms + choice.key->offset;
    return choice.key->type == MECHANISM_POLICY ? mechanisms->policy == policies[choice.value]
                                                : *(const int *)at == (int)choice.value;
}

/* All that the system has not chosen. */
static size_t list_choices(const struct mechanisms *mechanisms, struct choice *choices)
{
    size_t count = 0;
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        for (struct choice choice = {key, 0}; choice_exists(choice); choice.value++) {
            if (!is_chosen(mechanisms, choice)) {
                choices[count++] = choice;
            }
        }
    }
    return count;
}

static void apply(struct choice choice, struct mechanisms *out)
{
    void *at = (char *)out + choice.key->offset;
    if (choice.key->type != MECHANISM_POLICY) {
        *(int *)at = (int)choice.value;
        return;
    }
    const struct policy_kind *kind = policies[choice.value];
    out->policy = kind;
    for (size_t i = 0; kind->params != NULL && kind->params[i].name != NULL; i++) {
        out->policy_values[i] = kind->params[i].value;
    }
}

/* Take from the profile the curves that this setup does not say it reads: reading one asserts. */
static void hide_curves(struct setup *setup, uint32_t counts[CURVE_COUNT])
{
    enum curve_id needed[CURVE_COUNT];
    bool is_needed[CURVE_COUNT] = {false};
    size_t count = pipeline_curves(setup, decode_alone, needed);
    for (size_t i = 0; i < count; i++) {
        is_needed[needed[i]] = true;
    }
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        counts[i] = setup->profile.curves[i].count;
        setup->profile.curves[i].count = is_needed[i] ? counts[i] : 0;
    }
}

static void show_curves(struct setup *setup, const uint32_t counts[CURVE_COUNT])
{
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        setup->profile.curves[i].count = counts[i];
    }
}

/* Run the setup with two choices; true when it ran. What does not is refused with a reason. */
static bool run_choices(struct setup *setup, struct choice a, struct choice b)
{
    const struct mechanisms before = *setup->mechanisms;
    const char *key = NULL;
    uint32_t counts[CURVE_COUNT];
    struct course course;
    struct error why = {.found = ""};
    apply(a, setup->mechanisms);
    apply(b, setup->mechanisms);
    const char *reason = mechanisms_contradiction(setup->mechanisms, &key);
    bool ran = false;
    if (reason == NULL) {
        hide_curves(setup, counts);
        ran = try_course(setup, &course, &why);
        show_curves(setup, counts);
    }
    if (ran) {
        check_course(&course);
        course_release(&course);
    } else if (reason != NULL ? reason[0] == '\0' || key == NULL : why.found[0] == '\0') {
        fail_msg("%s: %s, %s: %s is refused without a reason", a.key->name, choice_name(a),
                 b.key->name, choice_name(b));
    }
    *setup->mechanisms = before;
    return ran;
}

/* A 32nd of the pairs is taken of each system, other ones of the next, and others where contexts are mixed:
 * systems share most of their mechanisms. */
enum { PAIR_STRIDE = 32 };

/* Every pair of choices laid over a system; with a stride, those whose numbers leave `first`. */
static void run_pairs(struct setup *setup, size_t first, size_t *ran, size_t *refused)
{
    struct choice choices[128];
    size_t count = list_choices(setup->mechanisms, choices);
    for (size_t a = 0; a < count; a++) {
        for (size_t b = a; b < count; b++) {
            if ((a + b) % PAIR_STRIDE != first % PAIR_STRIDE) {
                continue;
            }
            bool good = run_choices(setup, choices[a], choices[b]);
            *ran += good;
            *refused += !good;
        }
    }
}

/* Every shipped system so, on a model of two layers, with these contexts. */
static void run_pairs_of_systems(const char *context, const char *contexts, size_t first)
{
    size_t names, ran = 0, refused = 0;
    char **systems, model[128];
    struct error why;
    tiny_model(2, model);
    assert_true(find_names("scenarios/systems", "yaml", &systems, &names, &why));
    for (size_t i = 0; i < names; i++) {
        char system[64];
        snprintf(system, sizeof system, "system=%s", systems[i]);
        struct setup setup = SETUP(model, tiny_machine, context, contexts, "steps=1", system);
        run_pairs(&setup, first + i, &ran, &refused);
        setup_release(&setup);
        free(systems[i]);
    }
    free(systems);
    assert_true(ran > refused / 4 && refused > 0);
}

static void every_pair_of_mechanisms_runs_or_is_refused(void **state)
{
    (void)state;
    run_pairs_of_systems("context=1000", "contexts=", 0);
}

static void every_pair_of_mechanisms_runs_with_contexts_mixed(void **state)
{
    (void)state;
    run_pairs_of_systems("context=", "contexts={1000: 1, 3000: 2}", PAIR_STRIDE / 2);
}

/* A system with three random overrides: 1 when it ran, 0 when it was refused with a reason. */
static bool run_overridden(struct setup *setup, const char *system, const char *text)
{
    struct error why = {.found = ""};
    struct node *at = node_parse(system, strlen(system), "test", &why);
    struct node *overrides = node_parse(text, strlen(text), "test", &why);
    struct system_info info;
    struct course course;
    uint32_t counts[CURVE_COUNT];
    free(setup->mechanisms);
    setup->mechanisms =
        overrides != NULL ? system_load(NULL, system, at, overrides, &info, NULL, &why) : NULL;
    bool ran = setup->mechanisms != NULL;
    if (ran) {
        hide_curves(setup, counts);
        ran = try_course(setup, &course, &why);
        show_curves(setup, counts);
    }
    if (ran) {
        check_course(&course);
        course_release(&course);
    } else if (why.found[0] == '\0') {
        fail_msg("%s %s is refused without a reason", system, text);
    }
    node_destroy(overrides);
    node_destroy(at);
    return ran;
}

static void a_thousand_triples_of_overrides_run_or_are_refused(void **state)
{
    (void)state;
    size_t names, ran = 0, most = 1000;
    char **systems, model[128];
    struct error why;
    gsl_rng *rng = random_stream(1, "overrides", 0, &why);
    tiny_model(2, model);
    assert_true(find_names("scenarios/systems", "yaml", &systems, &names, &why));
    for (size_t i = 0; i < most; i++) {
        char a[96], b[96], c[96], text[320], system[80];
        const char *name = systems[i % names];
        choice_draw(rng, ": ", a, sizeof a);
        choice_draw(rng, ": ", b, sizeof b);
        choice_draw(rng, ": ", c, sizeof c);
        snprintf(text, sizeof text, "{%s, %s, %s}", a, b, c);
        snprintf(system, sizeof system, "system=%s", name);
        struct setup setup =
            SETUP(model, tiny_machine, "steps=2", i % 4 == 0 ? "context=" : "context=1000",
                  i % 4 == 0 ? "contexts=[300, 1000, 3000]" : "batch=3", system);
        print_message("%s %s\n", name, text);
        ran += run_overridden(&setup, name, text);
        setup_release(&setup);
    }
    for (size_t i = 0; i < names; i++) {
        free(systems[i]);
    }
    free(systems);
    gsl_rng_free(rng);
    print_message("%zu of %zu ran\n", ran, most);
    assert_true(ran > most / 10);
}

/* A curve with a standard can be read where it is not stated, so that hiding it shows nothing. Such
 * a curve may change a system's times only if the system says that it reads it. */
static void standards_that_are_read_are_said(void **state)
{
    (void)state;
    char **systems;
    size_t names, read[CURVE_COUNT] = {0};
    struct error why;
    assert_true(find_names("scenarios/systems", "yaml", &systems, &names, &why));
    for (size_t i = 0; i < names; i++) {
        for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
            char system[64], figures[2][128];
            if (curve_kinds[id].standard == 0) {
                continue;
            }
            snprintf(system, sizeof system, "system=%s", systems[i]);
            for (int j = 0; j < 2; j++) {
                double value = curve_kinds[id].standard * (j == 0 ? 1 : 16);
                snprintf(figures[j], sizeof figures[j], "hardware.%s=%g%s", curve_kinds[id].name,
                         value,
                         curve_kinds[id].unit == UNIT_TIMES   ? "x"
                         : curve_kinds[id].unit == UNIT_BYTES ? "B"
                                                              : "");
            }
            struct setup setup = SETUP(system, figures[1]);
            assert_true(setup.profile.curves[id].value[0] == 16 * curve_kinds[id].standard);
            enum curve_id needed[CURVE_COUNT];
            size_t count = pipeline_curves(&setup, decode_alone, needed);
            bool said = false;
            for (size_t n = 0; n < count; n++) {
                said = said || needed[n] == id;
            }
            bool changes = time_of(OVERRIDES(system, "steps=2", figures[0])) !=
                           time_of(OVERRIDES(system, "steps=2", figures[1]));
            if (changes && !said) {
                fail_msg("%s reads %s", systems[i], curve_kinds[id].name);
            }
            read[id] += changes;
            setup_release(&setup);
        }
        free(systems[i]);
    }
    free(systems);
    assert_true(read[CURVE_GPU_SECTOR] > 0 && read[CURVE_HOST_GATHER_SPAN] > 0);
}

/* A machine that lacks one of the curves is refused before anything runs. Where a curve has a
 * standard, the machine may lack it. */
static void missing_curve_is_named(void **state)
{
    (void)state;
    struct setup setup = SETUP("system=retroinfer-10pct");
    enum curve_id needed[CURVE_COUNT];
    struct error why;
    size_t count = pipeline_curves(&setup, decode_alone, needed);
    for (size_t i = 0; i < count; i++) {
        uint32_t points = setup.profile.curves[needed[i]].count;
        setup.profile.curves[needed[i]].count = 0;
        if (curve_kinds[needed[i]].standard > 0) {
            assert_true(profile_require(&setup.profile, needed, count, "system 'x'", &why));
        } else {
            assert_false(profile_require(&setup.profile, needed, count, "system 'x'", &why));
            assert_non_null(strstr(why.expected, curve_kinds[needed[i]].name));
        }
        setup.profile.curves[needed[i]].count = points;
    }
    assert_true(profile_require(&setup.profile, needed, count, "system 'x'", &why));
    setup_release(&setup);
}

/* Time of a prefill, then of decode. */
static int64_t total_of(const struct setup *setup)
{
    struct course course;
    struct prefill_time prefill = {.ns = 0};
    struct error why;
    make_course(setup, &course);
    if (setup->prompt > 0 && !prefill_run(setup, &course.plan, course.used, NULL, &prefill, &why)) {
        fail_msg("%s", message_of(&why));
    }
    int64_t ns = prefill.ns + course.timing.total_ns;
    course_release(&course);
    return ns;
}

/* GLM-5.3 has 21 indexers in 78 layers, GLM-5 has 78: scores and top-k take so much less time, where
 * all KV stays in HBM and where it is fetched. */
static void layers_that_share_a_selection_compute_none(void **state)
{
    (void)state;
    static const char *const models[] = {"model=glm-5", "model=glm-5.3"};
    static const char *const systems[] = {"system=vllm", "system=hisparse"};
    for (size_t s = 0; s < 2; s++) {
        int64_t ns[2];
        for (size_t i = 0; i < 2; i++) {
            struct setup setup = SETUP(models[i], "hardware=b200", "tensor_parallel=8", systems[s],
                                       "context=65536", "dtype.weights=fp8");
            struct course course;
            make_course(&setup, &course);
            ns[i] = course.timing.part_ns[PART_RETRIEVAL];
            course_release(&course);
            setup_release(&setup);
        }
        print_message("# %s\n", systems[s]);
        assert_true(ns[0] > 0);
        assert_true(fabs((double)ns[1] / (double)ns[0] - 21. / 78) < 1e-3);
    }
}

enum { KERNEL_AXES = 6 };

/* Choose the `index`th combination of overrides; false after the last one. Quantisation leaves a
 * model's router, its head or all but its experts as they are, so that most models have products of
 * two types. The last machine has no figures of kernels of its own. */
static bool choose_overrides(size_t index, const char *chosen[KERNEL_AXES])
{
    const char *const axes[KERNEL_AXES][5] = {
        {"model=llama-3-8b", "model=deepseek-v3.2", "model=gpt-oss-120b", "model=qwen3-30b-a3b"},
        {"dtype.weights=bf16", "dtype.weights=fp8", "dtype.weights=int4"},
        {"dtype.kv=bf16", "dtype.kv=fp8"},
        {"hardware=h200", "hardware=a40", "hardware=rtx-pro-6000-server", tiny_machine},
        {"system=fullattn", "system=vllm", "system=capture"},
        {"prompt=none", "prompt=3000"},
    };
    for (size_t axis = 0; axis < KERNEL_AXES; axis++) {
        size_t count = 0;
        while (axes[axis][count] != NULL) {
            count++;
        }
        chosen[axis] = axes[axis][index % count];
        index /= count;
    }
    return index == 0;
}

/* Without the curves that a setup does not say it reads, its times are the same. */
static void kernels_read_only_curves_that_are_said(void **state)
{
    (void)state;
    const char *of[KERNEL_AXES];
    for (size_t i = 0; choose_overrides(i, of); i += 7) {
        struct setup setup =
            SETUP("context=4000", "steps=1", of[0], of[1], of[2], of[3], of[4], of[5]);
        uint32_t counts[CURVE_COUNT];
        int64_t whole = total_of(&setup);
        hide_curves(&setup, counts);
        if (total_of(&setup) != whole) {
            fail_msg("%s %s %s %s %s %s", of[0], of[1], of[2], of[3], of[4], of[5]);
        }
        show_curves(&setup, counts);
        setup_release(&setup);
    }
}

/* A profile that states the fixed time of fp8 products has to state their share of the peak. */
static void optional_curves_that_go_together_are_needed_together(void **state)
{
    (void)state;
    struct setup setup = SETUP("system=fullattn", "dtype.weights=fp8");
    struct curve *share = &setup.profile.curves[CURVE_GPU_FLOPS_SHARE_FP8];
    struct curve *fixed = &setup.profile.curves[CURVE_GPU_PRODUCT_FIXED_FP8];
    uint32_t points = fixed->count;
    enum curve_id needed[CURVE_COUNT];
    struct error why;
    assert_int_equal(share->count, 0);
    fixed->count = 0;
    size_t count = pipeline_curves(&setup, decode_alone, needed);
    assert_true(profile_require(&setup.profile, needed, count, "system 'x'", &why));
    fixed->count = 1;
    count = pipeline_curves(&setup, decode_alone, needed);
    assert_false(profile_require(&setup.profile, needed, count, "system 'x'", &why));
    assert_non_null(strstr(why.expected, "gpu.flops_share_fp8"));
    fixed->count = points;
    setup_release(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_bytes_add_up),
        cmocka_unit_test(times_and_bytes_add_up_on_a_recording),
        cmocka_unit_test(all_hits_never_wait_for_the_link),
        cmocka_unit_test(equal_steps_take_equal_times),
        cmocka_unit_test(buffers_are_not_filled_while_in_use),
        cmocka_unit_test(better_figures_are_never_slower),
        cmocka_unit_test(worst_head_decides),
        cmocka_unit_test(every_pair_of_mechanisms_runs_or_is_refused),
        cmocka_unit_test(every_pair_of_mechanisms_runs_with_contexts_mixed),
        cmocka_unit_test(a_thousand_triples_of_overrides_run_or_are_refused),
        cmocka_unit_test(standards_that_are_read_are_said),
        cmocka_unit_test(missing_curve_is_named),
        cmocka_unit_test(layers_that_share_a_selection_compute_none),
        cmocka_unit_test(kernels_read_only_curves_that_are_said),
        cmocka_unit_test(optional_curves_that_go_together_are_needed_together),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
