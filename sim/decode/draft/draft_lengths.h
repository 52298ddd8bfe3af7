/* Accepted lengths from outside: a file of recorded steps, and published means. */
#pragma once

#include "decode/draft/drafts.h"

struct files;

/* Set the distribution of `count` drafts from the CSV file at `path`, with a line for each step:
 *
 *     drafted,accepted
 *     4,2
 *     4,0
 *
 * Each step must have drafted at least `count` tokens. Of a longer chain the first `count` drafts
 * are read. `files` keeps the file (NULL: nobody). */
bool draft_lengths_read(struct files *files, const char *path, uint32_t count,
                        struct drafts *drafts, struct error *why);

/* Set the distribution of `count` drafts so that a step yields as many tokens on average as is
 * published for the method, a model and a task (published.def). Each draft is accepted at the same
 * rate, if those before it were; where nothing is published for `count` drafts, it is the rate of
 * the next larger number. `file` and `line`: where `task` stood. */
bool draft_lengths_published(const char *model, const char *task, uint32_t count, const char *file,
                             int line, struct drafts *drafts, struct error *why);

/* Write the map `drafts` of the first published lengths for a model, whose method needs no draft model:
 * "{count: 3, method: eagle3, lengths: mt-bench}", of three drafts if they cover three. Returns false
 * if there are none. */
bool draft_lengths_usual(const char *model, char *text, size_t size);
