/* Requests that are made up: their lengths, what they share, and texts that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/requests/synthetic.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

static struct requests requests;
static struct error why;

static bool make(const char *name, uint64_t limit, uint64_t seed)
{
    const struct requests_options options = {.limit = limit, .seed = seed};
    return synthetic_make(name, &options, &requests, &why);
}

static void without_a_spread_all_are_equal(void **state)
{
    (void)state;
    assert_true(make("synthetic:prompt=100,output=7", 0, 1));
    assert_int_equal(requests.count, 1000);
    assert_false(requests.arrive);
    assert_int_equal(requests.chunk_tokens, 0);
    for (size_t i = 0; i < requests.count; i++) {
        assert_int_equal(requests.all[i].prompt, 100);
        assert_int_equal(requests.all[i].output, 7);
    }
    requests_release(&requests);
    assert_true(make("synthetic:prompt=1K,output=7,requests=50", 20, 1));
    assert_int_equal(requests.count, 20);
    assert_int_equal(requests.all[19].prompt, 1024);
    requests_release(&requests);
}

/* 20 000 prompts of 1000 +- 500 tokens: mean and deviation are off by some 4 and 6. The median of a
 * log-normal is its mean / sqrt(1 + 0.25) = 894, not 1000: half of all are below. */
static void a_spread_is_the_deviation_of_a_lognormal(void **state)
{
    (void)state;
    double sum = 0, squares = 0, below = 0;
    assert_true(make("synthetic:prompt=1000,output=7,prompt_spread=50%,requests=20000", 0, 3));
    for (size_t i = 0; i < requests.count; i++) {
        double tokens = requests.all[i].prompt;
        sum += tokens;
        squares += tokens * tokens;
        below += tokens < 894;
        assert_int_equal(requests.all[i].output, 7);
    }
    double mean = sum / 20000;
    assert_true(fabs(mean - 1000) < 15);
    assert_true(fabs(sqrt(squares / 20000 - mean * mean) - 500) < 25);
    assert_true(fabs(below / 20000 - 0.5) < 0.015);
    requests_release(&requests);
}

/* 20 000 numbers from 500 to 1500, each as likely: the mean of 1000 is off by some 2, the deviation
 * is 1001 / sqrt(12) = 289, and both ends come. */
static void a_range_is_uniform(void **state)
{
    (void)state;
    double sum = 0, squares = 0;
    uint32_t least = UINT32_MAX, most = 0, ones = 0;
    assert_true(make("synthetic:prompt=500-1500,output=1-2,requests=20000", 0, 3));
    for (size_t i = 0; i < requests.count; i++) {
        uint32_t tokens = requests.all[i].prompt;
        sum += tokens;
        squares += (double)tokens * tokens;
        least = tokens < least ? tokens : least;
        most = tokens > most ? tokens : most;
        ones += requests.all[i].output == 1;
    }
    double mean = sum / 20000;
    assert_true(fabs(mean - 1000) < 8);
    assert_true(fabs(sqrt(squares / 20000 - mean * mean) - 289) < 6);
    assert_int_equal(least, 500);
    assert_int_equal(most, 1500);
    assert_true(fabs(ones / 20000.0 - 0.5) < 0.015);
    requests_release(&requests);
}

/* What synthetic.h says of a set: the means and deviations of 512 pairs, and their correlation. */
static void a_data_set_has_its_lengths(void **state)
{
    static const struct {
        double prompt, prompt_spread, output, output_spread, correlation;
    } said[] = {{218.5, 1.10, 200.1, 1.02, -0.27}, {315.4, 1.75, 199.7, 1.06, -0.09}};
    (void)state;
    static const char *const names[] = {"sharegpt", "sharegpt-sglang"};
    for (int set = 0; set < 2; set++) {
        struct error why;
        struct length_set found, *own = &found;
        assert_true(length_set_find(names[set], own, &why) && own->count == LENGTH_SET_PAIRS);
        double prompts = 0, outputs = 0, both = 0;
        for (int i = 0; i < LENGTH_SET_PAIRS; i++) {
            double prompt = own->pairs[i].prompt - own->prompt;
            double output = own->pairs[i].output - own->output;
            assert_true(own->pairs[i].prompt > 0 && own->pairs[i].output > 0);
            prompts += prompt * prompt / LENGTH_SET_PAIRS;
            outputs += output * output / LENGTH_SET_PAIRS;
            both += prompt * output / LENGTH_SET_PAIRS;
        }
        assert_true(fabs(own->prompt - said[set].prompt) < 0.06);
        assert_true(fabs(own->output - said[set].output) < 0.06);
        assert_true(fabs(sqrt(prompts) / own->prompt - said[set].prompt_spread) < 0.006);
        assert_true(fabs(sqrt(outputs) / own->output - said[set].output_spread) < 0.006);
        assert_true(fabs(both / sqrt(prompts * outputs) - said[set].correlation) < 0.006);
    }
}

