/* Text that somebody chose, as it enters another language, so that it can be nothing but text there. */
#pragma once

#include "core/error.h"

#include <stdio.h>

enum quote {
    QUOTE_LINE,            /* a comment, or a terminal: nothing ends the line or is invisible */
    QUOTE_SHELL,           /* a word of a POSIX shell, in quotes if it needs them */
    QUOTE_SHELL_SINGLE,    /* the same within '...' */
    QUOTE_SHELL_DOUBLE,    /* and within "..." */
    QUOTE_YAML,            /* a scalar of YAML, in quotes if it needs them */
    QUOTE_YAML_DOUBLE,     /* within "...", in ASCII */
    QUOTE_MANIFEST,        /* QUOTE_YAML for Compose and Kubernetes, where $ begins a variable */
    QUOTE_MANIFEST_DOUBLE, /* and within "..." */
    QUOTE_MARKDOWN,        /* text of a paragraph or a heading */
};

/* Bytes that are not UTF-8 are kept in a shell's word, and are U+FFFD elsewhere. */
void quote_write(enum quote quote, const char *text, FILE *out);

/* The same as a text that the caller frees; NULL with `why` if there is no memory. */
char *quote_text(enum quote quote, const char *text, struct error *why);
