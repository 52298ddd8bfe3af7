#include "decode/time/disk.h"

#include "decode/cost/disk_reads.h"
#include "decode/time/work.h"

#include <math.h>

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

static bool put_write(struct pipe *pipe, double bytes, engine_task_id after, struct error *why)
{
    struct work work = disk_work(pipe, WAY_DISK_OUT, bytes);
    work.rate = disk_write_rate(pipe->setup, fmin(bytes, DISK_PIECE), &work.rate_trust) / 1e9;
    work_wait_for(&work, after);
    return work_put(pipe, &work, NULL, why);
}

bool disk_put_leaving(struct pipe *pipe, double bytes, engine_task_id *left, struct error *why)
{
    double disk = bytes * pipe->mechanisms->disk_kv;
    return work_put_copy_out(pipe, bytes, left, why) &&
           (disk == 0 || put_write(pipe, disk, *left, why));
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
