/* Writing HTML: text from a file or a database is escaped, so it can only be text. */
#pragma once

#include <stdio.h>

/* Write a text, escaped for use between tags and between double quotes; control characters become
 * blanks. */
void html_text(const char *text, FILE *out);

/* Like printf with `format`, whose only conversion is %s, a text escaped as above. */
void html_print(FILE *out, const char *format, ...);

/* Write one word of a shell's command line, in quotes if it needs them. */
void html_word(const char *word, FILE *out);

/* Write gnuplot's SVG, a text that ends with '\0', for use within a page: without its XML head, as
 * wide as there is room, with the title `title`. Names (of `id` and references to them) get the
 * prefix `prefix`, because two pictures use the same names. */
void html_picture(const char *svg, const char *prefix, const char *title, FILE *out);
