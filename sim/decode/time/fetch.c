/* The stages of a fetch, each of which waits for a task that an earlier one left in pipe->at[layer]. */

#include "decode/time/fetch.h"

#include <math.h>

#include "decode/time/hybrid.h"

/* The first layer's query is known only when it runs. */
static bool can_prefetch(const struct pipe *pipe, uint32_t layer)
{
    return pipe->mechanisms->prefetch == PREFETCH_NEXT_LAYER && layer > 0;
}

/* Is this layer's KV fetched by a query? (Not if it is resident, loaded whole, or attended to by the CPU.) */
static bool fetch_is_asked(const struct pipe *pipe, uint32_t layer)
{
    return layer < pipe->plan->layers && !setup_loads_whole(pipe->setup, layer) &&
           pipe_row(pipe, layer) != NULL && !cpu_attends(pipe->setup, layer);
}

uint32_t fetch_targets(const struct pipe *pipe, uint32_t targets[2])
{
    uint32_t count = 0, layer = pipe->layer;
    if (fetch_is_asked(pipe, layer) && !can_prefetch(pipe, layer)) {
        targets[count++] = layer;
    }
    if (fetch_is_asked(pipe, layer + 1) && can_prefetch(pipe, layer + 1)) {
        targets[count++] = layer + 1;
    }
    return count;
}

/* Copy `bytes` to HBM in `calls` calls, on the copy engine and not in the kernels' stream. */
static bool fetch_put_copy(struct pipe *pipe, double bytes, double calls, engine_task_id after,
                           engine_task_id *out, struct error *why)
{
    struct work work = work_over(pipe, PART_LINK, WAY_IN, bytes);
    engine_task_id started = pipe->graph;
    if (pipe->mechanisms->launch == LAUNCH_EAGER &&
        !work_put_call(pipe, PART_LAUNCH, CURVE_HOST_COPY_CALL, calls, ENGINE_NONE, &started,
                       why)) {
        return false;
    }
    work.fixed_ns *= calls;
    work.rate /= cost_uplink_sharers(pipe->setup, &work.rate_trust);
    work_wait_for(&work, started);
    work_wait_for(&work, after);
    return work_put(pipe, &work, out, why);
}

static bool fetch_put_index(struct pipe *pipe, uint32_t layer, struct error *why)
{
    double bytes = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        bytes += (double)pipe->plan->cohorts[i].sizes.entries * retrieval_entry_bytes(pipe->setup) *
                 pipe_part(pipe, i, layer)->offloaded_heads;
    }
    engine_task_id freed = layer < 2 ? ENGINE_NONE : pipe->at[layer - 2].selected;
    return fetch_put_copy(pipe, bytes, 1, freed, &pipe->at[layer].indexed, why);
}

/* Start the copy of the next layer's index into the buffer that the layer before has read; the first layer
 * waits for its own. A step's first two buffers are free. */
bool fetch_index(struct pipe *pipe, uint32_t layer, struct error *why)
{
    bool first = layer == 0 || !fetch_is_asked(pipe, layer - 1);
    return !pipe->mechanisms->retrieval_stream ||
           ((!first || fetch_put_index(pipe, layer, why)) &&
            (!fetch_is_asked(pipe, layer + 1) || fetch_put_index(pipe, layer + 1, why)));
}

/* The CPU gathers scattered rows into a pinned buffer, on the launch thread's path, as fast as its threads
 * and, if there is a curve, the span of a head's keys allow. */
bool fetch_gather(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    struct pipe_layer *at = &pipe->at[layer];
    struct work work = work_of(PART_GATHER, PIPE_POOL);
    work.route = ROUTE_GATHER;
    work.bytes = (double)pipe_row(pipe, layer)->missed * pipe->link_bytes;
    if (m->transfer != TRANSFER_GATHER_COPY || work.bytes == 0) {
        return true;
    }
    double threads = cost_threads(pipe->setup, m->transfer_threads, &work.rate_trust);
    double span = (double)pipe->setup->context * pipe->head_bytes / 2;
    work.rate = pipe_figure(pipe, CURVE_HOST_GATHER, threads, &work.rate_trust) *
                pipe_figure(pipe, CURVE_HOST_GATHER_SPAN, span, &work.rate_trust) / 1e9;
    work_wait_for(&work, at->at_hand);
    if (!work_put(pipe, &work, &at->at_hand, why)) {
        return false;
    }
    at->looked_up = at->at_hand; /* the update follows on the same pool */
    return work_put_thread(pipe, PART_GATHER, 0, at->at_hand, work_trust, NULL, why);
}