/* Each request is one of the pairs. Of 20 000 the means are off by some 2; a quarter of the prompts
 * have at most 21 tokens, and a quarter of the answers at most 26. */
static void requests_of_a_data_set_are_its_pairs(void **state)
{
    (void)state;
    struct error fault;
    struct length_set set;
    assert_true(length_set_find("sharegpt", &set, &fault));
    double prompts = 0, outputs = 0, short_prompts = 0, short_outputs = 0;
    assert_true(make("synthetic:lengths=sharegpt,requests=20000", 0, 3));
    for (size_t i = 0; i < requests.count; i++) {
        const struct request *request = &requests.all[i];
        bool found = false;
        for (int j = 0; j < LENGTH_SET_PAIRS && !found; j++) {
            const struct length_pair *pair = &set.pairs[j];
            found = pair->prompt == request->prompt && pair->output == request->output;
        }
        assert_true(found);
        prompts += request->prompt;
        outputs += request->output;
        short_prompts += request->prompt <= 21;
        short_outputs += request->output <= 26;
    }
    assert_true(fabs(prompts / 20000 - 218.5) < 7);
    assert_true(fabs(outputs / 20000 - 200.1) < 6);
    assert_true(fabs(short_prompts / 20000 - 0.25) < 0.02);
    assert_true(fabs(short_outputs / 20000 - 0.25) < 0.02);
    requests_release(&requests);
}

/* The pairs that were drawn without means, times 1000 / 218.49 and 100 / 200.07. A prompt is at least
 * one token longer than its prefix. */
static void lengths_of_a_data_set_are_scaled_to_means(void **state)
{
    (void)state;
    uint32_t own[20][2];
    static const char name[] = "synthetic:lengths=sharegpt,requests=20";
    assert_true(make(name, 0, 3));
    /* Stored runs are found by the lengths, too, not by their name alone. */
    assert_true(requests.content != XXH64(name, strlen(name), 3));
    for (int i = 0; i < 20; i++) {
        own[i][0] = requests.all[i].prompt;
        own[i][1] = requests.all[i].output;
    }
    requests_release(&requests);
    assert_true(make("synthetic:prompt=1000,lengths=sharegpt,output=100,requests=20", 0, 3));
    for (int i = 0; i < 20; i++) {
        double prompt = own[i][0] * 1000 * 512 / 111869.0, output = own[i][1] * 512 / 1024.35;
        assert_int_equal(requests.all[i].prompt, (uint32_t)fmax(1, round(prompt)));
        assert_int_equal(requests.all[i].output, (uint32_t)fmax(1, round(output)));
    }
    requests_release(&requests);
    assert_true(make("synthetic:lengths=sharegpt,prefix=64,turns=2", 0, 3));
    for (size_t i = 0; i < requests.count; i++) {
        assert_true(requests.all[i].prompt > 64);
    }
    requests_release(&requests);
}

static void equal_lengths_are_told_from_others(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool even;
    } cases[] = {
        {"synthetic:prompt=100,output=7,prefix=50", true},
        {"synthetic:prompt=100-100,output=7", true},
        {"synthetic:prompt=100-101,output=7", false},
        {"synthetic:prompt=100,output=7,output_spread=1%", false},
        {"synthetic:prompt=100,output=7,turns=2", false},
        {"synthetic:lengths=sharegpt", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(make(cases[i].name, 4, 1));
        assert_int_equal(requests.drawn.even, cases[i].even);
        requests_release(&requests);
    }
}

/* Prompts of 100 tokens, 40 of them of one of 3 prefixes: 2 whole chunks of 16 are shared. The other 5
 * are in no other prompt, and take no memory. */
static void prompts_share_the_whole_chunks_of_their_prefix(void **state)
{
    (void)state;
    uint32_t kinds[3] = {0};
    assert_true(make("synthetic:prompt=100,output=1,prefix=40,prefixes=3,requests=300", 0, 1));
    assert_int_equal(requests.chunk_tokens, 16);
    assert_int_equal(requests.ids.count, 3 * 2);
    assert_int_equal(requests.chunk_count, 3 * 2);
    assert_int_equal(requests.hashed.all, 300 * 7);
    assert_int_equal(requests.hashed.hits, 297 * 2);
    for (size_t i = 0; i < requests.count; i++) {
        const struct request *request = &requests.all[i];
        assert_int_equal(request->chunks, 2);
        uint32_t first = requests.chunks[request->first_chunk];
        for (size_t j = 0; j <= i; j++) { /* count the kind by the first request that has it */
            if (requests.chunks[requests.all[j].first_chunk] == first) {
                kinds[j < 3 ? j : 2]++;
                break;
            }
        }
    }
    assert_true(kinds[0] > 70 && kinds[0] < 130);
    requests_release(&requests);
}

