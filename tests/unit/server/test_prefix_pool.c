/* Caches that share a pool, against plain lists: each request alone, on one of three servers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/prefix/prefix_replay.h"
#include "unit/fixture/make_requests.h"
#include "unit/fixture/rounds.h"

#include <stdlib.h>

enum { SERVERS = 3, MOST_BLOCKS = 4096, PER_CHUNK = CHUNK / BLOCK };

static struct error why;

/* Block names, oldest first. */
struct list {
    uint64_t name[MOST_BLOCKS];
    uint32_t count, room;
};

static bool has(const struct list *list, uint64_t name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->name[i] == name) {
            return true;
        }
    }
    return false;
}

static void drop(struct list *list, uint64_t name)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->name[i] != name) {
            list->name[kept++] = list->name[i];
        }
    }
    list->count = kept;
}

/* The block was used last. Returns true if it was not there; then the oldest makes room for it. */
static bool use(struct list *list, uint64_t name)
{
    bool is_new = !has(list, name);
    drop(list, name);
    if (is_new && list->count == list->room) {
        drop(list, list->name[0]);
    }
    list->name[list->count++] = name;
    return is_new;
}

static void make_room(struct list *list, uint64_t blocks)
{
    while (list->count + blocks > list->room) {
        drop(list, list->name[0]);
    }
}

static uint64_t name_of(const struct requests *requests, size_t index, uint64_t block)
{
    const struct request *request = &requests->all[index];
    if (block >= request->prompt / BLOCK) {
        return (1ull << 40) + index * MOST_BLOCKS + block;
    }
    return (uint64_t)requests->chunks[request->first_chunk + block / PER_CHUNK] * PER_CHUNK +
           block % PER_CHUNK;
}

static struct list gpu[SERVERS], host[SERVERS], pool;
static uint64_t found[PREFIX_MOST_TIERS], saved[PREFIX_MOST_TIERS];
static bool by_loads; /* in the pool only what is loaded from it counts as used */

/* Where a block is: on the GPU 0, on the host 1, in the pool 2, nowhere 3. */
static uint32_t place_of(uint32_t server, uint64_t name)
{
    return has(&gpu[server], name) ? 0 : has(&host[server], name) ? 1 : has(&pool, name) ? 2 : 3;
}

static void serve(const struct requests *requests, size_t index, uint32_t server)
{
    const struct request *request = &requests->all[index];
    uint64_t kept = (uint64_t)request->prompt + request->output - 1,
             all = (kept + BLOCK - 1) / BLOCK;
    uint64_t most = (request->prompt - 1) / BLOCK, count = 0;
    static uint32_t source[MOST_BLOCKS];
    if (all > gpu[server].room) {
        return;
    }
    for (; count < most; count++) {
        source[count] = place_of(server, name_of(requests, index, count));
        if (source[count] == 3) {
            break;
        }
        found[source[count]]++;
    }
    for (uint64_t block = count; block-- > 0;) {
        uint64_t name = name_of(requests, index, block);
        drop(&gpu[server], name);
        if (has(&host[server], name)) {
            use(&host[server], name);
        }
        if (has(&pool, name) && (!by_loads || source[block] == 2)) {
            use(&pool, name);
        }
    }
    for (uint64_t block = count; block-- > 0;) {
        if (source[block] == 2) {
            use(&host[server], name_of(requests, index, block));
        }
    }
    make_room(&gpu[server], (request->prompt + BLOCK - 1) / BLOCK);
    for (uint64_t block = 0; block < request->prompt / BLOCK; block++) {
        drop(&gpu[server],
             name_of(requests, index, block)); /* computed again: one of two is free */
    }
    make_room(&gpu[server], all);
    for (uint64_t block = kept / BLOCK; block-- > 0;) {
        uint64_t name = name_of(requests, index, block);
        saved[1] += use(&host[server], name);
        saved[2] += !(by_loads && has(&pool, name)) && use(&pool, name);
        use(&gpu[server], name);
    }
}

static struct prefix_options make_options(gsl_rng *random)
{
    const struct policy_kind *lru = policy_find("lru", NULL, 0, &why);
    by_loads = gsl_rng_uniform_int(random, 2) > 0;
    struct prefix_options options = {
        .block_tokens = BLOCK,
        .gpu_keeps = true,
        .recycles = gsl_rng_uniform_int(random, 2) > 0,
        .gpu_blocks = 20 + gsl_rng_uniform_int(random, 30),
        .lower_count = 2,
        .lower[0] = {.blocks = 20 + gsl_rng_uniform_int(random, 50),
                     .policy = lru,
                     .takes_loads = true},
        .lower[1] = {.blocks = 20 + gsl_rng_uniform_int(random, 300),
                     .policy = lru,
                     .used_by_loads = by_loads,
                     .write = PREFIX_WRITE_FILL},
    };
    return options;
}

