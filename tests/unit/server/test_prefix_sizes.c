/* What a replay finds in one to three lower tiers, by their sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "server/prefix/prefix_replay.h"

#include <stdlib.h>

enum { CHUNK = 64, BLOCK = 16, MOST = 400, DEEPEST = 6, SIZES = 10 };

static struct error why;

/* Prompts that are paths through a tree with two children a node; some ends are cut short, all
 * alike, some are longer than the GPU. */
static struct requests make_requests(gsl_rng *random)
{
    uint32_t nodes = 1u << (DEEPEST + 2);
    struct requests requests = {.all = calloc(MOST, sizeof *requests.all),
                                .chunks = calloc(MOST * DEEPEST, sizeof *requests.chunks),
                                .kind = calloc(nodes, sizeof *requests.kind),
                                .chunk_tokens = CHUNK};
    assert_true(requests.all != NULL && requests.chunks != NULL && requests.kind != NULL);
    requests.ids.count = nodes;
    for (uint32_t i = 0; i < MOST; i++) {
        uint32_t depth = 1 + (uint32_t)gsl_rng_uniform_int(random, DEEPEST), node = 0;
        uint32_t tail = depth == DEEPEST ? 40 : CHUNK;
        requests.all[i] = (struct request){
            .prompt = (depth - 1) * CHUNK + tail,
            .output = 1 + (uint32_t)gsl_rng_uniform_int(random, i % 50 == 0 ? 2000 : 100),
            .first_chunk = requests.chunk_count,
            .chunks = depth,
        };
        for (uint32_t d = 0; d < depth; d++) {
            requests.kind[node].tokens = d + 1 < depth ? CHUNK : tail;
            requests.chunks[requests.chunk_count++] = node;
            node = 2 * node + 1 + (uint32_t)gsl_rng_uniform_int(random, 2);
        }
    }
    requests.count = MOST;
    return requests;
}

/* A block is worth the more, the later in its prompt it comes. */
static double worth[DEEPEST * CHUNK / BLOCK + 1];

static void price_blocks(void)
{
    for (uint32_t i = 0; i < sizeof worth / sizeof *worth; i++) {
        worth[i] = 3 * i + i * i;
    }
}

static struct prefix_options make_options(gsl_rng *random)
{
    struct prefix_options options = {
        .block_tokens = BLOCK,
        .compute_ns = worth,
        .load_ns = {0, 1, 2, 4},
        .gpu_keeps = gsl_rng_uniform_int(random, 4) > 0,
        .lower_count = 1 + (uint32_t)gsl_rng_uniform_int(random, 3),
        .gpu_blocks = 30 + gsl_rng_uniform_int(random, 70),
        .unit_blocks = 1 + (uint32_t)gsl_rng_uniform_int(random, 5),
        .prompts_only = gsl_rng_uniform_int(random, 2) > 0,
    };
    for (uint32_t k = 0; k < options.lower_count; k++) {
        options.lower[k] = (struct prefix_tier){
            .policy = policy_find("lru", NULL, 0, &why),
            .takes_loads = gsl_rng_uniform_int(random, 2) > 0,
            .write = gsl_rng_uniform_int(random, 2) > 0 ? PREFIX_WRITE_FINISH : PREFIX_WRITE_FILL,
        };
    }
    return options;
}

/* Of two servers. */
static void larger_tiers_never_find_less(void **state)
{
    (void)state;
    uint64_t below_all = 0, left_out = 0;
    price_blocks();
    for (uint64_t seed = 1; seed <= 40; seed++) {
        gsl_rng *random = random_stream(seed, "test.prefix_sizes", 0, &why);
        assert_non_null(random);
        print_message("seed %u\n", (unsigned)seed);
        struct requests requests = make_requests(random);
        struct prefix_options options = make_options(random);
        uint32_t server_of[MOST];
        uint64_t least = (requests_longest(&requests) - 1) / BLOCK, before = 0;
        for (uint32_t i = 0; i < MOST; i++) {
            server_of[i] = i % 2;
        }
        for (int i = 0; i < SIZES; i++) {
            struct prefix_totals found = {.requests = 0};
            uint64_t below = 0;
            for (uint32_t k = 0; k < options.lower_count; k++) {
                options.lower[k].blocks = least + 20 * (uint64_t)i;
            }
            assert_true(prefix_replay(&options, &requests, server_of, 0, 2, false, &found, &why));
            for (uint32_t k = 1; k < PREFIX_MOST_TIERS; k++) {
                below += found.found[k];
            }
            assert_true(below >= before);
            assert_true(found.worth_ns > 0 || below == 0);
            before = below;
            below_all += below;
            left_out += found.too_long;
        }
        free(requests.all);
        free(requests.chunks);
        free(requests.kind);
        gsl_rng_free(random);
    }
    assert_true(below_all > 0 && left_out > 0);
}

/* Tokens of blocks that an earlier request of the same server held, worked out chunk by chunk. */
static uint64_t count_seen(const struct requests *requests, uint64_t room)
{
    bool seen[1u << (DEEPEST + 2)] = {false};
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        const uint32_t *chunks = requests->chunks + request->first_chunk;
        uint64_t found = 0, most = (uint64_t)(request->prompt - 1) / BLOCK * BLOCK;
        if (request_kept_tokens(request) > room) {
            continue;
        }
        for (uint32_t c = 0; c < request->chunks && seen[chunks[c]]; c++) {
            found += requests->kind[chunks[c]].tokens;
        }
        tokens += found < most ? found : most;
        for (uint32_t c = 0; c < request->chunks; c++) {
            seen[chunks[c]] = true;
        }
    }
    return tokens;
}

static void endless_memory_finds_all_that_came_before(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        gsl_rng *random = random_stream(seed, "test.prefix_sizes.endless", 0, &why);
        struct requests requests = make_requests(random);
        struct prefix_options options = make_options(random);
        const uint32_t server_of[MOST] = {0};
        options.unit_blocks = 1;
        for (uint32_t k = 0; k < options.lower_count; k++) {
            options.lower[k].blocks = 1 << 20;
        }
        uint64_t seen = count_seen(&requests, options.gpu_blocks * BLOCK);
        struct prefix_totals found = {.requests = 0};
        assert_true(prefix_replay(&options, &requests, server_of, 0, 1, false, &found, &why));
        assert_int_equal(found.found[0] + found.found[1], seen);
        free(requests.all);
        free(requests.chunks);
        free(requests.kind);
        gsl_rng_free(random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(larger_tiers_never_find_less),
        cmocka_unit_test(endless_memory_finds_all_that_came_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
