/* Each turn is an event: time passes until something changes, requests arrive, the scheduler runs,
 * then a step runs. The conservation laws are checked in the middle of each event and after the last
 * (conservation.h).
 */
#include "serve/server_state.h"

#include "base/array.h"
#include "serve/conservation.h"
#include "serve/layered.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t known_tokens(const struct server *server, const struct sequence *sequence)
{
    return (uint64_t)server->requests->all[sequence->index].prompt + sequence->generated;
}

/* ---- the queue ------------------------------------------------------------------------ */

/* Can the request never run, because the GPU has too few blocks for its tokens? */
static bool is_too_long(const struct server *server, uint32_t index)
{
    return request_kept_tokens(&server->requests->all[index]) > server->all_blocks_tokens;
}

/* When the next request that was sent arrives; INT64_MAX if there is none. */
static int64_t next_arrival(const struct server *server)
{
    return server->arrived < server->count
               ? server->served[server->indices[server->arrived]].arrived_ns
               : INT64_MAX;
}

static uint32_t waiting_requests(const struct server *server)
{
    return server->arrived - server->next + server->put_back_count;
}

static void arrive(struct server *server)
{
    while (next_arrival(server) <= server->now_ns) {
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

static double kv_share(const struct server *server)
{
    double room = (double)prefix_room(server->cache);
    return server->all_blocks > 0 ? 1 - room / (double)server->all_blocks : 0;
}

/* ---- copies --------------------------------------------------------------------------- */

/* Queue a copy of the KV of `tokens` tokens. Returns its number. */
static uint64_t copy_tokens(struct server *server, struct copies *copies, uint64_t tokens,
                            struct copy_blocks blocks)
{
    const struct server_options *options = &server->options;
    uint64_t units = (tokens + options->unit_tokens - 1) / options->unit_tokens;
    double start_ns = server->clock.copy_start_ns * (double)(units * options->unit_transfers);
    double bytes = (double)(units * options->unit_tokens) * (double)options->token_bytes;
    uint64_t number = copies_add(copies, start_ns, bytes, blocks, server->why);
    server->failed = server->failed || number == 0;
    return number;
}

/* Queue the saves that the cache has begun. Blocks that the GPU has evicted already become free
 * only when their copy ends. */
static void copy_saves(struct server *server)
{
    struct prefix_counts counts = prefix_counts(server->cache);
    if (server->options.saves_cross && counts.saved > server->saved) {
        uint64_t blocks = counts.saved - server->saved;
        uint64_t number =
            copy_tokens(server, &server->out, blocks * prefix_block_tokens(server->cache),
                        (struct copy_blocks){.moved = blocks});
        server->freeing = counts.evicted > server->evicted ? number : server->freeing;
    }
    server->saved = counts.saved;
    server->evicted = counts.evicted;
}

/* Swap room is given back when its content has been copied in. vLLM gives it back when the copy is
 * scheduled, and begins no step before that copy ends. Here other sequences run meanwhile, and one
 * of them may swap out: it must not overwrite memory that the copy still reads. */
static void end_load(struct copy_blocks blocks, void *context)
{
    struct server *server = context;
    server->swap_left += blocks.freed;
    prefix_loaded(server->cache, blocks.moved);
}

static void end_save(struct copy_blocks blocks, void *context)
{
    struct server *server = context;
    prefix_saved(server->cache, blocks.moved);
}

/* The copy out that frees the blocks taken last; 0 if they are free. */
static uint64_t copies_in_the_way(const struct server *server)
{
    return server->freeing > server->out.done ? server->freeing : 0;
}

static bool has_room(const struct server *server, const struct sequence *sequence)
{
    return sequence->room <= server->out.done;
}

static bool is_ready(const struct server *server, const struct sequence *sequence)
{
    bool loaded = server->options.layers > 0 || sequence->load <= server->in.done;
    return loaded && has_room(server, sequence);
}

/* Sequences whose copies are done run from the next step on. */
static void start_loaded(struct server *server)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < server->loading_count; i++) {
        if (is_ready(server, &server->loading[i])) {
            server->running[server->running_count++] = server->loading[i];
        } else {
            server->loading[kept++] = server->loading[i];
        }
    }
    server->loading_count = kept;
}

