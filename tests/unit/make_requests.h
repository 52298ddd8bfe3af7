/* Requests for tests of the prefix cache, made chunk by chunk or drawn. There is one list of them
 * at a time: no_requests() begins another. */
#ifndef MAKE_REQUESTS_H
#define MAKE_REQUESTS_H

#include "base/random.h"
#include "serve/prefix_replay.h"

#include <string.h>

enum { MOST = 64, CHUNK = 512, BLOCK = 128 };

static struct request all[MOST];
static uint32_t chunks[MOST * 8];
static struct request_chunk kinds[MOST * 8];

/* A prompt made of the numbered chunks, the last one `tail` tokens long. */
static inline void add_request(struct requests *requests, const uint32_t *chunk, uint32_t count,
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

static inline struct requests no_requests(void)
{
    memset(all, 0, sizeof all);
    return (struct requests){.all = all, .chunks = chunks, .kind = kinds, .chunk_tokens = CHUNK};
}

/* Prompts that are paths through a tree: node n has the children 2n + 1 and 2n + 2. */
static inline struct requests random_requests(gsl_rng *random)
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

#endif
