/* The prefix cache against a twin that keeps plain lists, for two to four tiers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_requests.h"
#include "unit/fixture/rounds.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS_MOST = 4096, PER_CHUNK = CHUNK / BLOCK };

/* ---- the twin: lists of block names, searched from end to end -------------------------- */

struct list {
    uint64_t name[BLOCKS_MOST]; /* oldest first */
    uint32_t references[BLOCKS_MOST];
    uint32_t count;
};

/* Copies under way, oldest first, and what each pins in the tier below and in the one above. */
struct under_way {
    uint64_t name[BLOCKS_MOST];
    bool lower[BLOCKS_MOST], upper[BLOCKS_MOST];
    uint32_t count;
};

/* A tier below the GPU. */
struct twin_tier {
    struct list list;
    struct under_way loads, saves;
    uint64_t blocks, loaded, saved;
    uint32_t least_asked;
    bool evicts, takes_evicted, takes_loads;
};

struct twin {
    struct list gpu;
    struct twin_tier tier[PREFIX_MOST_TIERS]; /* [1, count) */
    uint32_t count;
    uint64_t gpu_blocks, taken;
    uint32_t unit;
    bool pins, saves_wait, offers_filled, offers_finished;
    uint64_t asked[32 * BLOCKS_MOST]; /* names, one for each time */
    uint32_t asked_count;
};

static int find(const struct list *list, uint64_t name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->name[i] == name) {
            return (int)i;
        }
    }
    return -1;
}

static void drop(struct list *list, uint32_t index)
{
    for (list->count--; index < list->count; index++) {
        list->name[index] = list->name[index + 1];
        list->references[index] = list->references[index + 1];
    }
}

static void append(struct list *list, uint64_t name, uint32_t references)
{
    assert_true(list->count < BLOCKS_MOST);
    list->name[list->count] = name;
    list->references[list->count++] = references;
}

static void twin_ask(struct twin *twin, uint64_t name)
{
    assert_true(twin->asked_count < 32 * BLOCKS_MOST);
    twin->asked[twin->asked_count++] = name;
}

static uint32_t times_asked(const struct twin *twin, uint64_t name)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < twin->asked_count; i++) {
        times += twin->asked[i] == name;
    }
    return times;
}

/* Did too few requests ask for the block to be written to tier k? */
static bool is_rare(const struct twin *twin, uint32_t k, uint64_t name)
{
    uint32_t least = twin->tier[k].least_asked;
    return least > 1 && times_asked(twin, name) < least;
}

/* Something that a copy pinned is let go: if nothing else pins it, it was used last. */
static void unpin(struct twin_tier *tier, uint64_t name)
{
    int at = find(&tier->list, name);
    assert_true(at >= 0 && tier->list.references[at] > 0);
    if (--tier->list.references[at] == 0 && tier->evicts) {
        drop(&tier->list, (uint32_t)at);
        append(&tier->list, name, 0);
    }
}

static void begin_copy(struct twin *twin, uint32_t k, struct under_way *copies, uint64_t name,
                       bool above)
{
    uint32_t i = copies->count++;
    int at = above ? find(&twin->tier[k - 1].list, name) : -1;
    assert_true(copies->count <= BLOCKS_MOST);
    copies->name[i] = name;
    copies->lower[i] = twin->pins;
    copies->upper[i] = twin->pins && at >= 0;
    if (copies->upper[i]) {
        twin->tier[k - 1].list.references[at]++;
    }
    if (copies->lower[i]) {
        twin->tier[k].list.references[find(&twin->tier[k].list, name)]++;
    }
}

/* The oldest copy has ended. Returns its name. */
static uint64_t end_copy(struct twin *twin, uint32_t k, struct under_way *copies)
{
    uint64_t name = copies->name[0];
    bool lower = copies->lower[0], upper = copies->upper[0];
    copies->count--;
    for (uint32_t i = 0; i < copies->count; i++) {
        copies->name[i] = copies->name[i + 1];
        copies->lower[i] = copies->lower[i + 1];
        copies->upper[i] = copies->upper[i + 1];
    }
    if (upper) {
        unpin(&twin->tier[k - 1], name);
    }
    if (lower) {
        unpin(&twin->tier[k], name);
    }
    return name;
}

static bool is_saving(const struct twin_tier *tier, uint64_t name)
{
    for (uint32_t i = 0; i < tier->saves.count; i++) {
        if (tier->saves.name[i] == name) {
            return true;
        }
    }
    return false;
}

