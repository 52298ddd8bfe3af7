/* A shell's text as commands and words. Nothing is run or expanded. '\v' stands for the end of a line that a
 * backslash or an open quote joined to the next. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The length of the name of a variable at `at`. */
size_t shell_name(const char *at);

bool shell_is_comment(const char *line);

bool text_begins(const char *text, const char *with);

/* Has the text the form of a shell's pattern, with lists such as "@(a|b)"? */
bool text_matches(const char *text, const char *pattern);

/* Move `*at` behind a character, and behind a backslash and the one that it escapes. `*quote` is the quote
 * that is open there; '\0': none. */
void shell_step(const char **at, char *quote);

/* Read the next word, cut to `size`, and move `*at` behind it. False at the command's end: a pipe, a
 * redirection, a comment or the end of the text, where `*at` then stands. Quotes and backslashes are taken
 * off. What the shell would put in the place of a command, "$(hostname | cut -d. -f1)", is not run: its text
 * is the word's. */
bool shell_word(const char **at, char *out, size_t size);

/* Behind the command whose output the shell puts here, in "$()" or in backticks at the beginning of a word;
 * NULL: there is none that ends on the line. */
const char *shell_output_end(const char *at, bool begins);

/* What is open where a text is read, the inmost last: 'i' the condition of "if", 't' what stands behind its
 * "then", 'l' a loop over a list, 'w' another, such as "while true", 'c' "case", 'f' a function, '{' another
 * group, '<' a text within the text. */
struct shell_blocks {
    char open[64], end[32]; /* of the text within the text, its last line */
    bool names_function;    /* what stands before begins one: "serve()" */
};

/* Move `*at` from the end of a command, or a line's beginning, to the next command's first word, behind words
 * that open and close blocks, and `*end` to the command's end. False if there is none. */
bool shell_command(struct shell_blocks *in, const char **at, const char **end);

/* The command's end: one of ";&|\n" outside quotes and lists, a comment, or the end of the text, which a
 * quote or a list may reach (`open`). */
const char *shell_command_end(const char *at, bool *open);