static void a_pool_holds_what_any_server_left(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS(40, 10); seed++) {
        gsl_rng *random = random_stream(seed, "test.prefix-pool", 0, &why);
        struct requests requests = random_requests(random);
        const struct prefix_options options = make_options(random);
        uint32_t *server_of = calloc(requests.count, sizeof *server_of);
        struct prefix_totals totals = {.requests = 0};
        assert_non_null(server_of);
        memset(&pool, 0, sizeof pool);
        memset(found, 0, sizeof found);
        memset(saved, 0, sizeof saved);
        pool.room = (uint32_t)options.lower[1].blocks;
        for (uint32_t s = 0; s < SERVERS; s++) {
            gpu[s] = (struct list){.room = (uint32_t)options.gpu_blocks};
            host[s] = (struct list){.room = (uint32_t)options.lower[0].blocks};
        }
        for (size_t i = 0; i < requests.count; i++) {
            server_of[i] = (uint32_t)gsl_rng_uniform_int(random, SERVERS);
            serve(&requests, i, server_of[i]);
        }
        print_message("seed %u\n", (unsigned)seed);
        assert_true(prefix_replay(&options, &requests, server_of, 0, SERVERS, true, &totals, &why));
        for (uint32_t k = 0; k < 3; k++) {
            assert_int_equal(totals.found[k], found[k] * BLOCK);
        }
        for (uint32_t k = 1; k < 3; k++) {
            assert_int_equal(totals.moved[k].loaded, found[k]);
            assert_int_equal(totals.moved[k].saved, saved[k]);
        }
        assert_int_equal(totals.moved[2].held, pool.count);
        free(server_of);
        gsl_rng_free(random);
    }
}

/* Of one server, a pool is a tier like its own. With several, and room for all, they find together
 * what one server with endless memory finds: all that came before. */
static void an_endless_pool_is_the_traces_bound(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        gsl_rng *random = random_stream(seed, "test.prefix-pool.bound", 0, &why);
        struct requests requests = random_requests(random);
        struct prefix_options options = make_options(random);
        uint32_t *server_of = calloc(requests.count, sizeof *server_of);
        struct prefix_totals alone = {.requests = 0}, one = alone, several = alone;
        assert_non_null(server_of);
        options.lower[1].blocks = 1 << 20;
        assert_true(prefix_replay(&options, &requests, server_of, 0, 1, false, &alone, &why) &&
                    prefix_replay(&options, &requests, server_of, 0, 1, true, &one, &why));
        assert_memory_equal(&alone, &one, sizeof alone);
        for (uint32_t i = 0; i < requests.count; i++) {
            server_of[i] = (uint32_t)gsl_rng_uniform_int(random, SERVERS);
        }
        assert_true(
            prefix_replay(&options, &requests, server_of, 0, SERVERS, true, &several, &why));
        assert_int_equal(several.compute_tokens, alone.compute_tokens);
        free(server_of);
        gsl_rng_free(random);
    }
}

/* Three prompts for a pool of two: what was found on the GPU is as old as before, if only loads count. */
static void what_the_gpu_has_grows_old_in_the_pool(void **state)
{
    const uint32_t chunks[] = {0, 1, 0, 2, 0}, server_of[] = {0, 0, 0, 0, 1};
    struct requests requests = no_requests();
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        add_request(&requests, &chunks[i], 1, CHUNK, 1);
    }
    for (uint32_t loads = 0; loads < 2; loads++) {
        struct prefix_totals totals = {.requests = 0};
        const struct prefix_options options = {
            .block_tokens = BLOCK,
            .gpu_keeps = true,
            .gpu_blocks = 100,
            .lower_count = 1,
            .lower[0] = {.blocks = 2 * PER_CHUNK,
                         .policy = policy_find("lru", NULL, 0, &why),
                         .used_by_loads = loads > 0,
                         .write = PREFIX_WRITE_FILL},
        };
        assert_true(prefix_replay(&options, &requests, server_of, 0, 2, true, &totals, &why));
        assert_int_equal(totals.found[1], loads > 0 ? 0 : (PER_CHUNK - 1) * BLOCK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_holds_what_any_server_left),
        cmocka_unit_test(what_the_gpu_has_grows_old_in_the_pool),
        cmocka_unit_test(an_endless_pool_is_the_traces_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
