/* The scheduler of a server: who waits, who is admitted, and which tokens a step computes.
 *
 * Running sequences come first, each with one token or the next chunk of its prompt; then waiting requests
 * are admitted in order, preempted ones first (server.h). So does vLLM. SGLang computes prompts alone
 * (server_engine.h): chunks and new requests first, and a step of decodes only when there are none, or no
 * room for them. The queue is `indices` from `next` to `arrived`, behind the preempted sequences.
 *
 * The process between clients and the engine turns prompts into tokens and tokens into text. It
 * does so for one request at a time in each direction; the two directions do not disturb each
 * other, because tokenizers release Python's lock.
 *
 * vLLM 0.19.0: v1/core/sched/scheduler.py, with long_prefill_token_threshold 0, its default. SGLang 0.5.9:
 * managers/scheduler.py (get_next_batch_to_run), without --enable-mixed-chunk. Here a request that ends frees
 * its blocks for the next step; engines that overlap steps free them a step later. */
#include "server/server_state.h"

#include <math.h>

uint64_t sequence_known_tokens(const struct server *server, const struct sequence *sequence)
{
    return (uint64_t)server->requests->all[sequence->index].prompt + sequence->generated +
           sequence_cruised(server, sequence);
}

void sequence_settle(struct server *server, struct sequence *sequence)
{
    if (sequence->cruises) {
        uint64_t steps = sequence_cruised(server, sequence);
        struct waits *waits = &server->served[sequence->index].waits;
        waits_add(waits, &server->cruise.waits, 1);
        waits->until_ns = server->cruise.waits.until_ns;
        sequence->computed += steps;
        sequence->generated += (uint32_t)steps;
        sequence->cruises = false;
    }
}

/* ---- the queue ------------------------------------------------------------------------ */

/* Can the request never run, because its rank has too few blocks for its tokens? */
static bool is_too_long(const struct server *server, uint32_t index)
{
    return request_kept_tokens(&server->requests->all[index]) > server->longest;
}

int64_t schedule_next_arrival(const struct server *server)
{
    return server->arrived < server->count ? server->ready_ns : INT64_MAX;
}

uint32_t schedule_waiting(const struct server *server)
{
    return server->arrived - server->next + server->put_back_count;
}

void schedule_notice(struct server *server)
{
    if (server->arrived < server->count) {
        uint32_t index = server->indices[server->arrived];
        const struct server_path *path = &server->options.path;
        int64_t arrived_ns = server->served[index].arrived_ns;
        server->heard_ns = server->heard_ns > arrived_ns ? server->heard_ns : arrived_ns;
        server->heard_ns += path->prompt_token_ns * server->requests->all[index].prompt;
        server->ready_ns = server->heard_ns + path->request_ns;
    }
}