/* Let copies run for `ns` at these rates. */
static void pass_copies(struct server *server, int64_t ns, double load_rate, double save_rate)
{
    struct series *series = server->options.series;
    int64_t start = server->now_ns;
    series_spread(series, SERIES_LOADED, start, start + ns,
                  copies_pass(&server->in, (double)ns, load_rate, end_load, server));
    series_spread(series, SERIES_SAVED, start, start + ns,
                  copies_pass(&server->out, (double)ns, save_rate, end_save, server));
    start_loaded(server);
}

/* ---- scheduling ----------------------------------------------------------------------- */

/* Begin to copy out a sequence's KV, if the host has room. Returns its tokens, or 0. */
static uint64_t swap_out(struct server *server, const struct sequence *sequence)
{
    uint32_t block = prefix_block_tokens(server->cache);
    uint64_t blocks = (sequence->computed + block - 1) / block;
    if (blocks == 0 || blocks > server->swap_left || sequence->load > server->in.done) {
        return 0;
    }
    server->swap_left -= blocks;
    server->totals->swapped_blocks += blocks;
    server->served[sequence->index].swaps++;
    server->freeing =
        copy_tokens(server, &server->out, sequence->computed, (struct copy_blocks){0});
    return sequence->computed;
}

/* Preempt the running sequence that was admitted last: it goes to the front of the queue. */
static void put_back_last(struct server *server)
{
    struct sequence sequence = server->running[--server->running_count];
    struct served *served = &server->served[sequence.index];
    uint64_t swapped = swap_out(server, &sequence);
    prefix_end(server->cache, sequence.index, false);
    served->preemptions++;
    waits_charge(&served->waits, WAIT_LOAD, server->now_ns); /* the rest is charged already */
    server->put_back[server->put_back_count++] = (struct sequence){.index = sequence.index,
                                                                   .generated = sequence.generated,
                                                                   .was_put_back = true,
                                                                   .swapped = swapped};
}

/* The tokens of a sequence in this step: what it wants, what a chunk may have, what is left. */
static uint32_t chunk_of(const struct server *server, uint64_t wanted, uint32_t budget)
{
    uint32_t chunk = server->options.chunk_tokens;
    uint32_t most = chunk > 0 && chunk < budget ? chunk : budget;
    return wanted < most ? (uint32_t)wanted : most;
}

/* Give running sequences their next tokens; preempt others if there is no room. Returns the tokens
 * that the step has left. */
static uint32_t schedule_running(struct server *server, uint32_t budget, bool *made_room)
{
    for (uint32_t i = 0; i < server->running_count; i++) {
        struct sequence *sequence = &server->running[i];
        uint64_t wanted = known_tokens(server, sequence) - sequence->computed;
        uint64_t held = prefix_held(server->cache, sequence->index);
        sequence->chunk = chunk_of(server, wanted, budget);
        while (i < server->running_count &&
               !prefix_grow(server->cache, sequence->index, sequence->computed + sequence->chunk)) {
            put_back_last(server);
            *made_room = true;
        }
        if (i < server->running_count) {
            copy_saves(server);
            bool took = prefix_held(server->cache, sequence->index) > held;
            sequence->room = took ? copies_in_the_way(server) : sequence->room;
            sequence->chunk = has_room(server, sequence) ? sequence->chunk : 0;
            budget -= sequence->chunk;
        }
    }
    return budget;
}

static void note_match(const struct server *server, const struct prefix_match *match)
{
    struct series *series = server->options.series;
    series_add(series, SERIES_ON_GPU, server->now_ns, (double)match->gpu_tokens);
    series_add(series, SERIES_ON_HOST, server->now_ns, (double)match->host_tokens);
}

/* Take blocks for the front of the queue; false if there is no room.
 *   load  out: tokens to load
 *   room  out: swap blocks that hold its KV on the host */
static bool begin(struct server *server, struct sequence *front, uint32_t budget, uint64_t *load,
                  uint64_t *room)
{
    uint64_t known = known_tokens(server, front);
    struct served *served = &server->served[front->index];
    struct prefix_match match;
    if (front->swapped > 0) {
        uint32_t block = prefix_block_tokens(server->cache);
        if (!prefix_restore(server->cache, front->index, known, front->swapped, budget, load)) {
            return false;
        }
        *room = (front->swapped + block - 1) / block;
        front->computed = front->swapped;
        front->swapped = 0;
        return true;
    }
    if (!prefix_begin(server->cache, front->index, known, budget, &match)) {
        return false;
    }
    if (served->scheduled_ns < 0) {
        served->match = match;
        note_match(server, &match);
    }
    front->computed = match.gpu_tokens + match.host_tokens;
    *load = match.host_tokens;
    return true;
}

