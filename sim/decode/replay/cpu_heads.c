#include "decode/replay/cpu_heads.h"

uint64_t cpu_heads_each(uint64_t pairs, uint64_t threads)
{
    return pairs > threads ? (pairs + threads - 1) / threads : 1;
}

void cpu_heads_pad(const uint64_t *tokens, uint32_t heads, uint64_t each, uint64_t *padded,
                   uint64_t *worst)
{
    *padded = *worst = 0;
    for (uint32_t first = 0; first < heads;) {
        uint32_t count = each < heads - first ? (uint32_t)each : heads - first;
        uint64_t longest = 0;
        for (uint32_t i = first; i < first + count; i++) {
            longest = tokens[i] > longest ? tokens[i] : longest;
        }
        uint64_t task = longest * (each > heads ? each : count);
        *padded += longest * count;
        *worst = task > *worst ? task : *worst;
        first += count;
    }
}
