/* The curve of one to three lower tiers against a replay at each size. */
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

/* The curve with tiers of so many blocks each. */
static struct prefix_totals read_at(const struct prefix_curve *curve, struct prefix_options options,
                                    uint64_t blocks)
{
    for (uint32_t k = 0; k < options.lower_count; k++) {
        options.lower[k].blocks = blocks;
    }
    return prefix_curve_read(curve, &options);
}

/* A larger tier never finds less, whichever it is, nor do all together. */
static void check_rises(const struct prefix_curve *curve, const struct prefix_options *options,
                        gsl_rng *random)
{
    for (uint32_t k = 0; k < options->lower_count; k++) {
        struct prefix_options at = *options;
        uint64_t all = 0, down_to = 0;
        for (uint32_t i = 0; i < at.lower_count; i++) {
            at.lower[i].blocks = prefix_curve_least(curve) + gsl_rng_uniform_int(random, 200);
        }
        for (uint64_t more = 0; more < 400; more += 5) {
            uint64_t below = 0, now = 0;
            at.lower[k].blocks = prefix_curve_least(curve) + more;
            const struct prefix_totals totals = prefix_curve_read(curve, &at);
            for (uint32_t i = 1; i <= at.lower_count; i++) {
                below += totals.found[i];
                now += i <= k + 1 ? totals.found[i] : 0;
            }
            assert_true(below >= all && now >= down_to);
            all = below;
            down_to = now;
        }
    }
}

/* Two servers, so that a curve is of several. */
static void check_sizes(const struct prefix_options *options, const struct requests *requests,
                        gsl_rng *random)
{
    uint32_t indices[MOST], half = MOST / 2;
    uint64_t before = 0, left_out = 0;
    for (uint32_t i = 0; i < MOST; i++) {
        indices[i] = i % 2 == 0 ? i / 2 : half + i / 2;
    }
    struct prefix_curve *curve = prefix_curve_create(options, requests, &why);
    assert_non_null(curve);
    assert_true(prefix_curve_add(curve, indices, half, &why));
    assert_true(prefix_curve_add(curve, indices + half, MOST - half, &why));
    for (int i = 0; i < SIZES; i++) {
        struct prefix_options at = *options;
        struct prefix_totals alone = {.requests = 0};
        uint64_t least = prefix_curve_least(curve);
        for (uint32_t k = 0; k < at.lower_count; k++) {
            at.lower[k].blocks = least + gsl_rng_uniform_int(random, 40) * (uint32_t)(i + 1);
        }
        assert_true(prefix_replay(&at, requests, indices, half, &alone, &why) &&
                    prefix_replay(&at, requests, indices + half, MOST - half, &alone, &why));
        struct prefix_totals found = prefix_curve_read(curve, &at);
        uint64_t below = 0;
        for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
            assert_int_equal(found.found[k], alone.found[k]);
            assert_int_equal(found.moved[k].loaded, alone.moved[k].loaded);
            assert_int_equal(found.moved[k].saved, alone.moved[k].saved);
            assert_int_equal(found.moved[k].held, alone.moved[k].held);
            below += k > 0 ? found.found[k] : 0;
        }
        uint64_t most = 0, best;
        for (uint32_t k = 0; k < at.lower_count; k++) {
            most = at.lower[k].blocks > most ? at.lower[k].blocks : most;
        }
        assert_true(prefix_curve_best(curve, most, &best, &why));
        assert_true(best >= below); /* no policy finds more */
        assert_int_equal(found.compute_tokens, alone.compute_tokens);
        assert_true(found.worth_ns == alone.worth_ns); /* whole numbers */
        assert_true(found.worth_ns > 0 || below == 0);
        assert_int_equal(found.requests, alone.requests);
        assert_int_equal(found.too_long, alone.too_long);
        assert_int_equal(found.prompt_tokens, alone.prompt_tokens);
        left_out += found.too_long;
    }
    for (uint64_t size = 0; size < 600; size++) { /* more never finds less */
        uint64_t now = read_at(curve, *options, size).found[1];
        assert_true(now >= before);
        before = now;
    }
    assert_true(before > 0 && left_out > 0);
    check_rises(curve, options, random);
    prefix_curve_destroy(curve);
}

static void a_pass_is_a_replay_at_every_size(void **state)
{
    (void)state;
    price_blocks();
    for (uint64_t seed = 1; seed <= 40; seed++) {
        gsl_rng *random = random_stream(seed, "test.prefix_curve", 0, &why);
        assert_non_null(random);
        print_message("seed %u\n", (unsigned)seed);
        struct requests requests = make_requests(random);
        struct prefix_options options = make_options(random);
        check_sizes(&options, &requests, random);
        free(requests.all);
        free(requests.chunks);
        free(requests.kind);
        gsl_rng_free(random);
    }
}

/* Tokens of blocks that an earlier request of the same server held, worked out chunk by chunk. */
static uint64_t count_seen(const struct requests *requests, const uint32_t *indices, uint32_t count,
                           uint64_t room)
{
    bool seen[1u << (DEEPEST + 2)] = {false};
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct request *request = &requests->all[indices[i]];
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
        gsl_rng *random = random_stream(seed, "test.prefix_curve.bound", 0, &why);
        struct requests requests = make_requests(random);
        struct prefix_options options = make_options(random);
        uint32_t indices[MOST];
        for (uint32_t i = 0; i < MOST; i++) {
            indices[i] = i;
        }
        options.unit_blocks = 1;
        struct prefix_curve *curve = prefix_curve_create(&options, &requests, &why);
        assert_true(curve != NULL && prefix_curve_add(curve, indices, MOST, &why));
        struct prefix_totals found = read_at(curve, options, UINT64_MAX);
        assert_int_equal(found.found[0] + found.found[1],
                         count_seen(&requests, indices, MOST, options.gpu_blocks * BLOCK));
        prefix_curve_destroy(curve);
        free(requests.all);
        free(requests.chunks);
        free(requests.kind);
        gsl_rng_free(random);
    }
}

/* Touches that depend on what was found are no stack. */
static void others_are_replayed(void **state)
{
    (void)state;
    struct prefix_options options = {.lower_count = 1,
                                     .lower[0].write = PREFIX_WRITE_FINISH,
                                     .lower[0].policy = policy_find("lru", NULL, 0, &why)};
    assert_true(prefix_curve_applies(&options));
    options.lower[0].write = PREFIX_WRITE_FILL;
    assert_true(prefix_curve_applies(&options));
    options.lower[0].least_asked = 2;
    assert_false(prefix_curve_applies(&options));
    options.lower[0].least_asked = 1;
    options.lower[0].write = PREFIX_WRITE_EVICT;
    assert_false(prefix_curve_applies(&options));
    options.lower[0].write = PREFIX_WRITE_FINISH;
    options.lower[0].policy = policy_find("fifo", NULL, 0, &why);
    assert_false(prefix_curve_applies(&options));
    options.lower[0].policy = NULL;
    assert_false(prefix_curve_applies(&options));
    options.lower[0].policy = policy_find("lru", NULL, 0, &why);
    options.lower[1] = options.lower[0];
    options.lower_count = 2;
    assert_true(prefix_curve_applies(&options));
    options.lower[1].write = PREFIX_WRITE_EVICT;
    assert_false(prefix_curve_applies(&options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_is_a_replay_at_every_size),
        cmocka_unit_test(endless_memory_finds_all_that_came_before),
        cmocka_unit_test(others_are_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
