/* Pictures of what a database holds.
 *
 * A kind is files of the folder plots: KIND.sql, which goes on where those of `begin` end, asks the
 * database for rows; KIND.gp has gnuplot draw them. Rows and picture are passed in memory, by
 * names that the child opens.
 */
#ifndef CLI_REPORT_PICTURE_H
#define CLI_REPORT_PICTURE_H

#include "store/store.h"

#include <stdint.h>
#include <stdio.h>

struct picture_kind {
    const char *name;
    const char *const *begin; /* the files that begin its statement; ends with NULL */
    const char *needs;        /* which runs, for the message when there are none */
    const char *row;          /* what it draws several of: the kind of row that says one */
    uint32_t most;            /* of them in one picture */
    bool walks; /* along lines: where each has one point only, there is little to see */
    const char *summary;
};
extern const struct picture_kind picture_kinds[]; /* ends with name NULL */

/* What is to be drawn: tab-separated rows. */
struct picture {
    const struct picture_kind *kind;
    FILE *rows;
    uint32_t count;  /* of the kind's row */
    uint32_t points; /* of all lines */
};

/* Read the rows of all that has, of every key that `only` names, one of the values that it names:
 * texts KEY=VALUE. */
bool picture_read(struct store *store, const struct picture_kind *kind, const char *const *only,
                  uint32_t only_count, struct picture *out, struct error *why);
void picture_release(struct picture *picture);

/* Draw into `out`, which messages call `path`. `format` is svg, png or pdf. */
bool picture_draw(const struct picture *picture, const char *format, const char *path, FILE *out,
                  struct error *why);

#endif
