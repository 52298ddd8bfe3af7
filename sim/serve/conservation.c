#include "serve/conservation.h"

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

static uint64_t swapped_blocks(const struct server *server)
{
    uint32_t block = prefix_block_tokens(server->cache);
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < server->put_back_count; i++) {
        blocks += (server->put_back[i].swapped + block - 1) / block;
    }
    return blocks;
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

void conservation_assert(const struct server *server)
{
    const struct prefix_census cache = prefix_census(server->cache);
    const struct prefix_counts counts = prefix_counts(server->cache);
    const struct copies *in = &server->in, *out = &server->out;
    bool crosses = server->options.saves_cross;
    struct holders holders = {.shared = 0};
    add_holders(server, server->loading, server->loading_count, &holders);
    add_holders(server, server->running, server->running_count, &holders);
    uint64_t begun = (uint64_t)server->put_back_count + server->loading_count +
                     server->running_count + server->ended;
    uint64_t queued = server->arrived - server->next, to_come = server->count - server->arrived;
    const struct law laws[] = {
        {"GPU blocks are free, taken or known", (double)cache.gpu.capacity, blocks_in(&cache.gpu)},
        {"taken GPU blocks belong to sequences", (double)cache.gpu.taken, (double)holders.alone},
        {"references to GPU blocks are those of sequences and copies", (double)cache.gpu.references,
         (double)(holders.shared + cache.held_on_gpu)},
        {"sequences have blocks for their tokens", 0, (double)holders.short_of},
        {"host blocks are free or known", (double)cache.host.capacity, blocks_in(&cache.host)},
        {"references to host blocks are those of copies", (double)cache.host.references,
         (double)cache.held_on_host},
        {"loaded blocks are copied in", (double)counts.loaded, (double)in->added.moved},
        {"every load is a copy in", (double)counts.loads, (double)copies_last(in)},
        {"saved blocks are copied out", crosses ? (double)counts.saved : 0,
         (double)out->added.moved},
        {"blocks on their way to the host are in copies", (double)cache.saving,
         (double)(out->added.moved - out->ended.moved)},
        {"blocks on their way to the GPU are in copies", (double)cache.loading,
         cache.pins ? (double)(in->added.moved - in->ended.moved) : 0},
        {"bytes that came in belong to copies", in->crossed_bytes, copied_bytes(in)},
        {"bytes that went out belong to copies", out->crossed_bytes, copied_bytes(out)},
        {"room to swap is free, used or being copied from", (double)server->options.swap_blocks,
         (double)(server->swap_left + swapped_blocks(server) + in->added.freed - in->ended.freed)},
        {"admitted requests are preempted, loading, running or ended", (double)server->next,
         (double)begun},
        {"requests have not arrived, are queued or were admitted", (double)server->count,
         (double)(to_come + queued + begun)},
    };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        /* Bytes are rounded. The negation also catches NaN. */
        if (!(fabs(laws[i].left - laws[i].right) <= 1e-9 * laws[i].left)) {
            fprintf(stderr, "conservation: %s: %.17g is not %.17g\n", laws[i].says, laws[i].left,
                    laws[i].right);
            abort();
        }
    }
}
