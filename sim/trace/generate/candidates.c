/* Scores come as buckets (scores.h), so the best units are found by counting, without sorting. */
#include "trace/generate/candidates.h"

#include "trace/format/trace.h"
#include "trace/generate/scores.h"

#include <math.h>
#include <string.h>

enum { BLOCK = SCORES_BLOCK, BUCKETS = SCORES_BUCKETS };

/* The working memory of candidates_select(); the scores' own follows the buckets. */
struct topk_scratch {
    uint32_t count[2][BUCKETS]; /* of one step */
    uint16_t bucket[];          /* of each unit, step by step; a step takes whole blocks */
};

static size_t bucket_bytes(uint32_t units)
{
    return CANDIDATES_MOST_STEPS * scores_row(units) * sizeof(uint16_t);
}

size_t candidates_scratch(uint32_t units)
{
    return sizeof(struct topk_scratch) + bucket_bytes(units) + scores_scratch();
}

/* Two counts in turn: adding to the one that was just added to would wait for it. */
static void count_units(const uint16_t *bucket, uint32_t units, uint32_t count[2][BUCKETS])
{
    memset(count, 0, 2 * sizeof *count);
    for (uint32_t u = 0; u + 1 < units; u += 2) {
        count[0][bucket[u]]++;
        count[1][bucket[u + 1]]++;
    }
    if (units % 2 == 1) {
        count[0][bucket[units - 1]]++;
    }
    for (uint32_t b = 0; b < BUCKETS; b++) {
        count[0][b] += count[1][b];
    }
}

/* The kept units: those of buckets before `bucket` and the first `ties` of it. A unit's code is its
 * bucket minus `zero`. */
struct cut {
    uint32_t bucket, ties;
    int32_t zero;
};

static uint8_t code_of(int32_t bucket, int32_t zero)
{
    int32_t code = bucket - zero;
    return (uint8_t)(code < 0 ? 0 : code > 255 ? 255 : code);
}

/* Find `zero` such that the masses of all units add up to `asked->mass`. `first` is the first
 * bucket that holds units. */
static int32_t find_zero(const struct candidates *asked, const uint32_t count[BUCKETS],
                         uint32_t first)
{
    double sum = 0;
    for (uint32_t b = first; b < BUCKETS && b - first < 256; b++) {
        sum += count[b] * (double)trace_mass[b - first];
    }
    return (int32_t)first - (int32_t)lrint(10 * log2(sum / asked->mass));
}

static bool topk_candidates_is_empty(const uint32_t count[16])
{
    uint32_t any = 0;
    for (uint32_t b = 0; b < 16; b++) {
        any |= count[b];
    }
    return any == 0;
}

/* The first bucket that holds units. */
static uint32_t first_bucket(const uint32_t count[BUCKETS])
{
    uint32_t first = 0;
    while (topk_candidates_is_empty(count + first)) {
        first += 16;
    }
    while (count[first] == 0) {
        first++;
    }
    return first;
}

/* The cut of the best `left` units. `zero` is that of the step, and `first` its first bucket that
 * holds units. */
static struct cut find_cut(const uint32_t count[BUCKETS], uint32_t first, int32_t zero,
                           uint32_t left, float *tail)
{
    struct cut cut = {first, 0, zero};
    for (; cut.bucket < BUCKETS && count[cut.bucket] <= left; cut.bucket++) {
        left -= count[cut.bucket];
    }
    cut.ties = left;
    double rest = 0;
    int32_t end = (int32_t)(first + 512 < BUCKETS ? first + 512 : BUCKETS);
    end = cut.zero + 255 < end ? cut.zero + 255 : end; /* code 255 counts as no mass */
    for (int32_t b = (int32_t)cut.bucket; b < end; b++) {
        uint32_t others = count[b] - (b == (int32_t)cut.bucket ? cut.ties : 0);
        rest += others * (double)trace_mass[code_of(b, cut.zero)];
    }
    *tail = (float)fmin(rest, 1);
    return cut;
}

static uint32_t topk_candidates_count_ties(const uint16_t *block, uint16_t bucket)
{
    uint16_t ties = 0;
    for (uint32_t u = 0; u < BLOCK; u++) {
        ties = (uint16_t)(ties + (block[u] == bucket));
    }
    return ties;
}

/* The end of the units up to the last kept tie: found block by block, then one by one. */
static uint32_t past_ties(const uint16_t *bucket, struct cut cut)
{
    uint32_t past = 0, ties = cut.ties, here;
    while ((here = topk_candidates_count_ties(bucket + past, (uint16_t)cut.bucket)) < ties) {
        ties -= here;
        past += BLOCK;
    }
    for (; ties > 0; past++) {
        ties -= bucket[past] == cut.bucket;
    }
    return past;
}

/* Copy the kept units. Up to the last kept tie, the bucket of the cut is included. */
static void topk_candidates_copy_kept(const struct candidates *asked,
                                      const struct scores_version *version,
                                      const uint16_t *restrict bucket, struct cut cut,
                                      uint32_t *restrict units, uint8_t *restrict codes)
{
    uint32_t past = past_ties(bucket, cut);
    uint32_t kept = version->append(bucket, 0, past, cut.bucket + 1, 0, units);
    kept =
        version->append(bucket, past, asked->end_unit - asked->first_unit, cut.bucket, kept, units);
    for (uint32_t i = 0; i < kept; i++) {
        codes[i] = code_of(bucket[units[i]], cut.zero);
        units[i] += asked->first_unit;
    }
}

void candidates_select(const struct candidates *asked, void *memory,
                       const struct candidates_rows *rows, uint32_t count)
{
    struct topk_scratch *scratch = memory;
    uint32_t all = asked->end_unit - asked->first_unit;
    size_t row = scores_row(all);
    const struct scores_version *version = scores_version_here();
    scores_make(version, asked, (char *)scratch->bucket + bucket_bytes(all), scratch->bucket);
    const uint16_t *bucket = scratch->bucket;
    for (uint32_t s = 0; s < asked->steps; s++, bucket += row) {
        count_units(bucket, all, scratch->count);
        uint32_t first = first_bucket(scratch->count[0]);
        int32_t zero = find_zero(asked, scratch->count[0], first);
        for (uint32_t i = 0; i < count; i++) {
            size_t at = s * rows[i].stride;
            struct cut cut =
                find_cut(scratch->count[0], first, zero, rows[i].keep, &rows[i].tail[s]);
            topk_candidates_copy_kept(asked, version, bucket, cut, rows[i].units + at,
                                      rows[i].codes + at);
        }
    }
}
