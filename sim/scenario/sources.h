/* What the points of one command have in common: files that are read once, traces that are opened
 * once, requests that are parsed once.
 *
 * A scenario holds a reference, and so does each point that was made from it, because points use
 * the requests and the traces. The last reference frees everything. Safe from several threads.
 */
#ifndef SCENARIO_SOURCES_H
#define SCENARIO_SOURCES_H

#include "base/files.h"
#include "serve/requests.h"
#include "trace/format/trace.h"

struct stop_flag;
struct sources;

struct sources *sources_create(struct error *why);
struct sources *sources_hold(struct sources *sources); /* returns its argument; NULL is fine */
void sources_release(struct sources *sources);         /* NULL is fine */

/* For the functions that read text files. NULL for NULL. */
struct files *sources_files(struct sources *sources);

/* From now on all traces, also those that are opened later, stop being read once `*stop` is raised;
 * NULL: nobody stops them. Said while no thread reads. `sources` NULL is fine. */
void sources_watch(struct sources *sources, const struct stop_flag *stop);

/* Generated traces that are opened from now on keep frames that they made, up to `bytes` in all
 * (trace_remember()): for a question whose rounds read the same trace again and again. `sources`
 * NULL is fine. */
void sources_remember(struct sources *sources, size_t bytes);

/* The recording at `path`, opened if it is not open yet. The caller closes it with trace_close().
 * `sources` may be NULL: nothing is shared. */
struct trace *sources_recording(struct sources *sources, const char *path, struct error *why);

/* Take over the generated trace `fresh`; returns it, or in its place an equal trace that is there
 * already. The caller closes the returned trace. NULL on failure; `fresh` is then closed. */
struct trace *sources_generated(struct sources *sources, struct trace *fresh, struct error *why);

/* The requests of the file at `path`, at most `limit` (0: all), read if they are not there yet.
 * Owned by `sources`, which must not be NULL. NULL on failure; `complaints` as requests_read(). */
const struct requests *sources_requests(struct sources *sources, const char *path, uint64_t limit,
                                        struct complaints *complaints, struct error *why);

#endif
