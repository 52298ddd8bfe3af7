/* The state of a running server, and what server.c, schedule.c and copies.c do for each other. */
#pragma once

#include "server/server.h"

/* Copies over one direction of a link, made by one engine: first come, first served, each with a fixed time
 * before its bytes, numbered from 1: "all up to this one are done" compares two numbers. */

struct copy {
    double bytes;
    double left_ns, left_bytes; /* still to go: of the fixed time, and of the bytes */
    uint64_t blocks;            /* only the caller uses them */
    double passed_ns;           /* since it began */
};

struct copies {
    struct copy *items; /* pending copies are [first, count), owned */
    size_t first, count, capacity;
    uint64_t done;                    /* the number of the last copy that is done */
    uint64_t added, ended;            /* blocks of all copies so far, and of those that are done */
    double crossed_bytes, done_bytes; /* likewise; the first with the bytes of the pending copy */
    double done_ns;                   /* from the beginnings of those that are done to their ends */
};

void copies_release(struct copies *copies);

/* Queue a copy. Returns its number; 0 when memory is out. And the number of the last one queued, done or not. */
uint64_t copies_add(struct copies *copies, double start_ns, double bytes, uint64_t blocks,
                    struct error *why);
uint64_t copies_last(const struct copies *copies);

/* Time in ns until copy `number` is done, at `rate` bytes a second; 0 if it is done. */
double copies_time(const struct copies *copies, uint64_t number, double rate);

/* Let `ns` pass at `rate` bytes a second. Returns the bytes that crossed. */
double copies_pass(struct copies *copies, double ns, double rate);

/* ---- sequences ----------------------------------------------------------------------------- */

/* A sequence is in the queue (preempted ones first), loading (until its copies are done), or running. */
struct sequence {
    uint32_t index;                   /* of its request */
    uint32_t generated;               /* tokens */
    uint64_t computed;                /* tokens whose KV is computed */
    uint32_t chunk;                   /* tokens that this step computes */
    bool was_put_back;                /* it was preempted and has generated no token since */
    uint64_t load[PREFIX_MOST_TIERS]; /* by tier: number of the copy that it waits for; 0: none */
    uint64_t room;   /* number of the copy off the GPU that frees its blocks; 0: they are free */
    uint32_t unseen; /* steps until the scheduler knows that its load has ended; */
    int64_t seen_ns; /* when it does, if none of them computes; 0: not known yet */
    int64_t last_token_ns; /* when its last token came to its client */
    bool cruises;          /* see below; then `computed`, `generated` and its waits are those of */
    uint64_t since, until; /* server->cruise.steps when it began; it ends at the second */
};

/* Most steps give a sequence one token more and change nothing else: no block fills, none is taken. A sequence
 * that is to have at least two such steps cruises: its tokens and waits are those of all that do, and are added
 * to its own only at the end (sequence_settle()). */
struct cruise {
    uint64_t steps;     /* that computed a token of each sequence that decodes, */
    struct waits waits; /* and what such a sequence was charged in all steps */
    bool decodes;       /* does the next step? */
};

struct server {
    struct arrays arrays; /* what is not owned otherwise */
    struct server_options options;
    struct step_clock clock;
    const struct requests *requests;
    uint32_t *indices; /* of the requests that were sent, in order of arrival; owned */
    size_t capacity;
    uint32_t count, next; /* `next`: the first of `indices` never admitted */
    uint32_t arrived;     /* the first of `indices` that no iteration has seen yet */
    int64_t ready_ns;     /* when the engine has that one, if it was sent */
    int64_t heard_ns,
        replied_ns; /* the last prompt, and the last token, has passed the API process */
    uint32_t ended;
    struct sequence *put_back; /* preempted; the last one is at the front of the queue */
    uint32_t put_back_count;
    struct sequence *loading; /* [sequences], in the order of admission */
    uint32_t loading_count;
    struct sequence *running; /* [sequences]; all three lists together have no more */
    uint32_t running_count;
    struct cruise cruise;
    struct step_chunk *chunks; /* [sequences] of the step */
    struct prefix_cache *cache;
    uint64_t all_blocks;                  /* blocks of the GPU */
    uint64_t longest;                     /* most tokens of a request */
    uint32_t tiers;                       /* that copies go to or come from, with the GPU */
    struct copies in[PREFIX_MOST_TIERS];  /* blocks loaded to the GPU, by tier, */
    struct copies out[PREFIX_MOST_TIERS]; /* and saved to it from the tier above */
    uint64_t freeing; /* the last copy off the GPU whose blocks may have been taken by others */
    uint64_t saves;   /* prefix_saves() when saves were last queued */
    double reserved_share; /* of running outputs (schedule.c) */
    double copies_ns;      /* CPU time of copies that were queued since the last step began */
    uint32_t looked_up;    /* the request that was looked up last, from 1 on; 0: none */
    struct error *why;     /* server_iterate()'s, for a copy that cannot be queued */
    bool failed;           /* a copy could not be queued */
    struct served *served;
    struct server_totals *totals;
    int64_t now_ns;        /* the end of the last step, or of the last time without one */
    int64_t begun_ns;      /* when the last step began, or the last time without one ended */
    int64_t due_ns;        /* when the next iteration begins */
    bool idle;             /* the time from now_ns to due_ns is still to pass */
    bool is_warm;          /* it is later than options.warm_ns */
    uint32_t ended_before; /* `ended` when the last step began, */
    uint64_t room_before;  /* and the blocks that were free then */
};

