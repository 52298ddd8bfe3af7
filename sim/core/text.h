/* Texts in UTF-8: copied, appended to, cut between characters, split as a list, or written as a file is. */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of the byte order mark with which some editors begin a text, which readers skip: 3, or 0. */
size_t text_mark(const char *text, size_t size);

/* Copy what fits into `size` bytes, in whole characters. */
void text_copy(char *out, size_t size, const char *text);

/* Append to a text in `size` bytes, as printf() writes, what fits in whole characters. */
void text_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A copy of the whole text, owned by the caller; NULL with `why` if there is no memory. */
char *text_duplicate(const char *text, struct error *why);

/* The character at `*at`, which is stepped over; there is one left. A byte that begins none is U+FFFD. */
uint32_t text_character(const char **at);

/* "s" unless there is one, for the end of a noun. */
const char *text_plural(uint64_t count);

/* Append "a batch of 4", "an output of 128"; of a word in the plural, such as replicas, "4 replicas" or "1
 * replica". A name of several words is never plural: "a kv_pool_tokens of 4096 tok". */
void text_append_value(char *text, size_t size, const char *noun, const char *value);

/* The next item of a comma-separated list, without blanks around it. Commas within brackets, braces or quotes
 * do not separate. `*rest` starts as the whole list and moves on. Returns false after the last. */
bool text_item(const char **rest, const char **item, size_t *length);

/* A text that is written as a file is. text_close() follows text_open(), after its failure, too. It returns
 * the text, which the caller frees; NULL if `good` is false, and with `why` if memory ran out. */
struct text_file {
    FILE *out;
    char *text;
    size_t size;
};
bool text_open(struct text_file *file, struct error *why);
char *text_close(struct text_file *file, bool good, struct error *why);
