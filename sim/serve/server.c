/* Sequences are in one of three places: the queue (those put back in front of those that arrive),
 * loading (first come, first served), or running (in the order in which they were admitted).
 */
#include "serve/server.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sequence {
    uint32_t index;     /* of its request */
    uint32_t generated; /* tokens */
    uint64_t computed;  /* tokens that have their KV */
    uint32_t chunk;     /* tokens that this step computes */
    bool was_put_back;  /* and has no new token since */
};

struct load {
    struct sequence sequence;
    double left_ns, left_bytes; /* before its bytes, and of them */
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
    struct load *loading; /* [sequences]; the first one's bytes are crossing */
    uint32_t loading_count;
    struct sequence *running; /* [sequences]; with those that load and are put back no more */
    uint32_t running_count;
    struct step_chunk *chunks; /* [sequences] of the step */
    struct prefix_cache *cache;
    uint64_t all_blocks;        /* that the GPU has */
    uint64_t all_blocks_tokens; /* that it has room for */
    struct served *served;
    struct server_totals *totals;
    int64_t now_ns;
};

static uint64_t known_tokens(const struct server *server, const struct sequence *sequence)
{
    return (uint64_t)server->requests->all[sequence->index].prompt + sequence->generated;
}

/* ---- the queue ------------------------------------------------------------------------ */

/* The request can never run: its tokens are more than the GPU has blocks for. */
static bool is_too_long(const struct server *server, uint32_t index)
{
    const struct request *request = &server->requests->all[index];
    return (uint64_t)request->prompt + request->output - 1 > server->all_blocks_tokens;
}

/* When the next request arrives; INT64_MAX where that waits for another's end. */
static int64_t next_arrival(const struct server *server)
{
    if (server->options->clients == 0) {
        return server->requests->all[server->indices[server->arrived]].arrival_ns;
    }
    return server->arrived - server->ended < server->options->clients ? server->now_ns : INT64_MAX;
}

static uint32_t waiting_requests(const struct server *server)
{
    return server->arrived - server->next + server->put_back_count;
}

static void arrive(struct server *server)
{
    while (server->arrived < server->count && next_arrival(server) <= server->now_ns) {
        struct served *served = &server->served[server->indices[server->arrived]];
        served->arrived_ns = served->waits.until_ns = next_arrival(server);
        server->arrived++;
    }
    uint32_t waiting = waiting_requests(server);
    server->totals->most_waiting =
        waiting > server->totals->most_waiting ? waiting : server->totals->most_waiting;
}

/* The front of the queue; false when it is empty. Requests that can never run leave it. */
static bool queue_front(struct server *server, struct sequence *front)
{
    if (server->put_back_count > 0) {
        *front = server->put_back[server->put_back_count - 1];
        return true;
    }
    while (server->next < server->arrived && is_too_long(server, server->indices[server->next])) {
        server->served[server->indices[server->next++]].too_long = true;
        server->ended++;
    }
    if (server->next == server->arrived) {
        return false;
    }
    *front = (struct sequence){.index = server->indices[server->next]};
    return true;
}

static void queue_pop(struct server *server)
{
    if (server->put_back_count > 0) {
        server->put_back_count--;
    } else {
        server->next++;
    }
}

/* ---- loads ---------------------------------------------------------------------------- */

static void start_load(struct server *server, const struct sequence *sequence, uint64_t tokens)
{
    server->loading[server->loading_count++] = (struct load){
        .sequence = *sequence,
        .left_ns = server->clock->load_start_ns,
        .left_bytes = (double)tokens * (double)server->options->load_token_bytes,
    };
}

/* Time that the first load still needs when it has `rate` bytes a second. */
static double first_load_ns(const struct server *server, double rate)
{
    return server->loading[0].left_ns + server->loading[0].left_bytes / rate * 1e9;
}

/* `ns` pass in which loads have `rate` bytes a second; those that end run from the next step on.
 * Returns the bytes that crossed. */
static double pass_loads(struct server *server, double ns, double rate)
{
    double crossed = 0;
    while (server->loading_count > 0 && first_load_ns(server, rate) <= ns) {
        ns -= first_load_ns(server, rate);
        crossed += server->loading[0].left_bytes;
        server->running[server->running_count++] = server->loading[0].sequence;
        memmove(server->loading, server->loading + 1,
                --server->loading_count * sizeof *server->loading);
    }
    if (server->loading_count > 0) {
        struct load *first = &server->loading[0];
        double waited = fmin(ns, first->left_ns);
        double left = fmax(0, first->left_bytes - (ns - waited) * rate / 1e9);
        first->left_ns -= waited;
        crossed += first->left_bytes - left;
        first->left_bytes = left;
    }
    return crossed;
}

/* ---- scheduling ----------------------------------------------------------------------- */

