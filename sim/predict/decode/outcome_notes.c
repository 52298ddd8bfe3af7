/* Which notes hold for a run. Each function asks for one, or for a few that exclude each other. */
#include "predict/decode/outcome.h"

#include "decode/mechanism_values.h"
#include "decode/system.h"
#include "model/sharding.h"

#include <string.h>

/* GPUs that take part in the largest exchange of the model. */
static uint32_t exchanging_gpus(const struct model *model)
{
    struct model_exchange exchanges[MODEL_MOST_EXCHANGES];
    uint32_t most = 0;
    for (uint32_t layer = 0; layer <= model->layer_count; layer++) {
        size_t count = model_exchanges(model, layer, model_rows(model, 1), exchanges);
        for (size_t i = 0; i < count; i++) {
            bool among = exchanges[i].kind != EXCHANGE_SEND;
            most = among && exchanges[i].gpus > most ? exchanges[i].gpus : most;
        }
    }
    return most;
}

void outcome_note_machine(const struct setup *setup, struct result *result)
{
    uint32_t gpus = exchanging_gpus(&setup->model);
    const char *lacking = kernel_lacking_products(&setup->profile, setup->model.weights);
    if (lacking != NULL) {
        result_note(result, note_make(NOTE_no_products, note_text(lacking),
                                      note_text(dtype_name(setup->model.weights))));
    }
    if (gpus > KERNEL_NODE_GPUS) {
        result_note(result, note_make(NOTE_exchange_too_wide, note_whole(gpus),
                                      note_whole(KERNEL_NODE_GPUS)));
    } else if (model_gpus(&setup->model) > KERNEL_NODE_GPUS) {
        result_note(result, note_make(NOTE_stages_apart, note_whole(model_gpus(&setup->model)),
                                      note_whole(KERNEL_NODE_GPUS)));
    }
    uint32_t stages = setup->model.parallel.pipeline, layers = setup->model.layer_count;
    if (layers % stages != 0) {
        double share = 100 * ((layers / stages + 1) * (double)stages / layers - 1);
        result_note(result,
                    note_make(NOTE_stages_uneven, note_whole(layers / stages), note_real(share)));
    }
    struct trust trust = {.basis = BASIS_MEASURED};
    double rate = gpus < 2 ? 0 : kernel_reduce_rate(&setup->profile, gpus, &trust);
    /* Without NVLink, GPUs reach each other directly or through the host; no datasheet has either. */
    if (rate < KERNEL_PCIE_MOST && trust.basis != BASIS_MEASURED) {
        result_note(result, note_make(NOTE_exchange_on_pcie, note_whole(gpus), note_real(rate)));
    }
}

/* ---- model, contexts, choices of the system ---- */

void outcome_note_reading(const struct model *model, struct result *result)
{
    if (!model->known) {
        result_note(result, note_make(NOTE_architecture_unknown, note_text(model->name),
                                      note_text(model->architecture)));
    }
    if (model->indexed > 0) {
        result_note(result, note_make(NOTE_index_differs, note_text(model->name),
                                      note_bytes(model->indexed), note_bytes(model->counted)));
    }
}

static void note_model(const struct setup *setup, struct result *result)
{
    const struct model *model = &setup->model;
    struct setup_cohort cohort = setup_cohort(setup, setup_cohort_count(setup) - 1);
    uint64_t last = cohort.prompt + setup->output;
    uint64_t longest = cohort.context > last ? cohort.context : last;
    bool uses = setup_retrieves(setup) && setup_indexes(setup);
    if (model->trained_context > 0 && longest > model->trained_context) {
        result_note(result, note_make(NOTE_trained_context, note_text(model->name),
                                      note_whole(model->trained_context)));
    }
    outcome_note_reading(model, result);
    if (model->kv != DTYPE_BF16 && model->kv != DTYPE_FP8) {
        result_note(result, note_make(NOTE_attention_type, note_text(dtype_name(model->kv))));
    }
    /* Has a system that offloads no layer that it could offload? */
    bool local = mechanisms_offload(setup->mechanisms);
    for (uint32_t i = 0; i < model->layer_count; i++) {
        local = local && model_layer_local(model, i);
    }
    if (local) {
        result_note(result, note_make(NOTE_nothing_to_offload, note_text(model->name)));
    }
    if (model->kv_lora > 0 && model->index_topk > 0 && cohort.context > model->index_topk &&
        !uses) {
        result_note(result, note_make(NOTE_indexer_unused, note_text(model->name)));
    }
    if (setup->mechanisms->retrieval == RETRIEVAL_NATIVE && setup_at_any(setup, setup_selects) &&
        !uses) {
        result_note(result, note_make(NOTE_indexer_lacking, note_text(model->name)));
    }
}

