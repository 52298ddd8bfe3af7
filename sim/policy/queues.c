/* The parts of queues.h that are not inlined: memory, and cleaning a log. */

#include "policy/queues.h"

void queues_init(struct queues *queues, struct arrays *arrays, uint32_t blocks, struct error *why)
{
    queues->length = 2 * blocks + 1;
    queues->place = arrays_add(arrays, blocks, sizeof *queues->place, why);
    for (int q = 0; q < QUEUES; q++) {
        queues->queue[q].oldest = queues->queue[q].end = 1;
        queues->queue[q].log = arrays_add(arrays, queues->length, sizeof(uint32_t), why);
    }
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

void frequency_init(struct frequency *frequency, struct arrays *arrays, uint32_t blocks,
                    uint32_t capacity, struct error *why)
{
    frequency->rank = arrays_add(arrays, blocks, sizeof *frequency->rank, why);
    frequency->heap = arrays_add(arrays, (size_t)capacity + 1, sizeof *frequency->heap, why);
    frequency->place = arrays_add(arrays, blocks, sizeof *frequency->place, why);
}

static bool frequency_is_less(struct frequency_rank a, struct frequency_rank b)
{
    return a.count != b.count ? a.count < b.count : a.when < b.when;
}

static void heap_put(struct frequency *frequency, uint32_t at, struct frequency_place place)
{
    frequency->heap[at] = place;
    frequency->place[place.block] = at;
}

/* Put `place` at `at` or above, where it belongs. */
static void heap_up(struct frequency *frequency, uint32_t at, struct frequency_place place)
{
    for (; at > 1 && frequency_is_less(place.rank, frequency->heap[at / 2].rank); at /= 2) {
        heap_put(frequency, at, frequency->heap[at / 2]);
    }
    heap_put(frequency, at, place);
}

/* Put `place` at `at` or below, where it belongs. */
static void heap_down(struct frequency *frequency, uint32_t at, struct frequency_place place)
{
    const struct frequency_place *heap = frequency->heap;
    for (uint32_t child; (child = 2 * at) <= frequency->count; at = child) {
        child +=
            child < frequency->count && frequency_is_less(heap[child + 1].rank, heap[child].rank);
        if (!frequency_is_less(heap[child].rank, place.rank)) {
            break;
        }
        heap_put(frequency, at, heap[child]);
    }
    heap_put(frequency, at, place);
}

void frequency_add(struct frequency *frequency, uint32_t block)
{
    frequency->rank[block] = (struct frequency_rank){.count = 1, .when = ++frequency->touches};
    heap_up(frequency, ++frequency->count, (struct frequency_place){frequency->rank[block], block});
}

uint32_t frequency_least(struct frequency *frequency)
{
    for (;;) {
        struct frequency_place top = frequency->heap[1];
        struct frequency_rank now = frequency->rank[top.block];
        if (now.when == top.rank.when) {
            return top.block;
        }
        top.rank = now;
        heap_down(frequency, 1, top);
    }
}

void frequency_remove(struct frequency *frequency, uint32_t block)
{
    uint32_t at = frequency->place[block];
    struct frequency_place last = frequency->heap[frequency->count--];
    frequency->rank[block].count = 0;
    if (at <= frequency->count) {
        heap_down(frequency, at, last);
        heap_up(frequency, frequency->place[last.block], last);
    }
}