/* The last sequence that runs goes back to the front of the queue. */
static void put_back_last(struct server *server)
{
    struct sequence sequence = server->running[--server->running_count];
    struct served *served = &server->served[sequence.index];
    prefix_end(server->cache, sequence.index, false);
    served->preemptions++;
    waits_charge(&served->waits, WAIT_LOAD, server->now_ns); /* all else is charged */
    server->put_back[server->put_back_count++] = (struct sequence){
        .index = sequence.index, .generated = sequence.generated, .was_put_back = true};
}

/* Give those that run their next tokens, making room where there is none. Returns the tokens that
 * the step has left. */
static uint32_t schedule_running(struct server *server, uint32_t budget, bool *made_room)
{
    for (uint32_t i = 0; i < server->running_count; i++) {
        struct sequence *sequence = &server->running[i];
        uint64_t wanted = known_tokens(server, sequence) - sequence->computed;
        sequence->chunk = wanted < budget ? (uint32_t)wanted : budget;
        while (i < server->running_count &&
               !prefix_grow(server->cache, sequence->index,
                            sequence->computed + sequence->chunk)) {
            put_back_last(server);
            *made_room = true;
        }
        budget -= i < server->running_count ? sequence->chunk : 0;
    }
    return budget;
}

static void note_match(const struct server *server, const struct prefix_match *match)
{
    struct series *series = server->options->series;
    series_add(series, SERIES_ON_GPU, server->now_ns, (double)match->gpu_tokens);
    series_add(series, SERIES_ON_HOST, server->now_ns, (double)match->host_tokens);
}

/* Begin the front of the queue with at most `budget` tokens; false where there is no room. */
static bool admit(struct server *server, struct sequence *front, uint32_t *budget)
{
    struct prefix_match match;
    struct served *served = &server->served[front->index];
    if (!prefix_begin(server->cache, front->index, known_tokens(server, front), *budget, &match)) {
        return false;
    }
    queue_pop(server);
    waits_charge(&served->waits, front->was_put_back ? WAIT_PREEMPTED : WAIT_QUEUE, server->now_ns);
    if (served->scheduled_ns < 0) {
        served->scheduled_ns = server->now_ns;
        served->match = match;
        note_match(server, &match);
    }
    front->computed = match.gpu_tokens + match.host_tokens;
    if (match.host_tokens > 0) {
        start_load(server, front, match.host_tokens);
        return true;
    }
    front->chunk = match.compute_tokens < *budget ? (uint32_t)match.compute_tokens : *budget;
    *budget -= front->chunk;
    server->running[server->running_count++] = *front;
    return true;
}

static void schedule(struct server *server)
{
    struct sequence front;
    bool made_room = false;
    uint32_t budget = schedule_running(server, server->options->batched_tokens, &made_room);
    while (!made_room && budget > 0 &&
           server->running_count + server->loading_count < server->options->sequences &&
           queue_front(server, &front) && admit(server, &front, &budget)) {
    }
}

/* ---- a step --------------------------------------------------------------------------- */

static struct step_load read_load(const struct server *server)
{
    struct step_load load = {.chunks = server->chunks, .loads = server->loading_count > 0};
    for (uint32_t i = 0; i < server->running_count; i++) {
        const struct sequence *sequence = &server->running[i];
        if (sequence->chunk == 1 && sequence->generated > 0) {
            load.decodes++;
            load.decode_tokens += sequence->computed + 1;
        } else if (sequence->chunk > 0) {
            server->chunks[load.chunk_count++] =
                (struct step_chunk){.start = sequence->computed, .tokens = sequence->chunk};
        }
    }
    return load;
}

/* What the step, which ends now, was to the sequence. */
static void charge_step(const struct server *server, const struct sequence *sequence,
                        const struct step_time *time)
{
    struct waits *waits = &server->served[sequence->index].waits;
    waits_charge(waits, sequence->was_put_back ? WAIT_PREEMPTED : WAIT_LOAD,
                 server->now_ns - time->ns);
    if (sequence->was_put_back) {
        waits_charge(waits, WAIT_PREEMPTED, server->now_ns);
    } else if (sequence->chunk == 0) {
        waits_charge(waits, WAIT_OTHERS, server->now_ns);
    } else if (sequence->generated == 0) {
        waits_charge(waits, WAIT_PREFILL, server->now_ns);
    } else {
        waits_charge_decode(waits, time->ns, time->others_ns, time->stall_ns);
    }
}

