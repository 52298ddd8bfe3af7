/* One picture of a database, for `plot` and `compare`. */
#pragma once

#include "cli/frame/question.h"

struct plot_asked {
    const char *kind; /* a name of picture_kinds[] */
    const char *database;
    const char *const *only; /* [only_count] texts KEY=VALUE, as of picture_read() */
    uint32_t only_count;
    const char *measured; /* a file with times of single requests, for kind "requests"; or NULL */
    const char *path;     /* the picture; its suffix says its format */
};

/* Draw it. `note` is what database_show() says of the database. Errors: an unknown suffix, nothing to
 * draw or too much, a measurement without times of single requests, a file that cannot be written. */
bool plot_draw(const struct plot_asked *asked, char note[DATABASE_NOTE], struct error *why);