static bool tier_offer(struct twin *twin, uint32_t k, uint64_t name);

/* Evict a tier's oldest block that is not pinned; false where there is none. */
static bool make_room(struct twin *twin, uint32_t k)
{
    struct twin_tier *tier = &twin->tier[k];
    for (uint32_t i = 0; i < tier->list.count && tier->evicts; i++) {
        if (tier->list.references[i] == 0) {
            uint64_t name = tier->list.name[i];
            drop(&tier->list, i);
            if (k + 1 < twin->count && twin->tier[k + 1].takes_evicted &&
                !is_rare(twin, k + 1, name)) {
                tier_offer(twin, k + 1, name);
            }
            return true;
        }
    }
    return false;
}

/* Touch the block, or put it there; true if it was not there. */
static bool put(struct twin *twin, uint32_t k, uint64_t name)
{
    struct twin_tier *tier = &twin->tier[k];
    int at = find(&tier->list, name);
    if (at >= 0 && tier->evicts && tier->list.references[at] == 0) {
        drop(&tier->list, (uint32_t)at);
        append(&tier->list, name, 0);
    }
    if (at >= 0 || (tier->list.count >= tier->blocks && !make_room(twin, k))) {
        return false;
    }
    append(&tier->list, name, 0);
    return true;
}

static void arrive(struct twin *twin, uint32_t k, uint64_t name)
{
    if (k + 1 < twin->count && !twin->tier[k + 1].takes_evicted && !is_rare(twin, k + 1, name) &&
        find(&twin->tier[k].list, name) >= 0) {
        tier_offer(twin, k + 1, name);
    }
}

static bool tier_offer(struct twin *twin, uint32_t k, uint64_t name)
{
    if (!put(twin, k, name)) {
        if (find(&twin->tier[k].list, name) >= 0 && !is_saving(&twin->tier[k], name)) {
            arrive(twin, k, name);
        }
        return false;
    }
    twin->tier[k].saved++;
    if (twin->saves_wait) {
        begin_copy(twin, k, &twin->tier[k].saves, name, k > 1);
    } else {
        arrive(twin, k, name);
    }
    return true;
}

static void twin_offer(struct twin *twin, uint64_t name)
{
    if (!is_rare(twin, 1, name)) {
        tier_offer(twin, 1, name);
    }
}

/* The nearest tier below the GPU that has the block; 0: none. */
static uint32_t nearest(const struct twin *twin, uint64_t name)
{
    for (uint32_t k = 1; k < twin->count; k++) {
        if (find(&twin->tier[k].list, name) >= 0 && !is_saving(&twin->tier[k], name)) {
            return k;
        }
    }
    return 0;
}

/* All saves of a tier end, oldest first; others may begin below it. */
static void end_saves(struct twin *twin, uint32_t k)
{
    for (uint32_t left = twin->tier[k].saves.count; left > 0; left--) {
        uint64_t name = end_copy(twin, k, &twin->tier[k].saves);
        if (!is_saving(&twin->tier[k], name)) {
            arrive(twin, k, name);
        }
    }
}

static uint64_t twin_room(const struct twin *twin)
{
    uint64_t referred = 0;
    for (uint32_t i = 0; i < twin->gpu.count; i++) {
        referred += twin->gpu.references[i] > 0;
    }
    return twin->gpu_blocks - twin->taken - referred;
}

/* Take a block, evicting the first without references where none is free. */
static void twin_take(struct twin *twin)
{
    if (twin->taken + twin->gpu.count == twin->gpu_blocks) {
        uint32_t oldest = 0;
        while (twin->gpu.references[oldest] > 0) {
            oldest++;
        }
        uint64_t name = twin->gpu.name[oldest];
        drop(&twin->gpu, oldest);
        if (twin->tier[1].takes_evicted) {
            twin_offer(twin, name);
        }
    }
    twin->taken++;
}

static void twin_name(struct twin *twin, uint64_t name)
{
    int at = find(&twin->gpu, name);
    twin->taken--;
    if (at >= 0) {
        twin->gpu.references[at]++;
    } else {
        append(&twin->gpu, name, 1);
    }
}

static void twin_release(struct twin *twin, uint64_t name)
{
    int at = find(&twin->gpu, name);
    assert_true(at >= 0 && twin->gpu.references[at] > 0);
    uint32_t left = twin->gpu.references[at] - 1;
    if (left > 0) {
        twin->gpu.references[at] = left;
    } else {
        drop(&twin->gpu, (uint32_t)at);
        append(&twin->gpu, name, 0);
    }
}