void schedule_arrive(struct server *server, int64_t until_ns)
{
    while (schedule_next_arrival(server) <= until_ns) {
        uint32_t index = server->indices[server->arrived++];
        if (!is_too_long(server, index)) {
            waits_charge(&server->served[index].waits, WAIT_API, server->ready_ns);
        }
        schedule_notice(server);
    }
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

/* ---- room for outputs to come --------------------------------------------------------------
 *
 * Admission leaves room for outputs as SGLang does it (engine_fields.def, `reserves`), or as TensorRT-LLM does
 * (`reserves_all`), which leaves room for all of them: its policy GUARANTEED_NO_EVICT.
 *
 * SGLang admits a request only if its prompt and its whole output fit beside a share of what the running
 * requests may still generate; at most 4096 tokens of each output count. The share falls from 0.7 to 0.14
 * times that in 600 decode steps. When requests had to be put back, it is what the remaining ones have
 * generated, 20 tokens more each, over their whole outputs. It begins again when nothing runs.
 *
 * SGLang 0.5.9: managers/schedule_policy.py (PrefillAdder), managers/schedule_batch.py
 * (retract_decode), environ.py. An output's limit is taken to be its length. */

enum { MOST_OUTPUT = 4096, RETRACT_TOKENS = 20, DECAY_STEPS = 600 };
static const double first_share = 0.7, least_factor = 0.14;

/* Tokens that the sequence may still generate. */
static double output_left(const struct server *server, const struct sequence *sequence)
{
    uint32_t left = server->requests->all[sequence->index].output - sequence->generated -
                    (uint32_t)sequence_cruised(server, sequence);
    return left < MOST_OUTPUT || server->options.path.reserves_all ? left : MOST_OUTPUT;
}

/* Tokens for which admission leaves room: the rest of running prompts, and a share of outputs, or 0. */
static double reserve_begin(struct server *server)
{
    double tokens = 0;
    if (!server->options.path.reserves) {
        return 0;
    }
    if (server->running_count + server->loading_count == 0) {
        server->reserved_share = server->options.path.reserves_all ? 1 : first_share;
    }
    const struct sequence *lists[] = {server->running, server->loading};
    const uint32_t counts[] = {server->running_count, server->loading_count};
    for (int list = 0; list < 2; list++) {
        for (uint32_t i = 0; i < counts[list]; i++) {
            const struct sequence *sequence = &lists[list][i];
            uint64_t known = sequence_known_tokens(server, sequence);
            tokens += server->reserved_share * output_left(server, sequence) +
                      (double)(known - sequence->computed - sequence_cruised(server, sequence));
        }
    }
    return tokens;
}

/* Does the front of the queue fit beside `*reserved` tokens, or run alone? Its output is added to them. */
static bool reserve_fits(const struct server *server, const struct sequence *front,
                         double *reserved)
{
    if (!server->options.path.reserves) {
        return true;
    }
    bool alone = server->running_count + server->loading_count == 0;
    double output = output_left(server, front);
    double room = (double)(prefix_room(server->cache) * prefix_block_tokens(server->cache));
    if (!alone && (double)sequence_known_tokens(server, front) + output >= room - *reserved) {
        return false;
    }
    *reserved += output;
    return true;
}

/* A step decodes; sequences were put back for it, or not. */
static void reserve_decode(struct server *server, bool put_back)
{
    const double least = least_factor * first_share, decay = (first_share - least) / DECAY_STEPS;
    double generated = 0, output = 1;
    for (uint32_t i = 0; put_back && i < server->running_count; i++) {
        const struct sequence *sequence = &server->running[i];
        generated +=
            (double)(sequence->generated + sequence_cruised(server, sequence)) + RETRACT_TOKENS;
        output += server->requests->all[server->running[i].index].output;
    }
    server->reserved_share =
        put_back ? fmin(generated / output, 1) : fmax(least, server->reserved_share - decay);
}

/* ---- scheduling ----------------------------------------------------------------------- */

/* Preempt the running sequence that was admitted last: it goes to the front of the queue. */
static void put_back_last(struct server *server)
{
    struct sequence sequence = server->running[--server->running_count];
    sequence_settle(server, &sequence);
    struct served *served = &server->served[sequence.index];
    prefix_end(server->cache, sequence.index, false);
    served->preemptions++;
    waits_charge(&served->waits, WAIT_LOAD, server->now_ns); /* the rest is charged already */
    server->put_back[server->put_back_count++] =
        (struct sequence){.index = sequence.index,
                          .generated = sequence.generated,
                          .last_token_ns = sequence.last_token_ns,
                          .was_put_back = true};
}

/* The tokens of a sequence in this step: what it wants, what a chunk may have, what is left. */
static uint32_t chunk_of(const struct server *server, uint64_t wanted, uint32_t budget)
{
    uint32_t chunk = server->options.chunk_tokens;
    uint32_t most = chunk > 0 && chunk < budget ? chunk : budget;
    return wanted < most ? (uint32_t)wanted : most;
}

/* Which sequences a step may compute. */
enum schedule_kind { PROMPTS = 1, DECODES = 2 };

/* Give running sequences of these kinds their next tokens, preempting others. Returns the tokens left. */
static uint32_t schedule_running(struct server *server, int kinds, uint32_t budget, bool *made_room)
{
    server->cruise.decodes = (kinds & DECODES) != 0;
    for (uint32_t i = 0; i < server->running_count; i++) {
        struct sequence *sequence = &server->running[i];
        if (sequence->cruises && server->cruise.steps < sequence->until && budget > 0) {
            sequence->chunk = server->cruise.decodes;
            budget -= sequence->chunk;
            continue;
        }
        sequence_settle(server, sequence);
        uint64_t wanted = sequence_known_tokens(server, sequence) - sequence->computed;
        uint64_t held = prefix_held(server->cache, sequence->index);
        enum schedule_kind kind = sequence->generated == 0 || wanted > 1 ? PROMPTS : DECODES;
        sequence->chunk = 0;
        if ((kinds & (int)kind) == 0) {
            continue;
        }
        sequence->chunk = chunk_of(server, wanted, budget);
        while (i < server->running_count &&
               !prefix_grow(server->cache, sequence->index, sequence->computed + sequence->chunk)) {
            put_back_last(server);
            *made_room = true;
        }
        if (i < server->running_count) {
            if (prefix_held(server->cache, sequence->index) > held) {
                server_copy_saves(server);
                sequence->room = server_copies_in_the_way(server);
            }
            sequence->chunk = sequence_has_room(server, sequence) ? sequence->chunk : 0;
            budget -= sequence->chunk;
        }
    }
    return budget;
}

/* The scheduler asks what lies below the GPU of the front of the queue. Nothing is scheduled meanwhile. */
static void look_up_front(struct server *server, const struct sequence *front)
{
    const struct connector_lookup *lookup = &server->options.lookup;
    uint64_t tokens = sequence_known_tokens(server, front);
    if (lookup->again || server->looked_up != front->index + 1) {
        server->copies_ns += (double)lookup->request_ns + (double)lookup->token_ns * (double)tokens;
    }
    server->looked_up = front->index + 1;
}

/* Take blocks for the front of the queue; false if there is no room. */
static bool schedule_begin(struct server *server, struct sequence *front, uint32_t budget,
                           struct prefix_match *match)
{
    uint64_t known = sequence_known_tokens(server, front);
    struct served *served = &server->served[front->index];
    if (!prefix_begin(server->cache, front->index, known, budget, match)) {
        return false;
    }
    if (served->scheduled_ns < 0) {
        served->match = *match;
        for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
            series_add(server->options.series, SERIES_FOUND + k, server->now_ns,
                       (double)match->found[k]);
        }
    }
    front->computed = known - match->compute_tokens;
    return true;
}

