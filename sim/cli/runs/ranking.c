#include "cli/runs/ranking.h"

#include "base/array.h"

#include <stdlib.h>

static bool ranks_before(const struct ranked *a, const struct ranked *b)
{
    return a->group != b->group ? a->group < b->group : a->merit > b->merit;
}

bool ranking_add(struct ranking *ranking, const struct ranked *run, struct error *why)
{
    if (!array_reserve(&ranking->runs, &ranking->capacity, ranking->count + 1,
                       sizeof *ranking->runs, why)) {
        free(run->more);
        return false;
    }
    size_t place = ranking->count++;
    for (; place > 0 && ranks_before(run, &ranking->runs[place - 1]); place--) {
        ranking->runs[place] = ranking->runs[place - 1];
    }
    ranking->runs[place] = *run;
    return true;
}

void ranking_release(struct ranking *ranking)
{
    for (size_t i = 0; i < ranking->count; i++) {
        free(ranking->runs[i].more);
    }
    free(ranking->runs);
    *ranking = (struct ranking){.count = 0};
}

size_t ranking_group(const struct ranking *ranking, size_t first)
{
    size_t count = 1;
    while (first + count < ranking->count &&
           ranking->runs[first + count].group == ranking->runs[first].group) {
        count++;
    }
    return count;
}
