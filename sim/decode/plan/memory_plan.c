/* Resolving a plan: sizes, heads, memory, the largest batch, the steps. */

#include "decode/plan/memory_plan.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "decode/cost/attention.h"
#include "decode/mechanism_values.h"
#include "decode/plan/mass.h"
#include "decode/plan/resident.h"

#define MOST_BATCH (1u << 20)

/* Steps of a run without a trace, in which all steps are equal: the default, and the most. */
#define STEPS_WITHOUT_TRACE 16
#define MOST_ALIKE 1024

/* Set the batch, and share its sequences among the cohorts in whole numbers. */
static void decode_plan_set_batch(const struct setup *setup, uint64_t batch, struct plan *plan)
{
    int64_t shares[SETUP_MOST_COHORTS], counts[SETUP_MOST_COHORTS];
    uint32_t all = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        uint32_t sequences = setup_cohort(setup, i).sequences;
        shares[i] = (int64_t)(sequences * batch);
        all += sequences;
    }
    apportion(shares, plan->cohort_count, all, (int64_t)batch, counts);
    plan->batch = (uint32_t)batch;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        plan->cohorts[i].sequences = (uint32_t)counts[i];
    }
}

/* Set the cohorts' contexts, none longer than `most`. */
static void set_contexts(const struct setup *setup, uint64_t most, struct plan *plan)
{
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        uint64_t context = setup_cohort(setup, i).context;
        plan->cohorts[i].context = context < most ? context : most;
    }
}

/* Set the micro-batches of the plan's sequences, and the sizes of their heads. */
static bool size_batch(const struct setup *setup, uint64_t offloaded, struct plan *plan,
                       struct error *why)
{
    const struct mechanisms *m = setup->mechanisms;
    if (m->micro_batch == MICRO_BATCH_BALANCED) {
        packing_bins(&plan->micro_batches, plan->cohorts, m->micro_batch_tokens);
    } else if (m->micro_batch == MICRO_BATCH_ALTERNATING) {
        packing_blocks(&plan->micro_batches, plan->cohorts, (plan->batch + 1) / 2);
    } else {
        bool blocks =
            m->micro_batch == MICRO_BATCH_ZIG_ZAG && m->micro_batch_sequences < plan->batch;
        packing_blocks(&plan->micro_batches, plan->cohorts,
                       blocks ? (uint32_t)m->micro_batch_sequences : plan->batch);
    }
    return memory_head_sizes(setup, offloaded, plan, why);
}

/* Does the plan's batch fit? If not, `full` is the first tier that is too small. */
static bool decode_plan_fits(const struct setup *setup, uint64_t offloaded, struct plan *plan,
                             enum tier_id *full, struct trust *trust)
{
    *full = TIER_GPU;
    if (!size_batch(setup, offloaded, plan, ERROR_UNSEEN)) {
        return false;
    }
    struct memory memory = memory_of(setup, plan, offloaded);
    while (*full < TIER_COUNT &&
           memory.in[*full].all <= memory_limit(setup, &memory, *full, trust)) {
        (*full)++;
    }
    return *full == TIER_COUNT;
}

/* The largest value below `bad` with which the plan fits, by bisection; `set` gives the plan a value, and
 * `*full` becomes the tier that stops the next one. Memory grows with the batch, and with contexts. With a
 * budget in bytes the cache has the same size for every batch; a batch with less than a block for each head
 * does not fit. In a batch of several contexts the rounding of shares can make a larger batch need less
 * memory. The result is then still a batch that fits while one more sequence would not. */
static uint64_t decode_plan_largest(const struct setup *setup, uint64_t offloaded, uint64_t bad,
                                    void (*set)(const struct setup *setup, uint64_t value,
                                                struct plan *plan),
                                    struct plan *plan, enum tier_id *full, struct trust *trust)
{
    uint64_t good = 0;
    while (bad - good > 1) {
        enum tier_id stops;
        uint64_t middle = good + (bad - good) / 2;
        set(setup, middle, plan);
        bool fits = decode_plan_fits(setup, offloaded, plan, &stops, trust);
        if (fits) {
            good = middle;
        } else {
            bad = middle;
            *full = stops;
        }
    }
    return good;
}

