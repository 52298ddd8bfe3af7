/* The prefix cache against a twin that keeps plain lists, and against cases counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "serve/prefix_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, BLOCKS_MOST = 4096, CHUNK = 512, BLOCK = 128, PER_CHUNK = CHUNK / BLOCK };

/* ---- requests made here --------------------------------------------------------------- */

static struct request all[MOST];
static uint32_t chunks[MOST * 8];
static struct request_chunk kinds[MOST * 8];

/* A prompt made of the numbered chunks, the last one `tail` tokens long. */
static void add_request(struct requests *requests, const uint32_t *chunk, uint32_t count,
                        uint32_t tail, uint32_t output)
{
    requests->all[requests->count++] = (struct request){
        .prompt = (count - 1) * CHUNK + tail,
        .output = output,
        .first_chunk = requests->chunk_count,
        .chunks = count,
    };
    for (uint32_t i = 0; i < count; i++) {
        requests->chunks[requests->chunk_count++] = chunk[i];
        requests->kind[chunk[i]].tokens = i + 1 < count ? CHUNK : tail;
        requests->ids.count = chunk[i] >= requests->ids.count ? chunk[i] + 1 : requests->ids.count;
    }
}

static struct requests no_requests(void)
{
    memset(all, 0, sizeof all);
    return (struct requests){.all = all, .chunks = chunks, .kind = kinds, .chunk_tokens = CHUNK};
}

/* Prompts that are paths through a tree: node n has the children 2n + 1 and 2n + 2. */
static struct requests random_requests(gsl_rng *random)
{
    struct requests requests = no_requests();
    for (uint32_t i = 0; i < MOST; i++) {
        uint32_t path[4];
        uint32_t depth = 1 + (uint32_t)gsl_rng_uniform_int(random, 4);
        uint32_t node = (uint32_t)gsl_rng_uniform_int(random, 2);
        for (uint32_t d = 0; d < depth; d++) {
            path[d] = node;
            node = 2 * node + 2 + (uint32_t)gsl_rng_uniform_int(random, 2);
        }
        /* leaves of the deepest level are cut short, all alike */
        uint32_t tail = depth == 4 ? 300 : CHUNK;
        add_request(&requests, path, depth, tail, 1 + (uint32_t)gsl_rng_uniform_int(random, 400));
    }
    return requests;
}

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
    *match = (struct prefix_match){on_gpu * BLOCK, (found - on_gpu) * BLOCK,
                                   tokens - found * BLOCK};
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

/* One thing that may happen to request `index`, on both. */
static void happen(struct twin *twin, struct prefix_cache *cache, const struct requests *requests,
                   size_t index, bool saves_wait, gsl_rng *random)
{
    uint64_t saved = prefix_counts(cache).saved;
    const struct request *request = &requests->all[index];
    uint64_t kept = request->prompt + request->output - 1;
    if (!running[index].runs) {
        struct prefix_match ours, theirs;
        uint64_t tokens = request->prompt + gsl_rng_uniform_int(random, request->output);
        uint64_t chunk = 1 + gsl_rng_uniform_int(random, tokens);
        bool fits = prefix_begin(cache, index, tokens, chunk, &ours);
        assert_int_equal(fits, twin_begin(twin, requests, index, tokens, chunk, &theirs));
        assert_true(!fits || memcmp(&ours, &theirs, sizeof ours) == 0);
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

static struct error why;

static bool replay(const struct prefix_options *options, const struct requests *requests,
                   struct prefix_totals *totals)
{
    uint32_t indices[MOST];
    for (uint32_t i = 0; i < MOST; i++) {
        indices[i] = i;
    }
    *totals = (struct prefix_totals){.requests = 0};
    return prefix_replay(options, requests, indices, (uint32_t)requests->count, totals, &why);
}

/* ---- without a clock ------------------------------------------------------------------- */

/* Two prompts of 512 + 300 tokens that share 512, then the first again, in blocks of 128. With room
 * for all: the second finds 4 blocks; the third 6, of its 6.3. */
static void a_prompt_finds_what_earlier_ones_left(void **state)
{
    (void)state;
    struct requests requests = no_requests();
    struct prefix_totals totals;
    add_request(&requests, (uint32_t[]){0, 1}, 2, 300, 1);
    add_request(&requests, (uint32_t[]){0, 2}, 2, 300, 1);
    add_request(&requests, (uint32_t[]){0, 1}, 2, 300, 1);
    struct prefix_options options = {.block_tokens = BLOCK, .gpu_keeps = true, .gpu_blocks = 100};
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.gpu_tokens, 10 * BLOCK);
    assert_int_equal(totals.host_tokens, 0);
    assert_int_equal(totals.compute_tokens, 3 * 812 - 10 * BLOCK);

    /* a GPU that holds one of them, which the next one evicts from its end: 7 blocks, 4 shared */
    options.gpu_blocks = 7;
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.gpu_tokens, 8 * BLOCK);

    /* one that keeps nothing, over a host: the same is found as with room for all */
    options.gpu_keeps = false;
    options.has_host = true;
    options.write = PREFIX_WRITE_FINISH;
    options.host_blocks = 8;
    options.host_policy = policy_find("lru", NULL, 0, &why);
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.host_tokens, 10 * BLOCK);
    assert_int_equal(totals.blocks.loaded, 10);
    assert_int_equal(totals.blocks.saved, 8);

    /* and one too small for any */
    options.gpu_blocks = 6;
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.requests, 0);
    assert_int_equal(totals.too_long, 3);
}

