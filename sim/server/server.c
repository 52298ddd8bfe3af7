/* Each iteration is an event: time passes, requests arrive, the scheduler runs, then a step. In tests,
 * conservation laws are checked in its middle (server_state.h). */
#include "server/server_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <sys/param.h>

static double kv_share(const struct server *server, uint64_t room)
{
    return server->all_blocks > 0 ? 1 - (double)room / (double)server->all_blocks : 0;
}

/* ---- a step --------------------------------------------------------------------------- */

/* The flows over which copies are pending. */
static void find_pending(const struct server *server, bool pending[SERVER_FLOWS])
{
    for (uint32_t k = 1; k < server->tiers; k++) {
        pending[flow_loaded(k)] = server_copies_pend(&server->in[k]);
        pending[flow_saved(k)] = server_copies_pend(&server->out[k]);
    }
}

/* In place: a copy of flags that were just written would wait for them. */
static void read_load(const struct server *server, struct step_load *load)
{
    *load = (struct step_load){.chunks = server->chunks,
                               .copies_ns = server->copies_ns + server->options.step_ns};
    find_pending(server, load->pending);
    for (uint32_t i = 0; i < server->running_count; i++) {
        const struct sequence *sequence = &server->running[i];
        if (sequence->chunk == 1 && sequence->generated > 0) {
            uint64_t tokens = sequence->computed + sequence_cruised(server, sequence) + 1;
            load->decodes++;
            load->decode_tokens += tokens;
            load->decode_squares += (double)tokens * (double)tokens;
            load->longest = tokens > load->longest ? tokens : load->longest;
        } else if (sequence->chunk > 0) {
            server->chunks[load->chunk_count++] =
                (struct step_chunk){.start = sequence->computed, .tokens = sequence->chunk};
            load->written_bytes += server->options.written_bytes * sequence->chunk;
        }
    }
    load->alone = load->chunk_count > 0 && server->options.step_saves;
}