/* Steps that verify drafts and fit the recorded ones, each behind the accepted drafts of the one before. */
static bool draft_steps(const struct setup *setup, uint32_t recorded, struct plan *plan,
                        uint32_t *count, struct error *why)
{
    const struct drafts *drafts = &setup->drafts;
    plan->rows = arrays_add(&plan->arrays, (size_t)recorded + 2, sizeof *plan->rows, why);
    *count = 0;
    while (plan->rows != NULL && plan->rows[*count] + drafts->count < recorded) {
        uint32_t accepted = drafts_accepted(drafts, setup->seed, *count);
        plan->rows[*count + 1] = plan->rows[*count] + accepted + 1;
        (*count)++;
    }
    return plan->rows != NULL;
}

static bool resolve_steps(const struct setup *setup, struct plan *plan, struct error *why)
{
    if (setup->trace == NULL) {
        if (setup->steps > MOST_ALIKE) {
            error_usage(why, NULL, 0, "%u steps without a trace, where all steps are equal",
                        setup->steps);
            return error_expect(why, "at most %d steps", MOST_ALIKE);
        }
        plan->warmup = 0;
        plan->steps = setup->steps != SETUP_STEPS_ALL ? setup->steps : STEPS_WITHOUT_TRACE;
        return true;
    }
    uint32_t recorded = trace_header(setup->trace)->steps;
    if (setup->drafts.count > 0 && mechanisms_offload(setup->mechanisms) &&
        !draft_steps(setup, recorded, plan, &recorded, why)) {
        return false;
    }
    int64_t warmup = setup->warmup == SETUP_WARMUP_AUTO ? recorded / 2 : setup->warmup;
    int64_t left = (int64_t)recorded - warmup;
    if (left < 1 || (int64_t)setup->steps > left) {
        error_set(why, trace_path(setup->trace), 0,
                  "the trace has %u steps%s, too few for %lld of warm-up and %u to report",
                  recorded, plan->rows != NULL ? " with drafts" : "", (long long)warmup,
                  setup->steps > 0 ? setup->steps : 1);
        return error_expect(why, "'warmup' and 'steps' that add up to at most %u", recorded);
    }
    plan->warmup = (uint32_t)warmup;
    plan->steps = setup->steps != SETUP_STEPS_ALL ? setup->steps : (uint32_t)left;
    return true;
}

static bool check_context(const struct setup *setup, struct trust *trust, struct error *why)
{
    const struct model *model = &setup->model;
    uint64_t window = setup->mechanisms->sinks + setup_recent(setup);
    if (mechanisms_offload(setup->mechanisms) && setup->context <= window) {
        error_usage(why, NULL, 0, "a context of %llu tokens has nothing outside the window",
                    (unsigned long long)setup->context);
        return error_expect(why, "more than %llu tokens", (unsigned long long)window);
    }
    if (model->trained_context == 0 || setup->context <= model->trained_context) {
        return true;
    }
    if (model->learned_positions) {
        error_usage(why, NULL, 0, "'%s' has learned positions and cannot run %llu tokens",
                    model->name, (unsigned long long)setup->context);
        return error_expect(why, "a context of at most %u", model->trained_context);
    }
    trust->extrapolated = true;
    return true;
}

enum tier_id plan_overfull(const struct plan *plan)
{
    enum tier_id tier = TIER_GPU;
    while (tier < TIER_COUNT && plan->memory.in[tier].all <= plan->limit[tier]) {
        tier++;
    }
    return tier;
}

uint64_t plan_offloaded_heads(const struct plan *plan)
{
    uint64_t heads = 0;
    for (uint32_t l = 0; l < plan->layers; l++) {
        heads += plan->offloaded[l];
    }
    return heads;
}

