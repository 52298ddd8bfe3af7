/* The prefix cache: cases counted by hand, and what holds of random requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/policy.h"
#include "unit/fixture/make_requests.h"

static struct error why;

static bool replay(const struct prefix_options *options, const struct requests *requests,
                   struct prefix_totals *totals)
{
    const uint32_t server_of[MOST] = {0};
    *totals = (struct prefix_totals){.requests = 0};
    return prefix_replay(options, requests, server_of, 0, 1, false, totals, &why);
}

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
    assert_int_equal(totals.found[0], 10 * BLOCK);
    assert_int_equal(totals.found[1], 0);
    assert_int_equal(totals.compute_tokens, 3 * 812 - 10 * BLOCK);

    /* a GPU that holds one of them, which the next one evicts from its end: 7 blocks, 4 shared */
    options.gpu_blocks = 7;
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.found[0], 8 * BLOCK);

    /* one that keeps nothing, over a host: the same is found as with room for all */
    options.gpu_keeps = false;
    options.lower_count = 1;
    options.lower[0].write = PREFIX_WRITE_FINISH;
    options.lower[0].blocks = 8;
    options.lower[0].policy = policy_find("lru", NULL, 0, &why);
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.found[1], 10 * BLOCK);
    assert_int_equal(totals.moved[1].loaded, 10);
    assert_int_equal(totals.moved[1].saved, 8);

    /* and one too small for any */
    options.gpu_blocks = 6;
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.requests, 0);
    assert_int_equal(totals.too_long, 3);
}

/* The same prompt of 6.3 blocks 16 times, to two ranks: each computes it once, in the GPU's blocks and in those
 * below. A rank with fewer than 7 blocks holds none. */
static void a_rank_finds_what_it_left_itself(void **state)
{
    (void)state;
    struct requests requests = no_requests();
    struct prefix_totals totals;
    for (int i = 0; i < 16; i++) {
        add_request(&requests, (uint32_t[]){0, 1}, 2, 300, 1);
    }
    struct prefix_options options = {
        .block_tokens = BLOCK, .gpu_keeps = true, .gpu_blocks = 14, .ranks = 2};
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.requests, 16);
    assert_int_equal(totals.found[0], 14 * 6 * BLOCK);

    options.recycles = true;
    options.gpu_keeps = false;
    options.lower_count = 1;
    options.lower[0] = (struct prefix_tier){
        .blocks = 12, .policy = policy_find("lru", NULL, 0, &why), .write = PREFIX_WRITE_FINISH};
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.found[1], 14 * 6 * BLOCK);

    options.gpu_blocks = 13;
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.too_long, 16);
}

/* A prompt of 6.3 blocks comes again when only the disk has it. Computing a block takes 10. */
static void check_choice(struct prefix_options *options, uint64_t loaded)
{
    static const double compute_ns[] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
    struct requests requests = no_requests();
    struct prefix_totals totals;
    add_request(&requests, (uint32_t[]){0, 1}, 2, 300, 1);
    add_request(&requests, (uint32_t[]){2, 3}, 2, 300, 1);
    add_request(&requests, (uint32_t[]){0, 1}, 2, 300, 1);
    options->compute_ns = compute_ns;
    assert_true(replay(options, &requests, &totals));
    assert_int_equal(totals.moved[1].loaded, 0);
    assert_int_equal(totals.moved[2].loaded, loaded);
}

/* The host holds a block less than the prompt. */
static void a_prefix_is_loaded_if_that_is_faster(void **state)
{
    (void)state;
    const struct policy_kind *lru = policy_find("lru", NULL, 0, &why);
    struct prefix_options options = {
        .block_tokens = BLOCK,
        .gpu_blocks = 7,
        .lower_count = 2,
        .lower[0] = {.blocks = 6, .policy = lru, .takes_loads = true},
        .lower[1] = {.blocks = 100, .policy = lru, .write = PREFIX_WRITE_FILL},
        .load_ns = {0, 1, 12},
    };
    check_choice(&options, 6);
    options.cheaper = true;
    check_choice(&options, 0); /* 12 each */
    options.load_ns[2] = 8;
    check_choice(&options, 6);
    options.first_ns[2] = 12;
    check_choice(&options, 6); /* 12 + 6 x 8 = 60, as long as computing */
    options.first_ns[2] = 13;
    check_choice(&options, 0);
    options.cheaper = false;
    options.least_blocks = 6;
    check_choice(&options, 6);
    options.least_blocks = 7;
    check_choice(&options, 0);
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
    assert_int_equal(totals.found[0], CHUNK - BLOCK);
}