/* A name that tells a block by what it holds. */
static uint64_t name_of(const struct requests *requests, size_t index, uint64_t block)
{
    const struct request *request = &requests->all[index];
    if (block >= request->prompt / BLOCK) {
        return (1ull << 40) + index * BLOCKS_MOST + block;
    }
    return (uint64_t)requests->chunks[request->first_chunk + block / PER_CHUNK] * PER_CHUNK +
           block % PER_CHUNK;
}

struct twin_request {
    uint64_t full, blocks, offered;
    bool runs;
};
static struct twin_request running[MOST];

static void twin_touch(struct twin *twin, uint64_t name)
{
    for (uint32_t k = 1; k < twin->count; k++) {
        if (find(&twin->tier[k].list, name) >= 0 && (k > 1 || !is_rare(twin, 1, name))) {
            put(twin, k, name);
        }
    }
}

static bool twin_begin(struct twin *twin, const struct requests *requests, size_t index,
                       uint64_t tokens, uint64_t chunk, struct prefix_match *match)
{
    uint64_t found = 0, in[PREFIX_MOST_TIERS] = {0}, idle = 0, leading = 0;
    static uint32_t source[BLOCKS_MOST]; /* 0: the GPU */
    while (found < (tokens - 1) / BLOCK &&
           (find(&twin->gpu, name_of(requests, index, found)) >= 0 ||
            nearest(twin, name_of(requests, index, found)) > 0)) {
        found++;
    }
    while (leading < found && find(&twin->gpu, name_of(requests, index, leading)) >= 0) {
        leading++;
    }
    /* Lower tiers give whole units; behind what the GPU has in a row, nothing else. */
    found = found / twin->unit * twin->unit;
    found = found > leading ? found : leading;
    for (uint64_t block = 0; block < found; block++) {
        uint64_t name = name_of(requests, index, block);
        int at = find(&twin->gpu, name);
        source[block] = at >= 0 ? 0 : nearest(twin, name);
        in[source[block]]++;
        idle += at >= 0 && twin->gpu.references[at] == 0;
    }
    uint64_t end = found * BLOCK + chunk < tokens ? found * BLOCK + chunk : tokens;
    uint64_t blocks = (end + BLOCK - 1) / BLOCK;
    if (twin_room(twin) < idle + (tokens + BLOCK - 1) / BLOCK - in[0]) {
        return false;
    }
    for (uint64_t block = found; block-- > 0;) {
        uint64_t name = name_of(requests, index, block);
        if (source[block] == 0) {
            twin->gpu.references[find(&twin->gpu, name)]++;
        } else if (twin->pins) {
            begin_copy(twin, source[block], &twin->tier[source[block]].loads, name, false);
        }
        if (block < found / twin->unit * twin->unit) {
            twin_touch(twin, name);
        }
    }
    for (uint64_t block = found; block-- > 0;) {
        for (uint32_t k = source[block]; k > 1; k--) {
            if (twin->tier[k - 1].takes_loads) {
                put(twin, k - 1, name_of(requests, index, block));
            }
        }
    }
    for (uint64_t i = 0; i < blocks - in[0]; i++) {
        twin_take(twin);
    }
    for (uint64_t block = 0; block < found; block++) {
        if (source[block] > 0) {
            twin_name(twin, name_of(requests, index, block));
        }
        twin_ask(twin, name_of(requests, index, block));
    }
    running[index] = (struct twin_request){.full = found, .blocks = blocks, .runs = true};
    for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
        twin->tier[k].loaded += in[k];
        match->found[k] = (uint32_t)(in[k] * BLOCK);
    }
    match->compute_tokens = (uint32_t)(tokens - found * BLOCK);
    return true;
}

static void twin_fill(struct twin *twin, const struct requests *requests, size_t index,
                      uint64_t tokens)
{
    uint64_t full = tokens / BLOCK;
    for (; running[index].full < full; running[index].full++) {
        twin_name(twin, name_of(requests, index, running[index].full));
        twin_ask(twin, name_of(requests, index, running[index].full));
    }
    uint64_t first = running[index].offered / twin->unit * twin->unit;
    bool more = running[index].full > running[index].offered;
    full = running[index].full / twin->unit * twin->unit;
    for (uint64_t block = first; twin->offers_filled && more && block < full; block++) {
        twin_offer(twin, name_of(requests, index, block));
    }
    running[index].offered = running[index].full;
}

