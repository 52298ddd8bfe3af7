/* What runs of one question have in common and is dear to make: replays, cosines of a trace's heads.
 *
 * What hits depends on trace and plan and not on time, so points that differ in the machine, or in
 * how a system moves, waits and launches, replay once. A value is made by the first thread that
 * asks for its key, while the others that want it wait; it is a pure function of the key, so who
 * makes it changes nothing. Of values that nobody uses the last ones used are kept.
 */
#ifndef RUN_SHARED_H
#define RUN_SHARED_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct shared;
struct shared_entry;
struct stop_flag;

/* Room for `users` threads that hold four values each. Once `*stop` is raised nothing is made any
 * more: asking for a value that is not there is an error. Making that takes long looks at the flag
 * itself. `stop` outlives the values; NULL: nobody raises it. */
struct shared *shared_create(uint32_t users, const struct stop_flag *stop, struct error *why);
void shared_destroy(struct shared *shared); /* nobody holds a value; NULL is fine */

/* `made` is called whenever a value was made, or could not be made, by the thread that tried. NULL:
 * nobody is told any more. Said while no thread makes a value. */
void shared_watch(struct shared *shared, void (*made)(void *context), void *context);

/* Values that were made so far: all that can be told of how far a long run is. */
uint32_t shared_made(struct shared *shared);

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
