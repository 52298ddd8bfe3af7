#include "serve/prefix/prefix_tiers.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>

/* ---- orphans -------------------------------------------------------------------------- */

/* Is the block of this number nowhere, and on no way? */
static bool is_gone(const struct prefix_tiers *tiers, uint32_t id)
{
    return !block_pool_knows(tiers->gpu, id) &&
           (tiers->host == NULL || !host_tier_knows(tiers->host, id)) &&
           (tiers->saving == NULL || tiers->saving[id] == 0);
}

/* A tier may have lost its last copy of the block. */
static void bury(uint32_t id, void *context)
{
    struct prefix_tiers *tiers = context;
    if (!block_numbers_is_orphan(tiers->numbers, id) || !is_gone(tiers, id)) {
        return;
    }
    if (tiers->asked != NULL) {
        tiers->asked[id] = 0;
    }
    block_numbers_spare(tiers->numbers, id);
}

void prefix_tiers_leave(struct prefix_tiers *tiers, size_t index)
{
    block_numbers_leave(tiers->numbers, index, bury, tiers);
}

/* ---- copies --------------------------------------------------------------------------- */

bool prefix_tiers_host_has(const struct prefix_tiers *tiers, uint32_t id)
{
    return tiers->host != NULL && host_tier_knows(tiers->host, id) &&
           (!tiers->options->saves_wait || tiers->saving[id] == 0);
}

/* Queue a copy, which refers to its block until it is done. */
static void begin_copy(struct prefix_tiers *tiers, struct block_queue *queue,
                       struct block_copy copy)
{
    struct error unseen;
    if (!block_queue_push(queue, copy, &unseen)) {
        tiers->failed = true;
        return;
    }
    if (copy.on_gpu) {
        block_pool_refer(tiers->gpu, copy.id);
    }
    if (copy.on_host) {
        host_tier_hold(tiers->host, copy.id);
    }
}

static void end_copy(struct prefix_tiers *tiers, struct block_queue *queue)
{
    const struct block_copy copy = *block_queue_front(queue);
    block_queue_pop(queue);
    if (copy.on_gpu) {
        block_pool_release(tiers->gpu, copy.id);
    }
    if (copy.on_host) {
        host_tier_let_go(tiers->host, copy.id);
    }
}

static void begin_save(struct prefix_tiers *tiers, uint32_t id, bool crosses)
{
    begin_copy(tiers, &tiers->saves,
               (struct block_copy){.id = id,
                                   .crosses = crosses,
                                   .on_gpu = block_pool_knows(tiers->gpu, id),
                                   .on_host = crosses && tiers->options->pins});
    tiers->saving[id] += crosses;
}

void prefix_tiers_wait(struct prefix_tiers *tiers, uint32_t id)
{
    begin_save(tiers, id, false);
}

void prefix_tiers_load(struct prefix_tiers *tiers, uint32_t id)
{
    begin_copy(tiers, &tiers->loads, (struct block_copy){.id = id, .on_host = true});
}

void prefix_tiers_saved(struct prefix_tiers *tiers, uint64_t count)
{
    const struct block_copy *save;
    while ((save = block_queue_front(&tiers->saves)) != NULL && (count > 0 || !save->crosses)) {
        uint32_t id = save->id;
        count -= save->crosses;
        tiers->saving[id] -= save->crosses;
        end_copy(tiers, &tiers->saves);
        bury(id, tiers);
    }
    assert(count == 0 || tiers->failed);
}

void prefix_tiers_loaded(struct prefix_tiers *tiers, uint64_t count)
{
    for (; count > 0 && block_queue_front(&tiers->loads) != NULL; count--) {
        end_copy(tiers, &tiers->loads);
    }
}

void prefix_tiers_offer(struct prefix_tiers *tiers, uint32_t id)
{
    bool asked = tiers->asked == NULL || tiers->asked[id] >= tiers->options->least_asked;
    if (!asked || !host_tier_offer(tiers->host, id)) {
        return;
    }
    tiers->counts.saved++;
    if (tiers->options->saves_wait) {
        begin_save(tiers, id, true);
    }
}

void prefix_tiers_count(struct prefix_tiers *tiers, uint32_t id)
{
    if (tiers->asked != NULL && tiers->asked[id] < UINT8_MAX) {
        tiers->asked[id]++;
    }
}

void prefix_tiers_name(struct prefix_tiers *tiers, uint32_t id, uint64_t load)
{
    if (!tiers->options->gpu_keeps) {
        return;
    }
    if (!block_pool_knows(tiers->gpu, id)) {
        tiers->brought_by[id] = load;
    }
    block_pool_name(tiers->gpu, id);
}

/* ---- init, release -------------------------------------------------------------------- */

static void on_evict(uint32_t id, void *context)
{
    struct prefix_tiers *tiers = context;
    if (tiers->host != NULL && tiers->options->write == PREFIX_WRITE_EVICT) {
        uint64_t before = tiers->counts.saved;
        prefix_tiers_offer(tiers, id);
        tiers->counts.evicted += tiers->counts.saved - before;
    }
    bury(id, tiers);
}

bool prefix_tiers_runs(const struct prefix_options *options)
{
    return options->recycles && options->gpu_keeps && !options->has_host;
}

static bool create_gpu(struct prefix_tiers *tiers, struct error *why)
{
    const struct prefix_options *options = tiers->options;
    const struct block_numbers *numbers = tiers->numbers;
    size_t runs = numbers->of.runs ? numbers->of.requests->count : 0;
    if (options->gpu_keeps &&
        (tiers->brought_by = array_zeroed(numbers->most, sizeof *tiers->brought_by, why)) == NULL) {
        return false;
    }
    if (numbers->of.runs &&
        (tiers->loads_of_own = array_zeroed(runs, sizeof *tiers->loads_of_own, why)) == NULL) {
        return false;
    }
    tiers->gpu =
        block_pool_create(numbers->most, (uint32_t)runs, options->gpu_blocks, on_evict, tiers, why);
    return tiers->gpu != NULL;
}

static bool create_host(struct prefix_tiers *tiers, struct error *why)
{
    const struct prefix_options *options = tiers->options;
    uint32_t most = tiers->numbers->most;
    if (options->saves_wait &&
        (tiers->saving = array_zeroed(most, sizeof *tiers->saving, why)) == NULL) {
        return false;
    }
    if (options->least_asked > 1 &&
        (tiers->asked = array_zeroed(most, sizeof *tiers->asked, why)) == NULL) {
        return false;
    }
    tiers->host =
        host_tier_create(most, options->host_blocks, options->host_policy, options->host_values,
                         options->pins, options->seed, bury, tiers, why);
    return tiers->host != NULL;
}

bool prefix_tiers_init(struct prefix_tiers *tiers, const struct prefix_options *options,
                       struct block_numbers *numbers, struct error *why)
{
    *tiers = (struct prefix_tiers){.options = options, .numbers = numbers};
    bool forgets = !options->has_host || host_tier_forgets(options->host_policy);
    if (options->recycles && forgets && !numbers->of.runs && !block_numbers_recycle(numbers, why)) {
        return false;
    }
    return create_gpu(tiers, why) && (!options->has_host || create_host(tiers, why));
}

void prefix_tiers_release(struct prefix_tiers *tiers)
{
    block_pool_destroy(tiers->gpu);
    host_tier_destroy(tiers->host);
    free(tiers->asked);
    block_queue_release(&tiers->saves);
    block_queue_release(&tiers->loads);
    free(tiers->saving);
    free(tiers->brought_by);
    free(tiers->loads_of_own);
    *tiers = (struct prefix_tiers){.gpu = NULL};
}