static bool twin_grow(struct twin *twin, size_t index, uint64_t tokens)
{
    uint64_t blocks = (tokens + BLOCK - 1) / BLOCK;
    if (blocks > running[index].blocks && blocks - running[index].blocks > twin_room(twin)) {
        return false;
    }
    for (; running[index].blocks < blocks; running[index].blocks++) {
        twin_take(twin);
    }
    return true;
}

static void twin_end(struct twin *twin, const struct requests *requests, size_t index, bool done)
{
    for (uint64_t block = running[index].full; block-- > 0;) {
        uint64_t name = name_of(requests, index, block);
        bool whole = block < running[index].full / twin->unit * twin->unit;
        if (done && twin->offers_finished && whole) {
            twin_offer(twin, name);
        } else if (twin->offers_filled && whole) {
            twin_touch(twin, name);
        }
        twin_release(twin, name);
    }
    twin->taken -= running[index].blocks - running[index].full;
    running[index].runs = false;
}

/* ---- the cache beside it --------------------------------------------------------------- */

static void check_equal(const struct twin *twin, const struct prefix_cache *cache)
{
    struct prefix_census census = prefix_census(cache);
    for (uint32_t k = 1; k < twin->count; k++) {
        struct prefix_counts counts = prefix_counts(cache, k);
        const struct block_census *blocks = &census.of[k].blocks;
        assert_int_equal(counts.loaded, twin->tier[k].loaded);
        assert_int_equal(counts.saved, twin->tier[k].saved);
        assert_int_equal(blocks->known, twin->tier[k].list.count);
        assert_int_equal(blocks->free + blocks->known, twin->tier[k].blocks);
    }
    assert_int_equal(prefix_room(cache), twin_room(twin));
}

/* The request that found no room last, and asks again before anything else happens. */
static struct {
    size_t index;
    uint64_t tokens; /* 0: none waits */
} waiting;

static void ask(struct twin *twin, struct prefix_cache *cache, const struct requests *requests,
                size_t index, uint64_t tokens, uint64_t chunk)
{
    struct prefix_match ours, theirs;
    bool fits = prefix_begin(cache, index, tokens, chunk, &ours);
    assert_int_equal(fits, twin_begin(twin, requests, index, tokens, chunk, &theirs));
    assert_true(!fits || memcmp(&ours, &theirs, sizeof ours) == 0);
    waiting.index = index;
    waiting.tokens = fits ? 0 : tokens;
}

/* All saves end, and some loads. */
static void end_copies(struct twin *twin, struct prefix_cache *cache, bool saves_wait,
                       gsl_rng *random)
{
    for (uint32_t k = 1; k < twin->count; k++) {
        struct twin_tier *tier = &twin->tier[k];
        if (saves_wait) {
            prefix_saved(cache, k, prefix_census(cache).of[k].saving);
            end_saves(twin, k);
        }
        uint32_t come = (uint32_t)gsl_rng_uniform_int(random, tier->loads.count + 1);
        prefix_loaded(cache, k, come);
        for (uint32_t i = 0; i < come; i++) {
            end_copy(twin, k, &tier->loads);
        }
    }
}

/* One thing that may happen to request `index`, on both. */
static void happen(struct twin *twin, struct prefix_cache *cache, const struct requests *requests,
                   size_t index, bool saves_wait, gsl_rng *random)
{
    const struct request *request = &requests->all[index];
    uint64_t kept = request->prompt + request->output - 1;
    if (waiting.tokens > 0 && !running[waiting.index].runs) {
        ask(twin, cache, requests, waiting.index, waiting.tokens, waiting.tokens);
        end_copies(twin, cache, saves_wait, random); /* the GPU holds what is being saved */
    }
    if (!running[index].runs) {
        uint64_t tokens = request->prompt + gsl_rng_uniform_int(random, request->output);
        ask(twin, cache, requests, index, tokens, 1 + gsl_rng_uniform_int(random, tokens));
    } else if (gsl_rng_uniform_int(random, 3) > 0) {
        assert_int_equal(prefix_grow(cache, index, kept), twin_grow(twin, index, kept));
        uint64_t room = running[index].blocks * BLOCK;
        uint64_t tokens = gsl_rng_uniform_int(random, (kept < room ? kept : room) + 1);
        tokens = tokens < running[index].full * BLOCK ? running[index].full * BLOCK : tokens;
        prefix_fill(cache, index, tokens);
        twin_fill(twin, requests, index, tokens);
    } else {
        bool done = gsl_rng_uniform_int(random, 4) > 0;
        prefix_end(cache, index, done);
        twin_end(twin, requests, index, done);
    }
    end_copies(twin, cache, saves_wait, random);
    check_equal(twin, cache);
}

