#include "study/advise/host_size.h"

#include "decode/plan/memory.h"
#include "serving/serving.h"
#include "serving/serving_memory.h"

#include <math.h>
#include <string.h>

/* Servers with GPUs of a machine that does not say how many it has, as they are sold; and what the
 * operating system and the engine leave of its memory, assumed. */
enum { USUAL_GPUS = 8, LEFT_PERCENT = 90 };
enum { GIB_BITS = 30, ENDLESS_GIB = 1 << 20 };

uint64_t host_usable(const struct setup *setup)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    return memory_limit(setup, NULL, TIER_HOST, &unseen) / 100 * LEFT_PERCENT;
}

uint64_t host_sharers(const struct setup *setup, uint32_t gpus)
{
    uint64_t there = setup->profile.gpus > 0 ? setup->profile.gpus : USUAL_GPUS;
    return there / gpus > 0 ? there / gpus : 1;
}

static uint64_t host_limit(const struct setup *setup)
{
    return setup->host_memory > 0
               ? setup->host_memory
               : host_usable(setup) / host_sharers(setup, setup->model.tensor_parallel);
}

/* ---- one size ---- */

struct sizing_host {
    const struct point *point;
    const struct run_context *context;
    bool clocked;
    struct host_size *out;
    struct error *why;
};

static double share_of(const struct result *result, enum column column)
{
    return result_number(result, column) / result_number(result, COLUMN_PROMPT_TOKENS);
}

/* Memory that has no room for a block finds nothing. */
static bool find_at(const struct sizing_host *sizing, uint64_t gib, struct host_found *found)
{
    struct point at = *sizing->point; /* a view: what it owns stays the point's */
    struct result result;
    at.setup.host_memory = gib << GIB_BITS;
    at.workload.timed = sizing->clocked;
    *found = (struct host_found){.host = 0};
    if (gib == 0) {
        return true;
    }
    if (!serving_run(&at, sizing->context, &result, sizing->why)) {
        return false;
    }
    bool known = result.cells[COLUMN_HOST_SAVES].set;
    found->gpu = share_of(&result, COLUMN_HIT_TOKENS_GPU);
    found->host = share_of(&result, COLUMN_HIT_TOKENS_HOST);
    found->saves_s = known ? result_number(&result, COLUMN_HOST_SAVES) / 1e3 : NAN;
    result_release(&result);
    return true;
}

static double host_value_of(const struct host_found *found)
{
    return isnan(found->saves_s) ? found->host : found->saves_s;
}

/* ---- what the engine takes ---- */

static double sizing_takes(const struct sizing_host *sizing, uint64_t gib)
{
    const struct host_engine *engine = sizing->out->engine;
    const struct kv_limits limits = serving_kv_limits(sizing->point);
    double bytes = (double)(gib << GIB_BITS);
    return engine != NULL ? host_engine_takes(engine, &sizing->point->setup.model, &limits, bytes)
                          : bytes;
}

/* The largest number below `end` for which the engine takes no more than `bytes`. */
static uint64_t largest_within(const struct sizing_host *sizing, uint64_t start, uint64_t end,
                               double bytes)
{
    while (start + 1 < end) {
        uint64_t middle = start + (end - start) / 2;
        bool fits = sizing_takes(sizing, middle) <= bytes;
        start = fits ? middle : start;
        end = fits ? end : middle;
    }
    return start;
}

/* ---- the search ---- */

/* The next number of GiB to try between one that is too small and one that is enough; 0: none. Of
 * powers of two, one near their geometric mean. */
static uint64_t middle_of(const struct sizing_host *sizing, uint64_t small, uint64_t enough)
{
    if (!sizing->clocked) {
        return enough - small > 1 ? small + (enough - small) / 2 : 0;
    }
    uint64_t next = 1, product = (small > 0 ? small : 1) * enough;
    while (next <= small || 4 * next * next < product) {
        next *= 2;
    }
    return next < enough ? next : 0;
}

static bool find_smallest(const struct sizing_host *sizing)
{
    struct host_size *out = sizing->out;
    uint64_t small = 0, enough = out->most_gib, next;
    out->found = out->most;
    while ((next = middle_of(sizing, small, enough)) > 0) {
        struct host_found found;
        if (!find_at(sizing, next, &found)) {
            return false;
        }
        bool is_enough = host_value_of(&found) >= HOST_ENOUGH * host_value_of(&out->most);
        *(is_enough ? &enough : &small) = next;
    }
    out->gib = largest_within(sizing, enough, out->most_gib + 1, sizing_takes(sizing, enough));
    out->takes = sizing_takes(sizing, out->gib);
    return find_at(sizing, out->gib, &out->found);
}

bool host_size_find(const struct point *point, const struct run_context *context,
                    struct host_size *out, struct error *why)
{
    enum server_engine_id engine = (enum server_engine_id)point->workload.engine;
    struct sizing_host sizing = {point, context, false, out, why};
    sizing.clocked = point->requests->sessions || workload_balances(&point->workload);
    *out = (struct host_size){.engine = host_engine_of(point->setup.system.command, engine)};
    out->limit = host_limit(&point->setup);
    uint64_t all = out->limit >> GIB_BITS;
    out->most_gib = largest_within(&sizing, 0, all + 1, (double)out->limit);
    if (!find_at(&sizing, out->most_gib, &out->most) ||
        !find_at(&sizing, ENDLESS_GIB, &out->endless)) {
        return false;
    }
    return host_value_of(&out->most) <= 0 || find_smallest(&sizing);
}