/* Charge the step, which ends now, to the sequences that cruise. */
static void charge_cruise(struct server *server, const struct step_time *time)
{
    struct cruise *cruise = &server->cruise;
    waits_charge(&cruise->waits, WAIT_LOAD, server->now_ns - time->ns);
    if (cruise->decodes) {
        waits_charge_decode(&cruise->waits, time->ns, time->others_ns, time->stall_ns);
        cruise->steps++;
    } else {
        waits_charge(&cruise->waits, WAIT_OTHERS, server->now_ns);
    }
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

/* Tokens of a step, and the last of them that came equally long after the token before. */
struct step_tokens {
    uint32_t count, alike;
    int64_t gap_ns;
};

/* The sequence's next token comes to its client. */
static void take_token(struct server *server, struct sequence *sequence, struct step_tokens *tokens)
{
    const struct server_options *options = &server->options;
    server->replied_ns = MAX(server->replied_ns, server->now_ns) + options->path.output_token_ns;
    int64_t gap_ns = server->replied_ns - sequence->last_token_ns;
    tokens->count++;
    if (sequence->last_token_ns > 0 && options->gaps != NULL && server->is_warm &&
        sequence->index >= options->warm) {
        if (gap_ns != tokens->gap_ns && tokens->alike > 0) {
            gaps_add(options->gaps, tokens->gap_ns, tokens->alike);
            tokens->alike = 0;
        }
        tokens->gap_ns = gap_ns;
        tokens->alike++;
    }
    sequence->last_token_ns = server->replied_ns;
}

/* Where an engine computes prompts alone, what a sequence waits for meanwhile depends on its blocks. */
static void begin_cruise(struct server *server, struct sequence *sequence)
{
    enum { WORTH = 2 };
    uint64_t left = server->requests->all[sequence->index].output - sequence->generated - 1;
    uint64_t quiet = prefix_quiet_tokens(server->cache, sequence->index, sequence->computed);
    uint64_t steps = MIN(left, quiet);
    if (steps >= WORTH && sequence_has_room(server, sequence) &&
        (sequence->room == 0 || !server->options.path.prompts_alone)) {
        sequence->cruises = true;
        sequence->since = server->cruise.steps;
        sequence->until = sequence->since + steps;
        waits_add(&server->served[sequence->index].waits, &server->cruise.waits, -1);
    }
}

/* The sequence has computed its chunk. Returns true if it has ended. */
static bool step_sequence(struct server *server, struct sequence *sequence,
                          struct step_tokens *tokens)
{
    struct served *served = &server->served[sequence->index];
    sequence->computed += sequence->chunk;
    prefix_fill(server->cache, sequence->index, sequence->computed);
    if (sequence->computed < sequence_known_tokens(server, sequence)) {
        return false;
    }
    sequence->generated++;
    sequence->was_put_back = false;
    take_token(server, sequence, tokens);
    int64_t replied_ns = server->replied_ns;
    served->first_token_ns = served->first_token_ns < 0 ? replied_ns : served->first_token_ns;
    if (sequence->generated < server->requests->all[sequence->index].output) {
        begin_cruise(server, sequence);
        return false;
    }
    served->end_ns = replied_ns;
    series_hold(server->options.series, SERIES_RUNNING, server->now_ns, replied_ns, 1);
    waits_charge(&served->waits, WAIT_API, replied_ns);
    server->ended++;
    prefix_end(server->cache, sequence->index, true);
    return true;
}

static void finish_step(struct server *server, uint32_t computing, const struct step_time *time)
{
    uint32_t kept = 0;
    struct step_tokens tokens = {.count = 0};
    charge_cruise(server, time);
    for (uint32_t i = 0; i < server->running_count; i++) {
        struct sequence *sequence = &server->running[i];
        bool ends = false;
        if (i < computing && !sequence->cruises) {
            charge_step(server, sequence, time);
            ends = sequence->chunk > 0 && step_sequence(server, sequence, &tokens);
        } else if (i < computing && sequence->chunk > 0) {
            take_token(server, sequence, &tokens);
        }
        if (!ends && kept < i) {
            server->running[kept] = *sequence;
        }
        kept += !ends;
    }
    server->running_count = kept;
    series_add(server->options.series, SERIES_OUTPUT, server->now_ns - 1, tokens.count);
    if (tokens.alike > 0) {
        gaps_add(server->options.gaps, tokens.gap_ns, tokens.alike);
    }
}

/* Let `ns` pass: copies run at these rates, and `computing` sequences are in a step. */
static void pass(struct server *server, int64_t ns, const double rate[SERVER_FLOWS],
                 uint32_t computing)
{
    struct series *series = server->options.series;
    int64_t start = server->now_ns, end = start + ns;
    series_hold(series, SERIES_WAITING, start, end, server->put_back_count);
    /* Without a step, running sequences wait for blocks that are being copied out. */
    series_hold(series, SERIES_LOADING, start, end,
                server->loading_count + (computing == 0 ? server->running_count : 0));
    series_hold(series, SERIES_RUNNING, start, end, computing);
    series_hold(series, SERIES_BLOCKS, start, end,
                (double)(server->all_blocks - prefix_room(server->cache)));
    if (server->is_warm && computing > 0 && !server->options.step_takes) {
        uint64_t kept = server->out[1].added - server->out[1].ended;
        server->totals->copies_ns[COPY_HOLDS] += ns * (int64_t)kept / (int64_t)server->all_blocks;
    }
    server_pass_copies(server, ns, rate);
    server->now_ns = end;
}

/* Lengthen a step whose layers load, or write, one after the other for `link_ns` in all. */
static void stretch(struct step_time *time, double link_ns, uint32_t layers)
{
    int64_t ns = (int64_t)ceil(layered_ns((double)time->ns, link_ns, layers));
    time->others_ns += ns - time->ns;
    time->ns = ns;
}

/* If layers wait for their own part, the step waits for the last load of its sequences. */
static void wait_for_layers(const struct server *server, struct step_time *time)
{
    double load_ns = 0;
    for (uint32_t k = 1; k < server->tiers && server->options.layers > 0; k++) {
        uint64_t last = 0;
        for (uint32_t i = 0; i < server->running_count; i++) {
            const struct sequence *sequence = &server->running[i];
            last = sequence->chunk > 0 && sequence->load[k] > last ? sequence->load[k] : last;
        }
        load_ns = fmax(load_ns, copies_time(&server->in[k], last, time->rate[flow_loaded(k)]));
    }
    if (load_ns > 0) {
        stretch(time, load_ns, server->options.layers);
    }
}

/* The step's blocks are full: it waits until saves have crossed, alone on the link. Returns for how long. */
static int64_t save_step(struct server *server, uint32_t computing)
{
    double most[SERVER_FLOWS] = {0}, rate[SERVER_FLOWS];
    most[flow_saved(1)] = INFINITY;
    for (uint32_t i = 0; i < computing; i++) {
        const struct sequence *sequence = &server->running[i];
        prefix_fill(server->cache, sequence->index, sequence->computed + sequence->chunk);
    }
    server_copy_saves(server);
    way_shares_find(server->clock.shares, most, rate);
    const struct copies *out = &server->out[1];
    int64_t ns = (int64_t)ceil(copies_time(out, copies_last(out), rate[flow_saved(1)]));
    pass(server, ns, rate, computing);
    return ns;
}

static bool server_run_step(struct server *server, const struct step_load *load, struct error *why)
{
    struct step_time time = {.ns = 0};
    struct series *series = server->options.series;
    uint32_t computing = server->running_count;
    server->room_before = prefix_room(server->cache);
    if (!server->clock.step(server->clock.context, load, &time, why)) {
        return false;
    }
    int64_t copies_ns[COPY_WAITS] = {[COPY_CALLS] = time.calls_ns, [COPY_LOADS] = -time.ns};
    wait_for_layers(server, &time);
    copies_ns[COPY_LOADS] += time.ns;
    if (load->written_bytes > 0) { /* the step ends when the KV of its chunks has left */
        uint32_t layers = server->options.written_layers;
        double bytes_ns = load->written_bytes / time.rate[flow_saved(1)] * 1e9;
        stretch(&time, server->clock.save[1].unit * layers + bytes_ns, layers);
    }
    pass(server, time.ns, time.rate, computing);
    if (server->options.step_saves) {
        copies_ns[COPY_SAVES] = save_step(server, computing);
        time.ns += copies_ns[COPY_SAVES];
        time.others_ns += copies_ns[COPY_SAVES];
    }
    server_start_loaded(server, false);
    series_spread(series, SERIES_FETCHED, server->now_ns - time.ns, server->now_ns,
                  time.fetched_bytes);
    series_spread(series, SERIES_WRITTEN, server->now_ns - time.ns, server->now_ns,
                  load->written_bytes);
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        series_add(series, SERIES_PROMPT, server->now_ns - 1, load->chunks[i].tokens);
    }
    server->totals->busy_ns += server->is_warm ? time.ns : 0;
    for (int wait = 0; wait < COPY_HOLDS && server->is_warm; wait++) {
        server->totals->copies_ns[wait] += copies_ns[wait];
    }
    server->totals->steps++;
    finish_step(server, computing, &time);
    server_copy_saves(server);
    return true;
}