/* The resource that moves the bytes of a transfer, and its fixed time. */
static struct work way_of(const struct pipe *pipe)
{
    static const struct {
        enum pipe_resource resource;
        enum pipe_route route;
        enum carrier by;
    } all[] = {
        [TRANSFER_COPY_ENGINE] = {PIPE_IN, ROUTE_COPY_IN, BY_ENGINE},
        [TRANSFER_GATHER_COPY] = {PIPE_IN, ROUTE_COPY_IN, BY_ENGINE},
        [TRANSFER_PAGEABLE] = {PIPE_IN, ROUTE_COPY_IN, BY_ENGINE},
        [TRANSFER_SM_ZERO_COPY] = {PIPE_SIDE, ROUTE_ZERO_COPY, BY_KERNEL},
        [TRANSFER_CPU_STORE] = {PIPE_STORES, ROUTE_COPY_IN, BY_CPU},
    };
    enum transfer transfer = (enum transfer)pipe->mechanisms->transfer;
    struct work work = work_of(PART_LINK, all[transfer].resource);
    work.route = all[transfer].route;
    work.fixed_ns =
        way_start_ns(&pipe->setup->profile, WAY_IN, all[transfer].by, &work.fixed_trust);
    return work;
}

/* The CPU's time to start a transfer: a call, a launch, a pass over pageable memory; or none. */
static bool start_transfer(struct pipe *pipe, const struct fetch_part *part,
                           engine_task_id *started, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    struct trust trust = work_trust;
    bool pageable = m->transfer == TRANSFER_PAGEABLE && !part->from_disk;
    *started = pipe->graph;
    if (m->launch == LAUNCH_GRAPH || m->transfer == TRANSFER_CPU_STORE) {
        return true;
    }
    double ns = m->transfer == TRANSFER_SM_ZERO_COPY
                    ? work_launch_ns(pipe, &trust)
                    : cost_copy_call(pipe->setup, pageable, part->bytes, &trust);
    return work_put_thread(pipe, pageable ? PART_GATHER : PART_LAUNCH, ns, ENGINE_NONE, trust,
                           started, why);
}

bool fetch_put_transfer(struct pipe *pipe, const struct fetch_part *part, engine_task_id *out,
                        struct error *why)
{
    struct work work = way_of(pipe);
    double bytes = part->bytes;
    engine_task_id started;
    if (!start_transfer(pipe, part, &started, why)) {
        return false;
    }
    work.bytes = bytes;
    struct trust all_trust = work_trust, worst_trust = work_trust;
    double all_ns = bytes * 1e9 / cost_transfer_rate(pipe->setup, &all_trust);
    double worst_ns = part->worst * 1e9 / cost_transfer_head_rate(pipe->setup, &worst_trust);
    work.rate = bytes / fmax(all_ns, worst_ns);
    work.rate_trust = all_ns >= worst_ns ? all_trust : worst_trust;
    work_wait_for(&work, started);
    work_wait_for(&work, part->after);
    work_wait_for(&work, part->freed);
    pipe->moved[pipe->step].moved[WAY_IN] += llround(bytes);
    return work_put(pipe, &work, out, why);
}

/* CTAs that load `missed` of the `wanted` tokens of a head: in proportion, rounded up, at least one, where
 * the kernel also copies hits (RetroInfer's concat_gather_copy). */
static double missed_ctas(const struct mechanisms *m, double missed, double wanted)
{
    double all = (double)m->transfer_ctas;
    bool alone = !mechanisms_share_ctas(m) || missed >= wanted;
    return alone ? all : fmax(1, fmin(ceil(all * missed / wanted), all - 1));
}

static double wanted_by_head(const struct ledger_row *row)
{
    return (double)(row->hit + row->missed) / row->offloaded_heads;
}

static double missed_by_head(const struct ledger_row *row)
{
    return (double)row->missed / row->offloaded_heads;
}

