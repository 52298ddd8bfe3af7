#include "server/server_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void copies_release(struct copies *copies)
{
    free(copies->items);
    *copies = (struct copies){.items = NULL};
}

uint64_t copies_add(struct copies *copies, double start_ns, double bytes, uint64_t blocks,
                    struct error *why)
{
    if (copies->first > copies->count / 2) {
        copies->count -= copies->first;
        memmove(copies->items, copies->items + copies->first,
                copies->count * sizeof *copies->items);
        copies->first = 0;
    }
    if (!array_reserve(&copies->items, &copies->capacity, copies->count + 1, sizeof *copies->items,
                       why)) {
        return 0;
    }
    copies->items[copies->count++] = (struct copy){bytes, start_ns, bytes, blocks, 0};
    copies->added += blocks;
    return copies_last(copies);
}

uint64_t copies_last(const struct copies *copies)
{
    return copies->done + (copies->count - copies->first);
}

static double copy_time(const struct copy *copy, double rate)
{
    return copy->left_ns + copy->left_bytes / rate * 1e9;
}

double copies_time(const struct copies *copies, uint64_t number, double rate)
{
    double ns = 0;
    for (size_t i = copies->first; number > copies->done + (i - copies->first); i++) {
        ns += copy_time(&copies->items[i], rate);
    }
    return ns;
}

double copies_pass(struct copies *copies, double ns, double rate)
{
    double crossed = 0;
    while (copies->first < copies->count && copy_time(&copies->items[copies->first], rate) <= ns) {
        const struct copy copy = copies->items[copies->first++];
        ns -= copy_time(&copy, rate);
        crossed += copy.left_bytes;
        copies->done_ns += copy.passed_ns + copy_time(&copy, rate);
        copies->done++;
        copies->ended += copy.blocks;
        copies->done_bytes += copy.bytes;
    }
    if (copies->first < copies->count) {
        struct copy *copy = &copies->items[copies->first];
        double waited = fmin(ns, copy->left_ns);
        double left = fmax(0, copy->left_bytes - (ns - waited) * rate / 1e9);
        copy->left_ns -= waited;
        copy->passed_ns += ns;
        crossed += copy->left_bytes - left;
        copy->left_bytes = left;
    }
    copies->crossed_bytes += crossed;
    return crossed;
}

/* For how long a copy of `way` waits, behind all before it there, for those of the other way. */
static double other_way_ns(const struct server *server, const struct copies *way)
{
    double most[SERVER_FLOWS] = {0}, rate[SERVER_FLOWS], ns[2];
    const struct copies *ways[] = {&server->in[1], &server->out[1]};
    const uint32_t flows[] = {flow_loaded(1), flow_saved(1)};
    for (int i = 0; i < 2; i++) {
        most[flows[i]] = INFINITY;
        most[flows[1 - i]] = 0;
        way_shares_find(server->clock.shares, most, rate);
        ns[i] = copies_time(ways[i], copies_last(ways[i]), rate[flows[i]]);
    }
    return way == ways[0] ? fmax(0, ns[1] - ns[0]) : fmax(0, ns[0] - ns[1]);
}

uint64_t server_copy_tokens(struct server *server, struct copies *way, uint32_t tier,
                            uint64_t tokens, uint64_t blocks)
{
    const struct server_options *options = &server->options;
    uint64_t units = (tokens + options->unit_tokens - 1) / options->unit_tokens;
    const struct step_clock *clock = &server->clock;
    const struct copy_times *times =
        way == &server->in[tier] ? &clock->load[tier] : &clock->save[tier];
    double start_ns = times->copy + times->unit * (double)units;
    start_ns += options->one_stream && tier == 1 ? other_way_ns(server, way) : 0;
    double bytes = (double)(units * options->unit_tokens) * (double)options->token_bytes;
    uint64_t number = copies_add(way, start_ns, bytes, blocks, server->why);
    server->copies_ns += times->cpu * (double)units;
    server->failed = server->failed || number == 0;
    return number;
}

bool server_copies_pend(const struct copies *copies)
{
    return copies_last(copies) > copies->done;
}

/* The copy that ends the first `moved` blocks of all. */
static uint64_t copy_of_block(const struct copies *copies, uint64_t moved)
{
    uint64_t number = copies->done, sum = copies->ended;
    for (size_t i = copies->first; i < copies->count && sum < moved; i++) {
        sum += copies->items[i].blocks;
        number++;
    }
    return number;
}