/* 512 tokens, all known: the last block is computed again, for the token that follows it. */
static void a_known_prompt_still_computes_its_last_block(void **state)
{
    (void)state;
    struct requests requests = no_requests();
    struct prefix_totals totals;
    add_request(&requests, (uint32_t[]){0}, 1, CHUNK, 1);
    add_request(&requests, (uint32_t[]){0}, 1, CHUNK, 1);
    struct prefix_options options = {.block_tokens = BLOCK, .gpu_keeps = true, .gpu_blocks = 100};
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.gpu_tokens, CHUNK - BLOCK);
}

static void a_bound_counts_chunks_seen_before(void **state)
{
    (void)state;
    struct requests requests = no_requests();
    struct prefix_bound bound;
    add_request(&requests, (uint32_t[]){0, 1}, 2, 300, 1);
    add_request(&requests, (uint32_t[]){0, 2}, 2, 512, 1);
    add_request(&requests, (uint32_t[]){0, 1}, 2, 300, 1);
    assert_true(prefix_bound(&requests, &bound, &why));
    assert_int_equal(bound.chunks, 6);
    assert_int_equal(bound.distinct, 3);
    assert_int_equal(bound.hits, 3);
    assert_int_equal(bound.full_chunks, 4);
    assert_int_equal(bound.full_distinct, 2);
    assert_int_equal(bound.full_hits, 2);
}

static void more_host_memory_never_finds_less_under_lru(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        print_message("seed %u\n", (unsigned)seed);
        gsl_rng *random = random_stream(seed, "test.prefix.monotone", 0, &why);
        struct requests requests = random_requests(random);
        uint64_t before = 0;
        for (uint32_t host = 1; host < 300; host += 7) {
            struct prefix_totals totals;
            struct prefix_options options = {.block_tokens = BLOCK,
                                             .gpu_keeps = true,
                                             .has_host = true,
                                             .gpu_blocks = 30,
                                             .host_blocks = host,
                                             .write = PREFIX_WRITE_FINISH,
                                             .host_policy = policy_find("lru", NULL, 0, &why)};
            assert_true(replay(&options, &requests, &totals));
            assert_true(totals.gpu_tokens + totals.host_tokens >= before);
            before = totals.gpu_tokens + totals.host_tokens;
        }
        gsl_rng_free(random);
    }
}

static void what_cannot_run_a_host_is_refused(void **state)
{
    (void)state;
    struct requests requests = no_requests();
    struct prefix_totals totals;
    add_request(&requests, (uint32_t[]){0}, 1, CHUNK, 1);
    struct prefix_options options = {.block_tokens = BLOCK,
                                     .has_host = true,
                                     .gpu_blocks = 10,
                                     .host_blocks = 10,
                                     .write = PREFIX_WRITE_FINISH,
                                     .host_policy = policy_find("qsac", NULL, 0, &why)};
    assert_false(replay(&options, &requests, &totals));
    assert_string_equal(why.found, "policy 'qsac' cannot run the host tier of a prefix cache");
    options.host_policy = policy_find("arc", NULL, 0, &why);
    assert_true(replay(&options, &requests, &totals));
    options.pins = true;
    assert_false(replay(&options, &requests, &totals));
    assert_string_equal(why.found, "policy 'arc' cannot hold blocks of a host tier");
    options.block_tokens = 48;
    assert_false(replay(&options, &requests, &totals));
    assert_string_equal(why.found, "blocks of 48 tokens, and hashes of 512");
}

