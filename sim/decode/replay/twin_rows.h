/* Recordings beside twins, as rows of figures: what the bands of a twin are learned from.
 *
 * Shipped rows (traces/twins.json, made by traces/twins.sh) are of recordings that for the most
 * part do not ship themselves. A row has the figures of a recording and those of a twin at its
 * context, generated from the profile of another recording of its model. Figures are means over
 * the heads of the layers that both recordings have.
 */
#ifndef DECODE_REPLAY_TWIN_ROWS_H
#define DECODE_REPLAY_TWIN_ROWS_H

#include "decode/replay/likeness.h"

#include <stddef.h>

struct twin_row {
    char model[128], text[200]; /* as sources name them (trace/source.h) */
    uint32_t context;           /* tokens of the recording */
    uint32_t fitted;            /* tokens of the recording to which the twin's profile was fitted */
    double was[LIKENESS_FIGURES], is[LIKENESS_FIGURES]; /* of the recording, of the twin */
};

struct twin_rows {
    struct twin_row *row; /* [count] owned */
    size_t count, capacity;
};

/* Read rows from a file, or from a text that messages call `name`. They fail on an unknown key, on
 * figures that are not likeness_figures[] in their order, and on values that are no shares. The
 * caller releases the rows, after a failure too. */
bool twin_rows_load(const char *path, struct twin_rows *rows, struct error *why);
bool twin_rows_parse(const char *text, size_t size, const char *name, struct twin_rows *rows,
                     struct error *why);
bool twin_rows_add(struct twin_rows *rows, const struct twin_row *row, struct error *why);
void twin_rows_release(struct twin_rows *rows);

#endif
