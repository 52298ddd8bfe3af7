/* What the points of one command share: files, traces and requests that are read once. A scenario and its
 * points hold references; the last release frees everything. Safe from several threads. */
#pragma once

#include "core/files.h"
#include "core/node.h"
#include "server/requests/requests.h"
#include "trace/format/trace.h"

#include <stdatomic.h>

struct stop_flag;
struct sources;

/* A pool of KV that a server's file states holds for the setting of that server. */
struct sources_pool {
    struct node *setting; /* that, owned; NULL: no file states a pool */
    double size;          /* tokens, blocks or bytes */
    atomic_bool computed; /* a point had another setting */
    atomic_bool
        larger; /* a point's machine would hold a pool of more than SOURCES_LARGER times it */
};
#define SOURCES_LARGER 1.25 /* no engine's memory is computed as wrongly as that */

struct sources *sources_create(struct error *why);
struct sources *sources_hold(struct sources *sources); /* returns its argument; NULL is fine */
void sources_release(struct sources *sources);         /* NULL is fine */

/* The cache of text files, for the functions that read them. NULL for NULL. */
struct files *sources_files(struct sources *sources);

/* Made before points are. `sources` must not be NULL. */
struct sources_pool *sources_pool(struct sources *sources);

/* From now on reading any trace stops once `*stop` is raised (NULL: never). Not while a thread reads. */
void sources_watch(struct sources *sources, const struct stop_flag *stop);

/* The recording at `path`, opened once. The caller calls trace_close(). `sources` NULL: nothing is shared. */
struct trace *sources_recording(struct sources *sources, const char *path, struct error *why);

/* Take over the generated `fresh`: it, or an equal trace, which the caller closes. NULL on failure. */
struct trace *sources_generated(struct sources *sources, struct trace *fresh, struct error *why);

/* The requests of the file at `path`, or made up, read once and owned by `sources` (not NULL); or NULL. */
const struct requests *sources_requests(struct sources *sources, const char *path,
                                        const struct requests_options *options, struct error *why);
