/* If all KV stays in HBM, sequences have the HBM that other uses leave, and blocks of ended sequences stay
 * among theirs. A system that offloads does not keep whole KV in HBM: as many sequences of the mean length
 * run as fit in both tiers, and blocks of ended sequences lie on the host, beside the KV of running ones. A
 * server of several passes (point_passes) has the room of all of them; a sequence has to fit in its rank's, but
 * which rank is full is not tracked. */
#include "predict/server/serving_memory.h"

#include "decode/mechanism_values.h"
#include "decode/plan/memory.h"
#include "decode/time/prefill.h"
#include "model/sharding.h"
#include "predict/decode/run.h"
#include "predict/scenario/engine_memory.h"
#include "predict/server/host_engine.h"

#include <math.h>

/* Tokens of a file or object. */
static uint64_t unit_tokens(const struct mechanisms *m)
{
    return m->prefix_unit > 0 ? m->prefix_unit : m->prefix_block;
}

uint64_t serving_token_bytes(const struct setup *setup)
{
    return model_kv_tokens_bytes(&setup->model) * setup->model.tensor_parallel;
}

/* More where vLLM has groups of layers. At least 1: in layers that keep only states a token has none. */
static uint64_t host_token_bytes(const struct point *point)
{
    const struct setup *setup = &point->setup;
    const struct model *model = &setup->model;
    const struct kv_limits limits = engine_kv_limits(point);
    struct kv_groups groups;
    double copies = memory_host_copies(setup) / model->tensor_parallel;
    uint64_t bytes = (uint64_t)((double)serving_token_bytes(setup) * copies);
    if (!mechanisms_offload(setup->mechanisms) && kv_groups_divide(model, &limits, &groups)) {
        double all =
            kv_groups_token_bytes(&groups) * model->tensor_parallel * model->parallel.pipeline;
        bytes = (uint64_t)fmax(all, (double)bytes);
    }
    return bytes > 0 ? bytes : 1;
}

static bool plan_batch(const struct setup *setup, uint32_t batch, const struct run_context *context,
                       struct plan *plan, struct error *why)
{
    struct setup own = *setup;
    own.batch = batch;
    return run_plan(&own, context, plan, why);
}

static void leave_host(const struct plan *plan, struct serving_memory *out)
{
    uint64_t limit = plan->limit[TIER_HOST], held = plan->memory.in[TIER_HOST].all;
    out->host_bytes = limit > held ? limit - held : 0;
}

/* Sequences of a server's step: `max_sequences` is of each rank. */
static uint32_t most_sequences(const struct point *point)
{
    return (uint32_t)point->workload.sequences * point_joined_ranks(point);
}

static uint32_t share_of_pass(const struct point *point, uint32_t sequences)
{
    uint32_t passes = point_passes(point);
    return (sequences + passes - 1) / passes;
}

/* Bytes per token, for a prompt of the mean length. */
static double written_bytes(const struct setup *setup, const struct plan *plan)
{
    double bytes = 0;
    for (uint32_t layer = 0; layer < plan->layers; layer++) {
        bytes += prefill_leaving_bytes(setup, plan, layer, 0, setup->context);
    }
    return bytes / (double)setup->context;
}

/* Tokens of sequences of the mean length: those of the engine's pool, or what weights and tensors leave. */
static void room_in_hbm(const struct point *point, const struct plan *plan,
                        struct serving_memory *out)
{
    const struct setup *setup = &point->setup;
    const struct memory_held *hbm = &plan->memory.in[TIER_GPU];
    double left = (double)plan->limit[TIER_GPU] - (double)(hbm->all - hbm->kv);
    double token = (double)hbm->kv / ((double)plan->batch * (double)setup->context);
    uint64_t tokens = setup->engine.room > 0 ? memory_pool_tokens(setup)
                      : left > 0             ? (uint64_t)(left / token)
                                             : 0;
    out->sequences = most_sequences(point);
    out->tokens = tokens * point_passes(point);
    out->weights = hbm->weights;
    out->limit = plan->limit[TIER_GPU];
    leave_host(plan, out);
}

