/* vLLM gives swap room back when the copy in is scheduled, and begins no step before that copy
 * ends. Here other sequences run meanwhile, and one of them may swap out: it must not overwrite
 * memory that the copy still reads. So room is given back when its content has been copied in. */
#include "serve/server_copies.h"

#include <math.h>

uint64_t server_copy_tokens(struct server *server, struct copies *copies, uint64_t tokens,
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

void server_copy_saves(struct server *server)
{
    struct prefix_counts counts = prefix_counts(server->cache);
    if (server->options.saves_cross && counts.saved > server->saved) {
        uint64_t blocks = counts.saved - server->saved;
        uint64_t number =
            server_copy_tokens(server, &server->out, blocks * prefix_block_tokens(server->cache),
                               (struct copy_blocks){.moved = blocks});
        server->freeing = counts.evicted > server->evicted ? number : server->freeing;
    }
    server->saved = counts.saved;
    server->evicted = counts.evicted;
}

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

uint64_t server_copies_in_the_way(const struct server *server)
{
    return server->freeing > server->out.done ? server->freeing : 0;
}

bool sequence_has_room(const struct server *server, const struct sequence *sequence)
{
    return sequence->room <= server->out.done;
}

bool sequence_is_ready(const struct server *server, const struct sequence *sequence)
{
    bool loaded = server->options.layers > 0 || sequence->load <= server->in.done;
    return loaded && sequence_has_room(server, sequence);
}

/* Sequences whose copies are done run from the next step on. */
static void start_loaded(struct server *server)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < server->loading_count; i++) {
        if (sequence_is_ready(server, &server->loading[i])) {
            server->running[server->running_count++] = server->loading[i];
        } else {
            server->loading[kept++] = server->loading[i];
        }
    }
    server->loading_count = kept;
}

void server_pass_copies(struct server *server, int64_t ns, double load_rate, double save_rate)
{
    struct series *series = server->options.series;
    int64_t start = server->now_ns;
    series_spread(series, SERIES_LOADED, start, start + ns,
                  copies_pass(&server->in, (double)ns, load_rate, end_load, server));
    series_spread(series, SERIES_SAVED, start, start + ns,
                  copies_pass(&server->out, (double)ns, save_rate, end_save, server));
    start_loaded(server);
}

void server_end_copies(struct server *server)
{
    copies_pass(&server->out, INFINITY, 1, end_save, server); /* nobody waits for them */
}
