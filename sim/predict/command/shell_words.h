/* A command as a shell splits it into words: quotes and backslashes are taken off, nothing is
 * expanded. '\v' stands for the end of a line that a backslash joined to the next. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Read the next word, cut to `size`, and move `*at` behind it. False at the command's end: a pipe,
 * a redirection, a comment or the end of the text, where `*at` then stands. */
bool shell_word(const char **at, char *out, size_t size);

/* The same; `open`: the text ends within the word's quotes. */
bool shell_word_open(const char **at, char *out, size_t size, bool *open);