double fetch_hit_ctas(const struct pipe *pipe, const struct ledger_row *row)
{
    const struct mechanisms *m = pipe->mechanisms;
    double missed = missed_by_head(row);
    return !mechanisms_share_ctas(m) ? (double)m->hit_ctas
           : missed == 0             ? (double)m->transfer_ctas
                         : (double)m->transfer_ctas - missed_ctas(m, missed, wanted_by_head(row));
}

double fetch_mean_missed_ctas(const struct pipe *pipe)
{
    const struct ledger *ledger = pipe->ledger;
    uint64_t missed = 0, wanted = 0;
    for (size_t i = 0; ledger != NULL && i < (size_t)ledger->steps * ledger->layers; i++) {
        missed += ledger->rows[i].missed;
        wanted += ledger->rows[i].hit + ledger->rows[i].missed;
    }
    return missed_ctas(pipe->mechanisms, (double)missed, (double)wanted);
}

/* Misses of the slowest head, had it all CTAs: of a mean head or of the one that misses most. */
static double slowest_misses(const struct pipe *pipe, const struct ledger_row *row)
{
    const struct mechanisms *m = pipe->mechanisms;
    double wanted = wanted_by_head(row), mean = missed_by_head(row);
    double most = (double)row->missed_worst;
    return fmax(mean / missed_ctas(m, mean, wanted), most / missed_ctas(m, most, wanted)) *
           (double)m->transfer_ctas;
}

/* There are two buffers; the one to fill was last used two layers ago. In the main stream a
 * transfer waits for all earlier kernels, and all later ones wait for it. */
bool fetch_transfer(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    struct pipe_layer *at = &pipe->at[layer];
    uint32_t before = (layer + pipe->plan->layers - 2 % pipe->plan->layers) % pipe->plan->layers;
    bool among = pipe->mechanisms->transfer_stream == TRANSFER_STREAM_MAIN;
    const struct fetch_part missed = {
        .bytes = (double)row->missed * pipe->link_bytes,
        .worst = slowest_misses(pipe, row) * pipe->link_bytes,
        .after = at->at_hand,
        .freed = among ? pipe->last[PIPE_MAIN] : pipe->at[before].attended,
        .from_disk = pipe->mechanisms->disk_kv > 0,
    };
    at->fetched = at->at_hand;
    return row->missed == 0 || mechanisms_attend_in_place(pipe->mechanisms) ||
           (fetch_put_transfer(pipe, &missed, &at->fetched, why) &&
            (!among || work_put_event(pipe, PART_LINK, at->fetched, why)));
}

/* They begin with the kernel: after the one before it. All its threads load, enough for the link. */
bool fetch_put_loads(struct pipe *pipe, engine_task_id first, engine_task_id *out,
                     struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, pipe->layer);
    struct work work = work_of(PART_LINK, PIPE_SIDE);
    *out = ENGINE_NONE;
    if (!mechanisms_attend_in_place(pipe->mechanisms) || row == NULL || row->missed == 0) {
        return true;
    }
    work.route = ROUTE_IN_PLACE;
    work.bytes = (double)row->missed * pipe->link_bytes;
    work.rate = cost_transfer_rate(pipe->setup, &work.rate_trust) / 1e9;
    work.fixed_ns = way_start_ns(&pipe->setup->profile, WAY_IN, BY_KERNEL, &work.fixed_trust);
    pipe->moved[pipe->step].moved[WAY_IN] += llround(work.bytes);
    work_wait_for(&work, first);
    work_wait_for(&work, pipe->last[PIPE_MAIN]);
    work_wait_for(&work, pipe->at[pipe->layer].fetched);
    return work_put(pipe, &work, out, why);
}

/* The CPU's update of the cache runs beside what follows. */
bool fetch_update(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct pipe_layer *at = &pipe->at[layer];
    at->updated = ENGINE_NONE;
    return pipe->mechanisms->manager != MANAGER_CPU ||
           manager_update(pipe, layer, at->looked_up, &at->updated, why);
}

/* The launch thread updates the cache itself, once it has started the transfer. */
bool fetch_insert(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return pipe->mechanisms->manager != MANAGER_SPLIT || manager_insert(pipe, layer, why);
}

