/* The state of a running server, for server.c, schedule.c, server_copies.c and conservation.c.
 *
 * A sequence is in one of three places: in the queue (preempted sequences in front of new
 * requests), loading (until the copies that it waits for are done), or running (in the order of
 * admission).
 */
#pragma once

#include "server/api.h"
#include "server/copies.h"
#include "server/server.h"

struct sequence {
    uint32_t index;                   /* of its request */
    uint32_t generated;               /* tokens */
    uint64_t computed;                /* tokens whose KV is computed */
    uint32_t chunk;                   /* tokens that this step computes */
    bool was_put_back;                /* it was preempted and has generated no token since */
    uint64_t swapped;                 /* in the queue: tokens whose KV is on the host */
    uint64_t load[PREFIX_MOST_TIERS]; /* by tier: number of the copy that it waits for; 0: none */
    uint64_t room; /* number of the copy off the GPU that frees its blocks; 0: they are free */
};

struct server {
    struct server_options options;
    struct step_clock clock;
    const struct requests *requests;
    uint32_t *indices; /* of the requests that were sent, in order of arrival; owned */
    size_t capacity;
    uint32_t count, next; /* `next`: the first of `indices` never admitted */
    uint32_t arrived;     /* the first of `indices` that no iteration has seen yet */
    struct api api;
    int64_t ready_ns; /* when the engine has that one, if it was sent */
    uint32_t ended;
    struct sequence *put_back; /* preempted; the last one is at the front of the queue */
    uint32_t put_back_count;
    struct sequence *loading; /* [sequences], in the order of admission */
    uint32_t loading_count;
    struct sequence *running; /* [sequences]; all three lists together have no more */
    uint32_t running_count;
    struct step_chunk *chunks; /* [sequences] of the step */
    struct prefix_cache *cache;
    uint64_t all_blocks;        /* blocks of the GPU */
    uint64_t all_blocks_tokens; /* tokens in all of them */
    uint32_t tiers;             /* that copies go to or come from, with the GPU */
    struct copies
        in[PREFIX_MOST_TIERS]; /* by tier: blocks loaded from it to the GPU, 0 for a swap */
    struct copies out[PREFIX_MOST_TIERS]; /* and saved to it from the tier above */
    uint64_t freeing; /* the last copy off the GPU whose blocks may have been taken by others */
    uint64_t saves, evicted; /* prefix_saves(), and those evicted, when saves were last queued */
    uint64_t swap_left;      /* free blocks of the room to swap */
    double reserved_share;   /* of running outputs (reserve.h) */
    struct error *why;       /* server_iterate()'s, for a copy that cannot be queued */
    bool failed;             /* a copy could not be queued */
    struct served *served;
    struct server_totals *totals;
    int64_t now_ns;        /* the end of the last step, or of the last time without one */
    int64_t begun_ns;      /* when the last step began, or the last time without one ended */
    int64_t due_ns;        /* when the next iteration begins */
    bool idle;             /* the time from now_ns to due_ns is still to pass */
    uint32_t ended_before; /* `ended` when the last step began, */
    double kv_before;      /* and the share of the memory that was held then */
};