/* Time until a current copy ends; INFINITY if there is none, or nobody waits. Saved twice, it waits. */
static double next_copy_ns(const struct server *server, const double rate[SERVER_FLOWS])
{
    bool awaited = server->loading_count + server->running_count + schedule_waiting(server) > 0;
    double ns = INFINITY;
    for (uint32_t k = 1; k < server->tiers; k++) {
        const struct copies *in = &server->in[k], *out = &server->out[k];
        if (awaited && server_copies_pend(in)) {
            ns = fmin(ns, copies_time(in, in->done + 1, rate[flow_loaded(k)]));
        }
        if ((awaited || server->tiers > 2) && server_copies_pend(out)) {
            ns = fmin(ns, copies_time(out, out->done + 1, rate[flow_saved(k)]));
        }
    }
    return ceil(ns);
}

/* The rates of copies while nothing computes. */
static void idle_rates(const struct server *server, double rate[SERVER_FLOWS])
{
    bool pending[SERVER_FLOWS] = {false};
    double most[SERVER_FLOWS];
    find_pending(server, pending);
    for (uint32_t flow = 0; flow < SERVER_FLOWS; flow++) {
        most[flow] = pending[flow] ? INFINITY : 0;
    }
    way_shares_find(server->clock.shares, most, rate);
}

/* The engine's thread copies before the next step; or that waits until blocks that it takes are saved. */
static void wait_for_copies(struct server *server, struct step_load *load)
{
    const struct server_options *options = &server->options;
    int64_t from_ns = server->now_ns;
    double rate[SERVER_FLOWS], ns = 0;
    while (isfinite(ns) && (options->copies_block ||
                            (options->step_takes && server_copies_in_the_way(server) > 0))) {
        idle_rates(server, rate);
        ns = next_copy_ns(server, rate);
        pass(server, isfinite(ns) ? (int64_t)ns : 0, rate, 0);
    }
    if (options->copies_block) {
        server_start_loaded(server, true);
    } else if (server->is_warm) {
        server->totals->copies_ns[COPY_TAKES] += server->now_ns - from_ns;
    }
    find_pending(server, load->pending);
}

/* When an idle server goes on: a copy ends for somebody, a load is seen to have ended, a request arrives. */
static int64_t idle_until(const struct server *server)
{
    double rate[SERVER_FLOWS];
    idle_rates(server, rate);
    double copy_ns = next_copy_ns(server, rate);
    int64_t copied = isfinite(copy_ns) ? server->now_ns + (int64_t)copy_ns : INT64_MAX;
    int64_t arrival = schedule_next_arrival(server), seen = server_sees_loaded(server);
    int64_t next = copied < arrival ? copied : arrival;
    return next < seen ? next : seen;
}