/* If the update blocks, every later launch waits for it; with `sync: gpu` later kernels wait instead. */
bool fetch_updated(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    struct pipe_layer *at = &pipe->at[layer];
    bool blocks = m->update == UPDATE_BLOCKING;
    if (blocks && m->sync == SYNC_CPU && at->updated != ENGINE_NONE &&
        !work_put_thread(pipe, PART_UPDATE, 0, at->updated, work_trust, NULL, why)) {
        return false;
    }
    at->updated = blocks && m->sync == SYNC_GPU ? at->updated : ENGINE_NONE;
    return true;
}

double fetch_fill_bytes(const struct setup *setup, const struct ledger_row *row)
{
    const struct mechanisms *m = setup->mechanisms;
    double heads = m->block_span == BLOCK_LAYER ? model_kv_heads(&setup->model) : 1;
    double block = (double)m->granularity * heads * (double)model_kv_head_bytes(&setup->model);
    return m->block_span == BLOCK_UNIT ? 0 : (double)row->inserts * block;
}

/* Only wanted tokens were fetched: whole blocks are copied after it, and the next retrieval waits. */
bool fetch_fill(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    struct pipe_layer *at = &pipe->at[layer];
    double bytes = fetch_fill_bytes(pipe->setup, row), disk = bytes * pipe->mechanisms->disk_kv;
    engine_task_id after = at->fetched;
    at->filled = ENGINE_NONE;
    return bytes == 0 ||
           ((disk == 0 || disk_put_read(pipe, disk, bytes / (double)row->inserts, after,
                                        ENGINE_NONE, &after, why)) &&
            fetch_put_copy(pipe, bytes, 2 * (double)row->inserts, after, &at->filled, why));
}

/* The stages of a fetch from a query to the knowledge of which of its selection is cached. */

/* Pairs of a cohort that score their entries: with query labels, compared first, only those that fetch. */
static uint32_t asking_pairs(const struct pipe *pipe, uint32_t cohort, uint32_t layer)
{
    const struct ledger_row *row = pipe_part(pipe, cohort, layer);
    return pipe->mechanisms->policy->needs_queries ? row->fetching_heads : row->offloaded_heads;
}

/* Where the CPU searches, kernels make the code that it looks for, as many as take no shorter. */
static struct kernel find_selection(const struct pipe *pipe, uint32_t layer)
{
    double entries = 0, pairs = 0;
    if (pipe->mechanisms->retrieval_on == RETRIEVAL_ON_CPU) {
        return kernel_none;
    }
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        uint32_t asking = asking_pairs(pipe, i, layer);
        entries += (double)pipe->plan->cohorts[i].sizes.entries * asking;
        pairs += asking;
    }
    return retrieval_cost(pipe->setup, entries, pairs);
}

/* Tokens that the pairs of a cohort select: equally many each; with a margin, and of the queries of
 * a verification together, from the ledger. Pairs with query labels select when they fetch. */
static double fetch_selection_selected_tokens(const struct pipe *pipe, uint32_t cohort,
                                              uint32_t layer)
{
    double each = (double)pipe->plan->cohorts[cohort].sizes.selected_tokens;
    const struct ledger_row *row = pipe_part(pipe, cohort, layer);
    bool counted = pipe->mechanisms->selection_margin > 0 || setup_queries(pipe->setup) > 1;
    bool labelled = pipe->mechanisms->policy->needs_queries;
    return counted ? (double)(labelled ? row->missed : row->wanted)
                   : each * asking_pairs(pipe, cohort, layer);
}

double fetch_id_bytes(const struct pipe *pipe, uint32_t layer)
{
    double bytes = 0, each = (double)pipe->mechanisms->retrieval_id_bytes;
    const struct ledger_row *row = pipe_row(pipe, layer);
    if (pipe->mechanisms->retrieval_on == RETRIEVAL_ON_CPU) {
        return each * row->offloaded_heads * cpu_selections(pipe->setup);
    }
    if (pipe->mechanisms->manager == MANAGER_SPLIT) {
        return each * (double)row->missed / (double)pipe->mechanisms->retrieval_tokens;
    }
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        bytes += each * fetch_selection_selected_tokens(pipe, i, layer) /
                 (double)pipe->mechanisms->retrieval_tokens;
    }
    return bytes;
}

