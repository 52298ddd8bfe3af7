/* Requests that no server could hold are left out. They appear in no figure except their count. */
#include "predict/server/serving_outcome.h"

#include "predict/server/host_worth.h"
#include "predict/server/serving_notes.h"
#include "predict/server/serving_tiers.h"

#include <math.h>

void serving_write_requests(const struct point *point, const struct requests *requests,
                            struct result *result)
{
    uint64_t prompt = 0, warm = point->workload.timed ? point->workload.warm : 0;
    for (size_t i = 0; i < requests->count; i++) {
        prompt += i >= warm ? requests->all[i].prompt : 0;
    }
    result_integer(result, COLUMN(requests), (int64_t)requests->count);
    result_integer(result, COLUMN(replicas), (int64_t)point->workload.replicas);
    result_integer(result, COLUMN(prompt_tokens), (int64_t)prompt);
    if (requests->chunk_tokens > 0) {
        const struct requests_hashed *hashed = &requests->hashed;
        result_integer(result, COLUMN(hashed_blocks), (int64_t)hashed->all);
        result_integer(result, COLUMN(hashed_blocks_unique), (int64_t)(hashed->all - hashed->hits));
        result_integer(result, COLUMN(hashed_blocks_hit), (int64_t)hashed->hits);
        result_integer(result, COLUMN(full_blocks), (int64_t)hashed->full);
        result_integer(result, COLUMN(full_blocks_unique),
                       (int64_t)(hashed->full - hashed->full_hits));
        result_integer(result, COLUMN(full_blocks_hit), (int64_t)hashed->full_hits);
    }
    serving_note_requests(point, requests, result);
}

void serving_write_refused(const struct point *point, size_t refused, struct result *result)
{
    result_integer(result, COLUMN(requests_left_out), (int64_t)refused);
    if (refused > 0) {
        result_note(result,
                    note_refused(refused, point->requests->count, point->workload.request_tokens));
    }
}

/* Columns of prefixes in a tier. */
struct tier_columns {
    const struct column *tokens, *held, *read, *written; /* the GPU has `tokens` alone */
};

static struct tier_columns columns_of(enum tier_id tier)
{
    const struct tier_columns all[TIER_COUNT] = {
        [TIER_GPU] = {.tokens = COLUMN(hit_tokens_gpu)},
        [TIER_HOST] = {COLUMN(hit_tokens_host), COLUMN(prefix_host_bytes),
                       COLUMN(prefix_host_read_bytes), COLUMN(prefix_host_written_bytes)},
        [TIER_DISK] = {COLUMN(hit_tokens_disk), COLUMN(prefix_disk_bytes),
                       COLUMN(prefix_disk_read_bytes), COLUMN(prefix_disk_written_bytes)},
        [TIER_POOL] = {COLUMN(hit_tokens_pool), COLUMN(prefix_pool_bytes),
                       COLUMN(prefix_pool_read_bytes), COLUMN(prefix_pool_written_bytes)},
    };
    return all[tier];
}

/* Tokens by the tier that has them; those of host memory are 0 where prefixes are not kept there. */
static void write_tokens(const struct point *point, const uint64_t found[PREFIX_MOST_TIERS],
                         uint64_t computed, struct result *result)
{
    const struct serving_tiers tiers = serving_tiers(&point->setup.mechanisms);
    result_integer(result, COLUMN(hit_tokens_host), 0);
    for (uint32_t k = 0; k < tiers.count; k++) {
        result_integer(result, columns_of(tiers.of[k]).tokens, (int64_t)found[k]);
    }
    result_integer(result, COLUMN(recompute_tokens), (int64_t)computed);
}

/* What prefixes take of each tier. */
static void write_moved(const struct point *point, const struct serving_memory *memory,
                        const struct prefix_moved moved[PREFIX_MOST_TIERS], struct result *result)
{
    const struct serving_tiers tiers = serving_tiers(&point->setup.mechanisms);
    for (uint32_t k = 1; k < tiers.count; k++) {
        int64_t bytes = (int64_t)memory->block_bytes;
        enum tier_id tier = tiers.of[k];
        result_integer(result, columns_of(tier).held, (int64_t)moved[k].held * bytes);
        result_integer(result, columns_of(tier).read, (int64_t)moved[k].loaded * bytes);
        result_integer(result, columns_of(tier).written, (int64_t)moved[k].saved * bytes);
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
    int64_t refused = result_cell(result, COLUMN(requests_left_out))->integer;
    result_integer(result, COLUMN(requests_left_out), refused + (int64_t)too_long);
    if (too_long > 0) {
        result_note(result, note_too_long(too_long));
    }
}

bool serving_write_found(const struct point *point, const struct serving_memory *memory,
                         const struct prefix_totals *found, struct result *result,
                         struct error *why)
{
    if (host_worth_known(point)) {
        result_integer(result, COLUMN(host_saves_ms), llround(found->worth_ns));
    }
    serving_write_prefixes(point, memory, found->found, found->compute_tokens, found->moved,
                           result);
    if (found->best_known) {
        result_integer(result, COLUMN(hit_tokens_best), (int64_t)found->best_tokens);
    }
    serving_add_left_out(found->too_long, result);
    return result_text(result, COLUMN(status), "ok", why);
}
