/* Blocks by how often they were touched: random steps beside a search of all blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/queues.h"

enum { BLOCKS = 40, STEPS = 20000 };

/* Touches of each block and the step of the last; 0: not held. */
struct naive {
    uint32_t count[BLOCKS], when[BLOCKS], held;
};

static uint32_t naive_least(const struct naive *naive)
{
    uint32_t least = BLOCKS;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        if (naive->count[b] > 0 &&
            (least == BLOCKS || naive->count[b] < naive->count[least] ||
             (naive->count[b] == naive->count[least] && naive->when[b] < naive->when[least]))) {
            least = b;
        }
    }
    return least;
}

static uint32_t below(gsl_rng *random, uint32_t end)
{
    return (uint32_t)gsl_rng_uniform_int(random, end);
}

/* One step: a block is touched, comes, or goes. Most are touches, a few blocks' most of these, so
 * that counts grow far apart. */
static void step_both(struct frequency *frequency, struct naive *naive, uint32_t step,
                      gsl_rng *random)
{
    uint32_t block = below(random, 1 + below(random, BLOCKS));
    bool comes = naive->count[block] == 0, goes = !comes && below(random, 60) == 0;
    if (comes && below(random, 30) == 0) {
        frequency_add(frequency, block);
        naive->count[block] = 1;
        naive->held++;
    } else if (goes) {
        block = below(random, 2) ? block : naive_least(naive);
        frequency_remove(frequency, block);
        naive->count[block] = 0;
        naive->held--;
    } else if (frequency_touch(frequency, block)) {
        assert_false(comes);
        naive->count[block]++;
    } else {
        assert_true(comes);
    }
    naive->when[block] = step;
}

static void the_least_is_what_a_search_finds(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct error why;
        struct frequency frequency = {.touches = 0};
        struct arrays arrays = {.failed = false};
        struct naive naive = {.held = 0};
        gsl_rng *random = random_stream(seed, "test.frequency", 0, &why);
        assert_non_null(random);
        frequency_init(&frequency, &arrays, BLOCKS, BLOCKS, &why);
        assert_false(arrays.failed);
        for (uint32_t step = 1; step <= STEPS; step++) {
            step_both(&frequency, &naive, step, random);
            if (naive.held > 0 && below(random, 8) == 0) {
                uint32_t found = frequency_least(&frequency), expected = naive_least(&naive);
                if (found != expected) {
                    fail_msg("seed %u, step %u: block %u, touched %u times, not %u, %u",
                             (unsigned)seed, step, found, naive.count[found], expected,
                             naive.count[expected]);
                }
            }
        }
        arrays_release(&arrays);
        gsl_rng_free(random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_is_what_a_search_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
