#include "serve/conservation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct law {
    const char *says;
    double left, right; /* what is equal */
};

/* What the sequences of a list have on the GPU. */
struct holders {
    uint64_t shared, alone; /* blocks that others can find, and their own */
    uint64_t short_of;      /* sequences whose blocks do not hold their tokens */
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
        holders->short_of += held * block < sequences[i].computed ||
                             shared * block > sequences[i].computed;
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

/* Bytes of copies that are done, and of the one that is under way. */
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
    bool crosses = server->options->saves_cross;
    struct holders holders = {.shared = 0};
    add_holders(server, server->loading, server->loading_count, &holders);
    add_holders(server, server->running, server->running_count, &holders);
    uint64_t begun = (uint64_t)server->put_back_count + server->loading_count +
                     server->running_count + server->ended;
    uint64_t queued = server->arrived - server->next, to_come = server->count - server->arrived;
    const struct law laws[] = {
        {"a GPU's blocks are free, one's own or known", (double)cache.gpu.capacity,
         blocks_in(&cache.gpu)},
        {"a GPU's own blocks are those of sequences", (double)cache.gpu.taken,
         (double)holders.alone},
        {"a GPU's blocks are referred to by sequences and copies", (double)cache.gpu.references,
         (double)(holders.shared + cache.held_on_gpu)},
        {"sequences have blocks for their tokens", 0, (double)holders.short_of},
        {"a host's blocks are free or known", (double)cache.host.capacity,
         blocks_in(&cache.host)},
        {"a host's blocks are referred to by copies", (double)cache.host.references,
         (double)cache.held_on_host},
        {"what is loaded is copied in", (double)counts.loaded, (double)in->added.moved},
        {"loads are copies in", (double)counts.loads, (double)copies_last(in)},
        {"what is saved is copied out", crosses ? (double)counts.saved : 0,
         (double)out->added.moved},
        {"what is on its way to the host is being copied", (double)cache.saving,
         (double)(out->added.moved - out->ended.moved)},
        {"what is on its way to the GPU is being copied", (double)cache.loading,
         cache.pins ? (double)(in->added.moved - in->ended.moved) : 0},
        {"bytes that came in are of copies", in->crossed_bytes, copied_bytes(in)},
        {"bytes that went out are of copies", out->crossed_bytes, copied_bytes(out)},
        {"room to swap is left, used or copied from", (double)server->options->swap_blocks,
         (double)(server->swap_left + swapped_blocks(server) + in->added.freed - in->ended.freed)},
        {"requests that began wait again, load, run or ended", (double)server->next,
         (double)begun},
        {"requests are to come, queued or began", (double)server->count,
         (double)(to_come + queued + begun)},
    };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        /* Bytes are rounded; and what is not a number is equal to nothing. */
        if (!(fabs(laws[i].left - laws[i].right) <= 1e-9 * laws[i].left)) {
            fprintf(stderr, "conservation: %s: %.17g is not %.17g\n", laws[i].says, laws[i].left,
                    laws[i].right);
            abort();
        }
    }
}
