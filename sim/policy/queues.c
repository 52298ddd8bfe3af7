/* The parts of queues.h that are not inlined: memory, and cleaning a log. */
#include "policy/queues.h"

#include "core/array.h"

#include <stdlib.h>

bool queues_init(struct queues *queues, uint32_t blocks, struct error *why)
{
    *queues = (struct queues){0};
    if (blocks >= 1u << 29) { /* positions have 30 bits */
        return error_set(why, NULL, 0, "%u blocks are too many for a cache", blocks);
    }
    queues->length = 2 * blocks + 1;
    queues->place = array_zeroed(blocks, sizeof *queues->place, why);
    bool good = queues->place != NULL;
    for (int q = 0; good && q < QUEUES; q++) {
        queues->queue[q].oldest = queues->queue[q].end = 1;
        queues->queue[q].log = array_zeroed(queues->length, sizeof(uint32_t), why);
        good = queues->queue[q].log != NULL;
    }
    if (!good) {
        queues_release(queues);
    }
    return good;
}

void queues_release(struct queues *queues)
{
    free(queues->place);
    for (int q = 0; q < QUEUES; q++) {
        free(queues->queue[q].log);
    }
    *queues = (struct queues){0};
}

void queue_clean(struct queues *queues, uint32_t name)
{
    struct queue *queue = &queues->queue[name];
    uint32_t *restrict place = queues->place, *restrict log = queue->log;
    uint32_t tag = name << 30, kept = 1;
    for (uint32_t at = queue->oldest; at < queue->end;
         at++) { /* stale entries are unpredictable: no branch */
        uint32_t block = log[at];
        log[kept] = block;
        kept += place[block] == (tag | at);
    }
    for (uint32_t at = 1; at < kept; at++) {
        place[log[at]] = tag | at;
    }
    queue->oldest = 1;
    queue->end = kept;
}
