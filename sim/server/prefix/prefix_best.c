/* Stretches that end last are on top of a heap. One that has ended stays in it: it is below all
 * that have not. */
#include "server/prefix/prefix_best.h"

#include "core/array.h"

#include <stdlib.h>

static const uint32_t NEVER = UINT32_MAX;

void prefix_best_release(struct prefix_best *best)
{
    free(best->all);
    *best = (struct prefix_best){.count = 0};
}

bool prefix_best_hold(struct prefix_best *best, uint32_t id, bool looked, struct error *why)
{
    if (!array_reserve(&best->all, &best->capacity, best->count + 1, sizeof *best->all, why)) {
        return false;
    }
    best->all[best->count++] = (struct prefix_holding){id, best->requests, looked};
    return true;
}

void prefix_best_next(struct prefix_best *best)
{
    best->requests++;
}

/* ---- the heap: numbers of holdings, by when their stretch ends ---------------------------- */

struct stretches {
    uint32_t *end;  /* [holdings] the request that looks it up next; NEVER: nobody does */
    bool *kept;     /* [holdings] */
    uint32_t *heap; /* [count] */
    size_t count;
};

static bool ends_later(const struct stretches *stretches, size_t a, size_t b)
{
    return stretches->end[stretches->heap[a]] > stretches->end[stretches->heap[b]];
}

static void stretches_swap(struct stretches *stretches, size_t a, size_t b)
{
    uint32_t other = stretches->heap[a];
    stretches->heap[a] = stretches->heap[b];
    stretches->heap[b] = other;
}

static void stretches_push(struct stretches *stretches, uint32_t holding)
{
    size_t at = stretches->count++;
    stretches->heap[at] = holding;
    for (; at > 0 && ends_later(stretches, at, (at - 1) / 2); at = (at - 1) / 2) {
        stretches_swap(stretches, at, (at - 1) / 2);
    }
}

static uint32_t stretches_pop(struct stretches *stretches)
{
    uint32_t top = stretches->heap[0];
    stretches->heap[0] = stretches->heap[--stretches->count];
    for (size_t at = 0, child; (child = 2 * at + 1) < stretches->count; at = child) {
        child += child + 1 < stretches->count && ends_later(stretches, child + 1, child);
        if (!ends_later(stretches, child, at)) {
            break;
        }
        stretches_swap(stretches, at, child);
    }
    return top;
}

/* ---- the bound ---------------------------------------------------------------------------- */

/* Find when each stretch ends. `before` [ids] is scratch: the last holding of each, and 1. */
static void find_ends(const struct prefix_best *best, uint32_t *before, uint32_t *end)
{
    for (size_t i = 0; i < best->count; i++) {
        const struct prefix_holding *holding = &best->all[i];
        uint32_t last = before[holding->id];
        end[i] = NEVER;
        if (last > 0 && holding->looked) {
            end[last - 1] = holding->request;
        }
        before[holding->id] = (uint32_t)i + 1;
    }
}

/* The stretch that a lookup ends. `before` as above. */
static bool play(const struct prefix_best *best, uint64_t places, uint32_t *before,
                 const struct stop_flag *stop, struct stretches *stretches, uint64_t *found,
                 struct error *why)
{
    uint64_t kept = 0;
    *found = 0;
    for (size_t i = 0; i < best->count;) {
        if (!stop_flag_check(stop, why)) {
            return false;
        }
        uint32_t request = best->all[i].request;
        size_t first = i;
        for (; i < best->count && best->all[i].request == request; i++) {
            uint32_t last = before[best->all[i].id];
            if (last > 0 && stretches->kept[last - 1]) { /* it ends here */
                stretches->kept[last - 1] = false;
                kept--;
                ++*found;
            }
        }
        for (size_t k = first; k < i; k++) {
            before[best->all[k].id] = (uint32_t)k + 1;
            if (stretches->end[k] != NEVER) {
                stretches->kept[k] = true;
                stretches_push(stretches, (uint32_t)k);
                kept++;
            }
        }
        while (kept > places) {
            stretches->kept[stretches_pop(stretches)] = false;
            kept--;
        }
    }
    return true;
}

bool prefix_best_find(const struct prefix_best *best, uint32_t ids, uint64_t places,
                      const struct stop_flag *stop, uint64_t *found, struct error *why)
{
    uint32_t *before = array_zeroed(ids, sizeof *before, why);
    uint32_t *again = array_zeroed(ids, sizeof *again, why);
    struct stretches stretches = {
        .end = array_zeroed(best->count, sizeof *stretches.end, why),
        .kept = array_zeroed(best->count, sizeof *stretches.kept, why),
        .heap = array_zeroed(best->count, sizeof *stretches.heap, why),
    };
    bool ok = before != NULL && again != NULL && stretches.end != NULL && stretches.kept != NULL &&
              stretches.heap != NULL;
    if (ok) {
        find_ends(best, before, stretches.end);
        ok = play(best, places, again, stop, &stretches, found, why);
    }
    free(before);
    free(again);
    free(stretches.end);
    free(stretches.kept);
    free(stretches.heap);
    return ok;
}
