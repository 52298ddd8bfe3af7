/* Predictions for a host. A program uses these resources of the pipeline: the launch thread (the
 * caller), the pool, and the copy engine and the main stream (the two stand-ins). There is one
 * channel, DRAM. */
#include "decode/miniature/miniature_pipe.h"
#include "decode/cost/cost.h"
#include "decode/time/fetch.h"
#include "decode/time/work.h"
#include "machine/tier.h"

static const enum curve_id curves[] = {
    CURVE_HOST_CORES,  CURVE_HOST_DRAM_BANDWIDTH, CURVE_HOST_POOL_WAKE, CURVE_HOST_LOOKUP,
    CURVE_HOST_UPDATE, CURVE_HOST_GATHER,         CURVE_HOST_ATTENTION,
};

/* ---- tasks ---- */

/* The GPU's stand-in attends to `tokens`, each K and V of one KV head. It is woken, and wakes the
 * caller. */
static bool put_stand_in(struct pipe *pipe, uint64_t tokens, struct error *why)
{
    struct work work = work_of(PART_COMPUTE, PIPE_MAIN);
    work.route = ROUTE_CPU_READ;
    work.bytes = (double)tokens * pipe->head_bytes;
    work.fixed_ns = 2 * pipe_figure(pipe, CURVE_HOST_POOL_WAKE, 1, &work.fixed_trust);
    work.rate = pipe_figure(pipe, CURVE_HOST_ATTENTION, 1, &work.rate_trust) / 1e9;
    work_wait_for(&work, pipe->last[PIPE_LAUNCH]);
    return work_put(pipe, &work, NULL, why);
}

/* Copy gathered misses to their places. */
static bool miniature_host_put_copy(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return fetch_transfer(pipe, layer, why) && miniature_wait(pipe, pipe->at[layer].fetched, why);
}

static bool miniature_host_put_attention(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return put_stand_in(pipe, pipe_row(pipe, layer)->wanted, why) &&
           miniature_wait(pipe, pipe->last[PIPE_MAIN], why);
}

/* ---- programs ---- */

static bool miniature_host_run_manager(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return miniature_look_up(pipe, layer, why) && miniature_update(pipe, layer, why);
}

static bool miniature_host_run_cpu_attention(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    return miniature_attend(pipe, layer, row->wanted, row->missed_worst, why);
}

static bool miniature_host_run_fetch(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return miniature_gather(pipe, layer, why) && miniature_host_put_copy(pipe, layer, why) &&
           miniature_host_put_attention(pipe, layer, why);
}

static bool miniature_host_run_lru(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return miniature_look_up(pipe, layer, why) && miniature_host_run_fetch(pipe, layer, why) &&
           miniature_update(pipe, layer, why);
}

/* What is read is copied to its places without a gather. */
static bool miniature_host_run_lru_disk(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return miniature_look_up(pipe, layer, why) && disk_read_misses(pipe, layer, why) &&
           miniature_host_put_copy(pipe, layer, why) &&
           miniature_host_put_attention(pipe, layer, why) && miniature_update(pipe, layer, why);
}

static bool miniature_host_run_lru_overlapped(struct pipe *pipe, uint32_t layer, struct error *why)
{
    return miniature_look_up(pipe, layer, why) && miniature_gather(pipe, layer, why) &&
           miniature_host_put_copy(pipe, layer, why) &&
           put_stand_in(pipe, pipe_row(pipe, layer)->wanted, why) &&
           miniature_update(pipe, layer, why) && miniature_wait(pipe, pipe->last[PIPE_MAIN], why);
}

static bool miniature_host_run_lru_split(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    return miniature_look_up(pipe, layer, why) && put_stand_in(pipe, row->hit, why) &&
           miniature_gather(pipe, layer, why) && miniature_host_put_copy(pipe, layer, why) &&
           miniature_wait(pipe, pipe->last[PIPE_MAIN], why) &&
           put_stand_in(pipe, row->missed, why) &&
           miniature_wait(pipe, pipe->last[PIPE_MAIN], why) && miniature_update(pipe, layer, why);
}

static bool miniature_host_run_hybrid(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    return put_stand_in(pipe, row->hit, why) &&
           miniature_attend(pipe, layer, row->missed, row->missed_worst, why) &&
           miniature_wait(pipe, pipe->last[PIPE_MAIN], why);
}

static double miniature_host_whole_bytes(const struct pipe *pipe)
{
    return (double)pipe->setup->context * pipe->plan->kv_heads * pipe->head_bytes;
}

static bool miniature_host_put_whole(struct pipe *pipe, engine_task_id *copied, struct error *why)
{
    double bytes = miniature_host_whole_bytes(pipe);
    const struct fetch_part whole = {bytes, bytes, pipe->last[PIPE_LAUNCH], ENGINE_NONE, false};
    return fetch_put_transfer(pipe, &whole, copied, why);
}

/* Read by the thread that otherwise copies. */
static bool miniature_host_read_whole(struct pipe *pipe, engine_task_id *read, struct error *why)
{
    return disk_put_read(pipe, miniature_host_whole_bytes(pipe), DISK_PIECE,
                         pipe->last[PIPE_LAUNCH], ENGINE_NONE, read, why);
}

static bool miniature_host_load_whole(struct pipe *pipe, engine_task_id *loaded, struct error *why)
{
    return (pipe->mechanisms->disk_kv > 0 ? miniature_host_read_whole
                                          : miniature_host_put_whole)(pipe, loaded, why);
}

