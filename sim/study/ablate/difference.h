/* How a system differs from a base: in which mechanisms, and among which others each may change.
 *
 * The two are compared key by key. Keys of one group of the table of mechanisms, a mechanism and
 * its parameters, change together. A set of mechanisms is a word whose bit i says that mechanism i
 * is the system's; 0 is the base, `all` the system.
 *
 * Some sets contradict themselves: a CUDA graph with a synchronisation by the CPU, a prefetch with
 * a merge. A mechanism that cannot be switched on by itself may be switched on top of others:
 * `least` is the smallest set that makes sense both without and with it, `most` the largest.
 * Mechanisms that cannot change without each other, whatever the others are, count as one.
 */
#ifndef STUDY_ABLATE_DIFFERENCE_H
#define STUDY_ABLATE_DIFFERENCE_H

#include "decode/mechanisms.h"

enum { DIFFERENCE_MOST = 24, DIFFERENCE_MOST_KEYS = 96 };

struct difference_mechanism {
    char *name;           /* "sync"; "policy, attention"; owned */
    char *label;          /* the same to read, "sync=gpu"; owned */
    char *changes;        /* "sync cpu → gpu, syncs 1 → 0"; owned */
    uint32_t least, most; /* sets of others, nearest to the base and to the system */
};

struct difference {
    struct mechanisms base, system;
    /* Of each row of mechanism_keys, which mechanism it is of; DIFFERENCE_MOST: both say the same.
     */
    uint8_t of_key[DIFFERENCE_MOST_KEYS];
    struct difference_mechanism mechanisms[DIFFERENCE_MOST];
    uint32_t count;
};

/* Compare two systems that make sense. The caller releases `out`, on failure too. */
bool difference_find(const struct mechanisms *base, const struct mechanisms *system,
                     struct difference *out, struct error *why);
void difference_release(struct difference *difference);

uint32_t difference_all(const struct difference *difference);

/* The base with this set of mechanisms; and why that cannot be meant, NULL where it can. */
struct mechanisms difference_with(const struct difference *difference, uint32_t set);
const char *difference_refusal(const struct difference *difference, uint32_t set);

/* The names of a set (or their labels), with ", " between, into `text`. */
const char *difference_names(const struct difference *difference, uint32_t set, bool labels,
                             char *text, size_t size);

#endif