/* Is the budget more than one selection, in whatever unit it is? */
static bool exceeds_selection(const struct setup *setup, const struct plan *plan)
{
    const struct mechanisms *m = setup->mechanisms;
    double selected = setup_share(setup, &m->selection) * (double)setup->context;
    switch (m->budget.unit) {
    case UNIT_TIMES:
        return m->budget.value > 1;
    case UNIT_BYTES:
        return m->budget.value > (double)plan->memory.in[TIER_GPU].cache;
    default:
        return setup_share(setup, &m->budget) * (double)setup->context >=
               selected + (double)m->granularity;
    }
}

static void note_policy(const struct setup *setup, const struct plan *plan, struct result *result)
{
    const struct policy_kind *policy = setup->mechanisms->policy;
    bool queries = setup->trace != NULL && trace_header(setup->trace)->has_queries;
    if (policy->content != 0) {
        result_note(result, note_make(NOTE_plugin, note_text(policy->name),
                                      note_text(policy_title(policy)), note_text(policy->summary)));
    }
    if (setup->model.importance_drawn) {
        result_note(
            result,
            note_make(
                NOTE_heads_drawn, note_text(setup->model.name),
                note_text(
                    setup->model.query_heads > setup->model.kv_heads
                        ? "Llama-3-8B, Llama-3.1-8B and Mistral-7B, and the range is over these"
                        : "Llama-2-7B, and the range is over draws")));
    } else if (setup->model.queries_drawn) {
        result_note(result, note_make(NOTE_queries_drawn, note_text(setup->model.name)));
    }
    if (mechanisms_offload(setup->mechanisms) && policy->needs_queries &&
        policy->ignores_capacity && !setup->mechanisms->budget.rest &&
        exceeds_selection(setup, plan)) {
        result_note(result, note_make(NOTE_budget_unused, note_text(policy->name)));
    }
    if (setup->mechanisms->resident_heads == RESIDENT_DIFFICULTY && !queries) {
        result_note(result, note_plain(NOTE_difficulty_unknown));
    }
}

/* How it is known what the system's retrieval asks for, and what it asks for a layer ahead. */
static void note_retrieval(const struct setup *setup, const struct plan *plan,
                           struct result *result)
{
    const struct mechanisms *m = setup->mechanisms;
    if (setup->trace == NULL || !setup_at_any(setup, setup_selects)) {
        return;
    }
    struct replay_plan replay = plan_replay(setup, plan, 0);
    enum retrieval_known known = retrieval_error_set(setup, &replay);
    if (known == RETRIEVAL_ELSEWHERE) {
        result_note(result, note_plain(NOTE_retrieval_elsewhere));
    } else if (known == RETRIEVAL_PERFECT) {
        result_note(result, note_plain(NOTE_retrieval_perfect));
    }
    if (mechanisms_offload(m) && m->prefetch == PREFETCH_NEXT_LAYER &&
        !trace_header(setup->trace)->has_approximate &&
        !retrieval_errs(&replay.errors[ASKS_AHEAD])) {
        result_note(result, note_plain(NOTE_speculation_perfect));
    }
}

void outcome_note_ledger(const struct setup *setup, const struct plan *plan,
                         const struct ledger *ledger, struct result *result)
{
    /* Rounded up, so that rows that differ little share a note. */
    static const double steps[] = {.1, .2, .5, 1, 2, 5, 10, 20, 50, 100};
    double points = 100 * (double)ledger->demand_cold / (double)ledger->demand_wanted;
    uint64_t window = setup->mechanisms->sinks + setup_recent(setup);
    size_t i = 0;
    if (points >= 0.05) { /* false of 0/0, where nothing is wanted */
        while (steps[i] < points && i + 1 < sizeof steps / sizeof *steps) {
            i++;
        }
        result_note(result, note_make(NOTE_cache_cold, note_real(steps[i])));
    }
    /* A trace whose units are few or all recent may want nothing outside the window. */
    if (ledger->demand_wanted == 0 && setup->trace != NULL && window < setup->context &&
        outcome_asks_trace(setup, plan)) {
        result_note(result, note_plain(NOTE_demand_in_window));
    }
}

