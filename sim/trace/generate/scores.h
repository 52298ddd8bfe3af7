/* Scores of all units of a generated head, at each step of a tile (candidates.h).
 *
 * A score becomes a bucket: the lower, the better; 4096 of them cover all 16-bit scores. The loops
 * are compiled for several levels of processor, and the highest that this one has is used. Scores
 * are integers, and all versions give the same ones. Internal to this folder.
 */
#pragma once

#include "trace/generate/candidates.h"

enum {
    SCORES_BLOCK = 256,    /* units scored together, while they are in the nearest cache */
    SCORES_BUCKETS = 4096, /* one per code of mass */
};

/* Units in a row of buckets: whole blocks. */
static inline size_t scores_row(uint32_t units)
{
    return ((size_t)units + SCORES_BLOCK - 1) / SCORES_BLOCK * SCORES_BLOCK;
}

/* Bytes of scratch memory. */
size_t scores_scratch(void);

struct scores;

/* The loops, compiled for one level of processor. */
struct scores_version {
    const char *name;
    bool (*runs_here)(void);
    void (*score)(const struct candidates *asked, struct scores *scores, uint16_t *bucket);

    /* Append the units in [from, to) whose bucket is before `end` to the `kept` units, and return
     * how many there are now. Up to CANDIDATES_SLACK items after those that are kept are
     * overwritten. */
    uint32_t (*append)(const uint16_t *restrict bucket, uint32_t from, uint32_t to, uint32_t end,
                       uint32_t kept, uint32_t *restrict units);
};

/* All versions, the best first. The last one runs everywhere; name NULL follows. */
extern const struct scores_version scores_versions[];
const struct scores_version *scores_version_here(void);

/* Write the bucket of unit first_unit + u at step s to bucket[s * scores_row(units) + u]. What the
 * rest of a row holds means nothing. `scratch` is aligned as malloc() aligns. */
void scores_make(const struct scores_version *version, const struct candidates *asked,
                 void *scratch, uint16_t *bucket);
