#include "calibrate/host/head.h"

#include "core/array.h"
#include "decode/replay/replay.h"

#include <stdlib.h>
#include <string.h>

/* ---- demands ---- */

/* Copies of the recorded context stand one after the other. Each is rotated by TURN tokens more
 * than the one before; otherwise the tokens of a unit would fall into one set of a CPU's cache. */
enum { TURN = 61 };

static uint32_t token_of(const struct mini_head *head, uint32_t unit, uint32_t copy)
{
    return copy * head->recorded + (unit + copy * TURN) % head->recorded;
}

/* The position of a token if the copies of each unit stood together: the position that replay uses
 * for caches by position. */
static uint32_t position_of(const struct mini_head *head, uint32_t token)
{
    uint32_t copy = token / head->recorded, turned = copy * TURN % head->recorded;
    uint32_t unit = (token + head->recorded - turned) % head->recorded;
    return unit * head->copies + copy;
}

static int head_compare_rows(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool take_demand(const struct mini_head *head, const struct demand *demand,
                        struct mini_demand *out, struct error *why)
{
    size_t count = (size_t)demand->wanted * head->copies;
    out->units = array_zeroed(count + 1, sizeof *out->units, why);
    out->ordered = out->units != NULL ? array_zeroed(count + 1, sizeof *out->ordered, why) : NULL;
    if (out->ordered == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < demand->wanted; i++) {
        for (uint32_t copy = 0; copy < head->copies; copy++) {
            uint32_t token = token_of(head, demand->units[i], copy);
            out->units[out->count] = token;
            out->ordered[out->count++] = head->first + token;
        }
    }
    qsort(out->ordered, out->count, sizeof *out->ordered, head_compare_rows);
    if (demand->query == NULL) {
        return true;
    }
    uint32_t dim = demand->head_dim;
    out->query = array_zeroed((size_t)demand->query_heads * dim, 1, why);
    out->scale = out->query ? array_zeroed(demand->query_heads, sizeof *out->scale, why) : NULL;
    for (uint32_t q = 0; out->scale != NULL && q < demand->query_heads; q++) {
        size_t at = (size_t)q * demand->query_stride;
        memcpy(out->query + (size_t)q * dim, demand->query + at * dim, dim);
        out->scale[q] = demand->scale[at];
    }
    return out->scale != NULL;
}

/* Read the demands of one source head for all its steps in the frame. */
static bool take_frame(const struct miniature *shape, const struct trace_header *header,
                       const struct trace_frame *frame, uint32_t source,
                       struct demand_buffer *buffer, struct mini_head *out, struct error *why)
{
    struct demand_shape wanted = demand_shape(header, replay_units(header, shape->selection), 0, 0);
    uint32_t end = shape->warmup + shape->steps;
    for (uint32_t s = 0; s < frame->steps && frame->first_step + s < end; s++) {
        struct demand demand;
        if (!demand_from_frame(header, frame, source, s, &wanted, buffer, &demand, why) ||
            !take_demand(out, &demand, &out->demands[frame->first_step + s], why)) {
            return false;
        }
    }
    return true;
}

static bool head_init(struct mini_head *head, const struct miniature *shape,
                      const struct trace_header *header, uint32_t number, uint32_t shift,
                      struct error *why)
{
    size_t most = (size_t)replay_units(header, shape->selection) * shape->repeat + 1;
    *head = (struct mini_head){
        .first = (uint32_t)(number * shape->context),
        .copies = shape->repeat,
        .recorded = header->units,
        .shift = shift,
        .steps = shape->steps,
        .warmup = shape->warmup,
        .query_heads = header->has_queries ? header->query_heads / header->kv_heads : 0,
        .query_dim = header->head_dim,
    };
    return (head->demands = array_zeroed((size_t)shape->warmup + shape->steps,
                                         sizeof *head->demands, why)) != NULL &&
           (head->hits = array_zeroed(most, sizeof *head->hits, why)) != NULL &&
           (head->misses = array_zeroed(most, sizeof *head->misses, why)) != NULL &&
           (head->caches[0].set = array_zeroed(most, sizeof(uint32_t), why)) != NULL &&
           (head->caches[1].set = array_zeroed(most, sizeof(uint32_t), why)) != NULL;
}

bool mini_heads_read(const struct miniature *shape, const struct trace *trace, uint32_t layer,
                     struct mini_head *heads, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    uint32_t tiles = (shape->warmup + shape->steps - 1) / header->steps_per_tile + 1;
    struct trace_frame frame = {0};
    struct demand_buffer buffer = {0};
    bool good = true;
    for (uint32_t head = 0; good && head < shape->kv_heads; head++) {
        const struct replay_plan plan = {
            .layers = shape->layers, .kv_heads = shape->kv_heads, .steps = shape->steps};
        struct replay_source source = replay_source(header, &plan, layer, head);
        good = head_init(&heads[head], shape, header, head, source.shift, why);
        for (uint32_t tile = 0; good && tile < tiles; tile++) {
            good = trace_read(trace, 0, tile, source.layer, &frame, why) &&
                   take_frame(shape, header, &frame, source.head, &buffer, &heads[head], why);
        }
    }
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
    return good;
}

void mini_head_release(struct mini_head *head)
{
    for (uint32_t i = 0; head->demands != NULL && i < head->warmup + head->steps; i++) {
        free(head->demands[i].units);
        free(head->demands[i].ordered);
        free(head->demands[i].query);
        free(head->demands[i].scale);
    }
    for (int i = 0; i < 2; i++) {
        policy_destroy(head->caches[i].policy);
        free(head->caches[i].set);
    }
    free(head->demands);
    free(head->hits);
    free(head->misses);
}

const struct mini_demand *mini_head_demand(const struct mini_head *head, uint32_t step)
{
    return &head->demands[head->warmup + (step + head->shift) % head->steps];
}

struct mini_cache *mini_head_cache(struct mini_head *head, uint32_t step)
{
    return &head->caches[step + head->shift >= head->steps];
}

/* ---- caches ---- */

struct policy_env mini_env(const struct miniature *shape, const struct trace *trace)
{
    const struct trace_header *header = trace_header(trace);
    struct demand_shape wanted = demand_shape(header, replay_units(header, shape->selection), 0, 0);
    return (struct policy_env){
        .blocks = header->units * shape->repeat,
        .capacity = replay_units(header, shape->capacity) * shape->repeat,
        .wanted = wanted.wanted * shape->repeat,
        .order = POLICY_BATCH,
        .sinks = wanted.first_unit * shape->repeat,
        .recent = (header->units - wanted.end_unit) * shape->repeat,
        .warmup = shape->warmup,
        .query_heads = header->has_queries ? header->query_heads / header->kv_heads : 0,
        .head_dim = header->head_dim,
        .seed = 1,
    };
}

/* The demand as a policy sees it. Masses are left out, so that none are summed up. */
static void access_demand(const struct mini_head *head, struct policy *policy,
                          const struct mini_demand *demand, struct outcome *outcome)
{
    const struct demand seen = {
        .units = demand->units,
        .wanted = demand->count,
        .scale = demand->scale,
        .query = demand->query,
        .query_heads = head->query_heads,
        .head_dim = head->query_dim,
        .query_stride = 1,
    };
    policy_access(policy, &seen, outcome);
}

static void note_set(struct mini_cache *cache, const struct mini_demand *demand)
{
    memcpy(cache->set, demand->ordered, demand->count * sizeof *cache->set);
    cache->set_count = demand->count;
    cache->fetched = demand;
}

uint32_t mini_head_seen(const struct mini_head *head, uint32_t cache)
{
    if (cache == 0) {
        return head->warmup + head->shift;
    }
    return head->shift > 0 ? head->warmup : 0;
}

static bool cache_start(struct mini_head *head, uint32_t number, const struct policy_kind *kind,
                        const struct policy_env *env, struct error *why)
{
    struct mini_cache *cache = &head->caches[number];
    uint32_t steps = mini_head_seen(head, number);
    cache->policy = policy_create(kind, NULL, env, why);
    for (uint32_t s = 0; cache->policy != NULL && s < steps; s++) {
        struct outcome outcome;
        access_demand(head, cache->policy, &head->demands[s], &outcome);
        if (kind->needs_queries && !outcome.reused) {
            note_set(cache, &head->demands[s]);
        }
    }
    return cache->policy != NULL;
}

bool mini_head_start(struct mini_head *head, const struct policy_kind *kind,
                     const struct policy_env *env, struct error *why)
{
    for (int i = 0; i < 2; i++) {
        policy_destroy(head->caches[i].policy);
        head->caches[i].policy = NULL;
        head->caches[i].set_count = 0;
        head->caches[i].fetched = NULL;
    }
    head->agrees = true;
    return cache_start(head, 0, kind, env, why) &&
           (head->shift == 0 || cache_start(head, 1, kind, env, why));
}

static bool holds(const struct mini_head *head, const struct policy *policy, uint32_t token)
{
    const struct policy_kind *kind = policy->kind;
    return kind->holds != NULL &&
           kind->holds(policy, kind->by_position ? position_of(head, token) : token);
}

void mini_head_held(const struct mini_head *head, mini_visit visit, void *context)
{
    for (int c = 0; c < 2; c++) {
        const struct mini_cache *cache = &head->caches[c];
        for (uint32_t i = 0; i < cache->set_count; i++) {
            visit(cache->set[i], context);
        }
        for (uint32_t step = 0; cache->policy != NULL && step < head->steps; step++) {
            const struct mini_demand *demand = mini_head_demand(head, step);
            for (uint32_t i = 0; i < demand->count; i++) {
                if (holds(head, cache->policy, demand->units[i])) {
                    visit(head->first + demand->units[i], context);
                }
            }
        }
    }
}

/* ---- a step ---- */

static void head_attend_to_wanted(struct mini_head *head, const struct mini_demand *demand)
{
    head->attended = demand->ordered;
    head->attended_count = demand->count;
}

static void miss_all(struct mini_head *head, const struct mini_demand *demand)
{
    head->hit_count = 0;
    head->miss_count = demand->count;
    for (uint32_t i = 0; i < demand->count; i++) {
        head->misses[i] = head->first + demand->units[i];
    }
    head_attend_to_wanted(head, demand);
}

void mini_head_tell_apart(struct mini_head *head, uint32_t step)
{
    const struct mini_demand *demand = mini_head_demand(head, step);
    const struct policy *policy = mini_head_cache(head, step)->policy;
    if (policy == NULL || !policy->kind->by_position) {
        miss_all(head, demand);
        return;
    }
    head->hit_count = head->miss_count = 0;
    for (uint32_t i = 0; i < demand->count; i++) {
        uint32_t row = demand->ordered[i];
        if (holds(head, policy, row - head->first)) {
            head->hits[head->hit_count++] = row;
        } else {
            head->misses[head->miss_count++] = row;
        }
    }
    head_attend_to_wanted(head, demand);
}

/* Attend to the set that is reused, or to all wanted tokens. */
static void compare_queries(struct mini_head *head, uint32_t step)
{
    struct mini_cache *cache = mini_head_cache(head, step);
    const struct mini_demand *demand = mini_head_demand(head, step);
    struct outcome outcome;
    access_demand(head, cache->policy, demand, &outcome);
    head->reused = outcome.reused;
    if (outcome.reused) {
        head->hit_count = head->attended_count = cache->set_count;
        head->attended = cache->set;
        head->miss_count = 0;
    } else {
        miss_all(head, demand);
    }
}

void mini_head_look_up(struct mini_head *head, uint32_t step)
{
    const struct mini_demand *demand = mini_head_demand(head, step);
    const struct policy *policy = mini_head_cache(head, step)->policy;
    if (policy->kind->needs_queries) {
        compare_queries(head, step);
        return;
    }
    uint32_t hits = 0, misses = 0;
    for (uint32_t i = 0; i < demand->count; i++) {
        uint32_t row = head->first + demand->units[i];
        bool held = policy->kind->holds(policy, demand->units[i]);
        head->hits[hits] = row;
        head->misses[misses] = row;
        hits += held;
        misses += !held;
    }
    head->hit_count = hits;
    head->miss_count = misses;
    head_attend_to_wanted(head, demand);
}

void mini_head_update(struct mini_head *head, uint32_t step)
{
    const struct mini_demand *demand = mini_head_demand(head, step);
    struct mini_cache *cache = mini_head_cache(head, step);
    struct outcome outcome;
    if (!cache->policy->kind->needs_queries) {
        access_demand(head, cache->policy, demand, &outcome);
        head->agrees = head->agrees && outcome.missed == head->miss_count;
    } else if (!head->reused) {
        note_set(cache, demand);
    }
}
