/* Two buffers for weights and two for KV, and the copies that fill them. */
#include "decode/time/stream.h"

#include "decode/cost/attention.h"
#include "decode/cost/cost.h"
#include "decode/time/fetch.h"
#include "decode/time/work.h"

#include <math.h>

void stream_init(struct pipe *pipe)
{
    pipe->stream = (struct pipe_stream){
        .weights = {ENGINE_NONE, ENGINE_NONE},
        .loaded = {ENGINE_NONE, ENGINE_NONE},
        .attended = {ENGINE_NONE, ENGINE_NONE},
    };
}

engine_task_id stream_weights(const struct pipe *pipe)
{
    return pipe->stream.weights[pipe->stream.weights_now % 2];
}

engine_task_id stream_kv(const struct pipe *pipe)
{
    return pipe->stream.loaded[pipe->stream.slot_now % 2];
}

void stream_attended(struct pipe *pipe, engine_task_id attended)
{
    struct pipe_stream *stream = &pipe->stream;
    stream->attended[stream->slot_now++ % 2] = attended;
}

/* ---- weights ---- */

/* The half, or whole, layer that passes next, and its layer. */
static enum stage_half next_halves(const struct pipe *pipe, uint32_t *layer)
{
    *layer = pipe->layer;
    if (pipe->halves == HALF_ATTENTION) {
        return HALF_FFN;
    }
    *layer = (pipe->layer + 1) % pipe->plan->layers;
    return pipe->halves == HALF_FFN ? HALF_ATTENTION : HALF_BOTH;
}

/* Copy `bytes` of weights from host memory, once `after` has brought them there. */
static bool put_weights(struct pipe *pipe, double bytes, engine_task_id after, engine_task_id *out,
                        struct error *why)
{
    struct work work = work_over(pipe, PART_WEIGHTS, WAY_IN, bytes);
    struct trust trust = work_trust;
    engine_task_id started = pipe->graph;
    bool graph = pipe->mechanisms->launch == LAUNCH_GRAPH;
    double call = graph ? 0 : cost_copy_call(pipe->setup, false, work.bytes, &trust);
    if (call > 0 && !work_put_thread(pipe, PART_WEIGHTS, call, ENGINE_NONE, trust, &started, why)) {
        return false;
    }
    work.rate /= cost_uplink_sharers(pipe->setup, &work.rate_trust);
    work_wait_for(&work, started);
    work_wait_for(&work, after);
    work_wait_for(&work, pipe->stream.weights_freed);
    return work_put(pipe, &work, out, why);
}

/* What lies in host memory crosses while the rest is read. */
static bool put_weights_of_tiers(struct pipe *pipe, double bytes, engine_task_id *out,
                                 struct error *why)
{
    double disk = bytes * pipe->mechanisms->disk_weights;
    engine_task_id read, buffer = *out; /* the load before last has left the buffer */
    return (disk == bytes || put_weights(pipe, bytes - disk, ENGINE_NONE, out, why)) &&
           (disk == 0 ||
            (disk_put_read(pipe, disk, fmin(disk, DISK_PIECE), ENGINE_NONE, buffer, &read, why) &&
             put_weights(pipe, disk, read, out, why)));
}

bool stream_put_weights(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    struct pipe_stream *stream = &pipe->stream;
    if (m->weights >= 1 || (pipe->micro_batch > 0 && !m->weights_spread)) {
        return true;
    }
    if (pipe->micro_batch == 0) {
        stream->weights_now++;
        stream->weights_freed = pipe->last[PIPE_MAIN]; /* the last pass that reads the buffer */
    }
    double parts = m->weights_spread ? pipe->plan->micro_batches.whole : 1;
    enum stage_half halves = next_halves(pipe, &layer);
    return put_weights_of_tiers(pipe, streamed_weight_bytes(pipe->setup, layer, halves) / parts,
                                &stream->weights[(stream->weights_now + 1) % 2], why);
}

/* ---- KV ---- */

/* The slot after the current one. Returns whether its KV starts to cross in the current pass: that
 * of the next layer starts with the last micro-batch, in the pass over its FFN. */