/* Chunks of 16 tokens that both prompts begin with. */
static uint32_t common(size_t a, size_t b)
{
    const uint32_t *one = &requests.chunks[requests.all[a].first_chunk];
    const uint32_t *two = &requests.chunks[requests.all[b].first_chunk];
    uint32_t count = 0;
    while (count < requests.all[a].chunks && count < requests.all[b].chunks &&
           one[count] == two[count]) {
        count++;
    }
    return count;
}

/* 40 + 8, 48 + 40 + 8, ...: of 40 tokens 2 chunks are whole, of 88 tokens 5. */
static void a_turn_repeats_the_conversation(void **state)
{
    (void)state;
    static const uint32_t prompts[] = {40, 88, 136, 40};
    assert_true(make("synthetic:prompt=40,output=8,turns=3,think=2s,requests=4", 0, 1));
    assert_true(requests.sessions);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(requests.all[i].prompt, prompts[i]);
        assert_int_equal(requests.all[i].turn, i % 3);
        assert_true((requests.all[i].think_ns > 0) == (requests.all[i].turn > 0));
    }
    assert_int_equal(common(0, 1), 2);
    assert_int_equal(common(1, 2), 5);
    assert_int_equal(common(0, 3), 0);
    requests_release(&requests);
    assert_true(make("synthetic:prompt=40,output=8,turns=3,prefix=32,requests=6", 0, 1));
    assert_int_equal(requests.all[1].prompt, 40 + 8 + 8); /* a message has no prefix of its own */
    assert_int_equal(common(0, 3), 2);
    assert_int_equal(common(1, 4), 2);
    assert_int_equal(common(1, 2), 3);
    requests_release(&requests);
}

static void a_seed_makes_other_requests(void **state)
{
    (void)state;
    const char *name = "synthetic:prompt=1000,output=7,prompt_spread=50%";
    assert_true(make(name, 0, 1));
    uint32_t first = requests.all[0].prompt, second = requests.all[1].prompt;
    uint64_t content = requests.content;
    requests_release(&requests);
    assert_true(make(name, 0, 1));
    assert_int_equal(requests.all[0].prompt, first);
    assert_int_equal(requests.content, content);
    requests_release(&requests);
    assert_true(make(name, 0, 2));
    assert_true(requests.all[0].prompt != first || requests.all[1].prompt != second);
    assert_true(requests.content != content);
    requests_release(&requests);
}

static void a_text_at_fault_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *name, *found;
    } cases[] = {
        {"synthetic:", "'' in a synthetic workload"},
        {"synthetic:prompt=5", "'output' of a synthetic workload is missing or 0"},
        {"synthetic:prompt=5,output=0", "'output' of a synthetic workload is missing or 0"},
        {"synthetic:prompt=5,output=1,requests=0",
         "'requests' of a synthetic workload is missing or 0"},
        {"synthetic:prompt=5,output=1,prefixes=0",
         "'prefixes' of a synthetic workload is missing or 0"},
        {"synthetic:prompt", "'prompt' in a synthetic workload"},
        {"synthetic:promt=5", "unknown key of a synthetic workload 'promt'"},
        {"synthetic:prompt=5,output=1,prefix=5", "a 'prefix' of 5 tokens in prompts of 5"},
        {"synthetic:prompt=5,output=1,turns=0", "'turns' of a synthetic workload is missing or 0"},
        {"synthetic:prompt=5,output=1,think=9", "'think' is '9', which has no unit"},
        {"synthetic:prompt=5,output=1,think=9s",
         "'think' is the time between turns, and a session has one"},
        {"synthetic:prompt=5,output=1,output_spread=2000%", "'output_spread' is '2000%'"},
        {"synthetic:prompt=5,output=9-2", "'output' is '9-2'"},
        {"synthetic:prompt=5,output=0-2", "'output' of a synthetic workload is missing or 0"},
        {"synthetic:prompt=5-9,output=1,prefix=5", "a 'prefix' of 5 tokens in prompts of 5"},
        {"synthetic:prompt=5-9,output=1,prompt_spread=5%", "'prompt' has two distributions"},
        {"synthetic:lengths=sharegpd", "'lengths' is 'sharegpd'"},
        {"synthetic:lengths=sharegpt,output=0", "'output' of a synthetic workload is missing or 0"},
        {"synthetic:lengths=sharegpt,prompt=1-9", "'prompt' has two distributions"},
        {"synthetic:output_spread=1%,lengths=sharegpt", "'output' has two distributions"},
        {"synthetic:lengths=sharegpt,prefix=218", "a 'prefix' of 218 tokens in prompts of 218"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(make(cases[i].name, 0, 1));
        assert_string_equal(why.found, cases[i].found);
        assert_int_equal(requests.count, 0);
    }
}

