/* Company: which of a number of mechanisms can be had together.
 *
 * Between a base and a system that differ in n mechanisms lie 2^n sets of them, of which some
 * cannot be meant: a CUDA graph with a synchronisation by the CPU, a prefetch with a merge. A
 * mechanism that cannot be switched on by itself can be on top of some others; the least company
 * that it needs is the smallest set that can be meant both without and with it, and the most that
 * it can have is the largest such set.
 *
 * A set is a word whose bit i says that mechanism i is the system's.
 */
#ifndef STUDY_ABLATE_COMPANY_H
#define STUDY_ABLATE_COMPANY_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { COMPANY_MOST = 24 }; /* mechanisms; a byte for each of their sets is 16 MiB */
#define COMPANY_NONE UINT32_MAX

struct company {
    uint32_t mechanisms;
    bool *can; /* [2^mechanisms] owned: can this set be meant? */
};

/* No set can be meant, until `can` says so. The caller releases it. */
bool company_init(struct company *out, uint32_t mechanisms, struct error *why);
void company_release(struct company *company);

/* The smallest set (or the largest) without `group`, itself a set, that can be meant without and
 * with all of it; COMPANY_NONE: there is none. Of equally large ones that whose mechanisms come
 * first (or, left out, come first). */
uint32_t company_least(const struct company *company, uint32_t group);
uint32_t company_most(const struct company *company, uint32_t group);

#endif
