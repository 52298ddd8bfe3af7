/* Fills the columns of a result, group by group, in the order of columns.def. */
#include "predict/decode/outcome.h"

#include "decode/mechanism_values.h"
#include "decode/plan/resident.h"
#include "model/sharding.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

bool outcome_names(const struct setup *setup, struct result *result, struct error *why)
{
    result_integer(result, COLUMN(context), (int64_t)setup->context);
    result_integer(result, COLUMN(seed), (int64_t)setup->seed);
    result_integer(result, COLUMN(tensor_parallel), setup->model.tensor_parallel);
    if (setup->drafts.count > 0) {
        result_integer(result, COLUMN(drafts), setup->drafts.count);
    }
    return result_text(result, COLUMN(system), setup->system.name, why) &&
           result_text(result, COLUMN(model), setup->model.name, why) &&
           result_text(result, COLUMN(hardware), setup->profile.name, why) &&
           result_text(result, COLUMN(dtype_weights), dtype_name(setup->model.weights), why) &&
           result_text(result, COLUMN(dtype_kv), dtype_name(setup->model.kv), why) &&
           result_text(result, COLUMN(trace), setup->trace_name, why) &&
           result_text(result, COLUMN(policy), setup->mechanisms->policy->name, why) &&
           result_text(result, COLUMN(available), setup->system.available, why) &&
           result_text(result, COLUMN(lossless), setup_lossless(setup), why);
}

bool outcome_setup(const struct setup *setup, const struct plan *plan, struct result *result,
                   struct error *why)
{
    snprintf(result->plan_hash, sizeof result->plan_hash, "%016" PRIx64, plan_hash(setup, plan));
    outcome_note_machine(setup, result);
    return outcome_names(setup, result, why);
}

bool outcome_asks_trace(const struct setup *setup, const struct plan *plan)
{
    return plan->resident_share < 1 && setup_at_any(setup, setup_asks_trace);
}

/* "{4096: 1, 131072: 2}", as a scenario writes it; nothing if there is one context. */
static bool write_contexts(const struct plan *plan, struct result *result, struct error *why)
{
    char text[SETUP_MOST_COHORTS * 32] = "{";
    size_t used = 1;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu: %u", i > 0 ? ", " : "",
                                 (unsigned long long)plan->cohorts[i].context,
                                 plan->cohorts[i].sequences);
    }
    snprintf(text + used, sizeof text - used, "}");
    return plan->cohort_count == 1 || result_text(result, COLUMN(contexts), text, why);
}

/* The columns of tiers: views of what a plan holds. */
static void write_tiers(const struct memory *memory, struct result *result)
{
    const struct memory_held *hbm = &memory->in[TIER_GPU], *host = &memory->in[TIER_HOST],
                             *disk = &memory->in[TIER_DISK];
    const struct {
        const struct column *column;
        uint64_t bytes;
    } views[] = {
        {COLUMN(cache_bytes), hbm->cache},
        {COLUMN(hbm_bytes), hbm->all},
        {COLUMN(hbm_weights_bytes), hbm->weights},
        {COLUMN(hbm_kv_bytes), hbm->kv + hbm->window},
        {COLUMN(hbm_metadata_bytes), hbm->metadata},
        {COLUMN(hbm_buffers_bytes), hbm->buffers},
        {COLUMN(hbm_workspace_bytes), hbm->workspace},
        {COLUMN(dram_bytes), host->all},
        {COLUMN(dram_kv_bytes), host->kv},
        {COLUMN(dram_weights_bytes), host->weights},
        {COLUMN(dram_buffers_bytes), host->buffers},
        {COLUMN(dram_padding_bytes), host->padding},
        {COLUMN(disk_bytes), disk->all},
        {COLUMN(disk_kv_bytes), disk->kv},
        {COLUMN(disk_weights_bytes), disk->weights},
    };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        result_integer(result, views[i].column, (int64_t)views[i].bytes);
    }
}

