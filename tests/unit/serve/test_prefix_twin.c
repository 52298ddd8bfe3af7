/* The prefix cache against a twin that keeps plain lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_requests.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS_MOST = 4096, PER_CHUNK = CHUNK / BLOCK };

/* ---- the twin: lists of block names, searched from end to end -------------------------- */

struct list {
    uint64_t name[BLOCKS_MOST]; /* oldest first */
    uint32_t references[BLOCKS_MOST];
    uint32_t count;
};

/* Names that the host keeps while they are copied, oldest copy first. */
struct pinned {
    uint64_t name[BLOCKS_MOST];
    uint32_t count;
};

struct twin {
    struct list gpu, host;
    struct pinned loads, saves;
    uint64_t gpu_blocks, host_blocks, taken, loaded, saved;
    uint32_t unit, least_asked;
    bool evicts, pins, saves_wait, offers_evicted, offers_filled, offers_finished;
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
    if (twin->least_asked > 1) {
        assert_true(twin->asked_count < 32 * BLOCKS_MOST);
        twin->asked[twin->asked_count++] = name;
    }
}

static uint32_t times_asked(const struct twin *twin, uint64_t name)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < twin->asked_count; i++) {
        times += twin->asked[i] == name;
    }
    return times;
}

static void pin(struct twin *twin, struct pinned *pinned, uint64_t name)
{
    assert_true(pinned->count < BLOCKS_MOST);
    pinned->name[pinned->count++] = name;
    twin->host.references[find(&twin->host, name)]++;
}

/* The oldest `count` copies have ended: who has none left was used last. */
static void unpin(struct twin *twin, struct pinned *pinned, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int at = find(&twin->host, pinned->name[i]);
        assert_true(at >= 0 && twin->host.references[at] > 0);
        if (--twin->host.references[at] == 0 && twin->evicts) {
            drop(&twin->host, (uint32_t)at);
            append(&twin->host, pinned->name[i], 0);
        }
    }
    pinned->count -= count;
    memmove(pinned->name, pinned->name + count, pinned->count * sizeof *pinned->name);
}

/* Evict the host's oldest block that is not pinned; false where there is none. */
static bool twin_make_room(struct twin *twin)
{
    for (uint32_t i = 0; i < twin->host.count && twin->evicts; i++) {
        if (twin->host.references[i] == 0) {
            drop(&twin->host, i);
            return true;
        }
    }
    return false;
}