/* Heads and memory at the plan's batch. Resident heads are chosen with as few resident as possible. */
static bool resolve_heads(const struct setup *setup, const double *head_cosine, uint64_t most,
                          struct plan *plan, struct trust *trust, struct error *why)
{
    if (!size_batch(setup, most, plan, why)) {
        return false;
    }
    plan->memory = memory_of(setup, plan, most);
    for (enum tier_id tier = 0; tier < TIER_COUNT; tier++) {
        plan->limit[tier] = memory_limit(setup, &plan->memory, tier, trust);
    }
    resident_importance(setup, plan);
    if (!resident_choose(setup, head_cosine, plan, trust, why)) {
        return false;
    }
    bool beside =
        setup->mechanisms->attention == ATTEND_HYBRID || mechanisms_cpu_selects(setup->mechanisms);
    plan->cpu_threads = beside ? cpu_whole_threads(setup, trust) : 0;
    plan->memory = memory_of(setup, plan, plan_offloaded_heads(plan));
    plan->fits = plan_overfull(plan) == TIER_COUNT && setup->engine.refuses == NULL;
    plan->budget_bytes = setup->mechanisms->budget.unit == UNIT_BYTES
                             ? (uint64_t)setup->mechanisms->budget.value
                             : plan->memory.in[TIER_GPU].cache;
    residency_resolve(setup, plan, trust);
    return true;
}

static bool decode_plan_allocate(const struct setup *setup, struct plan *plan, struct error *why)
{
    plan->layers = setup->model.layer_count;
    plan->kv_heads = model_kv_heads(&setup->model);
    plan->cohort_count = setup_cohort_count(setup);
    plan->cohorts = arrays_add(&plan->arrays, plan->cohort_count, sizeof *plan->cohorts, why);
    plan->heads =
        arrays_add(&plan->arrays, (size_t)plan->layers * plan->kv_heads, sizeof *plan->heads, why);
    plan->offloaded = arrays_add(&plan->arrays, plan->layers, sizeof *plan->offloaded, why);
    packing_init(&plan->micro_batches, &plan->arrays, plan->cohort_count, why);
    if (plan->arrays.failed) {
        return false;
    }
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        plan->cohorts[i].prompt = setup_cohort(setup, i).prompt;
    }
    set_contexts(setup, UINT64_MAX, plan);
    return true;
}

static bool check_contexts(const struct setup *setup, struct trust *trust, struct error *why)
{
    for (uint32_t i = 0; i < setup_cohort_count(setup); i++) {
        struct setup own = setup_at(setup, setup_cohort(setup, i).context);
        if (!check_context(&own, trust, why)) {
            return false;
        }
    }
    return true;
}

bool plan_resolve(const struct setup *setup, const double *head_cosine, struct plan *out,
                  struct trust *trust, struct error *why)
{
    memset(out, 0, sizeof *out);
    uint64_t most = resident_most_offloaded(setup);
    if (!check_contexts(setup, trust, why) || !decode_plan_allocate(setup, out, why) ||
        !resolve_steps(setup, out, why)) {
        plan_release(out);
        return false;
    }
    bool searched = setup->batch == SETUP_BATCH_MAX || !setup->unlimited_memory;
    uint64_t batch = setup->engine.room > 0 ? setup->engine.most : MOST_BATCH;
    out->max_batch =
        searched ? (uint32_t)decode_plan_largest(setup, most, batch + 1, decode_plan_set_batch, out,
                                                 &out->full, trust)
                 : setup->batch;
    uint32_t largest = out->max_batch > 0 ? out->max_batch : 1;
    decode_plan_set_batch(setup, setup->batch != SETUP_BATCH_MAX ? setup->batch : largest, out);
    bool good = resolve_heads(setup, head_cosine, most, out, trust, why);
    if (good && plan_overfull(out) != TIER_COUNT) {
        enum tier_id unused = TIER_GPU;
        uint64_t longest = out->cohorts[out->cohort_count - 1].context;
        out->max_context =
            decode_plan_largest(setup, most, longest, set_contexts, out, &unused, trust);
        set_contexts(setup, UINT64_MAX, out);
        good = size_batch(setup, most, out, why);
    }
    if (!good) {
        plan_release(out);
    }
    return good;
}

void plan_release(struct plan *plan)
{
    arrays_release(&plan->arrays);
}

static uint32_t whole_layers(const struct setup *setup)
{
    uint32_t layers = 0;
    while (layers < setup->model.layer_count && setup_loads_whole(setup, layers)) {
        layers++;
    }
    return layers;
}

