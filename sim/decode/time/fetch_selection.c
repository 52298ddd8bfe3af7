/* The stages of a fetch from a query to the knowledge of which of its selection is cached. */
#include "decode/cost/retrieval.h"
#include "decode/time/fetch.h"
#include "decode/time/manager.h"
#include "decode/time/work.h"

#include <math.h>

/* (sequence, head) pairs of a cohort that score their entries. With query labels these are only the
 * pairs that fetch, because labels are compared first. */
static uint32_t asking_pairs(const struct pipe *pipe, uint32_t cohort, uint32_t layer)
{
    const struct ledger_row *row = pipe_part(pipe, cohort, layer);
    return pipe->mechanisms->policy->needs_queries ? row->fetching_heads : row->offloaded_heads;
}

static struct kernel find_selection(const struct pipe *pipe, uint32_t layer)
{
    double entries = 0, pairs = 0;
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

/* Bytes of the indices of selected entries; of misses only, if the GPU has told them from hits. */
static double fetch_selection_index_bytes(const struct pipe *pipe, uint32_t layer)
{
    double bytes = 0;
    if (pipe->mechanisms->manager == MANAGER_SPLIT) {
        return (double)pipe->mechanisms->retrieval_id_bytes *
               (double)pipe_row(pipe, layer)->missed / (double)pipe->mechanisms->retrieval_tokens;
    }
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        bytes += (double)pipe->mechanisms->retrieval_id_bytes *
                 fetch_selection_selected_tokens(pipe, i, layer) /
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

/* The GPU looks up: kernels with a sector for each access. Query labels need no such kernel:
 * retrieval has compared them. */
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

/* Where the launch thread updates, the GPU looks every wanted token up in its own table, before
 * anything reaches the CPU. The blocks that the table names must be there. */
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
    struct trust trust = work_trust;
    double ns = (double)count * pipe_figure(pipe, CURVE_HOST_SYNC, 0, &trust);
    return work_put_thread(pipe, PART_SYNC, ns, *selected, trust, selected, why);
}

/* A copy to the CPU, behind the selection. */
static bool put_copy_of_ids(struct pipe *pipe, uint32_t layer, double bytes, struct error *why)
{
    engine_task_id *selected = &pipe->at[layer].selected;
    struct work work = work_over(pipe, PART_SYNC, WAY_OUT, bytes);
    work_wait_for(&work, *selected);
    return work_put(pipe, &work, selected, why);
}

/* Move the indices to the host: by copies that the launch thread waits for, of which the last one
 * counts the bytes of all, or by the kernel's own stores and a flag. */
bool fetch_ids(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    engine_task_id *selected = &pipe->at[layer].selected;
    if (!retrieves(pipe, layer) || (m->sync == SYNC_GPU && !mechanisms_need_cpu(m))) {
        return true;
    }
    if (m->sync == SYNC_GPU) {
        struct work work = work_of(PART_SYNC, PIPE_NO_QUEUE);
        work.fixed_ns = pipe_figure(pipe, CURVE_GPU_FLAG, 0, &work.fixed_trust);
        work_wait_for(&work, *selected);
        return work_put(pipe, &work, selected, why);
    }
    for (uint64_t i = 1; i < m->sync_copies; i++) {
        if (!put_copy_of_ids(pipe, layer, 0, why) || !put_syncs(pipe, layer, 1, why)) {
            return false;
        }
    }
    return put_copy_of_ids(pipe, layer, fetch_selection_index_bytes(pipe, layer), why);
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