/* `most` sequences of a pass fit. If a prefix cache shares the host, it holds no more sequences than run. */
static bool room_in_host(const struct point *point, uint32_t most,
                         const struct run_context *context, struct serving_memory *out,
                         struct error *why)
{
    const struct setup *setup = &point->setup;
    bool shares = mechanisms_keep_prefixes(setup->mechanisms);
    uint32_t passes = point_passes(point), wanted = most_sequences(point);
    struct plan plan;
    out->sequences = most < share_of_pass(point, wanted) ? most * passes : wanted;
    uint32_t held = shares ? share_of_pass(point, out->sequences) : most;
    out->tokens = (uint64_t)held * passes * setup->context;
    if (held == 0) {
        return true;
    }
    if (!plan_batch(setup, held, context, &plan, why)) {
        return false;
    }
    leave_host(&plan, out);
    out->written_bytes = written_bytes(setup, &plan) / passes;
    plan_release(&plan);
    return true;
}

static bool find_room(const struct point *point, const struct run_context *context,
                      struct serving_memory *out, struct error *why)
{
    struct plan plan;
    bool ok = true;
    if (!plan_batch(&point->setup, share_of_pass(point, most_sequences(point)), context, &plan,
                    why)) {
        return false;
    }
    if (mechanisms_offload(point->setup.mechanisms)) {
        out->full = plan.full;
        ok = room_in_host(point, plan.max_batch, context, out, why);
    } else {
        room_in_hbm(point, &plan, out);
    }
    plan_release(&plan);
    return ok;
}

/* Has the GPU no block? */
static bool check_gpu(const struct setup *setup, struct serving_memory *out, struct error *why)
{
    uint64_t pool = setup->kv_pool_tokens;
    uint32_t block = out->prefix.block_tokens;
    if (out->prefix.gpu_blocks > 0) {
        return true;
    }
    if (mechanisms_offload(setup->mechanisms)) {
        return error_set(why, NULL, 0, "%s has no room for a sequence of %llu tokens",
                         tier_kinds[out->full].title, (unsigned long long)setup->context);
    }
    if (pool > 0 && pool < block) {
        error_usage(why, NULL, 0, "'kv_pool_tokens' of %llu is smaller than a block of %u tokens",
                    (unsigned long long)pool, block);
        return error_expect(why, "at least %u", block);
    }
    char weights[32], limit[32];
    out->lacks = SERVING_NO_KV;
    error_set(why, NULL, 0, "weights of %s leave no HBM for KV: a GPU may use %s",
              units_format((double)out->weights, UNIT_BYTES, weights, sizeof weights),
              units_format((double)out->limit, UNIT_BYTES, limit, sizeof limit));
    return error_expect(why, "more tensor_parallel, a smaller dtype.weights or a larger GPU");
}

/* Has a tier below it none that needs some? */
static bool check_tiers(const struct setup *setup, const struct serving_tiers *tiers,
                        const struct serving_memory *out, struct error *why)
{
    for (uint32_t k = 1; k < tiers->count; k++) {
        if (tiers->of[k] != TIER_HOST && out->prefix.lower[k - 1].blocks == 0) {
            return error_set(why, NULL, 0, "the %s is smaller than a block of the prefix cache",
                             tier_kinds[tiers->of[k]].title);
        }
    }
    bool host = tiers->count > 1 && tiers->of[1] == TIER_HOST;
    if (!host || out->host_blocks > 0) {
        return true;
    }
    if (!mechanisms_offload(setup->mechanisms)) {
        return error_set(why, NULL, 0, "host memory is smaller than a block of the prefix cache");
    }
    error_set(why, NULL, 0,
              "the KV of %u sequences of %llu tokens leaves no block of host memory for "
              "prefixes",
              out->sequences, (unsigned long long)setup->context);
    return error_expect(why, "more host_memory, or max_sequences below %u", out->sequences);
}