/* The main stream waits for the blocks that the last step admitted to the layer's cache. */
static bool wait_for_fill(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id filled = pipe->at[layer].filled;
    return filled == ENGINE_NONE || work_put_event(pipe, PART_LINK, filled, why);
}

/* A layer that shares another's selection scores nothing, and its indices are known. */
static bool retrieves(const struct pipe *pipe, uint32_t layer)
{
    return setup_retrieves(pipe->setup) && setup_selects_in(pipe->setup, layer);
}

bool fetch_retrieve(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    pipe->at[layer].selected = pipe->last[PIPE_MAIN]; /* without retrieval: when the layer begins */
    if (m->manager != MANAGER_SPLIT && !wait_for_fill(pipe, layer, why)) {
        return false;
    }
    if (!retrieves(pipe, layer)) {
        return true;
    }
    struct kernel kernel =
        kernel_then(retrieval_query_cost(pipe->setup), find_selection(pipe, layer));
    return work_put_kernel(pipe, PART_RETRIEVAL, kernel, m->retrieval_kernels,
                           pipe->at[layer].indexed, &pipe->at[layer].selected, why);
}

/* The GPU looks up: kernels of a sector an access. Query labels need none: retrieval compares them. */
static bool look_up_in_kernels(struct pipe *pipe, uint64_t accesses, engine_task_id *out,
                               struct error *why)
{
    struct trust trust = work_trust;
    double sector = pipe_figure(pipe, CURVE_GPU_SECTOR, 0, &trust);
    struct kernel kernel = kernel_read(&pipe->setup->profile, (double)accesses * sector);
    trust_add(&kernel.trust, trust);
    return pipe->mechanisms->policy->needs_queries || pipe->plan->memory.in[TIER_GPU].cache == 0 ||
           work_put_kernel(pipe, PART_LOOKUP, kernel, pipe->mechanisms->lookup_kernels, *out, out,
                           why);
}

/* Where the launch thread updates, the GPU first looks every wanted token up in its own table. */
bool fetch_diff(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return pipe->mechanisms->manager != MANAGER_SPLIT ||
           (wait_for_fill(pipe, layer, why) &&
            look_up_in_kernels(pipe, pipe_row(pipe, layer)->wanted, &pipe->at[layer].selected,
                               why));
}

/* The launch thread blocks until what it waits for is there, `count` times. */
static bool put_syncs(struct pipe *pipe, uint32_t layer, uint64_t count, struct error *why)
{
    engine_task_id *selected = &pipe->at[layer].selected;
    return work_put_call(pipe, PART_SYNC, CURVE_HOST_SYNC, (double)count, *selected, selected, why);
}

/* A copy to the CPU, behind the selection. */
static bool put_copy_of_ids(struct pipe *pipe, uint32_t layer, double bytes, struct error *why)
{
    engine_task_id *selected = &pipe->at[layer].selected;
    struct work work = work_over(pipe, PART_SYNC, WAY_OUT, bytes);
    work_wait_for(&work, *selected);
    return work_put(pipe, &work, selected, why);
}

/* Move the indices to the host: copies awaited by the launch thread (the last has all bytes), or stores. */
bool fetch_ids(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    engine_task_id *selected = &pipe->at[layer].selected;
    if (!retrieves(pipe, layer) || (m->sync == SYNC_GPU && !mechanisms_need_cpu(m))) {
        return true;
    }
    if (m->sync == SYNC_GPU) {
        return work_put_flag(pipe, *selected, selected, why);
    }
    for (uint64_t i = 1; i < m->sync_copies; i++) {
        if (!put_copy_of_ids(pipe, layer, 0, why) || !put_syncs(pipe, layer, 1, why)) {
            return false;
        }
    }
    return put_copy_of_ids(pipe, layer, fetch_id_bytes(pipe, layer), why);
}

/* The synchronisation behind the last copy, and those without a copy. */
bool fetch_sync(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    uint64_t before = retrieves(pipe, layer) ? m->sync_copies - 1 : 0;
    return m->sync != SYNC_CPU || m->syncs == 0 || put_syncs(pipe, layer, m->syncs - before, why);
}