/* Blocks of 2 chunks: the second prompt begins with the block of the first; the third one shares
 * half of it, which is no block. */
static void a_block_may_hold_several_chunks(void **state)
{
    (void)state;
    struct requests requests = no_requests();
    struct prefix_totals totals;
    add_request(&requests, (uint32_t[]){0, 1, 2}, 3, 300, 1);
    add_request(&requests, (uint32_t[]){0, 1, 3}, 3, 200, 1);
    add_request(&requests, (uint32_t[]){0, 4, 5}, 3, 200, 1);
    struct prefix_options options = {
        .block_tokens = 2 * CHUNK, .gpu_keeps = true, .gpu_blocks = 100};
    assert_true(replay(&options, &requests, &totals));
    assert_int_equal(totals.found[0], 2 * CHUNK);
    options.block_tokens = 300;
    assert_false(replay(&options, &requests, &totals));
    assert_string_equal(why.found, "blocks of 300 tokens, and hashes of 512");
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
                                             .lower_count = 1,
                                             .gpu_blocks = 30,
                                             .lower[0].blocks = host,
                                             .lower[0].write = PREFIX_WRITE_FINISH,
                                             .lower[0].policy = policy_find("lru", NULL, 0, &why)};
            assert_true(replay(&options, &requests, &totals));
            assert_true(totals.found[0] + totals.found[1] >= before);
            before = totals.found[0] + totals.found[1];
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
                                     .lower_count = 1,
                                     .gpu_blocks = 10,
                                     .lower[0].blocks = 10,
                                     .lower[0].write = PREFIX_WRITE_FINISH,
                                     .lower[0].policy = policy_find("qsac", NULL, 0, &why)};
    assert_false(replay(&options, &requests, &totals));
    assert_string_equal(why.found, "policy 'qsac' cannot run the host tier of a prefix cache");
    options.lower[0].policy = policy_find("arc", NULL, 0, &why);
    assert_true(replay(&options, &requests, &totals));
    options.lower_count = 2;
    options.lower[1] = (struct prefix_tier){.blocks = 10, .write = PREFIX_WRITE_EVICT};
    assert_false(replay(&options, &requests, &totals));
    assert_string_equal(why.found, "a tier under policy 'arc' hands on nothing that it evicts");
    options.lower_count = 1;
    options.pins = true;
    assert_false(replay(&options, &requests, &totals));
    assert_string_equal(why.found, "policy 'arc' cannot pin blocks of a host tier");
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
    struct prefix_options options = {.block_tokens = BLOCK,
                                     .gpu_keeps = true,
                                     .lower_count = 1,
                                     .gpu_blocks = 6,
                                     .lower[0].blocks = 64,
                                     .saves_wait = true,
                                     .lower[0].write = PREFIX_WRITE_FINISH};
    options.lower[0].policy = policy_find("lru", NULL, 0, &why);
    add_request(&requests, &chunk, 1, CHUNK, 1); /* 4 blocks */
    add_request(&requests, &other, 1, CHUNK, 1);
    add_request(&requests, &chunk, 1, CHUNK, 1);
    struct prefix_cache *cache = prefix_cache_create(&options, &requests, &why);
    assert_non_null(cache);
    assert_true(prefix_begin(cache, 0, CHUNK, CHUNK, &match));
    prefix_fill(cache, 0, CHUNK);
    prefix_end(cache, 0, true);
    assert_int_equal(prefix_counts(cache, 1).saved, 4);
    assert_int_equal(prefix_room(cache), 2);
    assert_false(prefix_begin(cache, 1, CHUNK, CHUNK, &match));
    prefix_saved(cache, 1, 4);
    assert_int_equal(prefix_room(cache), 6);
    assert_true(prefix_begin(cache, 1, CHUNK, CHUNK, &match)); /* evicts the last 2 of the 4 */
    prefix_fill(cache, 1, CHUNK);
    prefix_end(cache, 1, true);
    prefix_saved(cache, 1, 4);
    assert_true(prefix_begin(cache, 2, CHUNK, CHUNK, &match));
    assert_int_equal(match.found[0], 2 * BLOCK);
    assert_int_equal(match.found[1], BLOCK); /* the last block is always computed */
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
        struct prefix_options options = {.block_tokens = BLOCK,
                                         .gpu_keeps = true,
                                         .lower_count = 1,
                                         .gpu_blocks = 4,
                                         .lower[0].blocks = 4,
                                         .pins = pins > 0,
                                         .lower[0].write = PREFIX_WRITE_EVICT};
        options.lower[0].policy = policy_find("lru", NULL, 0, &why);
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
        assert_int_equal(prefix_counts(cache, 1).saved, 4);
        assert_true(prefix_begin(cache, 2, CHUNK, CHUNK, &match));
        assert_int_equal(match.found[1], 3 * BLOCK);
        assert_int_equal(prefix_counts(cache, 1).saved, 8);
        prefix_loaded(cache, 1, 3);
        prefix_end(cache, 2, false);
        assert_true(prefix_begin(cache, 3, CHUNK, CHUNK, &match));
        assert_int_equal(match.found[1], (pins ? 1 : 3) * BLOCK);
        prefix_end(cache, 3, false);
        prefix_cache_destroy(cache);
    }
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
        struct prefix_options options = {.block_tokens = BLOCK,
                                         .gpu_keeps = true,
                                         .lower_count = 1,
                                         .saves_wait = true,
                                         .gpu_blocks = 20 + gsl_rng_uniform_int(random, 60),
                                         .lower[0].blocks = 1 + gsl_rng_uniform_int(random, 100),
                                         .lower[0].write = (enum prefix_write)(seed % 3),
                                         .lower[0].policy = policy_find("lru", NULL, 0, &why)};
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
                assert_true(!never || match.found[1] == 0);
                assert_int_equal(match.found[0] + match.found[1] + match.compute_tokens, prompt);
            }
            uint64_t left = never ? 0 : prefix_counts(cache, 1).saved - arrived;
            uint64_t some = gsl_rng_uniform_int(random, left + 1);
            prefix_saved(cache, 1, some);
            arrived += some;
        }
        for (size_t i = 0; i < requests.count; i++) {
            if (held[i]) {
                prefix_end(cache, i, false);
            }
        }
        prefix_saved(cache, 1, prefix_counts(cache, 1).saved - arrived);
        assert_int_equal(prefix_room(cache), options.gpu_blocks);
        prefix_cache_destroy(cache);
        gsl_rng_free(random);
    }
}