/* The longest sequence, of `length` at most, that the pool holds, and the bytes that one of it lacks. */
static uint64_t longest_sequence(const struct point *point, uint64_t tokens, uint64_t length,
                                 double *lacks)
{
    const struct setup *setup = &point->setup;
    uint64_t block = setup->mechanisms->prefix_block, pool = setup->engine.pool;
    const struct kv_limits limits = engine_kv_limits(point);
    struct kv_groups groups;
    if (setup->engine.room > 0 && kv_groups_divide(&setup->model, &limits, &groups)) {
        double need = (double)(kv_groups_blocks(&groups, &limits, length) * groups.block_bytes);
        *lacks = need - (double)pool;
        return kv_groups_longest(&groups, &limits, pool, length);
    }
    *lacks = (double)pool * ((double)((length + block - 1) / block * block) / (double)tokens - 1);
    return tokens / block * block;
}

/* vLLM does not start if the length that it serves exceeds the pool. */
static bool check_length(const struct point *point, struct serving_memory *out, struct error *why)
{
    const struct setup *setup = &point->setup;
    uint64_t length = point->workload.request_tokens, tokens = out->tokens / point_passes(point);
    if (length == 0 || point->engine.too_long != TOO_LONG_REFUSED ||
        mechanisms_offload(setup->mechanisms)) {
        return true;
    }
    double lacks, all = profile_value(&setup->profile, CURVE_GPU_HBM_CAPACITY, 0, TRUST_UNSEEN);
    out->longest = longest_sequence(point, tokens, length, &lacks);
    if (out->longest >= length) {
        return true;
    }
    double usable = ceil(1000 * (setup->hbm_usable + lacks / all)) / 1000;
    out->usable = setup->engine.room > 0 && setup->kv_pool_tokens == 0 && usable < 1 ? usable : 0;
    out->lacks = SERVING_LENGTH;
    error_set(why, NULL, 0, "%s does not start: its KV memory holds %llu of %llu tokens",
              setup->engine.name, (unsigned long long)out->longest, (unsigned long long)length);
    return error_expect(why, "a request_tokens (max_model_len) of at most %llu",
                        (unsigned long long)out->longest);
}

uint64_t serving_host_room(const struct point *point, uint64_t tokens, double *ratio)
{
    const struct server_connector *connector = serving_connector(point);
    double bytes = host_part(point), takes = INFINITY;
    *ratio = 0;
    if (point->setup.room[TIER_HOST] > 0) {
        return (uint64_t)bytes;
    }
    if (connector != NULL && connector->host_ratio > 0 && tokens > 0) {
        takes = connector->host_ratio * (double)tokens * (double)host_token_bytes(point);
    }
    uint64_t gib = host_most_gib(point); /* 0: a machine for tests */
    bytes = gib > 0 && host_room_engine(point) != NULL ? (double)(gib << 30) : bytes;
    *ratio = takes < bytes ? connector->host_ratio : 0;
    return (uint64_t)fmin(takes, bytes);
}

