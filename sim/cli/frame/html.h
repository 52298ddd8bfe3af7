/* Writing HTML: whatever comes from a file or a database is text, and stays text. */
#ifndef CLI_FRAME_HTML_H
#define CLI_FRAME_HTML_H

#include <stdio.h>

/* Write a text so that it means itself, between tags and between double quotes; control characters
 * become blanks. */
void html_text(const char *text, FILE *out);

/* printf with a format of ours, whose %s are texts as above; it has no others. */
void html_print(FILE *out, const char *format, ...);

/* Write one word of a shell's command line, in quotes where it needs them. */
void html_word(const char *word, FILE *out);

/* Write gnuplot's picture, a text that ends with '\0', so that it can stand within a page: without
 * its XML head, as wide as there is room, called `title`, and with names (of `id` and of what
 * refers to them) that begin with `prefix`, for those of two pictures are alike. */
void html_picture(const char *svg, const char *prefix, const char *title, FILE *out);

#endif