/* ---- iterations ----------------------------------------------------------------------- */

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
        .tiers = prefix_census(cache).count > 2 ? prefix_census(cache).count : 2,
        .all_blocks = prefix_room(cache),
        .longest = prefix_cache_longest(cache),
        .served = served,
        .totals = totals,
        .due_ns = INT64_MAX,
        .idle = true,
    };
    *totals = (struct server_totals){.steps = 0};
    struct arrays *arrays = &server->arrays;
    server->running = arrays_add(arrays, options->sequences, sizeof *server->running, why);
    server->loading = arrays_add(arrays, options->sequences, sizeof *server->loading, why);
    server->put_back = arrays_add(arrays, options->sequences, sizeof *server->put_back, why);
    server->chunks = arrays_add(arrays, options->sequences, sizeof *server->chunks, why);
    if (arrays->failed) {
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
    arrays_release(&server->arrays);
    for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
        copies_release(&server->in[k]);
        copies_release(&server->out[k]);
    }
    free(server);
}

bool server_send(struct server *server, uint32_t index, int64_t at_ns, struct error *why)
{
    assert(at_ns <= server->due_ns);
    if (!array_reserve(&server->indices, &server->capacity, (size_t)server->count + 1,
                       sizeof *server->indices, why)) {
        return false;
    }
    bool next = server->arrived == server->count;
    server->indices[server->count++] = index;
    server->served[index] = (struct served){.arrived_ns = at_ns,
                                            .scheduled_ns = -1,
                                            .first_token_ns = -1,
                                            .end_ns = -1,
                                            .waits = {.until_ns = at_ns},
                                            .server = server->options.number};
    if (next) {
        schedule_notice(server);
    }
    if (server->idle && schedule_next_arrival(server) < server->due_ns) {
        server->due_ns = schedule_next_arrival(server);
    }
    return true;
}

int64_t server_due(const struct server *server)
{
    return server->due_ns;
}

/* Schedule a step. An engine that overlaps steps did so when the last one began; if that has left
 * it nothing to compute, it looks again now, and at loads that have ended. `load` becomes the
 * step's work. */
static void plan_step(struct server *server, struct step_load *load)
{
    bool early = server->options.path.overlaps && !server->idle;
    bool sees = !early || server->options.path.queued;
    schedule_arrive(server, sees ? server->now_ns : server->begun_ns);
    schedule_step(server);
    read_load(server, load);
    uint32_t loading = server->loading_count;
    if (load->decodes + load->chunk_count == 0) {
        server_start_loaded(server, true);
    }
    if ((early && load->decodes + load->chunk_count == 0) || server->loading_count < loading) {
        schedule_arrive(server, server->now_ns);
        schedule_step(server);
        read_load(server, load);
    }
}

bool server_iterate(struct server *server, struct server_ends *ends, struct error *why)
{
    uint32_t ended = server->ended;
    server->why = why;
    if (server->due_ns >= server->options.warm_ns && !server->is_warm) {
        for (uint32_t k = 1; k < server->tiers; k++) {
            server->totals->warm[k] = prefix_counts(server->cache, k); /* does not count */
        }
        server->is_warm = true;
    }
    if (server->idle) { /* nothing has computed until now */
        double rate[SERVER_FLOWS];
        idle_rates(server, rate);
        pass(server, server->due_ns - server->now_ns, rate, 0);
        server_start_loaded(server, true);
    }
    struct step_load load;
    plan_step(server, &load);
    if (server->failed || !prefix_check(server->cache, why)) {
        return false;
    }
    if (conservation_assert != NULL) {
        conservation_assert(server);
    }
    *ends = (struct server_ends){.refused = server->ended - ended, .refused_ns = server->now_ns};
    server->ended_before = server->ended;
    server->begun_ns = server->now_ns;
    server->idle = load.decodes + load.chunk_count == 0;
    server->copies_ns = 0;
    if (server->idle) {
        server->due_ns = idle_until(server);
        return true;
    }
    wait_for_copies(server, &load);
    if (!server_run_step(server, &load, why)) {
        return false;
    }
    ends->answered = server->ended - server->ended_before;
    server->due_ns = server->now_ns;
    ends->answered_ns = MAX(server->replied_ns, server->now_ns);
    return true;
}

bool server_finish(struct server *server, bool cut, struct error *why)
{
    server->totals->end_ns = MAX(server->replied_ns, server->now_ns);
    server->totals->saved = server->out[1].ended;
    server->totals->saves_ns = server->out[1].done_ns;
    server_end_copies(server);
    for (uint32_t i = 0; i < server->running_count; i++) {
        sequence_settle(server, &server->running[i]);
    }
    if (conservation_assert != NULL) {
        conservation_assert(server);
    }
    assert(cut || server->ended == server->count); /* an idle server has room for any request */
    (void)cut;
    return prefix_check(server->cache, why);
}

struct server_load server_load(const struct server *server, int64_t at_ns)
{
    bool in_step = at_ns < server->now_ns; /* the last step is known, but not over */
    return (struct server_load){
        .requests = server->count - (in_step ? server->ended_before : server->ended),
        .waiting = server->count - server->next + server->put_back_count,
        .kv = kv_share(server, in_step ? server->room_before : prefix_room(server->cache)),
    };
}
