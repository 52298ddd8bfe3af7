/* Belady's bound against every choice of what to keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "server/prefix/prefix_replay.h"

enum { IDS = 5, REQUESTS = 7, MOST = 16 };

static struct error why;

/* A thing is kept from one request to another, which looks it up. */
struct stretch {
    uint32_t from, to;
};

/* The most stretches of which no more than `places` are kept between two requests. */
static uint64_t try_all(const struct stretch *stretches, uint32_t count, uint64_t places)
{
    uint64_t most = 0;
    for (uint32_t chosen = 0; chosen < 1u << count; chosen++) {
        uint64_t kept[REQUESTS] = {0}, found = 0, worst = 0;
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t r = stretches[i].from; (chosen >> i & 1) > 0 && r < stretches[i].to;
                 r++) {
                kept[r]++;
                worst = kept[r] > worst ? kept[r] : worst;
            }
            found += chosen >> i & 1;
        }
        most = worst <= places && found > most ? found : most;
    }
    return most;
}

static void no_choice_finds_more(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        gsl_rng *random = random_stream(seed, "test.prefix-best", 0, &why);
        struct prefix_best best = {.count = 0};
        struct stretch stretches[MOST];
        uint32_t last[IDS] = {0}, count = 0;
        for (uint32_t r = 0; r < REQUESTS; r++) {
            for (uint32_t id = 0; id < IDS; id++) {
                bool looked = gsl_rng_uniform_int(random, 3) > 0;
                if (gsl_rng_uniform_int(random, 2) > 0) {
                    continue;
                }
                assert_true(prefix_best_hold(&best, id, looked, &why));
                if (looked && last[id] > 0 && count < MOST) {
                    stretches[count++] = (struct stretch){last[id] - 1, r};
                }
                last[id] = r + 1;
            }
            prefix_best_next(&best);
        }
        for (uint64_t places = 0; places <= IDS && count < MOST; places++) {
            uint64_t found;
            assert_true(prefix_best_find(&best, IDS, places, NULL, &found, &why));
            assert_int_equal(found, try_all(stretches, count, places));
        }
        prefix_best_release(&best);
        gsl_rng_free(random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_choice_finds_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