/* Tier k below the GPU. Host memory has the engine's policy, others LRU. */
static bool plan_tier(const struct point *point, const struct serving_tiers *tiers, uint32_t k,
                      struct serving_memory *memory, struct error *why)
{
    const struct mechanisms *m = point->setup.mechanisms;
    enum tier_id tier = tiers->of[k];
    int below = m->prefix_below[tier];
    bool host = tier == TIER_HOST, evicts = !host || m->prefix_eviction != PREFIX_EVICTION_NONE;
    const char *policy = host ? prefix_evictions[m->prefix_eviction] : "lru";
    struct prefix_tier *out = &memory->prefix.lower[k - 1];
    const struct server_connector *connector = serving_connector(point);
    bool limited = tier == TIER_POOL && connector != NULL && connector->pool_share > 0;
    double share = limited ? connector->pool_share : 1;
    *out = (struct prefix_tier){
        .blocks = host ? memory->host_blocks
                       : (uint64_t)(share * (double)serving_tiers_room(point, tier)) /
                             memory->block_bytes,
        .policy = evicts ? policy_find(policy, NULL, 0, why) : NULL,
        .write = (enum prefix_write)m->prefix_write,
        .takes_loads = host,
        .used_by_loads = tier == TIER_POOL,
        .least_asked = (uint32_t)(k == 1 ? m->prefix_asked : m->prefix_below_asked[tier]),
    };
    if (!host && (k > 1 || below == PREFIX_BELOW_EVICT)) {
        out->write = below == PREFIX_BELOW_EVICT ? PREFIX_WRITE_EVICT : PREFIX_WRITE_FILL;
    }
    return !evicts || out->policy != NULL;
}

bool serving_memory_plan(const struct point *point, const struct run_context *context,
                         struct serving_memory *out, struct error *why)
{
    const struct setup *setup = &point->setup;
    const struct mechanisms *m = setup->mechanisms;
    const struct serving_tiers tiers = serving_tiers(m);
    *out = (struct serving_memory){.lacks = SERVING_STARTS};
    if (setup->engine.refuses != NULL) {
        out->lacks = SERVING_REFUSED;
        return error_set(why, NULL, 0, "%s does not start: %s", setup->engine.name,
                         setup->engine.refuses);
    }
    if (m->budget.rest) {
        error_usage(why, NULL, 0, "a server's sequences take the rest of HBM; a cache cannot");
        return error_expect(why, "mechanisms.budget as a size, a share or tokens");
    }
    if (!find_room(point, context, out, why)) {
        return false;
    }
    bool offloads = mechanisms_offload(m);
    const struct server_connector *connector = serving_connector(point);
    out->block_bytes = host_token_bytes(point) * m->prefix_block;
    double unseen;
    uint64_t room = serving_host_room(point, out->tokens, &unseen);
    out->host_blocks = (room < out->host_bytes ? room : out->host_bytes) / out->block_bytes;
    out->prefix = (struct prefix_options){
        .block_tokens = (uint32_t)m->prefix_block,
        .gpu_keeps = m->prefix != PREFIX_NONE && m->prefix != PREFIX_HOST && !offloads,
        .recycles = true,
        .gpu_blocks = out->tokens / m->prefix_block,
        .ranks = point_joined_ranks(point),
        .lower_count = tiers.count - 1,
        .unit_blocks = (uint32_t)(unit_tokens(m) / m->prefix_block),
        .least_blocks = (uint32_t)((m->prefix_least + m->prefix_block - 1) / m->prefix_block),
        .cheaper = m->prefix_cheaper,
        /* The KV of a system that offloads is on the host already. */
        .saves_wait = point->workload.timed && tiers.count > 1 && !offloads,
        .pins = m->prefix_pins,
        .frees_early = connector != NULL && connector->frees_early,
        .prompts_only = connector != NULL && connector->prompts_only,
        .seed = setup->seed,
    };
    for (uint32_t k = 1; k < tiers.count; k++) {
        if (!plan_tier(point, &tiers, k, out, why)) {
            return false;
        }
    }
    return check_gpu(setup, out, why) && check_tiers(setup, &tiers, out, why) &&
           check_length(point, out, why);
}

struct serving_tiers serving_tiers(const struct mechanisms *m)
{
    struct serving_tiers tiers = {1, {TIER_GPU, TIER_HOST}};
    if (mechanisms_host_prefixes(m)) {
        tiers.count++;
    }
    for (enum tier_id tier = TIER_HOST + 1; tier < TIER_COUNT; tier++) {
        if (m->prefix_below[tier] != PREFIX_BELOW_NONE) {
            tiers.of[tiers.count++] = tier;
        }
    }
    return tiers;
}

