#include "server/prefix/prefix_refusal.h"

void prefix_refusal_note(struct prefix_refusal *refusal, const struct block_pool *gpu, size_t index,
                         uint64_t tokens, uint64_t need)
{
    *refusal = (struct prefix_refusal){index, tokens, need, block_pool_first_uses(gpu)};
}

bool prefix_refusal_holds(const struct prefix_refusal *refusal, const struct block_pool *gpu,
                          size_t index, uint64_t tokens)
{
    uint64_t since = block_pool_first_uses(gpu) - refusal->first_uses;
    return refusal->tokens == tokens && refusal->index == index &&
           block_pool_room(gpu) + since < refusal->need;
}