/* Admit the front of the queue with at most `budget` tokens; false if there is no room. */
static bool admit(struct server *server, struct sequence *front, uint32_t *budget)
{
    uint64_t load = 0, room = 0, loaded = prefix_counts(server->cache).loaded;
    struct served *served = &server->served[front->index];
    if (!begin(server, front, *budget, &load, &room)) {
        return false;
    }
    queue_pop(server);
    copy_saves(server);
    waits_charge(&served->waits, front->was_put_back ? WAIT_PREEMPTED : WAIT_QUEUE, server->now_ns);
    served->scheduled_ns = served->scheduled_ns < 0 ? server->now_ns : served->scheduled_ns;
    front->room = copies_in_the_way(server);
    loaded = prefix_counts(server->cache).loaded - loaded;
    if (load > 0) {
        copy_tokens(server, &server->in, load, (struct copy_blocks){loaded, room});
    } else {
        server->swap_left += room; /* all its KV is still on the GPU */
    }
    /* Its own load, or one begun by another request for blocks that it found. */
    front->load = prefix_load(server->cache, front->index);
    if (!is_ready(server, front)) {
        server->loading[server->loading_count++] = *front;
        return true;
    }
    uint64_t left = known_tokens(server, front) - front->computed;
    front->chunk = chunk_of(server, left, *budget);
    *budget -= front->chunk;
    server->running[server->running_count++] = *front;
    return true;
}

static void schedule(struct server *server)
{
    struct sequence front;
    bool made_room = false;
    uint32_t budget = schedule_running(server, server->options.batched_tokens, &made_room);
    while (!made_room && budget > 0 &&
           server->running_count + server->loading_count < server->options.sequences &&
           queue_front(server, &front) && admit(server, &front, &budget)) {
    }
}

/* ---- a step --------------------------------------------------------------------------- */

static struct step_load read_load(const struct server *server)
{
    struct step_load load = {
        .chunks = server->chunks,
        .loads = copies_last(&server->in) > server->in.done,
        .saves = copies_last(&server->out) > server->out.done,
    };
    for (uint32_t i = 0; i < server->running_count; i++) {
        const struct sequence *sequence = &server->running[i];
        if (sequence->chunk == 1 && sequence->generated > 0) {
            load.decodes++;
            load.decode_tokens += sequence->computed + 1;
        } else if (sequence->chunk > 0) {
            server->chunks[load.chunk_count++] =
                (struct step_chunk){.start = sequence->computed, .tokens = sequence->chunk};
            load.written_bytes += server->options.written_bytes * sequence->chunk;
        }
    }
    return load;
}

/* Charge the step, which ends now, to the sequence. */
static void charge_step(const struct server *server, const struct sequence *sequence,
                        const struct step_time *time)
{
    struct waits *waits = &server->served[sequence->index].waits;
    waits_charge(waits, sequence->was_put_back ? WAIT_PREEMPTED : WAIT_LOAD,
                 server->now_ns - time->ns);
    if (sequence->was_put_back) {
        waits_charge(waits, WAIT_PREEMPTED, server->now_ns);
    } else if (sequence->chunk == 0 && sequence->room > 0) {
        waits_charge(waits, WAIT_LOAD, server->now_ns);
    } else if (sequence->chunk == 0) {
        waits_charge(waits, WAIT_OTHERS, server->now_ns);
    } else if (sequence->generated == 0) {
        waits_charge(waits, WAIT_PREFILL, server->now_ns);
    } else {
        waits_charge_decode(waits, time->ns, time->others_ns, time->stall_ns);
    }
}

/* The sequence has computed its chunk. Returns true if it has ended. */
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
    series_add(server->options.series, SERIES_OUTPUT, server->now_ns - 1, 1);
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

