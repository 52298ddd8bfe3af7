/* The calendar's memory and numbering. Heap invariant: no event is earlier than its parent; the
 * parent of slot i is (i - 1) / 4. A sorted array is a heap in this sense. */
#include "core/engine/calendar.h"

#include "core/array.h"

#include <stdlib.h>

static int compare_events(const void *left, const void *right)
{
    const struct calendar_event *a = left, *b = right;
    return calendar_is_earlier(*a, *b) ? -1 : 1;
}

bool calendar_reserve(struct calendar *calendar, size_t needed, struct error *why)
{
    return array_reserve(&calendar->events, &calendar->capacity, needed, sizeof *calendar->events,
                         why);
}

void calendar_renumber(struct calendar *calendar)
{
    qsort(calendar->events, calendar->count, sizeof *calendar->events, compare_events);
    for (size_t i = 0; i < calendar->count; i++) {
        calendar->events[i].key = (uint64_t)i << 32 | calendar_item(calendar->events[i]);
    }
    calendar->pushed = calendar->count;
}

void calendar_release(struct calendar *calendar)
{
    free(calendar->events);
    *calendar = (struct calendar){0};
}