/* ---- room -------------------------------------------------------------------------------- */

/* Servers of one machine divide what it has for itself. */
uint64_t serving_tiers_room(const struct point *point, enum tier_id tier)
{
    const struct setup *setup = &point->setup;
    const struct tier_kind *kind = &tier_kinds[tier];
    uint64_t said = setup->room[tier];
    uint64_t all =
        said > 0 ? said : (uint64_t)profile_value(&setup->profile, kind->capacity, 0, TRUST_UNSEEN);
    return kind->shared == SHARED_BY_SERVERS ? all : all / point_sharers(point, said > 0);
}

bool serving_tiers_shared(const struct point *point)
{
    const struct serving_tiers tiers = serving_tiers(point->setup.mechanisms);
    enum tier_id last = tiers.of[tiers.count - 1];
    return tier_kinds[last].shared == SHARED_BY_SERVERS && point_servers(point) > 1;
}

/* The way between host memory and a tier below it, as one GPU of several has it: all use it at once. */
static struct place_link lower_link(const struct point *point, enum tier_id tier,
                                    struct trust *trust)
{
    const struct profile *profile = &point->setup.profile;
    const struct tier_kind *kind = &tier_kinds[tier];
    const struct mechanisms *m = point->setup.mechanisms;
    const struct model *model = &point->setup.model;
    /* Each GPU has files for itself: a prompt lies with one rank. */
    double bytes = (double)(unit_tokens(m) * serving_token_bytes(&point->setup)) /
                   (model->tensor_parallel * model->parallel.pipeline);
    double gpus = model_gpus(model);
    struct place_link link =
        place_link_of(profile, way_between(tier, TIER_HOST), bytes, gpus, trust);
    uint32_t reads = (uint32_t)fmin(1e9, (double)m->prefix_reads);
    link.there = drive_read_rate(profile, tier, bytes, reads, trust) / gpus;
    if (kind->bandwidth != CURVE_COUNT && profile_states(profile, kind->bandwidth)) {
        double all = profile_value(profile, kind->bandwidth, bytes, trust);
        uint64_t servers = kind->shared == SHARED_BY_SERVERS ? point->workload.replicas : 1;
        link.both = all / (double)servers / gpus;
    }
    return link;
}

/* ---- pieces of a connector ---------------------------------------------------------------- */

const struct server_connector *serving_connector(const struct point *point)
{
    return server_engine_connector(&point->engine, point->setup.system.connector);
}

void serving_pieces_waits(const struct point *point, struct server_options *out)
{
    const struct setup *setup = &point->setup;
    const struct server_connector *connector = serving_connector(point);
    bool by_layers = setup->mechanisms->prefix_load == PREFIX_LOAD_LAYERS;
    out->layers =
        by_layers ? setup->model.layer_count : setup->mechanisms->prefix_load == PREFIX_LOAD_STEP;
    out->layered_tiers = by_layers; /* what a pool or drives have is prefetched before */
    out->step_saves = setup->mechanisms->prefix_save == PREFIX_SAVE_STEP;
    out->copies_block = setup->mechanisms->copy == COPY_SYNCHRONOUS;
    if (connector != NULL) {
        out->step_takes =
            connector->frees_early || setup->mechanisms->prefix_write == PREFIX_WRITE_EVICT;
        out->one_stream = connector->one_stream;
        out->lookup = connector->lookup;
        out->lookup.request_ns += setup->model.tensor_parallel > 1
                                      ? (int64_t)setup->model.tensor_parallel * out->lookup.gpu_ns
                                      : 0;
        out->load_steps = connector->steps > 1 ? connector->steps - 1 : 0;
        out->idle_step_ns = (int64_t)setup->mechanisms->step_overhead;
        out->step_ns = setup->model.tensor_parallel > 1 ? (double)connector->step_ns : 0;
    }
}