struct replay_plan plan_replay(const struct setup *setup, const struct plan *plan, uint32_t cohort)
{
    const struct mechanisms *m = setup->mechanisms;
    const struct cohort *of = &plan->cohorts[cohort];
    const struct split *split = &of->sizes.split;
    struct setup own = setup_at(setup, of->context);
    double context = (double)of->context;
    uint32_t before = 0;
    for (uint32_t i = 0; i < cohort; i++) {
        before += plan->cohorts[i].sequences;
    }
    double pages = mechanisms_pages(m);
    double filled = pages == 0 ? 1 : (double)m->granularity / (pages * (double)m->cache_page);
    struct replay_plan replay = {
        .layers = plan->layers,
        .kv_heads = plan->kv_heads,
        .batch = of->sequences,
        .before = before,
        .behind = plan->batch - before - of->sequences,
        .context = of->context,
        .heads = plan->heads,
        .policy = m->policy,
        .policy_values = m->policy_values,
        .seed = setup->seed,
        .order = setup->order,
        .selection = (double)of->sizes.selected_tokens / context,
        .margin = m->selection_margin,
        .capacity = filled * (double)of->sizes.cache_tokens / context,
        .sinks = (uint32_t)m->sinks,
        .recent = (uint32_t)setup_recent(&own),
        .recent_scales = m->recent.unit == UNIT_SHARE,
        .manager_unit = (double)m->granularity,
        .block_span = (enum block_span)m->block_span,
        .block_candidates = (uint32_t)m->block_candidates,
        .starts_full = true,
        .decoded = setup->grows,
        .warmup = plan->warmup,
        .steps = plan->steps,
        .rows = plan->rows,
        .queries = setup_queries(setup),
        .rejected_before = setup->drafts.rejected == REJECTED_BEFORE,
        .cpu_threads = plan->cpu_threads,
        .whole_layers = whole_layers(setup),
        .recomputed = split->act_hbm + split->act_host + split->ids,
        .speculates = m->prefetch == PREFETCH_NEXT_LAYER,
    };
    retrieval_error_set(setup, &replay);
    return replay;
}

uint64_t plan_hash(const struct setup *setup, const struct plan *plan)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct replay_plan replay = plan_replay(setup, plan, i);
        uint64_t own = replay_plan_hash(&replay);
        hash = i == 0 ? own : XXH64(&own, sizeof own, hash);
    }
    return hash;
}

/* Micro-batches are kept as runs of equal ones. There are few: each cohort splits at most one in three. */

void packing_init(struct packing *packing, struct arrays *arrays, uint32_t cohorts,
                  struct error *why)
{
    size_t most = 4 * (size_t)cohorts;
    *packing = (struct packing){.cohorts = cohorts};
    packing->times = arrays_add(arrays, most, sizeof *packing->times, why);
    packing->sequences = arrays_add(arrays, most * cohorts, sizeof *packing->sequences, why);
}

static uint32_t *run_of(const struct packing *packing, uint32_t run)
{
    return packing->sequences + (size_t)run * packing->cohorts;
}

static void packing_add_run(struct packing *packing, uint32_t times, uint32_t cohort,
                            uint32_t sequences)
{
    if (times > 0 && sequences > 0) {
        uint32_t *run = run_of(packing, packing->runs);
        memset(run, 0, packing->cohorts * sizeof *run);
        run[cohort] = sequences;
        packing->times[packing->runs++] = times;
    }
}

/* Split run `run` after its first `times` micro-batches, if it has more. */
static void split_run(struct packing *packing, uint32_t run, uint32_t times)
{
    uint32_t all = packing->times[run], behind = packing->runs - run;
    if (times == 0 || times >= all) {
        return;
    }
    memmove(run_of(packing, run + 1), run_of(packing, run),
            behind * packing->cohorts * sizeof *packing->sequences);
    memmove(&packing->times[run + 1], &packing->times[run], behind * sizeof *packing->times);
    packing->times[run] = times;
    packing->times[run + 1] = all - times;
    packing->runs++;
}

static void count(struct packing *packing)
{
    packing->count = 0;
    for (uint32_t r = 0; r < packing->runs; r++) {
        packing->count += packing->times[r];
    }
    packing->whole = packing->count;
}

