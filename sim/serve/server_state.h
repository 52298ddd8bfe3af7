/* Where a server's sequences are while it runs, for the server and for who looks over its shoulder.
 *
 * Sequences are in one of three places: the queue (those put back in front of those that arrive),
 * loading (until what they wait for has been copied), or running (in the order in which they were
 * admitted).
 */
#ifndef SERVE_SERVER_STATE_H
#define SERVE_SERVER_STATE_H

#include "serve/copies.h"
#include "serve/server.h"

struct sequence {
    uint32_t index;     /* of its request */
    uint32_t generated; /* tokens */
    uint64_t computed;  /* tokens that have their KV */
    uint32_t chunk;     /* tokens that this step computes */
    bool was_put_back;  /* and has no new token since */
    uint64_t swapped;   /* tokens whose KV is on the host, of one in the queue */
    uint64_t load;      /* number of the copy in that it waits for; 0: none */
    uint64_t room;      /* number of the copy out that frees its blocks; 0: they are free */
};

struct server {
    const struct server_options *options;
    const struct step_clock *clock;
    const struct requests *requests;
    const uint32_t *indices; /* of requests, in order of arrival */
    uint32_t count, next;    /* the first that has not been admitted from here */
    uint32_t arrived;        /* the first that has not arrived */
    uint32_t ended;
    struct sequence *put_back; /* the last one is in front of the queue */
    uint32_t put_back_count;
    struct sequence *loading; /* [sequences], in the order in which they were admitted */
    uint32_t loading_count;
    struct sequence *running; /* [sequences]; with those that load and are put back no more */
    uint32_t running_count;
    struct step_chunk *chunks; /* [sequences] of the step */
    struct prefix_cache *cache;
    uint64_t all_blocks;        /* that the GPU has */
    uint64_t all_blocks_tokens; /* that it has room for */
    struct copies in, out;      /* over the link: blocks loaded and saved, or 0 of a swap */
    uint64_t freeing;           /* the last copy out of blocks that others may have taken */
    uint64_t saved, evicted;    /* prefix_counts() so far */
    uint64_t swap_left;         /* blocks */
    struct error *why;          /* of run(), where a copy cannot be queued */
    bool failed;
    struct served *served;
    struct server_totals *totals;
    int64_t now_ns;
};

#endif
