#include "study/advise/host_size.h"

#include "predict/server/serving.h"
#include "study/plan/host_room.h"

#include <math.h>
#include <string.h>

enum { GIB_BITS = 30, ENDLESS_GIB = 1 << 20 };

/* ---- one size ---- */

struct sizing_host {
    const struct point *point;
    const struct run_context *context;
    bool clocked;
    struct host_size *out;
    struct error *why;
};

static double share_of(const struct result *result, const struct column *column)
{
    return result_number(result, column) / result_number(result, COLUMN(prompt_tokens));
}

/* Memory that has no room for a block finds nothing. */
static bool find_at(const struct sizing_host *sizing, uint64_t gib, struct host_found *found)
{
    struct point at = *sizing->point; /* a view: what it owns stays the point's */
    struct result result;
    at.setup.room[TIER_HOST] = gib << GIB_BITS;
    at.workload.timed = sizing->clocked;
    *found = (struct host_found){.host = 0};
    if (gib == 0) {
        return true;
    }
    if (!serving_run(&at, sizing->context, &result, sizing->why)) {
        return false;
    }
    bool known = result_cell(&result, COLUMN(host_saves_ms))->set;
    found->gpu = share_of(&result, COLUMN(hit_tokens_gpu));
    found->host = share_of(&result, COLUMN(hit_tokens_host));
    found->saves_s = known ? result_number(&result, COLUMN(host_saves_ms)) / 1e3 : NAN;
    result_release(&result);
    return true;
}

static double host_value_of(const struct host_found *found)
{
    return isnan(found->saves_s) ? found->host : found->saves_s;
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

static bool put_size(const struct sizing_host *sizing, uint64_t gib)
{
    struct host_size *out = sizing->out;
    out->gib = gib;
    out->typed = host_typed(sizing->point, gib);
    out->takes = host_takes(sizing->point, gib);
    return find_at(sizing, gib, &out->found);
}

/* The least that the engine starts with; all there is, where that is less. */
static bool host_size_least(const struct sizing_host *sizing, uint64_t *out)
{
    struct serving_memory memory;
    if (!serving_memory_plan(sizing->point, sizing->context, &memory, sizing->why)) {
        return false;
    }
    uint64_t least = host_least_gib(sizing->point, &memory);
    *out = least < sizing->out->most_gib ? least : sizing->out->most_gib;
    return true;
}

static bool find_smallest(const struct sizing_host *sizing)
{
    struct host_size *out = sizing->out;
    uint64_t small = 0, enough = out->most_gib, next, least;
    if (!host_size_least(sizing, &least)) {
        return false;
    }
    while ((next = middle_of(sizing, small, enough)) > 0) {
        struct host_found found;
        if (!find_at(sizing, next, &found)) {
            return false;
        }
        bool is_enough = host_value_of(&found) >= HOST_ENOUGH * host_value_of(&out->most);
        *(is_enough ? &enough : &small) = next;
    }
    enough = enough > least ? enough : least;
    return put_size(sizing, host_most_within(sizing->point, enough, out->most_gib + 1,
                                             host_takes(sizing->point, enough)));
}

static bool is_clocked(const struct point *point)
{
    return point->requests->sessions || workload_balances(&point->workload);
}

bool host_size_find(const struct point *point, const struct run_context *context,
                    struct host_size *out, struct error *why)
{
    const struct sizing_host sizing = {point, context, is_clocked(point), out, why};
    *out = (struct host_size){.engine = host_room_engine(point),
                              .limit = host_part(point),
                              .most_gib = host_most_gib(point)};
    if (!find_at(&sizing, out->most_gib, &out->most) ||
        !find_at(&sizing, ENDLESS_GIB, &out->endless)) {
        return false;
    }
    return host_value_of(&out->most) <= 0 || find_smallest(&sizing);
}

bool host_size_set(const struct point *point, const struct run_context *context, uint64_t gib,
                   struct host_size *size, struct error *why)
{
    const struct sizing_host sizing = {point, context, is_clocked(point), size, why};
    return put_size(&sizing, gib);
}
