#include "decode/time/manager.h"

#include "decode/time/work.h"

#include <math.h>

/* ---- what a layer needs ---- */

static double looked_up_units(const struct ledger_row *row)
{
    return (double)row->lookups;
}

static double updated_units(const struct ledger_row *row)
{
    return (double)(row->updates + row->inserts);
}

/* Time of one unit. It depends on how many units a head wants. */
static double manager_unit_ns(const struct pipe *pipe, const struct ledger_row *row,
                              enum curve_id unit_cost, struct trust *trust)
{
    double wanted = fmax(looked_up_units(row), updated_units(row)) / row->offloaded_heads;
    return pipe_figure(pipe, unit_cost, wanted, trust);
}

/* The jobs of a layer take this long side by side. They share the work evenly, but the longest
 * single job is a lower bound. */
static double jobs_ns(const struct pipe *pipe, uint32_t layer,
                      double (*units)(const struct ledger_row *row), enum curve_id unit_cost,
                      struct trust *trust)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    double threads = cost_pool_threads(pipe->setup, trust);
    double jobs = fmax(1, fmin(threads, row->offloaded_heads));
    double unit = manager_unit_ns(pipe, row, unit_cost, trust);
    double longest = pipe_even(pipe, layer, units) * unit / row->offloaded_heads;
    return fmax(units(row) * unit / jobs, longest);
}

/* ---- hand-offs ---- */

/* The thread that hands over: the launch thread, or one that does nothing else. */
static enum pipe_resource caller(const struct pipe *pipe)
{
    return pipe->mechanisms->sync == SYNC_CPU ? PIPE_LAUNCH : PIPE_NO_QUEUE;
}

/* On `resource`, wake so many of the pool's threads, after `after`. */
static bool put_waking(struct pipe *pipe, enum pipe_resource resource, double woken,
                       engine_task_id after, engine_task_id *out, struct error *why)
{
    struct work work = work_of(PART_HANDOFF, resource);
    double threads = cost_pool_threads(pipe->setup, &work.fixed_trust);
    work.fixed_ns = woken * pipe_figure(pipe, CURVE_HOST_POOL_WAKE, threads, &work.fixed_trust);
    work_wait_for(&work, after);
    return work_put(pipe, &work, out, why);
}

/* The jobs, whose last one wakes the caller. */
static bool put_jobs(struct pipe *pipe, enum part part, double ns, struct trust trust,
                     engine_task_id after, engine_task_id *out, struct error *why)
{
    struct work work = work_of(part, PIPE_POOL);
    work.fixed_ns = ns;
    work.fixed_trust = trust;
    work_wait_for(&work, after);
    return work_put(pipe, &work, out, why) && put_waking(pipe, PIPE_NO_QUEUE, 1, *out, out, why);
}

/* The end of both, on `resource`. */
static bool put_end(struct pipe *pipe, enum part part, enum pipe_resource resource,
                    engine_task_id waking, engine_task_id jobs, engine_task_id *out,
                    struct error *why)
{
    struct work work = work_of(part, resource);
    work_wait_for(&work, waking);
    work_wait_for(&work, jobs);
    return work_put(pipe, &work, out, why);
}

bool manager_hand_over(struct pipe *pipe, engine_task_id after, engine_task_id *first,
                       engine_task_id *all, struct error *why)
{
    struct trust trust = work_trust;
    double threads = cost_pool_threads(pipe->setup, &trust);
    engine_task_id begun;
    return put_end(pipe, PART_HANDOFF, caller(pipe), after, ENGINE_NONE, &begun, why) &&
           put_waking(pipe, caller(pipe), threads, begun, all, why) &&
           put_waking(pipe, PIPE_POOL, 1, begun, first, why);
}

bool manager_look_up(struct pipe *pipe, uint32_t layer, engine_task_id after, engine_task_id *out,
                     struct error *why)
{
    struct trust trust = work_trust;
    double ns = jobs_ns(pipe, layer, looked_up_units, CURVE_HOST_LOOKUP, &trust);
    engine_task_id all, first, jobs;
    return manager_hand_over(pipe, after, &first, &all, why) &&
           put_jobs(pipe, PART_LOOKUP, ns, trust, first, &jobs, why) &&
           put_end(pipe, PART_LOOKUP, caller(pipe), all, jobs, out, why);
}

bool manager_insert(struct pipe *pipe, uint32_t layer, struct error *why)
{
    const struct ledger_row *row = pipe_row(pipe, layer);
    struct trust trust = work_trust;
    double ns = updated_units(row) * manager_unit_ns(pipe, row, CURVE_HOST_UPDATE, &trust);
    return work_put_thread(pipe, PART_UPDATE, ns, ENGINE_NONE, trust, NULL, why);
}

bool manager_update(struct pipe *pipe, uint32_t layer, engine_task_id after, engine_task_id *out,
                    struct error *why)
{
    struct trust trust = work_trust;
    double others = cost_pool_threads(pipe->setup, &trust) - 1;
    double ns = jobs_ns(pipe, layer, updated_units, CURVE_HOST_UPDATE, &trust);
    engine_task_id begun, all, first, jobs;
    return put_waking(pipe, caller(pipe), 1, after, &begun, why) &&
           put_waking(pipe, PIPE_NO_QUEUE, others, begun, &all, why) &&
           put_waking(pipe, PIPE_POOL, fmin(others, 1), begun, &first, why) &&
           put_jobs(pipe, PART_UPDATE, ns, trust, first, &jobs, why) &&
           put_end(pipe, PART_UPDATE, PIPE_NO_QUEUE, all, jobs, out, why);
}
