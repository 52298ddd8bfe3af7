/* A transposition, column by column: item (step, head) becomes item (head, step). */
#include "trace/format/transpose.h"

#include <string.h>

static bool transpose_rows(const struct trace_rows *pile, uint32_t heads, uint32_t steps,
                           struct trace_rows *transposed, struct error *why)
{
    uint32_t row = 0;
    if (!trace_rows_reserve(transposed, pile->start[heads * steps], why)) {
        return false;
    }
    transposed->start[0] = 0;
    for (uint32_t head = 0; head < heads; head++) {
        for (uint32_t step = 0; step < steps; step++, row++) {
            uint32_t from = pile->start[step * heads + head], to = transposed->start[row];
            uint32_t count = pile->start[step * heads + head + 1] - from;
            if (count > 0) {
                memcpy(transposed->units + to, pile->units + from,
                       count * sizeof *transposed->units);
                memcpy(transposed->mass + to, pile->mass + from, count);
            }
            transposed->start[row + 1] = to + count;
        }
    }
    return true;
}

/* Columns with one item of `size` bytes for each (head, step). */
static void transpose_column(const void *pile, uint32_t heads, uint32_t steps, size_t size,
                             void *transposed)
{
    char *to = transposed;
    for (uint32_t head = 0; head < heads; head++) {
        for (uint32_t step = 0; step < steps; step++, to += size) {
            memcpy(to, (const char *)pile + (step * (size_t)heads + head) * size, size);
        }
    }
}

bool frame_transpose(const struct trace_header *header, const struct trace_frame *pile,
                     struct trace_frame *transposed, struct error *why)
{
    uint32_t heads = header->kv_heads, steps = transposed->steps;
    if (!trace_frame_reserve(header, transposed, why) ||
        !transpose_rows(&pile->rows, heads, steps, &transposed->rows, why) ||
        (header->has_approximate &&
         !transpose_rows(&pile->approximate, heads, steps, &transposed->approximate, why))) {
        return false;
    }
    transpose_column(pile->born, heads, steps, sizeof *pile->born, transposed->born);
    transpose_column(pile->tail, heads, steps, sizeof *pile->tail, transposed->tail);
    if (header->has_queries) {
        uint32_t queries = header->query_heads;
        transpose_column(pile->scale, queries, steps, sizeof *pile->scale, transposed->scale);
        transpose_column(pile->query, queries, steps, header->head_dim, transposed->query);
    }
    return true;
}