static void twin_offer(struct twin *twin, uint64_t name)
{
    if (twin->least_asked > 1 && times_asked(twin, name) < twin->least_asked) {
        return;
    }
    struct list *host = &twin->host;
    int at = find(host, name);
    if (at >= 0 && twin->evicts && host->references[at] == 0) {
        drop(host, (uint32_t)at);
        append(host, name, 0);
    } else if (at < 0 && (host->count < twin->host_blocks || twin_make_room(twin))) {
        append(host, name, 0);
        twin->saved++;
        if (twin->pins && twin->saves_wait) {
            pin(twin, &twin->saves, name);
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
        if (twin->offers_evicted) {
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
    uint64_t full, blocks;
    bool runs;
};
static struct twin_request running[MOST];

static bool twin_begin(struct twin *twin, const struct requests *requests, size_t index,
                       uint64_t tokens, uint64_t chunk, struct prefix_match *match)
{
    uint64_t found = 0, on_gpu = 0, idle = 0, leading = 0;
    while (found < (tokens - 1) / BLOCK &&
           (find(&twin->gpu, name_of(requests, index, found)) >= 0 ||
            find(&twin->host, name_of(requests, index, found)) >= 0)) {
        found++;
    }
    while (leading < found && find(&twin->gpu, name_of(requests, index, leading)) >= 0) {
        leading++;
    }
    /* The host gives whole units; behind what the GPU has in a row, nothing else. */
    found = found / twin->unit * twin->unit;
    found = found > leading ? found : leading;
    for (uint64_t block = 0; block < found; block++) {
        int at = find(&twin->gpu, name_of(requests, index, block));
        on_gpu += at >= 0;
        idle += at >= 0 && twin->gpu.references[at] == 0;
    }
    uint64_t end = found * BLOCK + chunk < tokens ? found * BLOCK + chunk : tokens;
    uint64_t blocks = (end + BLOCK - 1) / BLOCK;
    if (twin_room(twin) < idle + (tokens + BLOCK - 1) / BLOCK - on_gpu) {
        return false;
    }
    bool was_there[BLOCKS_MOST];
    for (uint64_t block = found; block-- > 0;) {
        uint64_t name = name_of(requests, index, block);
        int at = find(&twin->gpu, name);
        was_there[block] = at >= 0;
        if (at >= 0) {
            twin->gpu.references[at]++;
        } else if (twin->pins) {
            pin(twin, &twin->loads, name);
        }
        if (find(&twin->host, name) >= 0) {
            twin_offer(twin, name);
        }
    }
    for (uint64_t i = 0; i < blocks - on_gpu; i++) {
        twin_take(twin);
    }
    for (uint64_t block = 0; block < found; block++) {
        if (!was_there[block]) {
            twin_name(twin, name_of(requests, index, block));
        }
        twin_ask(twin, name_of(requests, index, block));
    }
    for (uint64_t block = 0; twin->least_asked > 1 && block < found / twin->unit * twin->unit;
         block++) {
        if (twin->offers_filled) {
            twin_offer(twin, name_of(requests, index, block));
        }
    }
    twin->loaded += found - on_gpu;
    running[index] = (struct twin_request){.full = found, .blocks = blocks, .runs = true};
    *match = (struct prefix_match){(uint32_t)(on_gpu * BLOCK), (uint32_t)((found - on_gpu) * BLOCK),
                                   (uint32_t)(tokens - found * BLOCK)};
    return true;
}

static void twin_fill(struct twin *twin, const struct requests *requests, size_t index,
                      uint64_t tokens)
{
    uint64_t first = running[index].full, full = tokens / BLOCK;
    for (; running[index].full < full; running[index].full++) {
        twin_name(twin, name_of(requests, index, running[index].full));
        twin_ask(twin, name_of(requests, index, running[index].full));
    }
    uint64_t block = full > first ? first / twin->unit * twin->unit : full;
    for (; twin->offers_filled && block < full / twin->unit * twin->unit; block++) {
        twin_offer(twin, name_of(requests, index, block));
    }
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
        }
        twin_release(twin, name);
    }
    twin->taken -= running[index].blocks - running[index].full;
    running[index].runs = false;
}

/* ---- the cache beside it --------------------------------------------------------------- */

static void check_equal(const struct twin *twin, const struct prefix_cache *cache)
{
    struct prefix_counts counts = prefix_counts(cache);
    assert_int_equal(counts.loaded, twin->loaded);
    assert_int_equal(counts.saved, twin->saved);
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

/* One thing that may happen to request `index`, on both. */
static void happen(struct twin *twin, struct prefix_cache *cache, const struct requests *requests,
                   size_t index, bool saves_wait, gsl_rng *random)
{
    uint64_t saved = prefix_counts(cache).saved;
    const struct request *request = &requests->all[index];
    uint64_t kept = request->prompt + request->output - 1;
    if (waiting.tokens > 0 && !running[waiting.index].runs) {
        ask(twin, cache, requests, waiting.index, waiting.tokens, waiting.tokens);
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
    if (saves_wait) {
        prefix_saved(cache, prefix_counts(cache).saved - saved);
        unpin(twin, &twin->saves, twin->saves.count);
    }
    uint32_t come = (uint32_t)gsl_rng_uniform_int(random, twin->loads.count + 1);
    prefix_loaded(cache, come);
    unpin(twin, &twin->loads, come);
    check_equal(twin, cache);
}

static void compare(uint64_t seed, enum prefix_write write, const char *policy, bool pins)
{
    struct error why;
    waiting.tokens = 0;
    gsl_rng *random = random_stream(seed, "test.prefix", write, &why);
    struct requests requests = random_requests(random);
    struct prefix_options options = {
        .block_tokens = BLOCK,
        .gpu_keeps = true,
        .has_host = true,
        .gpu_blocks = 20 + gsl_rng_uniform_int(random, 60),
        .host_blocks = 1 + gsl_rng_uniform_int(random, 100),
        .unit_blocks = 1 + (uint32_t)gsl_rng_uniform_int(random, 3),
        .least_asked = 1 + (uint32_t)gsl_rng_uniform_int(random, 3),
        .saves_wait = gsl_rng_uniform_int(random, 2) > 0,
        .pins = pins,
        .write = write,
        .host_policy = policy != NULL ? policy_find(policy, NULL, 0, &why) : NULL,
    };
    static struct twin twin;
    memset(&twin, 0, sizeof twin);
    memset(running, 0, sizeof running);
    twin.gpu_blocks = options.gpu_blocks;
    twin.host_blocks = options.host_blocks;
    twin.unit = options.unit_blocks;
    twin.least_asked = options.least_asked;
    twin.evicts = policy != NULL;
    twin.pins = pins;
    twin.saves_wait = options.saves_wait;
    twin.offers_evicted = write == PREFIX_WRITE_EVICT;
    twin.offers_filled = write == PREFIX_WRITE_FILL;
    twin.offers_finished = write == PREFIX_WRITE_FINISH;
    struct prefix_cache *cache = prefix_cache_create(&options, &requests, &why);
    assert_non_null(cache);
    for (int i = 0; i < 1500; i++) {
        happen(&twin, cache, &requests, gsl_rng_uniform_int(random, requests.count),
               options.saves_wait, random);
    }
    assert_true(prefix_check(cache, &why));
    prefix_cache_destroy(cache);
    gsl_rng_free(random);
}

static void every_switch_does_as_its_twin(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        for (enum prefix_write write = PREFIX_WRITE_FINISH; write <= PREFIX_WRITE_EVICT; write++) {
            print_message("seed %u, write %d\n", (unsigned)seed, write);
            compare(seed, write, "lru", false);
            compare(seed, write, "lru", true);
            compare(seed, write, NULL, seed % 2 > 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_switch_does_as_its_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
