/* Pictures of a database's contents.
 *
 * Each kind has files in the folder plots. KIND.sql, appended to the files of `begin`, asks the
 * database for rows; KIND.gp has gnuplot draw them. Rows and picture are passed in memory, by names
 * that the child process opens.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "cli/frame/question.h"
#include "store/store.h"

struct picture_kind {
    const char *name;
    const char *const *begin; /* the files that begin its statement; ends with NULL */
    const char *needs;        /* which runs it needs, for the message if there are none */
    const char *row;          /* what it draws several of: the kind of row that stands for one */
    uint32_t most;            /* the most of them in one picture */
    bool walks;               /* it draws lines, which show little if each has one point only */
    const char *summary;
};
extern const struct picture_kind picture_kinds[]; /* ends with name NULL */

/* The rows to draw, tab-separated. */
struct picture {
    const struct picture_kind *kind;
    FILE *rows;
    uint32_t count;  /* number of the kind's rows */
    uint32_t points; /* points of all lines */
};

/* Read the rows. `only` holds texts KEY=VALUE; for every key it names, only rows with one of the
 * named values are read. */
bool picture_read(struct store *store, const struct picture_kind *kind, const char *const *only,
                  uint32_t only_count, struct picture *out, struct error *why);
void picture_release(struct picture *picture);

/* Draw into `out`, which messages call `path`. `format` is svg, png or pdf. */
bool picture_draw(const struct picture *picture, const char *format, const char *path, FILE *out,
                  struct error *why);
