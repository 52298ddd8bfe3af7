/* A transposition, column by column: item (step, head) becomes item (head, step). */
#include "trace/format/turn.h"

#include <string.h>

static bool turn_rows(const struct trace_rows *pile, uint32_t heads, uint32_t steps,
                      struct trace_rows *turned, struct error *why)
{
    uint32_t row = 0;
    if (!trace_rows_reserve(turned, pile->start[heads * steps], why)) {
        return false;
    }
    turned->start[0] = 0;
    for (uint32_t head = 0; head < heads; head++) {
        for (uint32_t step = 0; step < steps; step++, row++) {
            uint32_t from = pile->start[step * heads + head], to = turned->start[row];
            uint32_t count = pile->start[step * heads + head + 1] - from;
            if (count > 0) {
                memcpy(turned->units + to, pile->units + from, count * sizeof *turned->units);
                memcpy(turned->mass + to, pile->mass + from, count);
            }
            turned->start[row + 1] = to + count;
        }
    }
    return true;
}

/* Columns with one item of `size` bytes for each (head, step). */
static void turn_column(const void *pile, uint32_t heads, uint32_t steps, size_t size, void *turned)
{
    char *to = turned;
    for (uint32_t head = 0; head < heads; head++) {
        for (uint32_t step = 0; step < steps; step++, to += size) {
            memcpy(to, (const char *)pile + (step * (size_t)heads + head) * size, size);
        }
    }
}

bool frame_turn(const struct trace_header *header, const struct trace_frame *pile,
                struct trace_frame *turned, struct error *why)
{
    uint32_t heads = header->kv_heads, steps = turned->steps;
    if (!trace_frame_reserve(header, turned, why) ||
        !turn_rows(&pile->rows, heads, steps, &turned->rows, why) ||
        (header->has_approximate &&
         !turn_rows(&pile->approximate, heads, steps, &turned->approximate, why))) {
        return false;
    }
    turn_column(pile->born, heads, steps, sizeof *pile->born, turned->born);
    turn_column(pile->tail, heads, steps, sizeof *pile->tail, turned->tail);
    if (header->has_queries) {
        uint32_t queries = header->query_heads;
        turn_column(pile->scale, queries, steps, sizeof *pile->scale, turned->scale);
        turn_column(pile->query, queries, steps, header->head_dim, turned->query);
    }
    return true;
}