/* Let `ns` pass: copies run at these rates, and `computing` sequences are in a step. */
static void pass(struct server *server, int64_t ns, double load_rate, double save_rate,
                 uint32_t computing)
{
    struct series *series = server->options.series;
    int64_t start = server->now_ns, end = start + ns;
    series_hold(series, SERIES_WAITING, start, end, waiting_requests(server));
    /* Without a step, running sequences wait for blocks that are being copied out. */
    series_hold(series, SERIES_LOADING, start, end,
                server->loading_count + (computing == 0 ? server->running_count : 0));
    series_hold(series, SERIES_RUNNING, start, end, computing);
    series_hold(series, SERIES_BLOCKS, start, end,
                (double)(server->all_blocks - prefix_room(server->cache)));
    pass_copies(server, ns, load_rate, save_rate);
    server->now_ns = end;
}

/* Lengthen a step whose layers load, or write, one after the other for `link_ns` in all. */
static void stretch(struct step_time *time, double link_ns, uint32_t layers)
{
    int64_t ns = (int64_t)ceil(layered_ns((double)time->ns, link_ns, layers));
    time->others_ns += ns - time->ns;
    time->ns = ns;
}

/* The step ends when the KV of its chunks has left. */
static void wait_for_writes(const struct server *server, double bytes, struct step_time *time)
{
    uint32_t layers = server->options.written_layers;
    if (bytes > 0) {
        stretch(time, server->clock.copy_start_ns * layers + bytes / time->save_rate * 1e9, layers);
    }
}

/* If layers wait for their own part, the step waits for the last load of its sequences. */
static void wait_for_layers(const struct server *server, struct step_time *time)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < server->running_count && server->options.layers > 0; i++) {
        const struct sequence *sequence = &server->running[i];
        last = sequence->chunk > 0 && sequence->load > last ? sequence->load : last;
    }
    double load_ns = copies_time(&server->in, last, time->load_rate);
    if (load_ns > 0) {
        stretch(time, load_ns, server->options.layers);
    }
}

static bool run_step(struct server *server, const struct step_load *load, struct error *why)
{
    struct step_time time = {.ns = 0};
    struct series *series = server->options.series;
    uint32_t computing = server->running_count;
    server->kv_before = kv_share(server);
    if (!server->clock.step(server->clock.context, load, &time, why)) {
        return false;
    }
    wait_for_layers(server, &time);
    wait_for_writes(server, load->written_bytes, &time);
    pass(server, time.ns, time.load_rate, time.save_rate, computing);
    series_spread(series, SERIES_FETCHED, server->now_ns - time.ns, server->now_ns,
                  time.fetched_bytes);
    series_spread(series, SERIES_WRITTEN, server->now_ns - time.ns, server->now_ns,
                  load->written_bytes);
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        series_add(series, SERIES_PROMPT, server->now_ns - 1, load->chunks[i].tokens);
    }
    server->totals->busy_ns += time.ns;
    server->totals->steps++;
    finish_step(server, computing, &time);
    copy_saves(server);
    return true;
}

/* Time until a current copy, in or out, ends; INFINITY if there is none, or nobody waits. */
static double next_copy_ns(const struct server *server, const double rate[LINK_FLOWS])
{
    bool awaited = server->loading_count + server->running_count + waiting_requests(server) > 0;
    double ns = INFINITY;
    if (awaited && copies_last(&server->in) > server->in.done) {
        ns = copies_time(&server->in, server->in.done + 1, rate[LINK_LOADED]);
    }
    if (awaited && copies_last(&server->out) > server->out.done) {
        ns = fmin(ns, copies_time(&server->out, server->out.done + 1, rate[LINK_SAVED]));
    }
    return ceil(ns);
}

/* The rates of copies while nothing computes. */
static void idle_rates(const struct server *server, double rate[LINK_FLOWS])
{
    const double most[LINK_FLOWS] = {
        [LINK_LOADED] = copies_last(&server->in) > server->in.done ? INFINITY : 0,
        [LINK_SAVED] = copies_last(&server->out) > server->out.done ? INFINITY : 0,
    };
    link_share(&server->clock.link, most, rate);
}

/* When an idle server has something to do again: at the end of a copy, if somebody waits, or at the
 * next arrival. */
static int64_t idle_until(const struct server *server)
{
    double rate[LINK_FLOWS];
    idle_rates(server, rate);
    double copy_ns = next_copy_ns(server, rate);
    int64_t copied = isfinite(copy_ns) ? server->now_ns + (int64_t)copy_ns : INT64_MAX;
    int64_t arrival = next_arrival(server);
    return copied < arrival ? copied : arrival;
}

