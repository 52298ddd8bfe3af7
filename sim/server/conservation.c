#include "server/server_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct law {
    const char *says;
    double left, right; /* the two amounts, which must be equal */
};

/* Blocks on the GPU, summed over lists of sequences. */
struct holders {
    uint64_t shared, alone; /* blocks that others can find, and taken blocks */
    uint64_t short_of;      /* sequences whose blocks do not fit their tokens */
};

static void add_holders(const struct server *server, const struct sequence *sequences,
                        uint32_t count, struct holders *holders)
{
    uint32_t block = prefix_block_tokens(server->cache);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t held = prefix_held(server->cache, sequences[i].index);
        uint64_t shared = prefix_shared(server->cache, sequences[i].index);
        holders->shared += shared;
        holders->alone += held - shared;
        holders->short_of +=
            held * block < sequences[i].computed || shared * block > sequences[i].computed;
    }
}

/* Bytes of the copies that are done, and those of the current copy so far. */
static double copied_bytes(const struct copies *copies)
{
    if (copies->first == copies->count) {
        return copies->done_bytes;
    }
    const struct copy *front = &copies->items[copies->first];
    return copies->done_bytes + (front->bytes - front->left_bytes);
}

static double blocks_in(const struct block_census *census)
{
    return (double)(census->free + census->taken + census->known);
}

static void check_law(struct law law)
{
    /* Bytes are rounded. The negation also catches NaN. */
    if (!(fabs(law.left - law.right) <= 1e-9 * law.left)) {
        fprintf(stderr, "conservation: %s: %.17g is not %.17g\n", law.says, law.left, law.right);
        abort();
    }
}

static void check_gpu(const struct server *server, const struct prefix_census *cache)
{
    const struct block_census *gpu = &cache->of[0].blocks;
    struct holders holders = {.shared = 0};
    add_holders(server, server->loading, server->loading_count, &holders);
    add_holders(server, server->running, server->running_count, &holders);
    const struct law laws[] = {
        {"GPU blocks are free, taken or known", (double)gpu->capacity, blocks_in(gpu)},
        {"taken GPU blocks belong to sequences", (double)gpu->taken, (double)holders.alone},
        {"references to GPU blocks are those of sequences and copies", (double)gpu->references,
         (double)(holders.shared + cache->of[0].held)},
        {"sequences have blocks for their tokens", 0, (double)holders.short_of},
    };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        check_law(laws[i]);
    }
}

/* A tier below the GPU, and its copies. */
static void check_tier(const struct server *server, const struct prefix_census *cache, uint32_t k)
{
    const struct prefix_counts counts = prefix_counts(server->cache, k);
    const struct copies *in = &server->in[k], *out = &server->out[k];
    const struct block_census *blocks = &cache->of[k].blocks;
    bool crosses = server->options.saves_cross;
    const struct law laws[] = {
        {"blocks of a tier are free or known", (double)blocks->capacity, blocks_in(blocks)},
        {"references to blocks of a tier are those of copies", (double)blocks->references,
         (double)cache->of[k].held},
        {"loaded blocks are copied in", (double)counts.loaded, (double)in->added.moved},
        {"every load is a copy in", (double)counts.loads, (double)copies_last(in)},
        {"saved blocks are copied out", crosses ? (double)counts.saved : 0,
         (double)out->added.moved},
        {"blocks on their way to a tier are in copies", (double)cache->of[k].saving,
         (double)(out->added.moved - out->ended.moved)},
        {"blocks on their way to the GPU are in copies", (double)cache->of[k].loading,
         cache->pins ? (double)(in->added.moved - in->ended.moved) : 0},
        {"bytes that came in belong to copies", in->crossed_bytes, copied_bytes(in)},
        {"bytes that went out belong to copies", out->crossed_bytes, copied_bytes(out)},
    };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        check_law(laws[i]);
    }
}

void conservation_assert(const struct server *server)
{
    const struct prefix_census cache = prefix_census(server->cache);
    const struct copies *in = &server->in[1];
    uint64_t begun = (uint64_t)server->put_back_count + server->loading_count +
                     server->running_count + server->ended;
    uint64_t queued = server->arrived - server->next, to_come = server->count - server->arrived;
    uint32_t block = prefix_block_tokens(server->cache);
    uint64_t swapped = 0;
    for (uint32_t i = 0; i < server->put_back_count; i++) {
        swapped += (server->put_back[i].swapped + block - 1) / block;
    }
    check_gpu(server, &cache);
    for (uint32_t k = 1; k < server->tiers; k++) {
        check_tier(server, &cache, k);
    }
    check_law((struct law){
        "room to swap is free, used or being copied from", (double)server->options.swap_blocks,
        (double)(server->swap_left + swapped + in->added.freed - in->ended.freed)});
    check_law((struct law){"admitted requests are preempted, loading, running or ended",
                           (double)server->next, (double)begun});
    check_law((struct law){"requests have not arrived, are queued or were admitted",
                           (double)server->count, (double)(to_come + queued + begun)});
}