static void making_stops(void **state)
{
    (void)state;
    struct stop_flag stop;
    atomic_init(&stop.raised, true);
    const struct requests_options options = {.stop = &stop};
    assert_false(synthetic_make("synthetic:prompt=100,output=7,requests=200000000", &options,
                                &requests, &why));
    assert_string_equal(why.found, "interrupted");
}

static void a_name_without_its_number_is_endless(void **state)
{
    static const char *const names[][2] = {
        {"synthetic:prompt=10,output=2,requests=50", "synthetic:prompt=10,output=2"},
        {"synthetic:requests=50,prompt=10,output=2", "synthetic:prompt=10,output=2"},
        {"synthetic:prompt=10,requests=5,output=2", "synthetic:prompt=10,output=2"},
        {"synthetic:prompt=10,output=2", "synthetic:prompt=10,output=2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char endless[64];
        synthetic_without(names[i][0], "requests", endless);
        assert_string_equal(endless, names[i][1]);
    }
}

/* A server's length is one of the text: no seed draws a longer request, nor cuts more than one session in
 * some thousands, and its means are those of many requests. */
static void no_seed_draws_more_than_the_text_says(void **state)
{
    static const struct {
        const char *name;
        uint64_t tokens; /* 0: not worked out by hand */
    } cases[] = {
        {"synthetic:prompt=100,output=7", 107},
        {"synthetic:prompt=100,output=7,prefix=50,turns=3", 221},
        {"synthetic:prompt=512-1536,output=200", 1736},
        {"synthetic:prompt=1000,output=100-300,turns=2", 2600},
        /* exp(4.2649 * 0.47238 - 0.11157) = 6.707 means of 400 beside 8000, in whole 1024s */
        {"synthetic:prompt=8000,output=400,output_spread=50%", 11264},
        {"synthetic:prompt=8000,output=400,prompt_spread=40%,output_spread=50%,prefix=2000", 0},
        {"synthetic:prompt=100,output=3000,prompt_spread=1%,output_spread=150%", 0},
        {"synthetic:prompt=800,output=300,prompt_spread=80%,output_spread=80%,turns=8", 0},
        {"synthetic:prompt=100-900,output=100-500,turns=12", 0},
        {"synthetic:lengths=sharegpt", 0},
        {"synthetic:lengths=sharegpt,turns=5", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct requests_drawn first = {.tokens = 0};
        uint64_t longest = 0, at_most = 0;
        for (uint64_t seed = 1; seed <= 20; seed++) {
            assert_true(make(cases[i].name, 6000, seed));
            first = seed == 1 ? requests.drawn : first;
            assert_memory_equal(&requests.drawn, &first, sizeof first);
            for (size_t k = 0; k < requests.count; k++) {
                const struct request *request = &requests.all[k];
                uint64_t tokens = request_tokens(request);
                longest = tokens > longest ? tokens : longest;
                at_most += tokens == first.tokens;
                assert_true(request->prompt <= first.prompt);
            }
            requests_release(&requests);
        }
        assert_in_range(longest, first.tokens / 2, first.tokens);
        assert_true(cases[i].tokens == first.tokens || (cases[i].tokens == 0 && at_most < 600));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_spread_all_are_equal),
        cmocka_unit_test(a_spread_is_the_deviation_of_a_lognormal),
        cmocka_unit_test(a_range_is_uniform),
        cmocka_unit_test(a_data_set_has_its_lengths),
        cmocka_unit_test(requests_of_a_data_set_are_its_pairs),
        cmocka_unit_test(lengths_of_a_data_set_are_scaled_to_means),
        cmocka_unit_test(equal_lengths_are_told_from_others),
        cmocka_unit_test(prompts_share_the_whole_chunks_of_their_prefix),
        cmocka_unit_test(a_turn_repeats_the_conversation),
        cmocka_unit_test(a_seed_makes_other_requests),
        cmocka_unit_test(a_text_at_fault_is_refused),
        cmocka_unit_test(making_stops),
        cmocka_unit_test(a_name_without_its_number_is_endless),
        cmocka_unit_test(no_seed_draws_more_than_the_text_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
