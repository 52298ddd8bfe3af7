/* Scores of all units of a generated head, at each step of a tile (candidates.h).
 *
 * Every unit gets a score at every step, and the best are kept. Scores are 16-bit integers in sixteenths
 * of a mass code (a code is a tenth of an octave). The properties of a unit (its own part, its latent
 * directions, whether it is an anchor) are a hash of the head's key and the unit's number, or those of
 * its layer or neighbourhood (trace_profile.h, `locality`), so nothing is kept between tiles. The
 * distance of a unit is taken at the first step of the tile. A block of units is drawn once per tile and
 * scored at all steps while it is in the nearest cache. A score becomes a bucket: the lower, the better;
 * 4096 of them cover all scores. The best units are found by counting, ties by position. The loops are
 * compiled for several levels of processor, and all give the same scores. Internal to this folder. */
#pragma once

#include <stddef.h>

#include "trace/generate/generate.h"

/* Rows are written in whole vectors. */
enum { CANDIDATES_MOST_STEPS = LATENT_MOST_STEPS, CANDIDATES_SLACK = 16 };

/* The question: at `steps` steps from `first_step` on, the best of the units
 * [first_unit, end_unit), which share `mass` among them. */
struct candidates {
    const struct trace_profile_head *head;
    const struct latent *latent; /* of these steps */
    const struct profile_locality *locality;
    uint32_t first_octave;
    uint64_t key, layer_key; /* of the head, and of its layer */
    uint32_t context, first_unit, end_unit;
    uint32_t first_step, steps; /* at most CANDIDATES_MOST_STEPS */
    double mass;
};

/* An answer: the best `keep` units of step s, ascending, at units + s * stride and codes + s * stride, with
 * room for CANDIDATES_SLACK items more, and the mass of all others at tail[s]. */
struct candidates_rows {
    uint32_t keep;
    size_t stride;
    uint32_t *units;
    uint8_t *codes;
    float *tail;
};

/* Bytes of scratch memory for `units` units. */
size_t candidates_scratch(uint32_t units);

/* Write the answer. `scratch` is aligned as malloc() aligns. */
void candidates_select(const struct candidates *asked, void *scratch,
                       const struct candidates_rows *rows);

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

    /* Append the units in [from, to) whose bucket is before `end` to the `kept` units, and return how many
     * there are now. Up to CANDIDATES_SLACK items after those that are kept are overwritten. */
    uint32_t (*append)(const uint16_t *restrict bucket, uint32_t from, uint32_t to, uint32_t end,
                       uint32_t kept, uint32_t *restrict units);
};

/* All versions, the best first. The last one runs everywhere; name NULL follows. */
extern const struct scores_version scores_versions[];

/* Write the bucket of unit first_unit + u at step s to bucket[s * scores_row(units) + u]. What the
 * rest of a row holds means nothing. `scratch` is aligned as malloc() aligns. */
void scores_make(const struct scores_version *version, const struct candidates *asked,
                 void *scratch, uint16_t *bucket);