/* A block that is on its way is held by the GPU, and no use on the host; then it is. */
static void what_is_saved_has_to_arrive(void **state)
{
    (void)state;
    struct error why;
    struct requests requests = no_requests();
    const uint32_t chunk = 0, other = 1;
    struct prefix_match match;
    struct prefix_options options = {.block_tokens = BLOCK, .gpu_keeps = true, .has_host = true,
                                     .gpu_blocks = 6, .host_blocks = 64, .saves_wait = true,
                                     .write = PREFIX_WRITE_FINISH};
    options.host_policy = policy_find("lru", NULL, 0, &why);
    add_request(&requests, &chunk, 1, CHUNK, 1); /* 4 blocks */
    add_request(&requests, &other, 1, CHUNK, 1);
    add_request(&requests, &chunk, 1, CHUNK, 1);
    struct prefix_cache *cache = prefix_cache_create(&options, &requests, &why);
    assert_non_null(cache);
    assert_true(prefix_begin(cache, 0, CHUNK, CHUNK, &match));
    prefix_fill(cache, 0, CHUNK);
    prefix_end(cache, 0, true);
    assert_int_equal(prefix_counts(cache).saved, 4);
    assert_int_equal(prefix_room(cache), 2);
    assert_false(prefix_begin(cache, 1, CHUNK, CHUNK, &match));
    prefix_saved(cache, 4);
    assert_int_equal(prefix_room(cache), 6);
    assert_true(prefix_begin(cache, 1, CHUNK, CHUNK, &match)); /* evicts the last 2 of the 4 */
    prefix_fill(cache, 1, CHUNK);
    prefix_end(cache, 1, true);
    prefix_saved(cache, 4);
    assert_true(prefix_begin(cache, 2, CHUNK, CHUNK, &match));
    assert_int_equal(match.gpu_tokens, 2 * BLOCK);
    assert_int_equal(match.host_tokens, BLOCK); /* the last block is always computed */
    prefix_end(cache, 2, true);
    prefix_cache_destroy(cache);
}

/* A host of 4 blocks has A's. A comes again and loads 3 of them, for which B's leave the GPU, last
 * ones first, and are saved. Pinned, A's 3 stay: each of B's takes the place of the one before, and
 * B finds its first. Not pinned, each takes one of A's, and B finds all that it may. */
static void what_is_loaded_stays_on_the_host(void **state)
{
    (void)state;
    for (int pins = 0; pins < 2; pins++) {
        struct requests requests = no_requests();
        const uint32_t a = 0, b = 1;
        struct prefix_match match;
        struct prefix_options options = {.block_tokens = BLOCK, .gpu_keeps = true, .has_host = true,
                                         .gpu_blocks = 4, .host_blocks = 4, .pins = pins > 0,
                                         .write = PREFIX_WRITE_EVICT};
        options.host_policy = policy_find("lru", NULL, 0, &why);
        add_request(&requests, &a, 1, CHUNK, 1);
        add_request(&requests, &b, 1, CHUNK, 1);
        add_request(&requests, &a, 1, CHUNK, 1);
        add_request(&requests, &b, 1, CHUNK, 1);
        struct prefix_cache *cache = prefix_cache_create(&options, &requests, &why);
        assert_non_null(cache);
        for (size_t i = 0; i < 2; i++) {
            assert_true(prefix_begin(cache, i, CHUNK, CHUNK, &match));
            prefix_fill(cache, i, CHUNK);
            prefix_end(cache, i, true);
        }
        assert_int_equal(prefix_counts(cache).saved, 4);
        assert_true(prefix_begin(cache, 2, CHUNK, CHUNK, &match));
        assert_int_equal(match.host_tokens, 3 * BLOCK);
        assert_int_equal(prefix_counts(cache).saved, 8);
        prefix_loaded(cache, 3);
        prefix_end(cache, 2, false);
        assert_true(prefix_begin(cache, 3, CHUNK, CHUNK, &match));
        assert_int_equal(match.host_tokens, (pins ? 1 : 3) * BLOCK);
        prefix_end(cache, 3, false);
        prefix_cache_destroy(cache);
    }
}

/* A's 4 blocks were kept elsewhere, and B has had 2 of the GPU's since: A comes back with the first
 * load, and who finds its blocks waits for that one, too. B computes again, which needs none. */
static void who_finds_what_is_loaded_waits_for_the_load(void **state)
{
    (void)state;
    struct error why;
    struct requests requests = no_requests();
    const uint32_t a = 0, b = 1;
    struct prefix_match match;
    uint64_t missing;
    struct prefix_options options = {.block_tokens = BLOCK, .gpu_keeps = true, .gpu_blocks = 6};
    add_request(&requests, &a, 1, CHUNK, 2);
    add_request(&requests, &b, 1, CHUNK, 1);
    add_request(&requests, &a, 1, CHUNK, 1);
    struct prefix_cache *cache = prefix_cache_create(&options, &requests, &why);
    assert_non_null(cache);
    for (size_t i = 0; i < 2; i++) {
        assert_true(prefix_begin(cache, i, CHUNK, CHUNK, &match));
        assert_int_equal(prefix_load(cache, i), 0);
        prefix_fill(cache, i, CHUNK);
        prefix_end(cache, i, false);
    }
    assert_true(prefix_restore(cache, 0, CHUNK + 1, CHUNK, 1, &missing));
    assert_int_equal(missing, 2 * BLOCK); /* its first two stayed */
    assert_int_equal(prefix_load(cache, 0), 1);
    assert_true(prefix_begin(cache, 2, CHUNK, 1, &match));
    assert_int_equal(match.gpu_tokens, 3 * BLOCK);
    assert_int_equal(prefix_load(cache, 2), 1);
    prefix_end(cache, 0, false);
    prefix_end(cache, 2, false);
    assert_true(prefix_begin(cache, 1, CHUNK, CHUNK, &match));
    assert_int_equal(prefix_load(cache, 1), 0);
    prefix_end(cache, 1, false);
    prefix_cache_destroy(cache);
}

