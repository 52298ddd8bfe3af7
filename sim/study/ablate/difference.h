/* The mechanisms in which a system differs from a base, and with which others each can change.
 *
 * The two are compared key by key. Keys of one group of the table of mechanisms, a mechanism and
 * its parameters, change together. A set of mechanisms is a word: bit i says that mechanism i is
 * the system's; 0 is the base, `all` the system.
 *
 * Some sets contradict themselves: a CUDA graph with synchronisation by the CPU, a prefetch with a
 * merge. A mechanism that cannot be switched on alone may be switched on top of others: `least` is
 * the smallest set of others that is valid both without and with it, `most` the largest. Mechanisms
 * that can only change together, whatever the others are, count as one. */
#pragma once

#include "decode/mechanisms.h"

enum { DIFFERENCE_MOST = 28, DIFFERENCE_LABEL = 256, DIFFERENCE_CHANGES = 2048 };

struct difference_mechanism {
    char name[DIFFERENCE_LABEL];      /* "sync"; "policy, attention" */
    char label[DIFFERENCE_LABEL];     /* for display: "sync=gpu" */
    char changes[DIFFERENCE_CHANGES]; /* "sync cpu → gpu, syncs 1 → 0" */
    uint32_t least, most; /* sets of other mechanisms, nearest to the base and to the system */
};

struct difference {
    struct mechanisms *base, *system; /* whoever compares owns them */
    /* The mechanism of each row of mechanism_keys; DIFFERENCE_MOST: the key does not differ. */
    uint8_t of_key[MECHANISM_MOST_KEYS];
    struct difference_mechanism mechanisms[DIFFERENCE_MOST];
    uint32_t count;
};

/* Compare `base` and `system` of the difference, which are valid, and fill in the rest of it, which is 0. */
bool difference_find(struct difference *difference, struct error *why);

uint32_t difference_all(const struct difference *difference);

/* The base with this set of mechanisms; and why that is invalid, NULL if it is valid. */
struct mechanisms difference_with(const struct difference *difference, uint32_t set);
const char *difference_refusal(const struct difference *difference, uint32_t set);

/* Write the names of a set (or their labels), separated by ", ", into `text`. */
const char *difference_names(const struct difference *difference, uint32_t set, bool labels,
                             char *text, size_t size);
