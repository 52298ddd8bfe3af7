#include "server/prefix/prefix_found.h"

/* Count the next block, which the GPU has. */
static void found_count_first(const struct prefix_tiers *tiers, uint32_t id,
                              struct prefix_found *found)
{
    found->in[0]++;
    found->idle += block_pool_is_idle(tiers->gpu, id);
    if (tiers->options->gpu_keeps) {
        uint64_t load = tiers->brought_by[id], number = load / PREFIX_MOST_TIERS;
        uint64_t *last = &found->load[load % PREFIX_MOST_TIERS];
        *last = number > *last ? number : *last;
    }
}

/* Add the request's own blocks on the GPU, up to `most` blocks, if all in front of them are
 * there. */
static void count_run(const struct prefix_tiers *tiers, size_t index, uint64_t most,
                      struct prefix_found *found)
{
    uint64_t numbered = block_numbers_count(tiers->numbers, index, most);
    if (found->in[0] < numbered || numbered == most) {
        return;
    }
    const struct own_load *load = &tiers->loads_of_own[index];
    uint64_t known = block_pool_run_known(tiers->gpu, (uint32_t)index);
    known = known < most - numbered ? known : most - numbered;
    found->blocks += known;
    found->in[0] += known;
    found->idle += known;
    if (known > load->first && load->number > found->load[1]) {
        found->load[1] = load->number;
    }
}

/* Count the blocks in a row from `id` on that are on the GPU, at most `length`. Counters stay in
 * registers: a prompt may have a block for each of its tokens. */
static uint64_t prefix_count_row(const struct prefix_tiers *tiers, uint32_t id, uint64_t length,
                                 struct prefix_found *found)
{
    struct prefix_found row = *found;
    uint64_t count = 0;
    for (; count < length && block_pool_knows(tiers->gpu, id); count++, id++) {
        found_count_first(tiers, id, &row);
    }
    row.blocks += count;
    *found = row;
    return count;
}

/* The first blocks that are on the GPU. */
static struct prefix_found count_first(const struct prefix_tiers *tiers, size_t index,
                                       uint64_t numbered)
{
    struct prefix_found found = {.blocks = 0};
    uint64_t length = 0, count = 0;
    while (count == length && found.blocks < numbered) {
        uint32_t id = block_numbers_row(tiers->numbers, index, found.blocks, &length);
        length = length < numbered - found.blocks ? length : numbered - found.blocks;
        count = prefix_count_row(tiers, id, length, &found);
    }
    return found;
}

/* The time that loading the found blocks saves, over computing them. */
static double saved_ns(const struct prefix_options *options, const struct prefix_found *found)
{
    double ns = options->compute_ns[found->blocks];
    for (uint32_t k = 1; k <= options->lower_count; k++) {
        ns -= (double)found->in[k] * options->load_ns[k];
        ns -= found->in[k] > 0 ? options->first_ns[k] : 0;
    }
    return ns;
}

/* Is the longer prefix worth its load? */
static bool is_worth(const struct prefix_options *options, const struct prefix_found *shorter,
                     const struct prefix_found *longer)
{
    return !options->cheaper || saved_ns(options, longer) >= saved_ns(options, shorter);
}

/* Does it have too few blocks from below tier 1? */
static bool is_too_little(const struct prefix_options *options, const struct prefix_found *found)
{
    uint64_t below = 0;
    for (uint32_t k = 2; k <= options->lower_count; k++) {
        below += found->in[k];
    }
    return below > 0 && below < options->least_blocks;
}

struct prefix_found prefix_found_in_all(const struct prefix_tiers *tiers, size_t index,
                                        uint64_t most)
{
    uint64_t numbered = block_numbers_count(tiers->numbers, index, most);
    struct prefix_found found = count_first(tiers, index, numbered);
    struct prefix_found whole = found; /* up to the last whole unit */
    struct prefix_found upper = found; /* the same, with nothing from below tier 1 */
    for (; found.blocks < numbered; found.blocks++) {
        uint32_t id = block_numbers_read(tiers->numbers, index, found.blocks);
        uint32_t below = 0;
        if (block_pool_knows(tiers->gpu, id)) {
            found_count_first(tiers, id, &found);
        } else if ((below = prefix_tiers_find(tiers, id)) > 0) {
            found.in[below]++;
        } else {
            break;
        }
        bool ends_unit = (found.blocks + 1) % tiers->options->unit_blocks == 0;
        if (ends_unit || found.in[0] == found.blocks + 1) {
            struct prefix_found longer = found;
            longer.blocks++;
            whole = is_worth(tiers->options, &whole, &longer) ? longer : whole;
            upper = whole.in[0] + whole.in[1] == whole.blocks ? whole : upper;
        }
    }
    whole = is_too_little(tiers->options, &whole) ? upper : whole;
    count_run(tiers, index, most, &whole);
    return whole;
}

struct prefix_found prefix_found_in_first(const struct prefix_tiers *tiers, size_t index,
                                          uint64_t most)
{
    uint64_t numbered = block_numbers_count(tiers->numbers, index, most);
    struct prefix_found found = count_first(tiers, index, numbered);
    count_run(tiers, index, most, &found);
    return found;
}

/* Nobody else uses blocks without numbers. */
uint64_t prefix_found_used(const struct prefix_tiers *tiers, size_t index, uint64_t most)
{
    uint64_t numbered = block_numbers_count(tiers->numbers, index, most), used = 0;
    for (uint64_t block = 0; block < numbered; block++) {
        uint32_t id = block_numbers_read(tiers->numbers, index, block);
        used += block_pool_knows(tiers->gpu, id) && !block_pool_is_idle(tiers->gpu, id);
    }
    return used;
}

void prefix_found_refer(struct prefix_tiers *tiers, size_t index, const struct prefix_found *found)
{
    uint64_t numbered = block_numbers_count(tiers->numbers, index, found->blocks);
    if (found->blocks > numbered) {
        block_pool_run_refer(tiers->gpu, (uint32_t)index, found->blocks - numbered);
    }
    uint64_t whole = found->blocks / tiers->options->unit_blocks * tiers->options->unit_blocks;
    for (uint64_t block = numbered; block-- > 0;) {
        uint32_t id = block_numbers_read(tiers->numbers, index, block);
        prefix_tiers_use(tiers, id);
        if (block < whole) {
            prefix_tiers_touch(tiers, id);
        }
    }
    for (uint64_t block = tiers->count > 2 ? numbered : 0; block-- > 0;) {
        uint32_t id = block_numbers_read(tiers->numbers, index, block);
        if (!block_pool_knows(tiers->gpu, id)) {
            prefix_tiers_pass(tiers, id);
        }
    }
}
