#include "study/plan/host_room.h"

#include "decode/mechanism_values.h"
#include "model/sharding.h"
#include "predict/server/serving.h"

#include <math.h>

enum { GIB_BITS = 30 };

enum { ENDLESS_GIB = 1 << 20 }; /* more than any machine has */

struct sizing_host {
    const struct point *point;
    const struct run_context *context;
    bool clocked;
    struct host_size *out;
    struct error *why;
};

struct host_found host_found_in(const struct result *result)
{
    bool known = result_cell(result, COLUMN(host_saves_ms))->set;
    double prompts = result_number(result, COLUMN(prompt_tokens));
    return (struct host_found){
        .gpu = result_number(result, COLUMN(hit_tokens_gpu)) / prompts,
        .host = result_number(result, COLUMN(hit_tokens_host)) / prompts,
        .saves_s = known ? result_number(result, COLUMN(host_saves_ms)) / 1e3 : NAN,
    };
}

/* Memory that has no room for a block finds nothing. */
static bool find_at(const struct sizing_host *sizing, uint64_t gib, struct host_found *found)
{
    struct point at = *sizing->point; /* a view: what it owns stays the point's */
    struct result result;
    at.setup.room[TIER_HOST] = gib << GIB_BITS;
    at.setup.host_share = point_host_share(&at);
    at.workload.timed = sizing->clocked;
    *found = (struct host_found){.host = 0};
    if (gib == 0) {
        return true;
    }
    if (!serving_run(&at, sizing->context, &result, sizing->why)) {
        return false;
    }
    *found = host_found_in(&result);
    result_release(&result);
    return true;
}

bool host_is_clocked(const struct point *point)
{
    return point->requests->sessions || workload_balances(&point->workload);
}

static double host_value_of(const struct host_found *found)
{
    return isnan(found->saves_s) ? found->host : found->saves_s;
}

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

uint64_t host_given_gib(const struct point *point, const struct result *result, double *ratio)
{
    const struct cell *blocks = result_cell(result, COLUMN(kv_blocks));
    uint64_t all = blocks->set ? (uint64_t)blocks->integer : 0;
    uint64_t own = point_serves(point) ? all / point_servers(point) : 0;
    uint64_t tokens = own * point->setup.mechanisms->prefix_block;
    return serving_host_room(point, tokens, ratio) >> GIB_BITS;
}

void host_size_state(const struct point *point, uint64_t gib, struct host_size *out)
{
    out->gib = gib;
    out->typed =
        out->engine == NULL ? 0 : host_engine_typed(out->engine, (double)(gib << GIB_BITS), point);
    out->takes = host_takes(point, gib);
}

static bool find_smallest(const struct sizing_host *sizing)
{
    struct host_size *out = sizing->out;
    struct serving_memory memory;
    uint64_t small = 0, enough = out->most_gib, next;
    out->found = out->most;
    if (!serving_memory_plan(sizing->point, sizing->context, &memory, sizing->why)) {
        return false;
    }
    while ((next = middle_of(sizing, small, enough)) > 0) {
        struct host_found found;
        if (!find_at(sizing, next, &found)) {
            return false;
        }
        bool is_enough = host_value_of(&found) >= HOST_ENOUGH * host_value_of(&out->most);
        enough = is_enough ? next : enough;
        small = is_enough ? small : next;
        out->found = is_enough ? found : out->found;
    }
    /* SGLang's must hold more than the GPUs' KV memory, or all there is, where that is less. */
    uint64_t gpu = memory.prefix.gpu_blocks * memory.prefix.block_tokens *
                   serving_token_bytes(&sizing->point->setup);
    uint64_t least = out->engine != NULL && out->engine->above_gpu ? (gpu >> GIB_BITS) + 1 : 0;
    least = least < out->most_gib ? least : out->most_gib;
    least = enough > least ? enough : least;
    uint64_t size =
        host_most_within(sizing->point, least, out->most_gib + 1, host_takes(sizing->point, least));
    host_size_state(sizing->point, size, out);
    return size == enough || find_at(sizing, size, &out->found);
}

/* More memory than there is is asked about only where all there is finds nothing. */
bool host_size_find(const struct point *point, const struct run_context *context,
                    struct host_size *out, struct error *why)
{
    const struct sizing_host sizing = {point, context, host_is_clocked(point), out, why};
    *out = (struct host_size){.engine = host_room_engine(point),
                              .limit = (uint64_t)host_part(point),
                              .most_gib = host_most_gib(point)};
    if (!find_at(&sizing, out->most_gib, &out->most)) {
        return false;
    }
    out->endless = out->most;
    return (out->most.host > HOST_NOTHING || find_at(&sizing, ENDLESS_GIB, &out->endless)) &&
           (host_value_of(&out->most) <= 0 || find_smallest(&sizing));
}
