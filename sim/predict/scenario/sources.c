/* Three lists, searched linearly: a command has tens of entries. */
#include "predict/scenario/sources.h"

#include "core/array.h"
#include "core/text.h"
#include "server/requests/synthetic.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Traces that are kept at most, unless more are in use. */
enum { MOST_TRACES = 256 };

struct kept_requests {
    char *path;
    struct requests_options options;
    struct requests requests;
};

struct sources {
    atomic_uint holders;
    struct files *files;
    struct trace **traces; /* [trace_count], a reference to each */
    size_t trace_count, trace_capacity;
    struct kept_requests **requests; /* [request_count], owned; callers keep the pointers */
    size_t request_count, request_capacity;
    struct sources_pool pool;
    const struct stop_flag *stop;
    pthread_mutex_t lock; /* of all of the above except the files, which have their own */
};

struct sources *sources_create(struct error *why)
{
    struct sources *sources = array_zeroed(1, sizeof *sources, why);
    if (sources == NULL || (sources->files = files_create(why)) == NULL) {
        free(sources);
        return NULL;
    }
    atomic_init(&sources->holders, 1);
    pthread_mutex_init(&sources->lock, NULL);
    return sources;
}

struct sources *sources_hold(struct sources *sources)
{
    if (sources != NULL) {
        atomic_fetch_add(&sources->holders, 1);
    }
    return sources;
}

static void free_requests(struct kept_requests *kept)
{
    if (kept != NULL) {
        requests_release(&kept->requests);
        free(kept->path);
        free(kept);
    }
}

void sources_release(struct sources *sources)
{
    if (sources == NULL || atomic_fetch_sub(&sources->holders, 1) > 1) {
        return;
    }
    for (size_t i = 0; i < sources->trace_count; i++) {
        trace_close(sources->traces[i]);
    }
    for (size_t i = 0; i < sources->request_count; i++) {
        free_requests(sources->requests[i]);
    }
    free(sources->traces);
    free(sources->requests);
    node_destroy(sources->pool.setting);
    files_destroy(sources->files);
    pthread_mutex_destroy(&sources->lock);
    free(sources);
}

struct files *sources_files(struct sources *sources)
{
    return sources != NULL ? sources->files : NULL;
}

struct sources_pool *sources_pool(struct sources *sources)
{
    return &sources->pool;
}

void sources_watch(struct sources *sources, const struct stop_flag *stop)
{
    if (sources == NULL) {
        return;
    }
    pthread_mutex_lock(&sources->lock);
    sources->stop = stop;
    for (size_t i = 0; i < sources->trace_count; i++) {
        trace_stop_when(sources->traces[i], stop);
    }
    pthread_mutex_unlock(&sources->lock);
}

/* Keep a trace, and return a second reference to it. Closes it on failure. */
static struct trace *keep_trace(struct sources *sources, struct trace *trace, struct error *why)
{
    if (!array_reserve(&sources->traces, &sources->trace_capacity, sources->trace_count + 1,
                       sizeof *sources->traces, why)) {
        trace_close(trace);
        return NULL;
    }
    /* Drop the oldest traces that nobody else holds, if there are many. */
    size_t kept = 0, drop = sources->trace_count > MOST_TRACES ? sources->trace_count / 2 : 0;
    for (size_t i = 0; i < sources->trace_count; i++) {
        struct trace *old = sources->traces[i];
        if (drop > 0 && trace_holders(old) == 1) {
            trace_close(old);
            drop--;
        } else {
            sources->traces[kept++] = old;
        }
    }
    sources->trace_count = kept;
    trace_stop_when(trace, sources->stop);
    sources->traces[sources->trace_count++] = trace;
    return trace_hold(trace);
}

/* A reference to the kept trace of this path: a recording, or the one with this hash that was generated. */
static struct trace *find_trace(struct sources *sources, const char *path, const uint64_t *hash)
{
    for (size_t i = 0; i < sources->trace_count; i++) {
        struct trace *trace = sources->traces[i];
        uint64_t there;
        if (strcmp(trace_path(trace), path) == 0 && (trace_bytes(trace) > 0) == (hash == NULL) &&
            (hash == NULL || (trace_hash(trace, &there, ERROR_UNSEEN) && there == *hash))) {
            return trace_hold(trace);
        }
    }
    return NULL;
}

struct trace *sources_recording(struct sources *sources, const char *path, struct error *why)
{
    if (sources == NULL) {
        return trace_open(path, why);
    }
    pthread_mutex_lock(&sources->lock);
    struct trace *found = find_trace(sources, path, NULL);
    struct trace *opened = found == NULL ? trace_open(path, why) : NULL;
    found = opened != NULL ? keep_trace(sources, opened, why) : found;
    pthread_mutex_unlock(&sources->lock);
    return found;
}

struct trace *sources_generated(struct sources *sources, struct trace *fresh, struct error *why)
{
    uint64_t wanted;
    if (sources == NULL) {
        return fresh;
    }
    if (!trace_hash(fresh, &wanted, why)) {
        trace_close(fresh);
        return NULL;
    }
    pthread_mutex_lock(&sources->lock);
    struct trace *found = find_trace(sources, trace_path(fresh), &wanted);
    if (found != NULL) {
        trace_close(fresh);
    } else {
        found = keep_trace(sources, fresh, why);
    }
    pthread_mutex_unlock(&sources->lock);
    return found;
}

static struct kept_requests *read_requests(struct sources *sources, const char *path,
                                           const struct requests_options *asked, struct error *why)
{
    struct requests_options options = *asked;
    options.stop = sources->stop;
    struct kept_requests *kept = array_zeroed(1, sizeof *kept, why);
    if (kept == NULL || (kept->path = text_duplicate(path, why)) == NULL ||
        !array_reserve(&sources->requests, &sources->request_capacity, sources->request_count + 1,
                       sizeof *sources->requests, why) ||
        !(synthetic_is(path) ? synthetic_make(path, &options, &kept->requests, why)
                             : requests_read(path, &options, &kept->requests, why))) {
        free_requests(kept);
        return NULL;
    }
    kept->options = options;
    return sources->requests[sources->request_count++] = kept;
}

const struct requests *sources_requests(struct sources *sources, const char *path,
                                        const struct requests_options *options, struct error *why)
{
    struct kept_requests *found = NULL;
    pthread_mutex_lock(&sources->lock);
    for (size_t i = 0; found == NULL && i < sources->request_count; i++) {
        struct kept_requests *kept = sources->requests[i];
        bool same = kept->options.limit == options->limit &&
                    kept->options.hash_tokens == options->hash_tokens &&
                    kept->options.seed == options->seed && strcmp(kept->path, path) == 0;
        found = same ? kept : NULL;
    }
    found = found != NULL ? found : read_requests(sources, path, options, why);
    pthread_mutex_unlock(&sources->lock);
    return found != NULL ? &found->requests : NULL;
}