/* Admit the front of the queue with at most `budget` tokens; false if there is no room. */
static bool schedule_admit(struct server *server, struct sequence *front, uint32_t *budget)
{
    struct prefix_match match;
    struct served *served = &server->served[front->index];
    look_up_front(server, front);
    if (!schedule_begin(server, front, *budget, &match)) {
        return false;
    }
    if (server->put_back_count > 0) {
        server->put_back_count--;
    } else {
        server->next++;
    }
    server_copy_saves(server);
    waits_charge(&served->waits, front->was_put_back ? WAIT_PREEMPTED : WAIT_QUEUE, server->now_ns);
    if (served->scheduled_ns < 0) {
        served->scheduled_ns = server->now_ns;
        series_hold(server->options.series, SERIES_WAITING, served->arrived_ns, server->now_ns, 1);
    }
    front->room = server_copies_in_the_way(server);
    for (uint32_t k = 1; k < server->tiers; k++) {
        if (match.found[k] > 0) {
            server_copy_tokens(server, &server->in[k], k, match.found[k],
                               match.found[k] / prefix_block_tokens(server->cache));
        }
        /* Its own load, or one begun by another request for blocks that it found. */
        front->load[k] = prefix_load(server->cache, front->index, k);
        front->unseen =
            front->load[k] > server->in[k].done ? server->options.load_steps : front->unseen;
    }
    if (!sequence_is_ready(server, front)) {
        server->loading[server->loading_count++] = *front;
        return true;
    }
    uint64_t left = sequence_known_tokens(server, front) - front->computed;
    front->chunk = chunk_of(server, left, *budget);
    *budget -= front->chunk;
    server->running[server->running_count++] = *front;
    return true;
}

/* Does the step compute anything yet? */
static bool has_work(const struct server *server)
{
    uint32_t i = 0;
    while (i < server->running_count && server->running[i].chunk == 0) {
        i++;
    }
    return i < server->running_count;
}

void schedule_step(struct server *server)
{
    bool made_room = false, alone = server->options.path.prompts_alone;
    uint32_t budget = schedule_running(server, alone ? PROMPTS : PROMPTS | DECODES,
                                       server->options.batched_tokens, &made_room);
    struct sequence front;
    double reserved = made_room || schedule_waiting(server) == 0 ? 0 : reserve_begin(server);
    while (!made_room && budget > 0 &&
           server->running_count + server->loading_count < server->options.sequences &&
           queue_front(server, &front)) {
        /* Where a prompt may not be divided, the step must have room for all of it. One that is longer than
         * any step, as a stream may draw, is divided nevertheless: else it would wait until no other runs. */
        uint64_t known = sequence_known_tokens(server, &front);
        bool fits = !server->options.path.whole_prompts || known <= budget ||
                    known > server->options.batched_tokens;
        if (!fits || !reserve_fits(server, &front, &reserved) ||
            !schedule_admit(server, &front, &budget)) {
            break;
        }
    }
    if (alone && !has_work(server)) {
        schedule_running(server, DECODES, UINT32_MAX, &made_room);
        if (has_work(server)) {
            reserve_decode(server, made_room);
        }
    }
}