/* The KV of one block of 4 was kept: there is room for it and the next chunk, but not for all. */
static void who_comes_back_has_room_for_all(void **state)
{
    (void)state;
    struct error why;
    struct requests requests = no_requests();
    const uint32_t a = 0, b = 1;
    struct prefix_match match;
    uint64_t missing;
    struct prefix_options options = {.block_tokens = BLOCK, .gpu_blocks = 7};
    add_request(&requests, &a, 1, CHUNK, 1);
    add_request(&requests, &b, 1, CHUNK, 1);
    struct prefix_cache *cache = prefix_cache_create(&options, &requests, &why);
    assert_non_null(cache);
    assert_true(prefix_begin(cache, 1, CHUNK, CHUNK, &match));
    assert_false(prefix_restore(cache, 0, CHUNK, BLOCK, 1, &missing));
    assert_int_equal(prefix_room(cache), 3);
    prefix_end(cache, 1, false);
    assert_true(prefix_restore(cache, 0, CHUNK, BLOCK, 1, &missing));
    assert_int_equal(missing, BLOCK);
    assert_int_equal(prefix_held(cache, 0), 2);
    prefix_end(cache, 0, false);
    prefix_cache_destroy(cache);
}

/* Whatever waits for its save, blocks are conserved: all come back when all have arrived, and
 * nothing on its way is found. */
static void saves_of_any_length_lose_no_block(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct error why;
        gsl_rng *random = random_stream(seed, "test.prefix.saves", 0, &why);
        struct requests requests = random_requests(random);
        bool never = seed % 2 > 0, held[MOST] = {false};
        struct prefix_options options = {
            .block_tokens = BLOCK, .gpu_keeps = true, .has_host = true, .saves_wait = true,
            .gpu_blocks = 20 + gsl_rng_uniform_int(random, 60),
            .host_blocks = 1 + gsl_rng_uniform_int(random, 100),
            .write = (enum prefix_write)(seed % 3),
            .host_policy = policy_find("lru", NULL, 0, &why)};
        struct prefix_cache *cache = prefix_cache_create(&options, &requests, &why);
        uint64_t arrived = 0;
        print_message("seed %u\n", (unsigned)seed);
        for (int i = 0; i < 2000; i++) {
            size_t index = gsl_rng_uniform_int(random, requests.count);
            struct prefix_match match;
            uint64_t prompt = requests.all[index].prompt;
            if (held[index]) {
                prefix_fill(cache, index, prompt);
                prefix_end(cache, index, gsl_rng_uniform_int(random, 4) > 0);
                held[index] = false;
            } else if ((held[index] = prefix_begin(cache, index, prompt, prompt, &match))) {
                assert_true(!never || match.host_tokens == 0);
                assert_int_equal(match.gpu_tokens + match.host_tokens + match.compute_tokens,
                                 prompt);
            }
            uint64_t left = never ? 0 : prefix_counts(cache).saved - arrived;
            uint64_t some = gsl_rng_uniform_int(random, left + 1);
            prefix_saved(cache, some);
            arrived += some;
        }
        for (size_t i = 0; i < requests.count; i++) {
            if (held[i]) {
                prefix_end(cache, i, false);
            }
        }
        prefix_saved(cache, prefix_counts(cache).saved - arrived);
        assert_int_equal(prefix_room(cache), options.gpu_blocks);
        prefix_cache_destroy(cache);
        gsl_rng_free(random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_switch_does_as_its_twin),
        cmocka_unit_test(a_prompt_finds_what_earlier_ones_left),
        cmocka_unit_test(a_known_prompt_still_computes_its_last_block),
        cmocka_unit_test(a_bound_counts_chunks_seen_before),
        cmocka_unit_test(more_host_memory_never_finds_less_under_lru),
        cmocka_unit_test(what_cannot_run_a_host_is_refused),
        cmocka_unit_test(what_is_saved_has_to_arrive),
        cmocka_unit_test(what_is_loaded_stays_on_the_host),
        cmocka_unit_test(who_finds_what_is_loaded_waits_for_the_load),
        cmocka_unit_test(who_comes_back_has_room_for_all),
        cmocka_unit_test(saves_of_any_length_lose_no_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
