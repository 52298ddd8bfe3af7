/* What runs of one sweep have in common and is dear to make: replays, cosines of a trace's heads.
 *
 * What hits depends on trace and plan and not on time, so points that differ in the machine, or in
 * how a system moves, waits and launches, replay once. A value is made by the first thread that
 * asks for its key, while the others that want it wait; it is a pure function of the key, so who
 * makes it changes nothing. Of values that nobody uses the last ones used are kept.
 */
#ifndef STUDY_SHARED_H
#define STUDY_SHARED_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct shared;
struct shared_entry;
struct stop_flag;

/* Room for `users` threads that hold four values each. */
struct shared *shared_create(uint32_t users, struct error *why);
void shared_destroy(struct shared *shared); /* nobody holds a value; NULL is fine */

/* What a sweep expects of its runs (study/replays.h), which outlives them; NULL: nothing is known.
 */
struct replays;
void shared_expect(struct shared *shared, const struct replays *replays);
const struct replays *shared_expected(const struct shared *shared);

/* `made` is called whenever a value was made, or failed to be, by the thread that tried. And how many
 * were made, so far: all that can be told of how far a long run is. */
void shared_watch(struct shared *shared, void (*made)(void *context), void *context);
uint32_t shared_made(struct shared *shared);

/* Make nothing any more: who asks for a value that is not there gets an error. So ends a run whose
 * result nobody wants. Any thread may call it. Making that takes long looks at the flag. */
void shared_stop(struct shared *shared);
const struct stop_flag *shared_stopped(const struct shared *shared);

/* How a value is made and destroyed. make() returns NULL with `why` where it fails; then nothing is
 * kept, and the next who asks tries again. */
struct shared_kind {
    void *(*make)(void *context, struct error *why);
    void (*destroy)(void *value);
};

/* The value of `key`, made with `context` where there is none; NULL where that failed. `*entry` is
 * to be given back with shared_release(), after which the value may be gone. */
const void *shared_get(struct shared *shared, const struct shared_kind *kind, uint64_t key,
                       void *context, struct shared_entry **entry, struct error *why);
void shared_release(struct shared *shared, struct shared_entry *entry); /* NULL is fine */

#endif