/* The next layer's copy runs during this layer's attention, into the other of two buffers. Nothing
 * overlaps with the very first copy. */
static bool miniature_host_run_stream(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id copied = ENGINE_NONE;
    bool first = pipe->step == 1 && layer == 0;
    bool last = pipe->step == pipe->plan->steps && layer + 1 == pipe->plan->layers;
    uint64_t tokens = pipe->setup->context * pipe->plan->kv_heads;
    return (!first ||
            (miniature_host_load_whole(pipe, &copied, why) && miniature_wait(pipe, copied, why))) &&
           (last || miniature_host_load_whole(pipe, &copied, why)) &&
           put_stand_in(pipe, tokens, why) && miniature_wait(pipe, copied, why) &&
           miniature_wait(pipe, pipe->last[PIPE_MAIN], why);
}

static bool (*const programs[MINIATURE_COUNT])(struct pipe *, uint32_t, struct error *) = {
    [MINIATURE_MANAGER] = miniature_host_run_manager,
    [MINIATURE_GATHER] = miniature_gather,
    [MINIATURE_CPU_ATTENTION] = miniature_host_run_cpu_attention,
    [MINIATURE_FETCH] = miniature_host_run_fetch,
    [MINIATURE_LRU] = miniature_host_run_lru,
    [MINIATURE_LRU_OVERLAPPED] = miniature_host_run_lru_overlapped,
    [MINIATURE_LRU_SPLIT] = miniature_host_run_lru_split,
    [MINIATURE_HYBRID] = miniature_host_run_hybrid,
    [MINIATURE_QSAC] = miniature_host_run_lru, /* comparing labels is its lookup */
    [MINIATURE_STREAM] = miniature_host_run_stream,
    [MINIATURE_DISK] = miniature_host_run_lru_disk,
    [MINIATURE_STREAM_DISK] = miniature_host_run_stream,
};

/* ---- the machine ---- */

/* The channel and the resources. A copy by a thread reads and writes DRAM. */
static bool miniature_host_machine_init(struct pipe *pipe, struct error *why)
{
    double dram = pipe_figure(pipe, CURVE_HOST_DRAM_BANDWIDTH, 0, &pipe->channel_trust);
    pipe->engine = engine_create(why);
    uint32_t channel =
        pipe->engine ? engine_channel_add(pipe->engine, "DRAM", dram / 1e9, why) : ENGINE_NONE;
    if (channel == ENGINE_NONE) {
        return false;
    }
    const struct engine_route reads = {{{channel, 1, ENGINE_PER_UNIT}}, 1};
    const struct engine_route copies = {{{channel, 2, ENGINE_PER_UNIT}}, 1};
    bool good = true;
    for (int i = 0; good && i < ROUTE_COUNT; i++) {
        bool once = i == ROUTE_CPU_READ || i == ROUTE_DISK_READ;
        pipe->route[i] = engine_route_add(pipe->engine, once ? &reads : &copies, why);
        good = pipe->route[i] != ENGINE_NONE;
    }
    pipe->resource[PIPE_NO_QUEUE] = ENGINE_NONE;
    for (int i = 0; good && i < PIPE_RESOURCE_COUNT; i++) {
        pipe->resource[i] = engine_resource_add(pipe->engine, "", 1, why);
        good = pipe->resource[i] != ENGINE_NONE;
    }
    return good;
}

/* Set the mechanisms; the figures of the stand-ins replace the curves of a link and a GPU. */
static void miniature_host_set_up(const struct miniature_run *run, double figures[8])
{
    struct profile *profile = &run->setup->profile;
    struct trust trust = work_trust;
    uint32_t threads = miniature_pool(run->miniature, run->id);
    bool streams_disk = run->id == MINIATURE_STREAM_DISK;
    bool whole = run->id == MINIATURE_STREAM || streams_disk;
    run->setup->mechanisms = (struct mechanisms){
        .policy = run->setup->mechanisms.policy,
        .manager = MANAGER_CPU,
        .update = UPDATE_OVERLAPPED,
        .transfer = TRANSFER_GATHER_COPY,
        .sync = SYNC_CPU,
        .pool_threads = threads,
        .launch_cost = 1,
        .transfer_threads = threads,
        .retrieval_tokens = 1,
        .disk_kv = run->id == MINIATURE_DISK || streams_disk,
        .disk_block = MINIATURE_DISK_BLOCK,
        .disk_depth = DRIVE_DEPTH,
    };
    for (int i = 0; i < 8; i++) {
        figures[i] = 0;
    }
    figures[1] = whole ? run->stand_ins->copies_whole : run->stand_ins->copies_rows;
    figures[3] = 2 * profile_value(profile, CURVE_HOST_POOL_WAKE, 1, &trust);
    figures[7] = run->stand_ins->attends_whole;
    miniature_figure(profile, CURVE_LINK_IN, figures);
    miniature_figure(profile, CURVE_LINK_COPY_LATENCY, figures + 2);
    miniature_figure(profile, CURVE_HOST_COPY_CALL, figures + 4);
    if (whole) {
        miniature_figure(profile, CURVE_HOST_ATTENTION, figures + 6);
    }
}

static bool miniature_host_run_program(struct pipe *pipe, enum miniature_id id, struct error *why)
{
    return programs[id](pipe, pipe->layer, why);
}

const struct miniature_scene miniature_host_scene = {
    .set_up = miniature_host_set_up,
    .machine = miniature_host_machine_init,
    .program = miniature_host_run_program,
    .curves = curves,
    .curve_count = sizeof curves / sizeof *curves,
};
