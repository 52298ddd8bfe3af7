/* gsl_rng_set() keeps 32 bits of a seed: among some ten thousand streams (one per head) the chance
 * that two are equal would be one in a hundred. So the three words of the generator are filled from
 * the hash directly, and all its 64 bits tell streams apart. */
#include "core/random.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <xxhash.h>

/* The state of taus2 as gsl_rng_state() shows it: three 32-bit words in longs. */
struct taus2_state {
    unsigned long word[3];
};

/* Tausworthe words below these have no period (L'Ecuyer 1996). */
static const unsigned long word_floor[3] = {2, 8, 16};

/* GSL aborts on errors by default; this library reports them. */
static void silence_gsl(void)
{
    gsl_set_error_handler_off();
}

static uint64_t hash_number(uint64_t number, uint64_t seed)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(number >> (8 * i));
    }
    return XXH64(bytes, sizeof bytes, seed);
}

gsl_rng *random_stream(uint64_t seed, const char *purpose, uint64_t index, struct error *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, silence_gsl);

    gsl_rng *stream = gsl_rng_alloc(gsl_rng_taus2);
    if (stream == NULL) {
        error_set(why, NULL, 0, "out of memory: no room for a random stream");
        return NULL;
    }
    struct taus2_state state;
    assert(gsl_rng_size(stream) == sizeof state);
    uint64_t hash = hash_number(index, XXH64(purpose, strlen(purpose), seed));
    for (uint64_t i = 0; i < 3; i++) {
        state.word[i] = (unsigned long)(hash_number(i, hash) & UINT32_MAX) | word_floor[i];
    }
    memcpy(gsl_rng_state(stream), &state, sizeof state);
    return stream;
}