/* Requests whose prompts are their own need new numbers all the time. */
static void recycled_numbers_change_nothing(void **state)
{
    (void)state;
    enum { GPU_BLOCKS = 40 };
    for (uint64_t seed = 1; seed <= 200; seed++) {
        print_message("seed %u\n", (unsigned)seed);
        gsl_rng *random = random_stream(seed, "test.prefix.recycled", 0, &why);
        bool has_host = seed % 3 > 0, waits = has_host && seed % 2 > 0;
        struct requests requests = random_requests(random);
        struct prefix_cache *caches[2];
        bool held[MOST] = {false}, ended[MOST] = {false};
        uint64_t computed[MOST] = {0}; /* tokens */
        uint64_t saved = 0;
        for (size_t i = 0; i < requests.count; i++) {
            requests.all[i].chunks = i % 4 == 0 ? requests.all[i].chunks : 0;
        }
        for (int i = 0; i < 2; i++) {
            struct prefix_options options = {.block_tokens = BLOCK,
                                             .gpu_keeps = seed % 7 > 0,
                                             .recycles = i > 0,
                                             .gpu_blocks = GPU_BLOCKS,
                                             .lower_count = has_host,
                                             .lower[0].blocks = 1 + seed % 30,
                                             .lower[0].policy = &policy_lru,
                                             .saves_wait = waits,
                                             .pins = waits && seed % 5 > 2,
                                             .unit_blocks = 1 + seed % 2,
                                             .lower[0].least_asked = 1 + seed % 2,
                                             .lower[0].write = (enum prefix_write)(seed / 6 % 3)};
            caches[i] = prefix_cache_create(&options, &requests, &why);
        }
        for (int i = 0; i < 2000; i++) {
            size_t index = gsl_rng_uniform_int(random, requests.count);
            bool done = gsl_rng_uniform_int(random, 4) > 0, begun[2];
            struct prefix_match match[2] = {{.compute_tokens = 0}, {.compute_tokens = 0}};
            uint64_t prompt = requests.all[index].prompt;
            bool whole = done || gsl_rng_uniform_int(random, 2) > 0;
            uint64_t end = whole ? prompt : gsl_rng_uniform_int(random, prompt + 1);
            if (held[index] && end > computed[index]) {
                computed[index] = end;
            }
            for (int j = 0; j < 2 && held[index]; j++) {
                prefix_fill(caches[j], index, computed[index]);
                prefix_end(caches[j], index, done);
            }
            if (held[index] || ended[index]) {
                ended[index] = ended[index] || done;
                held[index] = false;
                continue;
            }
            for (int j = 0; j < 2; j++) {
                begun[j] = prefix_begin(caches[j], index, prompt, prompt, &match[j]);
            }
            held[index] = begun[0];
            if (begun[0]) {
                computed[index] = match[0].found[0] + match[0].found[1];
            }
            assert_int_equal(begun[1], begun[0]);
            assert_memory_equal(&match[1], &match[0], sizeof *match);
            assert_int_equal(prefix_held(caches[1], index), prefix_held(caches[0], index));
            assert_int_equal(prefix_room(caches[1]), prefix_room(caches[0]));
            struct prefix_census all = prefix_census(caches[0]);
            struct prefix_census same = prefix_census(caches[1]);
            assert_memory_equal(&same.of[0].blocks, &all.of[0].blocks, sizeof all.of[0].blocks);
            struct prefix_counts counts = prefix_counts(caches[0], 1);
            struct prefix_counts recycled = prefix_counts(caches[1], 1);
            assert_memory_equal(&recycled, &counts, sizeof counts);
            uint64_t some = waits ? gsl_rng_uniform_int(random, counts.saved - saved + 1) : 0;
            uint64_t come = gsl_rng_uniform_int(random, 4);
            for (int j = 0; j < 2; j++) {
                prefix_saved(caches[j], 1, some);
                prefix_loaded(caches[j], 1, come);
            }
            saved += some;
        }
        prefix_cache_destroy(caches[0]);
        prefix_cache_destroy(caches[1]);
        gsl_rng_free(random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_finds_what_earlier_ones_left),
        cmocka_unit_test(a_rank_finds_what_it_left_itself),
        cmocka_unit_test(a_prefix_is_loaded_if_that_is_faster),
        cmocka_unit_test(a_known_prompt_still_computes_its_last_block),
        cmocka_unit_test(a_block_may_hold_several_chunks),
        cmocka_unit_test(more_host_memory_never_finds_less_under_lru),
        cmocka_unit_test(what_cannot_run_a_host_is_refused),
        cmocka_unit_test(what_is_saved_has_to_arrive),
        cmocka_unit_test(what_is_loaded_stays_on_the_host),
        cmocka_unit_test(recycled_numbers_change_nothing),
        cmocka_unit_test(saves_of_any_length_lose_no_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
