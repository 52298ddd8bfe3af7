#include "server/reserve.h"

#include "server/schedule.h"

#include <math.h>

enum { MOST_OUTPUT = 4096, RETRACT_TOKENS = 20, DECAY_STEPS = 600 };
static const double first_share = 0.7, least_factor = 0.14;

/* Tokens that the sequence may still generate. */
static double output_left(const struct server *server, const struct sequence *sequence)
{
    uint32_t left = server->requests->all[sequence->index].output - sequence->generated;
    return left < MOST_OUTPUT || server->options.path.reserves_all ? left : MOST_OUTPUT;
}

double reserve_begin(struct server *server)
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
                      (double)(known - sequence->computed);
        }
    }
    return tokens;
}

bool reserve_fits(const struct server *server, const struct sequence *front, double *reserved)
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

/* The share after sequences were put back. */
static double share_after(const struct server *server)
{
    double generated = 0, output = 1;
    for (uint32_t i = 0; i < server->running_count; i++) {
        generated += server->running[i].generated + RETRACT_TOKENS;
        output += server->requests->all[server->running[i].index].output;
    }
    return fmin(generated / output, 1);
}

void reserve_decode(struct server *server, bool put_back)
{
    const double least = least_factor * first_share, decay = (first_share - least) / DECAY_STEPS;
    server->reserved_share =
        put_back ? share_after(server) : fmax(least, server->reserved_share - decay);
}
