/* Predictions for QSAC with labels on the GPU, one layer ahead; miniature.h draws it. The launch
 * thread fetches, too, so launches and fetches share one queue. */
#include "decode/miniature/miniature_pipe.h"
#include "decode/time/fetch.h"
#include "decode/time/work.h"

enum { ASK_KERNELS = 2 }; /* the comparison, and the list of rows to fetch */

const struct miniature_qsac *miniature_qsac(enum miniature_id id)
{
    static const struct miniature_qsac ways[MINIATURE_COUNT] = {
        [MINIATURE_GPU_QSAC_COPY_POLL] = {.polls = true},
        [MINIATURE_GPU_QSAC_COPY_GRAPH] = {.polls = true, .graph = true},
        [MINIATURE_GPU_QSAC_STORE] = {.stores = true},
        [MINIATURE_GPU_QSAC_STORE_POLL] = {.stores = true, .polls = true},
        [MINIATURE_GPU_QSAC_STORE_GRAPH] = {.stores = true, .polls = true, .graph = true},
    };
    bool is = id >= MINIATURE_GPU_QSAC_COPY && id <= MINIATURE_GPU_QSAC_STORE_GRAPH;
    return is ? &ways[id] : NULL;
}

/* The time until the other side sees a flag. */
static bool put_flag(struct pipe *pipe, engine_task_id after, engine_task_id *out,
                     struct error *why)
{
    struct work work = work_of(PART_SYNC, PIPE_NO_QUEUE);
    work.fixed_ns = pipe_figure(pipe, CURVE_GPU_FLAG, 0, &work.fixed_trust);
    work_wait_for(&work, after);
    return work_put(pipe, &work, out, why);
}

/* Compare the labels and store the numbers of missed rows in host memory. */
static bool miniature_qsac_put_ask(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct kernel kernel = kernel_none;
    double bytes = (double)pipe_row(pipe, layer)->missed * sizeof(uint32_t);
    kernel.ns = bytes * 1e9 / pipe_figure(pipe, CURVE_LINK_OUT, 0, &kernel.trust);
    return work_put_kernel(pipe, PART_LOOKUP, kernel, ASK_KERNELS, ENGINE_NONE,
                           &pipe->at[layer].selected, why);
}

/* The CPU waits for the numbers of the rows to fetch. */
static bool put_hearing(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id *selected = &pipe->at[layer].selected;
    return pipe->mechanisms->sync == SYNC_CPU
               ? fetch_sync(pipe, layer, why)
               : put_flag(pipe, *selected, selected, why) && miniature_wait(pipe, *selected, why);
}

/* Move the rows: by copies, one for each head, or by the pool's stores. */
static bool miniature_qsac_put_rows(struct pipe *pipe, uint32_t layer, bool stores,
                                    struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    enum curve_id fixed = stores ? CURVE_HOST_POOL_WAKE : CURVE_LINK_COPY_LATENCY;
    double threads = (double)pipe->mechanisms->transfer_threads;
    struct work work = work_of(PART_LINK, stores ? PIPE_STORES : PIPE_IN);
    work.route = ROUTE_COPY_IN;
    work.bytes = (double)row->missed * pipe->head_bytes;
    work.fixed_ns = (stores ? threads : row->fetching_heads) *
                    pipe_figure(pipe, fixed, threads, &work.fixed_trust);
    work.rate = cost_transfer_rate(pipe->setup, &work.rate_trust) / 1e9;
    work_wait_for(&work, pipe->last[PIPE_LAUNCH]);
    return work_put(pipe, &work, &pipe->at[layer].fetched, why);
}

static bool put_copies(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct trust trust = work_trust;
    double calls = pipe_row(pipe, layer)->fetching_heads;
    double ns = calls * pipe_figure(pipe, CURVE_HOST_COPY_CALL, 0, &trust);
    pipe->at[layer].looked_up = pipe->last[PIPE_LAUNCH];
    return miniature_gather(pipe, layer, why) &&
           work_put_thread(pipe, PART_LAUNCH, ns, ENGINE_NONE, trust, NULL, why) &&
           miniature_qsac_put_rows(pipe, layer, false, why);
}

static bool put_stores(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return miniature_qsac_put_rows(pipe, layer, true, why) &&
           miniature_wait(pipe, pipe->at[layer].fetched, why);
}

static bool put_fetch(struct pipe *pipe, uint32_t layer, struct error *why)
{
    bool stores = pipe->mechanisms->transfer == TRANSFER_CPU_STORE;
    pipe->at[layer].fetched = ENGINE_NONE;
    return put_hearing(pipe, layer, why) && (pipe_row(pipe, layer)->missed == 0 ||
                                             (stores ? put_stores : put_copies)(pipe, layer, why));
}

/* The CPU sees that its copies are done and sets the flag for which a kernel polls. */
static bool put_answer(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id *fetched = &pipe->at[layer].fetched;
    bool copied = pipe->mechanisms->transfer != TRANSFER_CPU_STORE && *fetched != ENGINE_NONE;
    return (!copied || put_flag(pipe, *fetched, fetched, why)) &&
           miniature_wait(pipe, *fetched, why) &&
           put_flag(pipe, pipe->last[PIPE_LAUNCH], fetched, why);
}

/* A layer's rows are asked for in the layer before; the first layer (`own`) asks itself. */
static bool put_asks(struct pipe *pipe, uint32_t layer, bool own, struct error *why)
{
    return own ? layer > 0 || miniature_qsac_put_ask(pipe, layer, why)
               : layer + 1 == pipe->plan->layers || miniature_qsac_put_ask(pipe, layer + 1, why);
}

static bool miniature_qsac_run_told(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id attend;
    return put_asks(pipe, layer, true, why) && put_fetch(pipe, layer, why) &&
           put_asks(pipe, layer, false, why) && miniature_attend_launch(pipe, &attend, why) &&
           miniature_attend_launched(pipe, pipe_row(pipe, layer)->wanted, attend,
                                     pipe->at[layer].fetched, why);
}

/* All kernels are launched before the fetch. */
static bool miniature_qsac_run_polled(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id await, attend;
    return put_asks(pipe, layer, true, why) && put_asks(pipe, layer, false, why) &&
           work_launch(pipe, 1, &await, why) && miniature_attend_launch(pipe, &attend, why) &&
           put_fetch(pipe, layer, why) && put_answer(pipe, layer, why) &&
           work_put_launched(pipe, PART_SYNC, kernel_none, 1, await, ENGINE_NONE, NULL, why) &&
           miniature_attend_launched(pipe, pipe_row(pipe, layer)->wanted, attend,
                                     pipe->at[layer].fetched, why);
}

bool miniature_qsac_layer(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return pipe->mechanisms->sync == SYNC_GPU ? miniature_qsac_run_polled(pipe, layer, why)
                                              : miniature_qsac_run_told(pipe, layer, why);
}