bool outcome_memory(const struct setup *setup, const struct plan *plan, struct result *result,
                    struct error *why)
{
    const struct memory *memory = &plan->memory;
    const char *status = setup->engine.refuses != NULL ? "refused"
                         : plan->fits                  ? "ok"
                                                       : "out-of-memory";
    result_integer(result, COLUMN(batch), plan->batch);
    result_integer(result, COLUMN(steps), plan->steps);
    result_integer(result, COLUMN(warmup), plan->warmup);
    result_integer(result, COLUMN(budget_bytes), (int64_t)plan->budget_bytes);
    write_tiers(memory, result);
    double kv = 0, act = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        const struct split *split = &cohort->sizes.split;
        kv += (double)cohort->sequences * (double)split->kv;
        act += (double)cohort->sequences * (double)split->act_host;
    }
    if (act > 0 && setup->mechanisms->representation != REPRESENTATION_BOTH) {
        kv *= (double)model_kept_token_bytes(&setup->model);
        act *= (double)model_activation_bytes(&setup->model);
        result_real(result, COLUMN(kv_over_act), kv / act);
    }
    if (setup->mechanisms->resident_heads == RESIDENT_DIFFICULTY && plan->fits) {
        result_integer(result, COLUMN(prefetchable_heads),
                       resident_prefetchable(setup, plan, TRUST_UNSEEN));
    }
    result_integer(result, COLUMN(max_batch), plan->max_batch);
    if (setup->mechanisms->residency == RESIDENCY_PRESSURE && plan->fits) {
        result_real(result, COLUMN(resident_share), plan->resident_share);
    }
    if (plan->fits) {
        outcome_note_plan(setup, plan, result);
    } else {
        outcome_note_short(setup, plan, result);
    }
    return write_contexts(plan, result, why) &&
           result_text(result, COLUMN(hbm_peak), memory->peak_in_prefill ? "prefill" : "step",
                       why) &&
           result_text(result, COLUMN(limited_by), tier_kinds[plan->full].name, why) &&
           result_text(result, COLUMN(status), status, why);
}

/* Of the ledger's rows first, first + stride, ...: hits by what is wanted; NaN if nothing is. */
static double hit_ratio(const struct ledger *ledger, size_t first, size_t stride, size_t count)
{
    uint64_t wanted = 0, hit = 0;
    for (size_t i = 0; ledger != NULL && i < count; i++) {
        wanted += ledger->rows[first + i * stride].wanted;
        hit += ledger->rows[first + i * stride].hit;
    }
    return wanted > 0 ? (double)hit / (double)wanted : NAN;
}

/* Tokens outside the window, per head, for the mean sequence of the batch. */
static double outside_tokens(const struct setup *setup, const struct plan *plan)
{
    double sum = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        struct setup own = setup_at(setup, cohort->context);
        double window = (double)(own.mechanisms->sinks + setup_recent(&own)) +
                        (double)cohort->sizes.cache_tokens;
        sum += cohort->sequences * fmax(0, (double)cohort->context - window);
    }
    return sum / plan->batch;
}

void outcome_ledger(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                    struct result *result)
{
    if (ledger != NULL) {
        size_t count = (size_t)ledger->steps * ledger->layers;
        result_real(result, COLUMN(hit_ratio), hit_ratio(ledger, 0, 1, count));
        outcome_note_ledger(setup, plan, ledger, result);
        /* The part that the CPU attends to. */
        double pairs = 0, kept = 0, outside = outside_tokens(setup, plan);
        for (size_t i = 0; i < (size_t)ledger->steps * ledger->layers; i++) {
            pairs += ledger->rows[i].offloaded_heads;
            kept += (double)ledger->rows[i].for_cpu;
        }
        if (setup->mechanisms->attention == ATTEND_HYBRID && pairs * outside > 0) {
            result_real(result, COLUMN(kept_share), kept / (pairs * outside));
        }
        /* What the queries of a verification want together. */
        double wanted = 0, single = 0;
        uint32_t whole = 0;
        while (whole < plan->layers && setup_loads_whole(setup, whole)) {
            whole++;
        }
        for (uint32_t i = 0; plan->rows != NULL && i < plan->cohort_count; i++) {
            const struct ledger_row *rows = ledger_part(ledger, i);
            double each = (double)plan->cohorts[i].sizes.selected_tokens; /* of one query */
            for (size_t r = 0; r < (size_t)ledger->steps * ledger->layers; r++) {
                if (r % ledger->layers >= whole) { /* what loads whole is the same for any number */
                    wanted += (double)rows[r].wanted;
                    single += each * rows[r].offloaded_heads;
                }
            }
        }
        if (single > 0) {
            result_real(result, COLUMN(draft_union), wanted / single);
        }
    }
}