/* Layers that keep something of every token; others keep a state. */
static double count_kept(const struct model *model)
{
    double count = 0;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        enum attention_kind kind = model->layers[layer].attention;
        count += kind != ATTENTION_LINEAR && kind != ATTENTION_NONE;
    }
    return fmax(1, count);
}

/* Latents have no halves. */
static bool has_latents(const struct model *model)
{
    bool some = false;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        some = some || model->layers[layer].attention == ATTENTION_MLA;
    }
    return some;
}

/* Pieces of a unit of so many tokens, on one GPU. */
static double count_pieces(const struct point *point, enum connector_pieces pieces, double tokens)
{
    const struct model *model = &point->setup.model;
    double blocks = fmax(1, tokens / (double)point->setup.mechanisms->prefix_block);
    double layers = count_kept(model) / model->parallel.pipeline;
    double halves = has_latents(model) ? 1 : 2;
    switch (pieces) {
    case PIECES_UNIT:
        return 1;
    case PIECES_BLOCK:
        return blocks;
    case PIECES_LAYER:
        return blocks * layers;
    case PIECES_HALF:
        return blocks * layers * halves;
    case PIECES_ROW:
        return tokens * layers * halves;
    case PIECES_SIDE:
        return halves;
    }
    return 1;
}

static enum connector_pieces layout_of(const struct point *point,
                                       const struct server_connector *connector,
                                       const struct connector_way *way)
{
    const struct model *model = &point->setup.model;
    if (connector->latents != PIECES_UNIT && has_latents(model)) {
        return connector->latents;
    }
    return model_is_routed(model) || connector->dense == PIECES_UNIT ? way->pieces
                                                                     : connector->dense;
}

/* By how much longer it takes to move `bytes` in pieces than at the link's rate, in ns: a copy engine, than
 * in pieces so large that they fill the link on which they were timed; a kernel, than at `link`. */
static double slower_ns(const struct profile *profile, enum connector_mover by, bool saved,
                        double bytes, double pieces, double link, struct trust *trust)
{
    static const double large = 1e12;
    static const enum curve_id rates[][2] = {
        [MOVER_CALLS] = {CURVE_LINK_CALLS_IN, CURVE_LINK_CALLS_OUT},
        [MOVER_BATCH] = {CURVE_LINK_BATCH_IN, CURVE_LINK_BATCH_OUT},
        [MOVER_KERNEL] = {CURVE_LINK_KERNEL_IN, CURVE_LINK_KERNEL_OUT},
    };
    enum curve_id curve = rates[by][saved];
    if (!profile_states(profile, curve)) {
        return 0;
    }
    double full = by == MOVER_KERNEL ? link : profile_value(profile, curve, large, trust);
    return fmax(0, bytes * 1e9 / profile_value(profile, curve, bytes / pieces, trust) -
                       bytes * 1e9 / full);
}

/* The CPU's time for each piece of a large copy, in ns. A kernel takes them all. */
static double piece_cpu_ns(const struct profile *profile, enum connector_mover by,
                           struct trust *trust)
{
    enum { MANY = 512 };
    if (by == MOVER_CALLS) {
        return profile_states(profile, CURVE_HOST_COPY_CALL)
                   ? profile_value(profile, CURVE_HOST_COPY_CALL, 0, trust)
                   : 0;
    }
    return by == MOVER_BATCH && profile_states(profile, CURVE_HOST_BATCH_CALL)
               ? profile_value(profile, CURVE_HOST_BATCH_CALL, MANY, trust) / MANY
               : 0;
}