/* Nothing computes until the turn is due. */
static void pass_idle(struct server *server)
{
    double rate[LINK_FLOWS];
    idle_rates(server, rate);
    pass(server, server->due_ns - server->now_ns, rate[LINK_LOADED], rate[LINK_SAVED], 0);
}

/* ---- turns ---------------------------------------------------------------------------- */

struct server *server_create(const struct server_options *options, const struct step_clock *clock,
                             const struct requests *requests, struct prefix_cache *cache,
                             struct served *served, struct server_totals *totals, struct error *why)
{
    struct server *server = array_zeroed(1, sizeof *server, why);
    if (server == NULL) {
        return NULL;
    }
    *server = (struct server){
        .options = *options,
        .clock = *clock,
        .requests = requests,
        .cache = cache,
        .all_blocks = prefix_room(cache),
        .all_blocks_tokens = prefix_room(cache) * prefix_block_tokens(cache),
        .served = served,
        .totals = totals,
        .swap_left = options->swap_blocks,
        .due_ns = INT64_MAX,
        .idle = true,
    };
    *totals = (struct server_totals){.steps = 0};
    server->running = array_zeroed(options->sequences, sizeof *server->running, why);
    server->loading = array_zeroed(options->sequences, sizeof *server->loading, why);
    server->put_back = array_zeroed(options->sequences, sizeof *server->put_back, why);
    server->chunks = array_zeroed(options->sequences, sizeof *server->chunks, why);
    if (server->running == NULL || server->loading == NULL || server->put_back == NULL ||
        server->chunks == NULL) {
        server_destroy(server);
        return NULL;
    }
    return server;
}

void server_destroy(struct server *server)
{
    if (server == NULL) {
        return;
    }
    free(server->indices);
    free(server->chunks);
    free(server->running);
    free(server->loading);
    free(server->put_back);
    copies_release(&server->in);
    copies_release(&server->out);
    free(server);
}

bool server_send(struct server *server, uint32_t index, int64_t at_ns, struct error *why)
{
    assert(at_ns <= server->due_ns);
    if (!array_reserve(&server->indices, &server->capacity, (size_t)server->count + 1,
                       sizeof *server->indices, why)) {
        return false;
    }
    server->indices[server->count++] = index;
    server->served[index] = (struct served){.arrived_ns = at_ns,
                                            .scheduled_ns = -1,
                                            .first_token_ns = -1,
                                            .end_ns = -1,
                                            .waits = {.until_ns = at_ns},
                                            .server = server->options.number};
    server->due_ns = server->idle ? at_ns : server->due_ns;
    return true;
}

int64_t server_due(const struct server *server)
{
    return server->due_ns;
}

bool server_turn(struct server *server, struct server_ends *ends, struct error *why)
{
    uint32_t ended = server->ended;
    server->why = why;
    if (server->idle) {
        pass_idle(server);
    }
    arrive(server);
    schedule(server);
    if (server->failed) {
        return false;
    }
    conservation_check(server);
    *ends = (struct server_ends){.refused = server->ended - ended, .refused_ns = server->now_ns};
    server->ended_before = server->ended;
    struct step_load load = read_load(server);
    server->idle = load.decodes + load.chunk_count == 0;
    if (server->idle) {
        server->due_ns = idle_until(server);
        return true;
    }
    if (!run_step(server, &load, why)) {
        return false;
    }
    ends->answered = server->ended - server->ended_before;
    ends->answered_ns = server->due_ns = server->now_ns;
    return true;
}

bool server_finish(struct server *server, struct error *why)
{
    server->totals->end_ns = server->now_ns;
    copies_pass(&server->out, INFINITY, 1, end_save, server); /* nobody waits for them */
    conservation_check(server);
    assert(server->ended == server->count); /* an idle server has room for any request */
    return prefix_check(server->cache, why);
}

struct server_load server_load(const struct server *server, int64_t at_ns)
{
    bool in_step = at_ns < server->now_ns; /* the last step is known, but not over */
    return (struct server_load){
        .requests = server->count - (in_step ? server->ended_before : server->ended),
        .waiting = server->count - server->next + server->put_back_count,
        .kv = in_step ? server->kv_before : kv_share(server),
    };
}
