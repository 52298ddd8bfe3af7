/* A calendar of future events: the earliest comes out first, equal ones in order of insertion.
 *
 * A heap of four children a node (D. B. Johnson, "Priority queues with update and finding minimum spanning
 * trees", 1975): half as deep as a binary one, and a node's children fill a cache line. Events are numbered
 * when pushed, so that the order in which they come out depends on nothing but the pushes.
 *
 *   key   63        32 31        0
 *         [  order   ][   item   ]   item: the caller's, such as a task
 *
 * Heap invariant: no event is earlier than its parent; the parent of slot i is (i - 1) / 4. A zeroed
 * struct is an empty calendar. Pushing never allocates: make room first. */
#pragma once

#include "core/array.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

struct calendar_event {
    int64_t at_ns;
    uint64_t key;
};

struct calendar {
    struct calendar_event *events; /* owned; events[0] is the earliest */
    size_t count, capacity;
    uint64_t pushed; /* the next event's order; below 2^32 */
};

/* Make room for `needed` events in all. */
static inline bool calendar_reserve(struct calendar *calendar, size_t needed, struct error *why)
{
    return array_reserve(&calendar->events, &calendar->capacity, needed, sizeof *calendar->events,
                         why);
}

static inline void calendar_release(struct calendar *calendar)
{
    free(calendar->events);
    *calendar = (struct calendar){0};
}

/* The time of the earliest event; INT64_MAX when the calendar is empty. */
static inline int64_t calendar_next_ns(const struct calendar *calendar)
{
    return calendar->count > 0 ? calendar->events[0].at_ns : INT64_MAX;
}

static inline uint32_t calendar_item(struct calendar_event event)
{
    return (uint32_t)event.key;
}

static inline bool calendar_is_earlier(struct calendar_event a, struct calendar_event b)
{
    return a.at_ns < b.at_ns || (a.at_ns == b.at_ns && a.key < b.key);
}

/* Add an event; calendar_reserve() has made room for it. */
static inline void calendar_push(struct calendar *calendar, int64_t at_ns, uint32_t item)
{
    assert(calendar->count < calendar->capacity && calendar->pushed <= UINT32_MAX);
    struct calendar_event *events = calendar->events;
    struct calendar_event event = {at_ns, calendar->pushed++ << 32 | item};
    size_t hole = calendar->count++;
    while (hole > 0) {
        size_t parent = (hole - 1) / 4;
        if (!calendar_is_earlier(event, events[parent])) {
            break;
        }
        events[hole] = events[parent];
        hole = parent;
    }
    events[hole] = event;
}

/* Take the earliest event out of a calendar that is not empty. */
static inline struct calendar_event calendar_pop(struct calendar *calendar)
{
    assert(calendar->count > 0);
    struct calendar_event *events = calendar->events;
    struct calendar_event earliest = events[0];
    size_t count = --calendar->count;
    struct calendar_event moved = events[count];
    size_t hole = 0;
    for (size_t child = 1; child < count; child = 4 * hole + 1) {
        size_t end = child + 4 < count ? child + 4 : count;
        size_t least = child;
        for (size_t other = child + 1; other < end; other++) {
            if (calendar_is_earlier(events[other], events[least])) {
                least = other;
            }
        }
        if (!calendar_is_earlier(events[least], moved)) {
            break;
        }
        events[hole] = events[least];
        hole = least;
    }
    events[hole] = moved;
    return earliest;
}