/* Any request, or every other time one that runs. */
static size_t choose(size_t count, gsl_rng *random)
{
    size_t index = gsl_rng_uniform_int(random, count);
    bool any = gsl_rng_uniform_int(random, 2) > 0;
    for (size_t i = 0; i < count && !any && !running[index].runs; i++) {
        index = (index + 1) % count;
    }
    return index;
}

/* Tiers below the GPU; those below tier 1 are written in turn in one way and the other. Three tiers
 * and more are so small that each evicts. */
static void compare(uint64_t seed, uint32_t lower, enum prefix_write write, const char *policy,
                    bool pins)
{
    struct error why;
    waiting.tokens = 0;
    gsl_rng *random = random_stream(seed, "test.prefix", write, &why);
    struct requests requests = random_requests(random);
    struct prefix_options options = {
        .block_tokens = BLOCK,
        .gpu_keeps = true,
        .lower_count = lower,
        .gpu_blocks = 20 + gsl_rng_uniform_int(random, lower > 1 ? 8 : 60),
        .unit_blocks = 1 + (uint32_t)gsl_rng_uniform_int(random, 3),
        .saves_wait = gsl_rng_uniform_int(random, 2) > 0,
        .pins = pins,
    };
    static struct twin twin;
    memset(&twin, 0, sizeof twin);
    memset(running, 0, sizeof running);
    twin.count = lower + 1;
    twin.gpu_blocks = options.gpu_blocks;
    twin.unit = options.unit_blocks;
    twin.pins = pins;
    twin.saves_wait = options.saves_wait;
    twin.offers_filled = write == PREFIX_WRITE_FILL;
    twin.offers_finished = write == PREFIX_WRITE_FINISH;
    for (uint32_t k = 1; k <= lower; k++) {
        bool evicted = k == 1 ? write == PREFIX_WRITE_EVICT : (seed + k) % 2 > 0;
        struct prefix_tier *tier = &options.lower[k - 1];
        tier->blocks = 1 + gsl_rng_uniform_int(random, lower > 1 ? 20 * k : 100);
        tier->policy = policy != NULL ? policy_find(policy, NULL, 0, &why) : NULL;
        tier->least_asked = 1 + (uint32_t)gsl_rng_uniform_int(random, lower > 1 ? 2 : 3);
        tier->takes_loads = gsl_rng_uniform_int(random, 3) > 0;
        tier->write = k == 1 ? write : evicted ? PREFIX_WRITE_EVICT : PREFIX_WRITE_FILL;
        twin.tier[k] = (struct twin_tier){.blocks = tier->blocks,
                                          .least_asked = tier->least_asked,
                                          .evicts = policy != NULL,
                                          .takes_evicted = evicted,
                                          .takes_loads = tier->takes_loads};
    }
    struct prefix_cache *cache = prefix_cache_create(&options, &requests, &why);
    assert_non_null(cache);
    for (int i = 0; i < 1500; i++) {
        happen(&twin, cache, &requests, choose(requests.count, random), options.saves_wait, random);
    }
    assert_true(prefix_check(cache, &why));
    prefix_cache_destroy(cache);
    gsl_rng_free(random);
}

static void compare_all(uint64_t seed, uint32_t lower)
{
    for (enum prefix_write write = PREFIX_WRITE_FINISH; write <= PREFIX_WRITE_EVICT; write++) {
        print_message("seed %u, write %d\n", (unsigned)seed, write);
        compare(seed, lower, write, "lru", false);
        compare(seed, lower, write, "lru", true);
        compare(seed, lower, write, NULL, seed % 2 > 0);
    }
}

static void every_switch_does_as_its_twin(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS(30, 8); seed++) {
        compare_all(seed, 1);
    }
}

static void evictions_go_down_three_tiers_and_four(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS(14, 3); seed++) {
        compare_all(seed, 2 + seed % 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_switch_does_as_its_twin),
        cmocka_unit_test(evictions_go_down_three_tiers_and_four),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