/* The sequence has computed its chunk; true when that was its last token. */
static bool step_sequence(struct server *server, struct sequence *sequence)
{
    struct served *served = &server->served[sequence->index];
    sequence->computed += sequence->chunk;
    prefix_fill(server->cache, sequence->index, sequence->computed);
    if (sequence->computed < known_tokens(server, sequence)) {
        return false;
    }
    sequence->generated++;
    sequence->was_put_back = false;
    series_add(server->options->series, SERIES_OUTPUT, server->now_ns - 1, 1);
    if (served->first_token_ns < 0) {
        served->first_token_ns = server->now_ns;
    }
    if (sequence->generated < server->requests->all[sequence->index].output) {
        return false;
    }
    served->end_ns = server->now_ns;
    server->ended++;
    prefix_end(server->cache, sequence->index, true);
    return true;
}

static void finish_step(struct server *server, uint32_t computing, const struct step_time *time)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < server->running_count; i++) {
        struct sequence sequence = server->running[i];
        if (i < computing) {
            charge_step(server, &sequence, time);
        }
        if (i >= computing || sequence.chunk == 0 || !step_sequence(server, &sequence)) {
            server->running[kept++] = sequence;
        }
    }
    server->running_count = kept;
}

/* `ns` pass, in which loads have `rate` bytes a second and `computing` sequences a step. */
static void pass(struct server *server, int64_t ns, double rate, uint32_t computing)
{
    struct series *series = server->options->series;
    int64_t start = server->now_ns, end = start + ns;
    series_hold(series, SERIES_WAITING, start, end, waiting_requests(server));
    series_hold(series, SERIES_LOADING, start, end, server->loading_count);
    series_hold(series, SERIES_RUNNING, start, end, computing);
    series_hold(series, SERIES_BLOCKS, start, end,
                (double)(server->all_blocks - prefix_room(server->cache)));
    series_spread(series, SERIES_LOADED, start, end, pass_loads(server, (double)ns, rate));
    server->now_ns = end;
}

static bool run_step(struct server *server, const struct step_load *load, struct error *why)
{
    struct step_time time = {.ns = 0};
    struct series *series = server->options->series;
    uint32_t computing = server->running_count;
    if (!server->clock->step(server->clock->context, load, &time, why)) {
        return false;
    }
    pass(server, time.ns, time.load_rate, computing);
    series_spread(series, SERIES_FETCHED, server->now_ns - time.ns, server->now_ns,
                  time.fetched_bytes);
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        series_add(series, SERIES_PROMPT, server->now_ns - 1, load->chunks[i].tokens);
    }
    server->totals->busy_ns += time.ns;
    server->totals->steps++;
    finish_step(server, computing, &time);
    return true;
}

/* Nothing computes: go on to the end of the first load, or to the next arrival. False when there is
 * neither. */
static bool pass_idle(struct server *server)
{
    double load_ns = server->loading_count > 0
                         ? ceil(first_load_ns(server, server->clock->load_rate))
                         : INFINITY;
    double arrival_ns = INFINITY;
    if (server->arrived < server->count && next_arrival(server) < INT64_MAX) {
        arrival_ns = (double)(next_arrival(server) - server->now_ns);
    }
    double ns = fmin(load_ns, arrival_ns);
    if (!isfinite(ns)) {
        return false;
    }
    pass(server, (int64_t)ns, server->clock->load_rate, 0);
    return true;
}

static bool run(struct server *server, struct error *why)
{
    for (;;) {
        arrive(server);
        schedule(server);
        struct step_load load = read_load(server);
        if (load.decodes + load.chunk_count > 0) {
            if (!run_step(server, &load, why)) {
                return false;
            }
        } else if (!pass_idle(server)) {
            server->totals->end_ns = server->now_ns;
            return prefix_check(server->cache, why);
        }
    }
}

bool server_run(const struct server_options *options, const struct step_clock *clock,
                const struct requests *requests, const uint32_t *indices, uint32_t count,
                struct prefix_cache *cache, struct served *served, struct server_totals *totals,
                struct error *why)
{
    struct server server = {
        .options = options,
        .clock = clock,
        .requests = requests,
        .indices = indices,
        .count = count,
        .cache = cache,
        .all_blocks = prefix_room(cache),
        .all_blocks_tokens = prefix_room(cache) * prefix_block_tokens(cache),
        .served = served,
        .totals = totals,
    };
    *totals = (struct server_totals){.steps = 0};
    for (uint32_t i = 0; i < count; i++) {
        served[indices[i]] = (struct served){
            .arrived_ns = -1, .scheduled_ns = -1, .first_token_ns = -1, .end_ns = -1};
    }
    server.running = array_zeroed(options->sequences, sizeof *server.running, why);
    server.loading = array_zeroed(options->sequences, sizeof *server.loading, why);
    server.put_back = array_zeroed(options->sequences, sizeof *server.put_back, why);
    server.chunks = array_zeroed(options->sequences, sizeof *server.chunks, why);
    bool ok = server.running != NULL && server.loading != NULL && server.put_back != NULL &&
              server.chunks != NULL && run(&server, why);
    free(server.chunks);
    free(server.running);
    free(server.loading);
    free(server.put_back);
    return ok;
}