static bool write_layers(const struct ledger *ledger, const struct timing *timing,
                         double token_bytes, struct result *result, struct error *why)
{
    result->layers = array_zeroed(timing->layers, sizeof *result->layers, why);
    if (result->layers == NULL) {
        return false;
    }
    result->layer_count = timing->layers;
    for (uint32_t l = 0; l < timing->layers; l++) {
        uint64_t missed = 0;
        for (uint32_t s = 0; ledger != NULL && s < ledger->steps; s++) {
            missed += ledger->rows[(size_t)s * ledger->layers + l].missed;
        }
        result->layers[l] = (struct result_layer){
            .ns = apportion_mean(timing->layer_ns[l], timing->steps),
            .hit_ratio = hit_ratio(ledger, l, timing->layers, timing->steps),
            .in_bytes = apportion_mean(llround((double)missed * token_bytes), timing->steps),
        };
    }
    return true;
}

static bool write_steps(const struct ledger *ledger, const struct timing *timing,
                        struct result *result, struct error *why)
{
    result->steps = array_zeroed(timing->steps, sizeof *result->steps, why);
    if (result->steps == NULL) {
        return false;
    }
    result->step_count = timing->steps;
    for (uint32_t s = 0; s < timing->steps; s++) {
        double hits = hit_ratio(ledger, (size_t)s * timing->layers, 1, timing->layers);
        result->steps[s] =
            (struct result_step){timing->step[s].ns, hits, timing->step[s].moved[WAY_IN], NAN};
    }
    return true;
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The time of a token of a sequence in a step of `step_ns`. */
static int64_t token_ns(const struct setup *setup, int64_t step_ns)
{
    return setup->drafts.count == 0 ? step_ns
                                    : llround((double)step_ns / drafts_tokens(&setup->drafts));
}

/* Quantiles by nearest rank, so that each is a step that occurred. */
bool outcome_spread(const struct setup *setup, struct result *result, struct error *why)
{
    uint32_t count = result->step_count;
    int64_t *ns = array_zeroed(count, sizeof *ns, why);
    double mean = 0, squares = 0;
    for (uint32_t s = 0; ns != NULL && s < count; s++) {
        ns[s] = token_ns(setup, result->steps[s].ns);
        double off = (double)ns[s] - mean;
        mean += off / (s + 1);
        squares += off * ((double)ns[s] - mean);
    }
    if (ns != NULL) {
        result_integer(result, COLUMN(tpot_sd_ms), llround(sqrt(squares / count)));
        qsort(ns, count, sizeof *ns, compare_ns);
        result_integer(result, COLUMN(tpot_p50_ms), ns[(count * 50u + 99) / 100 - 1]);
        result_integer(result, COLUMN(tpot_p99_ms), ns[(count * 99u + 99) / 100 - 1]);
    }
    free(ns);
    return ns != NULL;
}

/* Mean stalls of a step; returns the sum over all steps. */
static int64_t mean_stalls(const struct timing *timing, int64_t mean[PART_COUNT])
{
    int64_t sum = 0;
    for (size_t i = 0; i < PART_COUNT; i++) {
        sum += timing->stall_ns[i];
    }
    apportion(timing->stall_ns, PART_COUNT, timing->steps, apportion_mean(sum, timing->steps),
              mean);
    return sum;
}

static void outcome_write_parts(const struct timing *timing, int64_t step_ns, struct result *result)
{
    int64_t mean[PART_COUNT];
    apportion(timing->part_ns, PART_COUNT, timing->steps, step_ns, mean);
    for (size_t i = 0; i < PART_COUNT; i++) {
        result->parts[i] = (struct result_item){pipeline_part_names[i], mean[i], 0};
    }
    int64_t stall_sum = mean_stalls(timing, mean);
    for (size_t i = 0; i < PART_COUNT; i++) {
        result->stalls[i] = (struct result_item){pipeline_part_names[i], mean[i], 0};
    }
    result->part_count = result->stall_count = PART_COUNT;
    result_real(result, COLUMN(gpu_busy_share), 1 - (double)stall_sum / (double)timing->total_ns);
    result_integer(result, COLUMN(cpu_us), apportion_mean(*timing->cpu_ns, timing->steps));
}

/* Bytes of all steps over a way. */
static int64_t timing_moved(const struct timing *timing, enum way_id way)
{
    int64_t bytes = 0;
    for (uint32_t s = 0; s < timing->steps; s++) {
        bytes += timing->step[s].moved[way];
    }
    return bytes;
}

/* The bytes of all steps over one way of the link, a step, and as a share of what it could carry. */
static void outcome_write_way(const struct setup *setup, const struct timing *timing,
                              enum way_id way, const struct column *bytes,
                              const struct column *share, struct result *result)
{
    int64_t moved = timing_moved(timing, way);
    double rate = way_rate(&setup->profile, way, BY_ENGINE, 0, TRUST_UNSEEN) /
                  cost_uplink_sharers(setup, TRUST_UNSEEN);
    result_integer(result, bytes, apportion_mean(moved, timing->steps));
    result_real(result, share, (double)moved * 1e9 / rate / (double)timing->total_ns);
}

bool outcome_time(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                  const struct timing *timing, struct result *result, struct error *why)
{
    int64_t step_ns = apportion_mean(timing->total_ns, timing->steps), layers = 0;
    for (uint32_t l = 0; l < timing->layers; l++) {
        layers += timing->layer_ns[l];
    }
    bool crosses = setup->mechanisms->attention != ATTEND_CPU;
    double token_bytes =
        crosses ? (double)model_kv_head_bytes(&setup->model) * keys_host_share(setup) : 0;
    double tokens = drafts_tokens(&setup->drafts), per_user = tokens * 1e9 / (double)step_ns;
    result_integer(result, COLUMN(step_us), step_ns);
    result_integer(result, COLUMN(tpot_ms), token_ns(setup, step_ns));
    if (setup->drafts.count > 0) {
        result_real(result, COLUMN(step_tokens), tokens);
    }
    result_real(result, COLUMN(decode_tokens_per_s),
                per_user * plan->batch * model_passes(&setup->model));
    result_real(result, COLUMN(tokens_per_s_per_user), per_user);
    result_real(result, COLUMN(tokens_per_s_per_gpu),
                per_user * plan->batch / setup->model.tensor_parallel);
    price_write(&setup->profile, result);
    outcome_write_parts(timing, step_ns, result);
    result_integer(result, COLUMN(layer_us),
                   apportion_mean(layers, timing->steps * timing->layers));
    outcome_write_way(setup, timing, WAY_IN, COLUMN(h2d_bytes_per_step), COLUMN(h2d_share), result);
    outcome_write_way(setup, timing, WAY_OUT, COLUMN(d2h_bytes_per_step), COLUMN(d2h_share),
                      result);
    /* A server has one disk; what each of its GPUs reads and writes there adds up. */
    double gpus = model_gpus(&setup->model);
    double read = (double)timing_moved(timing, WAY_DISK_IN) * gpus;
    double written = (double)timing_moved(timing, WAY_DISK_OUT) * gpus;
    result_integer(result, COLUMN(disk_read_bytes_per_step), llround(read / timing->steps));
    result_integer(result, COLUMN(disk_write_bytes_per_step), llround(written / timing->steps));
    if (mechanisms_use_disk(setup->mechanisms)) {
        double a_day = written * 86400e9 / (double)timing->total_ns;
        double capacity = profile_value(&setup->profile, CURVE_DISK_CAPACITY, 0, TRUST_UNSEEN);
        result_real(result, COLUMN(disk_writes_per_day), a_day / capacity);
    }
    return write_layers(ledger, timing, token_bytes, result, why) &&
           write_steps(ledger, timing, result, why) && outcome_spread(setup, result, why);
}

void outcome_prefill(const struct setup *setup, const struct plan *plan, int64_t prefill_ns,
                     struct result *result)
{
    double step_ns = (double)result_cell(result, COLUMN(step_us))->integer;
    double output = (double)setup->output, tokens = drafts_tokens(&setup->drafts);
    result_integer(result, COLUMN(prefill_ms), prefill_ns);
    if (setup->output > 0) {
        result_real(result, COLUMN(e2e_tokens_per_s),
                    1e9 * plan->batch * model_passes(&setup->model) * output /
                        ((double)prefill_ns + (output - 1) / tokens * step_ns));
    }
}

/* `trust` of the plan, combined with that of the times and of the hits. */
static struct trust outcome_whole_trust(const struct setup *setup, const struct plan *plan,
                                        const struct timing *timing, struct trust trust)
{
    bool asked = outcome_asks_trace(setup, plan);
    /* Were hits recorded with another model, or at another context? */
    bool carried = setup->trace != NULL && !setup->trace_is_model;
    for (uint32_t i = 0; setup->trace != NULL && i < setup_cohort_count(setup); i++) {
        struct setup_cohort cohort = setup_cohort(setup, i);
        carried = carried || trace_header(cohort.trace)->context != cohort.context;
    }
    trust_add(&trust, timing->trust);
    trust_add(&trust, (struct trust){.basis = asked ? setup->trace_basis : BASIS_MEASURED,
                                     .extrapolated = asked && carried});
    return trust;
}

void outcome_step(const struct setup *setup, const struct plan *plan, const struct timing *timing,
                  struct trust trust, struct step_answer *answer)
{
    *answer = (struct step_answer){
        .ns = apportion_mean(timing->total_ns, timing->steps),
        .in_bytes = apportion_mean(timing_moved(timing, WAY_IN), timing->steps),
        .resident_share = plan->resident_share,
        .asks_trace = outcome_asks_trace(setup, plan),
        .trust = outcome_whole_trust(setup, plan, timing, trust),
    };
    mean_stalls(timing, answer->stall_ns);
    for (size_t i = 0; i < BASIS_COUNT; i++) {
        answer->basis_share[i] = (double)timing->basis_ns[i] / (double)timing->total_ns;
    }
}

/* The rate per GPU already accounts for the GPUs that share a model, and for replicas. */
void price_write(const struct profile *machine, struct result *result)
{
    const struct cell *rate = result_cell(result, COLUMN(tokens_per_s_per_gpu));
    if (machine->price_per_hour > 0 && rate->set && rate->real > 0) {
        result_real(result, COLUMN(cost_per_million_tokens),
                    1e6 * machine->price_per_hour / (3600 * rate->real));
    }
}

/* Attention mass in a result, and whether the run is long enough to judge it by. */

/* A policy has dropped all that it will only when tokens have passed through the whole part of its cache that
 * holds the last ones. Was this run shorter, so that later steps attend to less? */
static bool note_horizon(const struct setup *setup, const struct plan *plan, bool mass_known,
                         struct result *result)
{
    const struct mechanisms *m = setup->mechanisms;
    const struct cohort *longest = &plan->cohorts[plan->cohort_count - 1];
    uint64_t cache = longest->sizes.cache_tokens, run = (uint64_t)plan->warmup + plan->steps;
    if (!mechanisms_offload(m) || m->policy->passes == NULL || cache >= longest->context) {
        return false;
    }
    uint64_t needed = (uint64_t)ceil(m->policy->passes(m->policy_values) * (double)cache);
    if (run >= needed) {
        return false;
    }
    result_note(result, note_make(NOTE_dropping, note_flag(mass_known), note_text(m->policy->name),
                                  note_whole(needed), note_whole(run)));
    result_integer(result, COLUMN(mass_horizon_steps), (int64_t)needed);
    return true;
}

void outcome_mass(const struct setup *setup, const struct plan *plan, const struct mass *mass,
                  struct result *result)
{
    bool short_run = note_horizon(setup, plan, mass->known, result);
    if (!mass->known) {
        return;
    }
    result_real(result, COLUMN(mass_recall), mass->least);
    if (mass->most > mass->least) {
        result_real(result, COLUMN(mass_recall_most), mass->most);
    }
    if (!short_run && llround(1000 * mass->most) > llround(1000 * mass->least)) {
        /* An imported trace has no window: the share of the window in what its rows leave out is a
         * guess, because nothing says that its rows have the heaviest units. */
        const struct trace_header *header =
            setup->trace != NULL ? trace_header(setup->trace) : NULL;
        bool lacks = header != NULL && header->unit_kind == TRACE_POSITIONS &&
                     header->recent == 0 && setup_recent(setup) > 0;
        result_note(result, lacks ? note_plain(NOTE_window_assumed) : note_plain(NOTE_mass_least));
    }
    for (uint32_t s = 0; s < plan->steps; s++) {
        result->steps[s].mass_recall = mass->at_step[s];
    }
}

/* What a result rests on: the trace of its hits, and the basis of its times. */

void outcome_trace_source(const struct setup *setup, bool carrying, char *text, size_t size)
{
    if (setup->trace == NULL) {
        snprintf(text, size, "assumed: %.4g%% hits, spread %.4g%%", 100 * setup->assumed_hit,
                 100 * setup->assumed_spread);
        return;
    }
    const struct trace_header *header = trace_header(setup->trace);
    struct trace_source source;
    trace_source_read(header, &source);
    const char *model = source.model[0] != '\0' ? source.model : "?";
    char name[160], to[64] = "";
    if (source.basis != BASIS_MEASURED) {
        snprintf(name, sizeof name, "%s profile %.100s", basis_names[source.basis], model);
    } else {
        snprintf(name, sizeof name, "%s%.100s", source.twin ? "twin of " : "", model);
    }
    uint64_t context = source.twin ? source.fitted_context : header->context;
    if (carrying && setup->cohorts != NULL && setup->cohort_count > 1) {
        snprintf(to, sizeof to, "→%llu…%llu", (unsigned long long)setup->cohorts[0].context,
                 (unsigned long long)setup->cohorts[setup->cohort_count - 1].context);
    } else if (carrying && context != setup->context) {
        snprintf(to, sizeof to, "→%llu", (unsigned long long)setup->context);
    }
    snprintf(text, size, "%s %llu%s tokens", name, (unsigned long long)context, to);
}

bool outcome_trust(const struct setup *setup, const struct plan *plan, const struct timing *timing,
                   struct trust trust, struct result *result, struct error *why)
{
    char text[256];
    trust = outcome_whole_trust(setup, plan, timing, trust);
    for (size_t i = 0; i < BASIS_COUNT; i++) {
        result->basis[i] = (struct result_item){
            basis_names[i], 0, (double)timing->basis_ns[i] / (double)timing->total_ns};
    }
    result->basis_count = BASIS_COUNT;
    result_integer(result, COLUMN(extrapolated), trust.extrapolated);
    if (!result_text(result, COLUMN(basis), basis_names[trust.basis], why) ||
        (timing->assumed_figure != NULL &&
         !result_text(result, COLUMN(assumed_figure), timing->assumed_figure, why))) {
        return false;
    }
    outcome_trace_source(setup, true, text, sizeof text);
    return !outcome_asks_trace(setup, plan) ||
           (result_text(result, COLUMN(trace_basis), basis_names[setup->trace_basis], why) &&
            result_text(result, COLUMN(trace_source), text, why));
}