/* ---- copies.c: prefixes that are loaded and saved ---- */

/* Queue a copy of the KV of `tokens` tokens from or to this tier, behind those of `way`: server->in[tier] or
 * server->out[tier]. Returns its number; sets server->failed if memory is out. */
uint64_t server_copy_tokens(struct server *server, struct copies *way, uint32_t tier,
                            uint64_t tokens, uint64_t blocks);

/* Queue the saves that the cache has begun. Blocks that were given away become free when their copy ends. */
void server_copy_saves(struct server *server);

/* The copy out that frees the blocks taken last; 0 if they are free. */
uint64_t server_copies_in_the_way(const struct server *server);

/* Are the sequence's blocks free of copies out; and can it run? */
bool sequence_has_room(const struct server *server, const struct sequence *sequence);
bool sequence_is_ready(const struct server *server, const struct sequence *sequence);

/* Time in ns of a step of `layers` (at least 1) layers, which together compute for `compute_ns` and load, or
 * write, for `load_ns`: each layer waits for its own KV, which arrives layer by layer; or, the mirror image,
 * leaves as soon as it is computed.
 *
 *     link     |1|2|3|4|              |--1--|--2--|--3--|--4--|
 *     GPU        |--1--|--2--|--3--|--4--|  |1|   |2|   |3|   |4|
 *
 * With equal layers the step ends at the later of two times: the first layer's load and then all computation,
 * or all loads and then the last layer's computation. Waiting for any layer between gives a time between. */
double layered_ns(double compute_ns, double load_ns, uint32_t layers);

/* Let copies run for `ns` at the rates of these flows, in bytes a second. */
void server_pass_copies(struct server *server, int64_t ns, const double rate[SERVER_FLOWS]);

/* Sequences whose copies are done run from now on, once the scheduler has seen it: a step has ended, or
 * (`idle`) nothing computes, and the engine's steps are empty. */
void server_start_loaded(struct server *server, bool idle);

/* When an idle server sees the next load that has ended; INT64_MAX if there is none. */
int64_t server_sees_loaded(const struct server *server);
bool server_copies_pend(const struct copies *copies);
void server_end_copies(struct server *server); /* all saves: the last step is over */

/* ---- schedule.c ------------------------------------------------------------------------------- */

/* What a sequence that may cruise has computed and generated. */
static inline uint64_t sequence_cruised(const struct server *server,
                                        const struct sequence *sequence)
{
    return sequence->cruises ? server->cruise.steps - sequence->since : 0;
}

/* End a sequence's cruise, if it is in one. Tokens of the prompt, and those generated so far. */
void sequence_settle(struct server *server, struct sequence *sequence);
uint64_t sequence_known_tokens(const struct server *server, const struct sequence *sequence);

/* The next request that was sent, if there is one and none before it, enters the API process. */
void schedule_notice(struct server *server);

/* When the engine has the next request that was sent; INT64_MAX if there is none. */
int64_t schedule_next_arrival(const struct server *server);

/* Put the requests that the engine has at `until_ns` into the queue; and how many are in it, preempted ones too. */
void schedule_arrive(struct server *server, int64_t until_ns);
uint32_t schedule_waiting(const struct server *server);

/* Give the next step its tokens: sets the chunk of each running sequence, and admits others. */
void schedule_step(struct server *server);

/* ---- laws ---------------------------------------------------------------------------------------
 *
 * A server's blocks, bytes and requests move from place to place, and none is lost or counted twice. The
 * tests have a function that aborts, and names the law, if a server breaks one (unit/fixture/conservation.h);
 * the program has none. Called between events only: during an event blocks may be counted nowhere. */
void conservation_assert(const struct server *server) __attribute__((weak));
