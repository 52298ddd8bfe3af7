#include "decode/replay/replay_job.h"

#include <string.h>

#include "trace/format/ahead.h"

bool replay_read_frame(const struct replay_job *job, uint32_t sequence, uint32_t tile,
                       uint32_t source, struct replay_scratch *scratch, struct error *why)
{
    return job->ahead != NULL
               ? trace_ahead_read(job->ahead, job->reader, sequence, tile, &scratch->frame, why)
               : trace_read(job->trace, sequence, tile, source, &scratch->frame, why);
}

void replay_scratch_init(struct replay_scratch *scratch)
{
    trace_frame_init(&scratch->frame);
    demand_buffer_init(&scratch->buffer);
    retrieval_buffer_init(&scratch->retrieval);
}

void replay_scratch_release(struct replay_scratch *scratch)
{
    trace_frame_release(&scratch->frame);
    demand_buffer_release(&scratch->buffer);
    retrieval_buffer_release(&scratch->retrieval);
}

bool replay_asks_recorded(const struct replay_job *job, enum replay_asks asks)
{
    return job->header->has_approximate && (asks != ASKS_OWN || job->plan->asks_recorded);
}

bool replay_read_demand(const struct replay_job *job, enum replay_asks asks, uint32_t head,
                        uint32_t s, struct replay_scratch *scratch, struct demand *demand,
                        struct error *why)
{
    const struct retrieval_error *error = &job->plan->errors[asks];
    if (!replay_asks_recorded(job, asks) && retrieval_errs(error)) {
        return demand_from_retrieval(job->header, &scratch->frame, head, s, &job->shape, error,
                                     &scratch->retrieval, demand, why);
    }
    return (replay_asks_recorded(job, asks) ? demand_from_approximate : demand_from_frame)(
        job->header, &scratch->frame, head, s, &job->shape, &scratch->buffer, demand, why);
}

static uint64_t replay_job_rounded(double value)
{
    return (uint64_t)(value + 0.5);
}

struct ledger_row replay_row(const struct replay_job *job, const struct outcome *outcome)
{
    double managed = job->tokens / job->plan->manager_unit;
    double compared = job->plan->policy->needs_queries ? 1 : managed; /* query heads do not scale */
    uint64_t wanted = replay_job_rounded(job->tokens * (outcome->hit + outcome->missed));
    uint64_t missed = replay_job_rounded(job->tokens * outcome->missed);
    uint64_t for_cpu = replay_job_rounded(job->tokens * outcome->for_cpu);
    return (struct ledger_row){
        .wanted = wanted + for_cpu,
        .hit = wanted - missed,
        .missed = missed,
        .missed_worst = missed,
        .for_cpu = for_cpu,
        .lookups = replay_job_rounded(compared * outcome->lookups),
        .updates = replay_job_rounded(compared * outcome->updates),
        .inserts = replay_job_rounded(managed * outcome->inserts),
        .fetching_heads = missed > 0,
        .reused_heads = outcome->reused,
        .offloaded_heads = 1,
    };
}

uint64_t replay_cold(uint64_t held, uint64_t missed, uint64_t *most)
{
    uint64_t grown = held > *most ? held - *most : 0;
    *most = held > *most ? held : *most;
    return grown < missed ? grown : missed;
}

/* Code 255 stands for hardly any mass (traces/FORMAT.md); here it also marks units not yet taken. */
enum { TAKEN = 0, LEAST_MASS = 255 };

struct demand replay_fill(const struct demand *first, const struct demand_shape *shape,
                          uint32_t *units, uint8_t *mass)
{
    struct demand fill = *first;
    uint32_t count = 0;
    memset(mass, LEAST_MASS, shape->end_unit);
    for (uint32_t i = 0; i < first->recorded; i++) {
        units[count++] = first->units[i];
        mass[first->units[i]] = TAKEN;
    }
    for (uint32_t unit = shape->end_unit; unit-- > shape->first_unit;) {
        if (mass[unit] != TAKEN) {
            units[count++] = unit;
        }
    }
    if (first->recorded > 0) {
        memcpy(mass, first->mass, first->recorded);
    }
    memset(mass + first->recorded, LEAST_MASS, count - first->recorded);
    fill.units = units;
    fill.mass = mass;
    fill.wanted = fill.recorded = count;
    return fill;
}
