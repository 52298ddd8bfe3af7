/* Requests that no server could hold are left out. They appear in no figure except their count. */
#include "serving/serving_outcome.h"

#include "serving/host_worth.h"
#include "serving/serving_notes.h"
#include "serving/serving_tiers.h"

#include <math.h>

void serving_write_requests(const struct point *point, const struct requests *requests,
                            struct result *result)
{
    uint64_t prompt = 0, warm = point->workload.timed ? point->workload.warm : 0;
    for (size_t i = 0; i < requests->count; i++) {
        prompt += i >= warm ? requests->all[i].prompt : 0;
    }
    result_integer(result, COLUMN_REQUESTS, (int64_t)requests->count);
    result_integer(result, COLUMN_REPLICAS, (int64_t)point->workload.replicas);
    result_integer(result, COLUMN_PROMPT_TOKENS, (int64_t)prompt);
    if (requests->chunk_tokens > 0) {
        const struct requests_hashed *hashed = &requests->hashed;
        result_integer(result, COLUMN_HASHED, (int64_t)hashed->all);
        result_integer(result, COLUMN_HASHED_UNIQUE, (int64_t)(hashed->all - hashed->hits));
        result_integer(result, COLUMN_HASHED_HIT, (int64_t)hashed->hits);
        result_integer(result, COLUMN_HASHED_FULL, (int64_t)hashed->full);
        result_integer(result, COLUMN_HASHED_FULL_UNIQUE,
                       (int64_t)(hashed->full - hashed->full_hits));
        result_integer(result, COLUMN_HASHED_FULL_HIT, (int64_t)hashed->full_hits);
    }
    serving_note_requests(point, requests, result);
}

void serving_write_refused(const struct point *point, size_t refused, struct result *result)
{
    result_integer(result, COLUMN_LEFT_OUT, (int64_t)refused);
    if (refused > 0) {
        result_note(result,
                    note_refused(refused, point->requests->count, point->workload.request_tokens));
    }
}

/* Columns of prefixes by tier. */
static const struct {
    enum column tokens, held, read, written; /* the GPU has `tokens` alone */
} tier_columns[TIER_COUNT] = {
    [TIER_GPU] = {.tokens = COLUMN_HIT_TOKENS_GPU},
    [TIER_HOST] = {COLUMN_HIT_TOKENS_HOST, COLUMN_PREFIX_HOST, COLUMN_PREFIX_HOST_READ,
                   COLUMN_PREFIX_HOST_WRITTEN},
    [TIER_DISK] = {COLUMN_HIT_TOKENS_DISK, COLUMN_PREFIX_DISK, COLUMN_PREFIX_DISK_READ,
                   COLUMN_PREFIX_DISK_WRITTEN},
    [TIER_POOL] = {COLUMN_HIT_TOKENS_POOL, COLUMN_PREFIX_POOL, COLUMN_PREFIX_POOL_READ,
                   COLUMN_PREFIX_POOL_WRITTEN},
};

/* Tokens by the tier that has them; those of host memory are 0 where prefixes are not kept there. */
static void write_tokens(const struct point *point, const uint64_t found[PREFIX_MOST_TIERS],
                         uint64_t computed, struct result *result)
{
    const struct serving_tiers tiers = serving_tiers(&point->setup.mechanisms);
    result_integer(result, COLUMN_HIT_TOKENS_HOST, 0);
    for (uint32_t k = 0; k < tiers.count; k++) {
        result_integer(result, tier_columns[tiers.of[k]].tokens, (int64_t)found[k]);
    }
    result_integer(result, COLUMN_RECOMPUTE_TOKENS, (int64_t)computed);
}

/* What prefixes take of each tier. */
static void write_moved(const struct point *point, const struct serving_memory *memory,
                        const struct prefix_moved moved[PREFIX_MOST_TIERS], struct result *result)
{
    const struct serving_tiers tiers = serving_tiers(&point->setup.mechanisms);
    for (uint32_t k = 1; k < tiers.count; k++) {
        int64_t bytes = (int64_t)memory->block_bytes;
        enum tier_id tier = tiers.of[k];
        result_integer(result, tier_columns[tier].held, (int64_t)moved[k].held * bytes);
        result_integer(result, tier_columns[tier].read, (int64_t)moved[k].loaded * bytes);
        result_integer(result, tier_columns[tier].written, (int64_t)moved[k].saved * bytes);
    }
}

void serving_write_prefixes(const struct point *point, const struct serving_memory *memory,
                            const uint64_t found[PREFIX_MOST_TIERS], uint64_t computed,
                            const struct prefix_moved moved[PREFIX_MOST_TIERS],
                            struct result *result)
{
    write_tokens(point, found, computed, result);
    write_moved(point, memory, moved, result);
}

void serving_add_left_out(uint64_t too_long, struct result *result)
{
    int64_t refused = result->cells[COLUMN_LEFT_OUT].integer;
    result_integer(result, COLUMN_LEFT_OUT, refused + (int64_t)too_long);
    if (too_long > 0) {
        result_note(result, note_too_long(too_long));
    }
}

bool serving_write_found(const struct point *point, const struct serving_memory *memory,
                         const struct prefix_totals *found, struct result *result,
                         struct error *why)
{
    if (host_worth_known(point)) {
        result_integer(result, COLUMN_HOST_SAVES, llround(found->worth_ns));
    }
    serving_write_prefixes(point, memory, found->found, found->compute_tokens, found->moved,
                           result);
    if (found->best_known) {
        result_integer(result, COLUMN_HIT_TOKENS_BEST, (int64_t)found->best_tokens);
    }
    serving_add_left_out(found->too_long, result);
    return result_text(result, COLUMN_STATUS, "ok", why);
}