void server_copy_saves(struct server *server)
{
    uint64_t saves = prefix_saves(server->cache);
    bool any = server->options.saves_cross && (saves > server->saves || server->options.step_takes);
    server->saves = saves;
    for (uint32_t k = 1; any && k < server->tiers; k++) {
        struct prefix_counts counts = prefix_counts(server->cache, k);
        uint64_t blocks = counts.saved - server->out[k].added;
        uint64_t tokens = blocks * prefix_block_tokens(server->cache);
        if (blocks > 0) {
            server_copy_tokens(server, &server->out[k], k, tokens, blocks);
        }
        if (k == 1 && counts.taken > server->out[k].ended) {
            uint64_t number = copy_of_block(&server->out[k], counts.taken);
            server->freeing = number > server->freeing ? number : server->freeing;
        }
    }
}

uint64_t server_copies_in_the_way(const struct server *server)
{
    return server->freeing > server->out[1].done ? server->freeing : 0;
}

bool sequence_has_room(const struct server *server, const struct sequence *sequence)
{
    const struct server_options *options = &server->options;
    return options->step_saves || options->step_takes || sequence->room <= server->out[1].done;
}

bool sequence_is_ready(const struct server *server, const struct sequence *sequence)
{
    const struct server_options *options = &server->options;
    uint32_t within = options->layered_tiers > 0 ? options->layered_tiers : server->tiers;
    bool loaded = true;
    for (uint32_t k = options->layers > 0 ? within + 1 : 1; k < server->tiers; k++) {
        loaded = loaded && sequence->load[k] <= server->in[k].done;
    }
    return loaded && sequence_has_room(server, sequence);
}

/* Has the scheduler seen that the sequence is ready? */
static bool sees(const struct server *server, struct sequence *sequence, bool idle)
{
    if (idle && sequence->seen_ns == 0) {
        sequence->seen_ns = server->now_ns + sequence->unseen * server->options.idle_step_ns;
    }
    if (idle || sequence->unseen == 0) {
        return sequence->unseen == 0 || sequence->seen_ns <= server->now_ns;
    }
    sequence->unseen--;
    return false;
}

void server_start_loaded(struct server *server, bool idle)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < server->loading_count; i++) {
        struct sequence *sequence = &server->loading[i];
        if (sequence_is_ready(server, sequence) && sees(server, sequence, idle)) {
            server->running[server->running_count++] = *sequence;
        } else {
            server->loading[kept++] = *sequence;
        }
    }
    server->loading_count = kept;
}

int64_t server_sees_loaded(const struct server *server)
{
    int64_t soonest = INT64_MAX;
    for (uint32_t i = 0; i < server->loading_count; i++) {
        int64_t ns = server->loading[i].seen_ns;
        soonest = ns > 0 && ns < soonest ? ns : soonest;
    }
    return soonest;
}

/* Let copies of a tier run, and tell the cache which blocks have arrived. Returns the bytes that cross. */
static double pass_copies(struct server *server, struct copies *copies, uint32_t tier, double ns,
                          double rate)
{
    uint64_t ended = copies->ended;
    double crossed = copies_pass(copies, ns, rate);
    ended = copies->ended - ended;
    if (ended > 0 && copies == &server->in[tier]) {
        prefix_loaded(server->cache, tier, ended);
    } else if (ended > 0) {
        prefix_saved(server->cache, tier, ended);
    }
    return crossed;
}

void server_pass_copies(struct server *server, int64_t ns, const double rate[SERVER_FLOWS])
{
    struct series *series = server->options.series;
    int64_t from = server->now_ns;
    for (uint32_t k = 1; k < server->tiers; k++) {
        double in = pass_copies(server, &server->in[k], k, (double)ns, rate[flow_loaded(k)]);
        series_spread(series, SERIES_LOADED, from, from + ns, in);
        double out = pass_copies(server, &server->out[k], k, (double)ns, rate[flow_saved(k)]);
        series_spread(series, SERIES_SAVED, from, from + ns, out);
    }
    if (server->tiers > 2) { /* what has arrived in a tier may be saved to the next one */
        server_copy_saves(server);
    }
}

void server_end_copies(struct server *server)
{
    for (uint32_t k = 1; k < server->tiers; k++) {
        pass_copies(server, &server->out[k], k, INFINITY, 1); /* nobody waits for them */
        server_copy_saves(server);
    }
}

double layered_ns(double compute_ns, double load_ns, uint32_t layers)
{
    return fmax(compute_ns + load_ns / layers, load_ns + compute_ns / layers);
}