void packing_blocks(struct packing *packing, const struct cohort *batch, uint32_t most)
{
    uint32_t room = 0; /* of the last block */
    packing->runs = 0;
    for (uint32_t i = 0; i < packing->cohorts; i++) {
        uint32_t left = batch[i].sequences, fills = left < room ? left : room;
        if (fills > 0) {
            run_of(packing, packing->runs - 1)[i] = fills;
            room -= fills;
            left -= fills;
        }
        packing_add_run(packing, left / most, i, most);
        packing_add_run(packing, 1, i, left % most);
        room = left % most > 0 ? most - left % most : room;
    }
    count(packing);
}

/* Sequences of the cohort for which a bin of this run has room. */
static uint32_t room_of(const struct packing *packing, const struct cohort *batch, uint32_t run,
                        uint32_t cohort, uint64_t most)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < packing->cohorts; i++) {
        used += run_of(packing, run)[i] * batch[i].context;
    }
    uint64_t room = used < most ? (most - used) / batch[cohort].context : 0;
    return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

/* Put up to `left` sequences of a cohort into the bins of a run. Returns how many are left. */
static uint32_t fill_run(struct packing *packing, uint32_t run, uint32_t cohort, uint32_t room,
                         uint32_t left)
{
    uint32_t whole = left / room, rest = left % room;
    if (whole == 0) {
        split_run(packing, run, 1);
        run_of(packing, run)[cohort] = rest;
        return 0;
    }
    split_run(packing, run, whole);
    run_of(packing, run)[cohort] = room;
    return left - packing->times[run] * room;
}

void packing_bins(struct packing *packing, const struct cohort *batch, uint64_t most)
{
    packing->runs = 0;
    for (uint32_t i = packing->cohorts; i-- > 0;) {
        uint32_t left = batch[i].sequences;
        for (uint32_t r = 0; left > 0 && r < packing->runs; r++) {
            uint32_t room = room_of(packing, batch, r, i, most);
            left = room > 0 ? fill_run(packing, r, i, room, left) : left;
        }
        uint64_t fit = most / batch[i].context;
        uint32_t each = fit < 1 ? 1 : fit < left ? (uint32_t)fit : left;
        packing_add_run(packing, each > 0 ? left / each : 0, i, each);
        packing_add_run(packing, 1, i, each > 0 ? left % each : 0);
    }
    count(packing);
}

const uint32_t *packing_of(const struct packing *packing, uint32_t index)
{
    uint32_t run = 0;
    while (index >= packing->times[run]) {
        index -= packing->times[run++];
    }
    return run_of(packing, run);
}

/* Splitting a context into stored and recomputed parts, and the cost of recomputing. */

static const struct trust ideal = {.basis = BASIS_MEASURED};

/* The mean over layers: the first ones may be dense while the others have experts. */
static double mean_weight_bytes(const struct model *model)
{
    double bytes = 0;
    for (uint32_t l = 0; l < model->layer_count; l++) {
        bytes += (double)model_layer_weight_bytes(model, l);
    }
    return bytes / model->layer_count;
}

/* K and V of `tokens` tokens from their activations: one product, to K and V or to MLA's latent. */
static struct kernel project(const struct setup *setup, double tokens)
{
    const struct model *model = &setup->model;
    double columns = model->kv_lora > 0 ? (double)model->kv_lora + model->rope_dim
                                        : 2.0 * model_kv_heads(model) * model->head_dim;
    double weights =
        (double)model_matrix_bytes(model, model->weights, model->hidden, (uint64_t)columns);
    double bytes = weights + tokens * ((double)model_activation_bytes(model) +
                                       (double)model_kept_token_bytes(&setup->model));
    return kernel_product(&setup->profile, 2 * tokens * columns * model->hidden, tokens, bytes,
                          model->weights);
}

/* A layer's share of running tokens through the model. */
static struct kernel run_again(const struct setup *setup, const struct remaking *remaking)
{
    const struct model *model = &setup->model;
    double all = remaking->tokens, flops = remaking->flops / model->layer_count;
    double bytes = mean_weight_bytes(model) + all * (double)model_kept_token_bytes(&setup->model);
    return kernel_product(&setup->profile, flops, all, bytes, model->weights);
}

