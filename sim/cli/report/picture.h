/* The rows of the pictures of a database's contents. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "store/store.h"

struct picture_kind {
    const char *name;
    const char *begin; /* the files that begin its statement */
    const char *needs; /* which runs it needs, for the message if there are none */
    const char *row;   /* what it draws several of: the kind of row that stands for one */
    uint32_t most;     /* the most of them in one picture */
    const char *summary;
};
extern const struct picture_kind picture_kinds[]; /* ends with name NULL */

struct picture {
    const struct picture_kind *kind;
    FILE *rows;     /* to draw, tab-separated */
    uint32_t count; /* number of the kind's rows */
};

/* Read the rows. `only` holds texts KEY=VALUE; for every key it names, only rows with one of the
 * named values are read. */
bool picture_read(struct store *store, const struct picture_kind *kind, const char *const *only,
                  uint32_t only_count, struct picture *out, struct error *why);
void picture_release(struct picture *picture);