/* Attention over the summaries of entries that were not selected, during the CPU's lookup. */
bool fetch_estimate(struct pipe *pipe, uint32_t layer, struct error *why)
{
    double bytes = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        bytes += (double)pipe->plan->cohorts[i].sizes.estimated_entries * pipe->head_bytes *
                 pipe_part(pipe, i, layer)->offloaded_heads;
    }
    return bytes == 0 ||
           work_put_kernel(pipe, PART_COMPUTE, kernel_read(&pipe->setup->profile, bytes), 1,
                           ENGINE_NONE, NULL, why);
}

static bool fetch_selection_look_up(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    const struct ledger_row *row = pipe_row(pipe, layer);
    struct pipe_layer *at = &pipe->at[layer];
    at->looked_up = at->selected;
    switch (m->manager) {
    case MANAGER_CPU:
        return manager_look_up(pipe, layer, at->selected, &at->looked_up, why);
    case MANAGER_GPU:
        return look_up_in_kernels(pipe, row->lookups + row->updates + row->inserts, &at->looked_up,
                                  why);
    default: /* split: fetch_diff() has looked up */
        return true;
    }
}

bool fetch_lookup(struct pipe *pipe, uint32_t layer, struct error *why)
{
    bool good = fetch_selection_look_up(pipe, layer, why);
    pipe->at[layer].at_hand = pipe->at[layer].looked_up; /* in host memory, unless it is read */
    return good;
}

static struct work disk_work(struct pipe *pipe, enum way_id way, double bytes)
{
    bool in = way == WAY_DISK_IN;
    struct work work = work_of(PART_DISK, in ? PIPE_READ : PIPE_WRITE);
    work.route = in ? ROUTE_DISK_READ : ROUTE_DISK_WRITE;
    work.bytes = bytes;
    work.fixed_ns = way_start_ns(&pipe->setup->profile, way, BY_ENGINE, &work.fixed_trust);
    pipe->moved[pipe->step].moved[way] += llround(bytes);
    return work;
}

bool disk_put_read(struct pipe *pipe, double bytes, double block, engine_task_id after,
                   engine_task_id freed, engine_task_id *out, struct error *why)
{
    struct work work = disk_work(pipe, WAY_DISK_IN, bytes);
    work.rate = disk_read_rate(pipe->setup, block, &work.rate_trust) / 1e9;
    work_wait_for(&work, pipe->last[PIPE_LAUNCH]);
    work_wait_for(&work, after);
    work_wait_for(&work, freed);
    return work_put(pipe, &work, out, why);
}

bool disk_put_leaving(struct pipe *pipe, double bytes, engine_task_id *left, struct error *why)
{
    double disk = bytes * pipe->mechanisms->disk_kv;
    bool copied = work_put_copy_out(pipe, bytes, left, why);
    if (!copied || disk == 0) {
        return copied;
    }
    struct work work = disk_work(pipe, WAY_DISK_OUT, disk);
    work.rate = disk_write_rate(pipe->setup, fmin(disk, DISK_PIECE), &work.rate_trust) / 1e9;
    work_wait_for(&work, *left);
    return work_put(pipe, &work, NULL, why);
}

/* Bytes read for the misses of a layer, over the cohorts. */
static double missed_bytes(const struct pipe *pipe, uint32_t layer)
{
    double bytes = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        const struct ledger_row *part = pipe_part(pipe, i, layer);
        double all = (double)pipe->plan->cohorts[i].context * part->offloaded_heads;
        bytes += disk_selection_bytes(pipe->setup, (double)part->missed, all);
    }
    return bytes;
}

bool disk_read_misses(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    struct pipe_layer *at = &pipe->at[layer];
    double bytes = m->disk_kv > 0 ? missed_bytes(pipe, layer) : 0;
    return bytes == 0 || (disk_put_read(pipe, bytes, disk_block_bytes(pipe->setup), at->looked_up,
                                        ENGINE_NONE, &at->at_hand, why) &&
                          (m->sync != SYNC_CPU || work_put_thread(pipe, PART_DISK, 0, at->at_hand,
                                                                  work_trust, NULL, why)));
}