void representation_add(const struct setup *setup, const struct split *split, uint32_t sequences,
                        struct remaking *remaking)
{
    remaking->activations += (double)(split->act_hbm + split->act_host) * sequences;
    if (split->ids > 0) {
        remaking->tokens += (double)split->ids * sequences;
        remaking->flops += model_prefill_flops(&setup->model, split->ids) * sequences;
    }
}

struct kernel representation_recompute(const struct setup *setup, const struct remaking *remaking)
{
    struct kernel kernel =
        remaking->activations > 0 ? project(setup, remaking->activations) : kernel_none;
    return remaking->tokens > 0 ? kernel_then(kernel, run_again(setup, remaking)) : kernel;
}

double split_host_bytes(const struct setup *setup, const struct split *split)
{
    double kv = (double)split->kv, act = (double)split->act_host;
    if (setup->mechanisms->representation == REPRESENTATION_BOTH) {
        kv = act = (double)(split->kv + split->act_host);
    }
    return kv * (double)model_kept_token_bytes(&setup->model) * keys_host_share(setup) +
           act * (double)model_activation_bytes(&setup->model);
}

/* CAPTURE's algorithm 1: the share of what the host's memory holds that is activations, in which a sequence
 * of `left` tokens outside HBM is split. First those are set apart whose making fills the time of a layer's
 * weights, or whose load fills what making of HBM's activations takes longer; then making one part of the
 * rest takes as long as loading the other. If loading an activation takes as long as loading the K and V it
 * replaces, the result is 0; where the host keeps both, also if the balance does not count it. The timing
 * reports the trust of the same figures. */
static double balanced(const struct setup *setup, uint32_t batch, double act_hbm, double left)
{
    const struct mechanisms *m = setup->mechanisms;
    struct trust ignored = ideal;
    double rate = cost_transfer_rate(setup, &ignored) / 1e9, many = left + act_hbm;
    double gen = project(setup, many * batch).ns / (many * batch);
    double kv = (double)model_kept_token_bytes(&setup->model) / rate;
    double act_bytes = (double)model_activation_bytes(&setup->model);
    double act = m->balance_counts_act ? act_bytes / rate : 0;
    bool both = m->representation == REPRESENTATION_BOTH;
    double kv_bytes = (double)model_kept_token_bytes(&setup->model);
    double streamed = (1 - m->weights) * mean_weight_bytes(&setup->model);
    double budget = streamed / rate - gen * act_hbm * batch;
    double act_first = fmax(0, budget) / gen, kv_first = fmax(0, -budget) / kv;
    const struct memory empty = {.peak_in_prefill = false};
    double memory =
        (double)memory_limit(setup, &empty, TIER_HOST, &ignored) / setup->model.layer_count;
    double rest = fmax(0, memory - streamed - act_first * act_bytes - kv_first * kv_bytes);
    double kv_each = fmax(0, gen - act) / kv; /* tokens of KV for each of activations */
    double acts = act_first + rest / (act_bytes + kv_each * kv_bytes);
    double kvs = kv_first + rest / (act_bytes + kv_each * kv_bytes) * kv_each;
    return fmax(act, both ? act_bytes / rate : 0) >= kv ? 0 : left * acts / (acts + kvs);
}

double representation_share(const struct setup *setup, uint32_t batch, double context,
                            double act_hbm)
{
    const struct mechanisms *m = setup->mechanisms;
    double left = context - act_hbm;
    if (m->representation == REPRESENTATION_ACT) {
        return 1;
    }
    return !m->balance ? m->representation_share
           : left > 0  ? balanced(setup, batch, act_hbm, left) / left
                       : 0;
}

struct split representation_split(const struct setup *setup, uint64_t context, uint64_t act_hbm,
                                  double share)
{
    uint64_t left = context - act_hbm;
    bool act = setup->mechanisms->representation == REPRESENTATION_ACT;
    double block = (double)setup->mechanisms->granularity, tokens = share * (double)left;
    double blocks = fmax(0, floor(tokens / block + 1e-9));
    uint64_t again = act ? left : (uint64_t)fmin(blocks * block, (double)left);
    struct split split = {.act_hbm = act_hbm, .kv = left - again};
    if (setup->mechanisms->representation == REPRESENTATION_TOKENS) {
        split.ids = again;
    } else {
        split.act_host = again;
    }
    return split;
}
