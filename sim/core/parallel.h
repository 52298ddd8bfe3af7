/* Loops over independent items on several threads, and the cores that these share. The result is
 * the same for any number of threads: an item writes only its own data, and if several items fail,
 * the error of the lowest index is reported. */
#pragma once

#include "core/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- cores ----
 *
 * Processors that several threads share: as many threads compute at once as there are cores. A
 * thread takes a core before it computes and gives it back while it waits for another thread. So a
 * core that one piece of work leaves idle is free for another one (parallel_for_on()). Every
 * function accepts NULL and then does nothing: nobody counts. */
struct cores;

struct cores *cores_create(uint32_t count, struct error *why);
void cores_destroy(struct cores *cores);

/* Wait for a free core and take it; give it back. A thread that knows of its work before it runs says so by
 * cores_await(), and threads that help leave it a core: an item of another run may take minutes. */
void cores_take(struct cores *cores);
void cores_await(struct cores *cores);
void cores_take_awaited(struct cores *cores);
void cores_give(struct cores *cores);

/* ---- threads ---- */

struct threads {
    pthread_t *ids; /* [count] owned */
    uint32_t count;
};

/* Start up to `count` threads that run work(context + i * size), i from 0. Signals go to the calling
 * thread; fewer threads than asked for, even none, are enough. The caller joins them, also after a failure. */
bool threads_start(struct threads *threads, uint32_t count, void *(*work)(void *context),
                   void *context, size_t size, struct error *why);
void threads_join(struct threads *threads);

/* ---- loops ---- */

/* Do one item. No two items run at once with the same `thread`: index scratch memory by it. */
typedef bool (*parallel_item)(uint32_t index, uint32_t thread, void *context, struct error *why);

/* Run item(0) ... item(count-1) on up to `threads` threads (0: one per processor). Returns false with the
 * error of the lowest failing index; items after a failure may not have run. */
bool parallel_for(uint32_t count, uint32_t threads, parallel_item item, void *context,
                  struct error *why);

/* The same on all of `cores` that are free: the caller holds one of them, and other threads take items as
 * cores become free. So `thread` says nothing about memory. `cores` NULL: on `threads` threads, as above. */
bool parallel_for_on(struct cores *cores, uint32_t count, uint32_t threads, parallel_item item,
                     void *context, struct error *why);

/* The threads, 256 at most, that `threads` stands for (0: one per processor that this process may use). */
uint32_t parallel_threads(uint32_t threads);