void outcome_note_plan(const struct setup *setup, const struct plan *plan, struct result *result)
{
    if (model_passes(&setup->model) > 1) {
        result_note(result, note_make(NOTE_batch_each, note_whole(model_passes(&setup->model))));
    }
    const struct cohort *first = &plan->cohorts[0], *last = &first[plan->cohort_count - 1];
    if (plan->cohort_count > 1) { /* the column `contexts` has how many sequences of each */
        result_note(result, note_make(NOTE_contexts_between, note_whole(first->context),
                                      note_whole(last->context)));
    }
    note_model(setup, result);
    note_policy(setup, plan, result);
    /* Are weights streamed that would fit? */
    const struct memory *memory = &plan->memory;
    double weights = (double)memory->in[TIER_HOST].weights / model_gpus(&setup->model);
    double others = (double)(memory->in[TIER_GPU].all - memory->in[TIER_GPU].cache);
    bool streams = setup->mechanisms->weights_at == WEIGHTS_AT_GPU; /* else the CPU multiplies */
    if (streams && weights > 0 && others + weights <= (double)plan->limit[TIER_GPU]) {
        result_note(result, note_plain(NOTE_weights_fit));
    }
    note_retrieval(setup, plan, result);
    const char *fault = setup->trace_fault;
    if (fault[0] != '\0' && outcome_asks_trace(setup, plan)) {
        result_note(result, setup->trace_recorded
                                ? note_make(NOTE_trace_recorded, note_text(fault))
                                : note_make(NOTE_trace_generated, note_text(fault)));
    }
    /* A system whose GPU waits for the CPU is as fast as its host, and datasheets do not say enough of a host. */
    static const char host[] = "host.";
    enum curve_id ids[CURVE_COUNT];
    size_t count = pipeline_curves(setup, (struct pipeline_beside){0}, ids);
    char missing[400] = "";
    for (size_t i = 0; i < count; i++) {
        const char *name = curve_kinds[ids[i]].name;
        if (strncmp(name, host, strlen(host)) == 0 &&
            setup->profile.curves[ids[i]].basis != BASIS_MEASURED) {
            name_list_add(missing, sizeof missing, name);
        }
    }
    if (missing[0] != '\0' && system_class_of(setup) == CLASS_CPU_MANAGED) {
        result_note(result,
                    note_make(NOTE_host_unmeasured, note_text(system_cpu_part(setup->mechanisms)),
                              note_text(missing)));
    }
}

#define LEAST_CONTEXT 64 /* tokens; assumed: nobody needs a shorter sequence */

void outcome_note_refused(const struct setup *setup, struct result *result)
{
    result_drop_notes(result);
    result_note(result, note_make(NOTE_engine_refuses, note_text(setup->engine.name),
                                  note_text(setup->engine.refuses)));
}

void outcome_note_short(const struct setup *setup, const struct plan *plan, struct result *result)
{
    if (setup->engine.refuses != NULL) {
        outcome_note_refused(setup, result);
        return;
    }
    enum tier_id full = plan_overfull(plan);
    uint64_t needs = plan->memory.in[full].all, has = plan->limit[full];
    result_drop_notes(result);
    result_note(result, full == TIER_GPU
                            ? note_make(NOTE_short_of_hbm, note_bytes(needs), note_bytes(has),
                                        note_flag(plan->memory.peak_in_prefill))
                        : full == TIER_HOST
                            ? note_make(NOTE_short_of_host, note_bytes(needs), note_bytes(has))
                            : note_make(NOTE_short_of_disk, note_bytes(needs), note_bytes(has)));
    uint64_t longest = plan->max_context >= LEAST_CONTEXT ? plan->max_context : 0;
    result_note(result, note_make(NOTE_room, note_whole(plan->max_batch), note_whole(longest)));
}