struct copy_times serving_pieces_times(const struct point *point,
                                       const struct server_connector *connector, bool saved,
                                       struct trust *trust)
{
    const struct setup *setup = &point->setup;
    const struct mechanisms *m = setup->mechanisms;
    const struct profile *profile = &setup->profile;
    const struct connector_way *way = saved ? &connector->save : &connector->load;
    double tokens = (double)unit_tokens(m);
    double bytes = tokens * (double)serving_token_bytes(setup) / model_gpus(&setup->model);
    double pieces = count_pieces(point, layout_of(point, connector, way), tokens);
    enum connector_mover by = bytes / pieces < way->below ? way->small : way->by;
    if (!way_stated(profile, WAY_IN)) {
        return (struct copy_times){.unit = 0};
    }
    double link = way_rate(profile, saved ? WAY_OUT : WAY_IN, BY_ENGINE, bytes, trust);
    return (struct copy_times){
        .unit = slower_ns(profile, by, saved, bytes, pieces, link, trust) + (double)way->unit_ns,
        .cpu = connector->calls_first ? pieces * piece_cpu_ns(profile, by, trust) : 0,
    };
}

/* Copies to and from the host: units one by one without a connector, pageable ones through a pinned block. */
static void host_times(const struct point *point, double link_ns, struct serving_ways *ways,
                       struct trust *trust)
{
    const struct setup *setup = &point->setup;
    const struct server_connector *connector = serving_connector(point);
    if (connector != NULL) {
        ways->load[1] = serving_pieces_times(point, connector, false, trust);
        ways->save[1] = serving_pieces_times(point, connector, true, trust);
        ways->load[1].copy = ways->save[1].copy = link_ns;
        return;
    }
    double bytes = (double)unit_tokens(setup->mechanisms) * (double)serving_token_bytes(setup) /
                   model_gpus(&setup->model);
    double staged_ns =
        setup->mechanisms->transfer != TRANSFER_PAGEABLE
            ? 0
            : bytes * 1e9 / profile_value(&setup->profile, CURVE_HOST_PAGEABLE, 0, trust);
    ways->load[1].unit = ways->save[1].unit = link_ns + staged_ns;
}

bool serving_ways_init(struct serving_ways *ways, const struct point *point, double sharers,
                       struct trust *trust, struct error *why)
{
    const struct setup *setup = &point->setup;
    const struct profile *profile = &setup->profile;
    const struct serving_tiers tiers = serving_tiers(setup->mechanisms);
    int gpu = 0, host = 1, above = host;
    struct places places = {.count = 0};
    struct engine_route routes[SERVER_FLOWS] = {{.count = 0}};
    places_add_server(&places, profile, sharers, false, trust);
    bool linked = way_stated(profile, WAY_IN);
    double link_ns = linked ? way_start_ns(profile, WAY_IN, BY_ENGINE, trust) : 0;
    *ways = (struct serving_ways){.load = {{0}}};
    routes[FLOW_FETCHED] = places_route(&places, host, gpu, false);
    for (uint32_t k = 1; k < tiers.count || k == 1; k++) {
        enum tier_id tier = tiers.of[k];
        int at = host;
        bool evicted = setup->mechanisms->prefix_below[tier] == PREFIX_BELOW_EVICT;
        if (tier == TIER_HOST) {
            host_times(point, link_ns, ways, trust);
        } else {
            const struct place_link link = lower_link(point, tier, trust);
            at = places_add(&places, tier, 0);
            places_join(&places, at, host, &link);
            ways->load[k].copy = ways->save[k].copy =
                link_ns + way_start_ns(profile, way_between(tier, TIER_HOST), BY_ENGINE, trust);
        }
        routes[flow_loaded(k)] = places_route(&places, at, gpu, false);
        routes[flow_saved(k)] = places_route(&places,
                                             k == 1    ? gpu
                                             : evicted ? above
                                                       : host,
                                             at, false);
        above = at;
    }
    return way_shares_init(&ways->shares, &places, routes, SERVER_FLOWS, why);
}

void serving_ways_release(struct serving_ways *ways)
{
    way_shares_release(&ways->shares);
}