static bool next_slot(const struct pipe *pipe, uint32_t *layer, uint32_t *micro_batch)
{
    bool last = pipe->micro_batch + 1 == pipe->plan->micro_batches.count;
    *layer = last ? (pipe->layer + 1) % pipe->plan->layers : pipe->layer;
    *micro_batch = last ? 0 : pipe->micro_batch + 1;
    return last ? (pipe->halves & HALF_FFN) != 0 : (pipe->halves & HALF_ATTENTION) != 0;
}

/* Bytes that cross for one sequence of a cohort, in a layer that is loaded whole. */
static double sequence_bytes(const struct pipe *pipe, uint32_t cohort, uint32_t layer)
{
    const struct ledger_row *part = pipe_part(pipe, cohort, layer);
    double kv = (double)(part->missed / part->offloaded_heads) * pipe->head_bytes;
    return kv * pipe->plan->offloaded[layer] +
           (double)pipe->plan->cohorts[cohort].sizes.split.act_host *
               (double)model_activation_bytes(&pipe->setup->model);
}

/* What lies in host memory crosses while the rest is read. `worst` is of the head with most. */
static bool put_kv_of_tiers(struct pipe *pipe, double bytes, double worst, engine_task_id freed,
                            engine_task_id *out, struct error *why)
{
    double share = pipe->mechanisms->disk_kv, disk = bytes * share;
    engine_task_id read, buffer = *out; /* the load before last has left the buffer */
    const struct fetch_part host = {bytes - disk, worst * (1 - share), ENGINE_NONE, freed, false};
    struct fetch_part rest = {disk, worst * share, ENGINE_NONE, freed, true};
    if (disk < bytes && !fetch_put_transfer(pipe, &host, out, why)) {
        return false;
    }
    if (disk == 0) {
        return true;
    }
    bool good = disk_put_read(pipe, disk, fmin(disk, DISK_PIECE), ENGINE_NONE, buffer, &read, why);
    rest.after = read;
    return good && fetch_put_transfer(pipe, &rest, out, why);
}

/* For attention on the CPU: a copy by the launch thread, if memory is pageable, and what is read. */
static bool put_kv_for_cpu(struct pipe *pipe, double bytes, engine_task_id freed,
                           engine_task_id *out, struct error *why)
{
    const struct mechanisms *m = pipe->mechanisms;
    double disk = bytes * m->disk_kv;
    struct trust trust = work_trust;
    bool copies = m->transfer == TRANSFER_PAGEABLE && disk < bytes;
    double ns = copies ? cost_copy_call(pipe->setup, true, bytes - disk, &trust) : 0;
    *out = ENGINE_NONE;
    return (!copies || work_put_thread(pipe, PART_GATHER, ns, freed, trust, out, why)) &&
           (disk == 0 ||
            disk_put_read(pipe, disk, fmin(disk, DISK_PIECE), ENGINE_NONE, freed, out, why));
}

bool stream_put_kv(struct pipe *pipe, uint32_t layer, struct error *why)
{
    struct pipe_stream *stream = &pipe->stream;
    uint32_t micro_batch, next = stream->slot_now + ((pipe->halves & HALF_ATTENTION) != 0);
    if (!next_slot(pipe, &layer, &micro_batch) || !setup_loads_whole(pipe->setup, layer)) {
        return true;
    }
    if (pipe_row(pipe, layer) == NULL) {
        return true;
    }
    const uint32_t *cohorts = packing_of(&pipe->plan->micro_batches, micro_batch);
    double all = 0, longest = 0;
    for (uint32_t i = 0; i < pipe->plan->cohort_count; i++) {
        double bytes = cohorts[i] > 0 ? sequence_bytes(pipe, i, layer) : 0;
        all += bytes * cohorts[i];
        longest = fmax(longest, bytes);
    }
    if (cpu_attends_whole(pipe->setup, layer)) {
        return put_kv_for_cpu(pipe, all, stream->attended[next % 2], &stream->loaded[next % 2],
                              why);
    }
    return all == 0 || put_kv_of_tiers(pipe, all, longest / pipe->plan->offloaded[layer],
                                       stream->attended[next % 2], &stream->loaded[next % 2], why);
}
