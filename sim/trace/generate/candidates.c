/* Fixed-point arithmetic throughout gives the same bytes on any machine, eight units at a time. The
 * hot loops have a constant length, so that gcc vectorises them at -O2. */
#include "trace/generate/candidates.h"

#include "trace/format/trace.h"
#include "trace/generate/hash.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 256, /* units scored together: 10 KiB of directions and scores */
    FINE = 16,   /* of a code */
    OCTAVE = 10 * FINE,
    LEVEL_MOST = 9000, /* the moving part adds at most 23200: within 16 bits */
    BUCKETS = 4096,    /* one per code, over all 16-bit scores */
    OCTAVES = 40,      /* of distances: 2^32 times the square root of 2, and one more */
};

/* The directions of a unit are bytes of this standard deviation. With amplitude a (at most 6
 * octaves) and query direction w, (byte * a / 16) * (w * WEIGHT_ONE) >> 16 is a score. */
#define BYTE_DEVIATION 73.9003
#define WEIGHT_ONE (65536 * 16 / BYTE_DEVIATION)
#define WEIGHT_MOST 2.3
#define WEIGHT_SUM_MOST 14.0

/* Level, amplitude of the own part and amplitude of the moving part, for one kind of unit. The own
 * part is scaled to be multiplied by a sum of bytes and shifted by 8. */
struct kind {
    int32_t level, own, move;
};

struct drawing {
    struct kind octaves[OCTAVES]; /* at the middle of each, from the octave below 1 on */
    struct kind anchor;
    uint64_t anchors; /* out of 2^16 units */
    uint64_t own_key, first_key, second_key;
    uint32_t now; /* position of the token being decoded */
};

struct block {
    int16_t direction[PROFILE_LATENTS][BLOCK];
    int16_t base[BLOCK], half[BLOCK], score[BLOCK]; /* with no directions, with eight, with all */
};

/* The working memory of candidates_select(). */
struct scratch {
    uint32_t count[BUCKETS]; /* of one step */
    int32_t weight[CANDIDATES_MOST_STEPS][PROFILE_LATENTS];
    struct drawing drawing;
    struct block block;
    uint16_t bucket[]; /* of each unit, step by step; a step takes whole blocks */
};

static size_t padded(uint32_t units)
{
    return ((size_t)units + BLOCK - 1) / BLOCK * BLOCK;
}

size_t candidates_scratch(uint32_t units)
{
    return sizeof(struct scratch) + CANDIDATES_MOST_STEPS * padded(units) * sizeof(uint16_t);
}

static struct kind make_kind(double level, double own, double move)
{
    level = fmin(fmax(level * OCTAVE, -LEVEL_MOST), LEVEL_MOST);
    return (struct kind){(int32_t)lrint(level),
                         (int32_t)lrint(own * OCTAVE * 256 / HASH_BYTES_DEVIATION),
                         (int32_t)lrint(move * OCTAVE)};
}

/* Levels are shifted so that the highest is 0. */
static void drawing_init(struct drawing *drawing, const struct candidates *asked)
{
    const struct trace_profile_head *head = asked->head;
    double own = sqrt(head->score[PROFILE_PARTS - 1]);
    double move = sqrt(fmax(1 - head->score[PROFILE_PARTS - 1], 0));
    double most = head->level[0];
    uint32_t last = head->knots - 1;
    for (uint32_t i = 1; i <= last; i++) {
        most = fmax(most, head->level[i]);
    }
    for (uint32_t o = 0; o < OCTAVES; o++) {
        uint32_t seen = o > asked->first_octave + 1 ? o - 1 - asked->first_octave : 0;
        uint32_t knot = seen < last ? seen : last;
        double level = head->level[knot] - most + head->slope * (seen - knot);
        drawing->octaves[o] = make_kind(level, own * head->spread[knot], move * head->spread[knot]);
    }
    drawing->anchor = make_kind(head->anchor_level - most, head->anchor_spread, head->anchor_drift);
    drawing->anchors = (uint64_t)llrint(head->anchor_share * 65536);
    drawing->own_key = hash_at(asked->key, 1);
    drawing->first_key = hash_at(asked->key, 2);
    drawing->second_key = hash_at(asked->key, 3);
    drawing->now = asked->context + asked->first_step;
}

static int32_t between(int32_t from, int32_t to, int32_t part)
{
    return from + ((to - from) * part >> 8);
}

/* The kind of units at `distance` tokens: interpolated linearly between the middles of octaves,
 * each the square root of 2 times a power of 2. */
static struct kind kind_at(const struct drawing *drawing, uint64_t distance)
{
    uint64_t scaled = distance * 181 >> 7;
    int octave = 63 - __builtin_clzll(scaled | 1);
    int32_t part = (int32_t)((scaled << 8 >> octave) & 255);
    const struct kind *low = &drawing->octaves[octave], *high = low + 1;
    return (struct kind){between(low->level, high->level, part), between(low->own, high->own, part),
                         between(low->move, high->move, part)};
}

static int16_t clamped(int32_t level)
{
    return (int16_t)(level < -LEVEL_MOST ? -LEVEL_MOST : level > LEVEL_MOST ? LEVEL_MOST : level);
}

/* Draw the properties of the `count` units from `first` on. */
static void draw_block(const struct drawing *drawing, uint32_t first, uint32_t count,
                       struct block *block)
{
    for (uint32_t u = 0; u < count; u++) {
        uint64_t own = hash_at(drawing->own_key, first + u);
        bool is_anchor = (own * 0x9E3779B97F4A7C15u) >> 48 < drawing->anchors;
        struct kind kind =
            is_anchor ? drawing->anchor : kind_at(drawing, (uint64_t)drawing->now - first - u);
        int32_t sum = (int32_t)hash_byte_sum(own) - (int32_t)HASH_BYTES_MEAN;
        block->base[u] = clamped(kind.level + (sum * kind.own >> 8));
        uint64_t low = hash_at(drawing->first_key, first + u);
        uint64_t high = hash_at(drawing->second_key, first + u);
        for (uint32_t i = 0; i < 8; i++, low >>= 8, high >>= 8) {
            block->direction[i][u] = (int16_t)((int8_t)(low & 255) * kind.move >> 4);
            block->direction[8 + i][u] = (int16_t)((int8_t)(high & 255) * kind.move >> 4);
        }
    }
}

/* The directions of the query at each step, bounded so that every score fits 16 bits. */
static void draw_weights(const struct candidates *asked, struct scratch *scratch)
{
    for (uint32_t s = 0; s < asked->steps; s++) {
        double direction[PROFILE_LATENTS], sum = 0, most = 0;
        latent_directions(asked->latent, s, direction);
        for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
            sum += fabs(direction[i]);
            most = fmax(most, fabs(direction[i]));
        }
        double bound = fmin(1, fmin(WEIGHT_SUM_MOST / sum, WEIGHT_MOST / most));
        for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
            scratch->weight[s][i] = (int32_t)(direction[i] * bound * WEIGHT_ONE);
        }
    }
}

/* Add eight directions at once, to load and store the scores less often. */
static void add_directions(const int16_t *restrict from, const int16_t (*restrict direction)[BLOCK],
                           const int32_t *weight, int16_t *restrict to)
{
    int16_t by[8];
    for (uint32_t i = 0; i < 8; i++) {
        by[i] = (int16_t)weight[i];
    }
#define PART(i) (int16_t)(direction[i][u] * by[i] >> 16)
    for (uint32_t u = 0; u < BLOCK; u++) {
        int16_t low = (int16_t)((int16_t)(PART(0) + PART(1)) + (int16_t)(PART(2) + PART(3)));
        int16_t high = (int16_t)((int16_t)(PART(4) + PART(5)) + (int16_t)(PART(6) + PART(7)));
        to[u] = (int16_t)(from[u] + (int16_t)(low + high));
    }
#undef PART
}

static void score_block(struct block *block, const int32_t weight[PROFILE_LATENTS],
                        uint16_t *restrict bucket)
{
    add_directions(block->base, &block->direction[0], weight, block->half);
    add_directions(block->half, &block->direction[8], weight + 8, block->score);
    for (uint32_t u = 0; u < BLOCK; u++) {
        bucket[u] = (uint16_t)((uint16_t)(INT16_MAX - block->score[u]) / FINE);
    }
}

static void score_all(const struct candidates *asked, struct scratch *scratch)
{
    uint32_t units = asked->end_unit - asked->first_unit;
    for (uint32_t from = 0; from < units; from += BLOCK) {
        uint32_t count = units - from < BLOCK ? units - from : BLOCK;
        draw_block(&scratch->drawing, asked->first_unit + from, count, &scratch->block);
        for (uint32_t s = 0; s < asked->steps; s++) {
            score_block(&scratch->block, scratch->weight[s],
                        scratch->bucket + s * padded(units) + from);
        }
    }
}

static void count_units(const uint16_t *bucket, uint32_t units, uint32_t count[BUCKETS])
{
    memset(count, 0, BUCKETS * sizeof *count);
    for (uint32_t u = 0; u < units; u++) {
        count[bucket[u]]++;
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

static bool is_empty(const uint32_t count[16])
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
    while (is_empty(count + first)) {
        first += 16;
    }
    while (count[first] == 0) {
        first++;
    }
    return first;
}

static struct cut find_cut(const struct candidates *asked, const uint32_t count[BUCKETS],
                           float *tail)
{
    uint32_t first = first_bucket(count), left = asked->keep;
    struct cut cut = {first, 0, find_zero(asked, count, first)};
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

/* Append the units in [from, to) of buckets before `end`. There is room for one more unit, which is
 * written and dropped, so that no branch has to be predicted. */
static uint32_t append(const uint16_t *restrict bucket, uint32_t from, uint32_t to, uint32_t end,
                       uint32_t kept, uint32_t *restrict units)
{
#pragma GCC unroll 8
    for (uint32_t u = from; u < to; u++) {
        units[kept] = u;
        kept += bucket[u] < end;
    }
    return kept;
}

static uint32_t count_ties(const uint16_t *block, uint16_t bucket)
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
    while ((here = count_ties(bucket + past, (uint16_t)cut.bucket)) < ties) {
        ties -= here;
        past += BLOCK;
    }
    for (; ties > 0; past++) {
        ties -= bucket[past] == cut.bucket;
    }
    return past;
}

/* Copy the kept units. Up to the last kept tie, the bucket of the cut is included. */
static void copy_kept(const struct candidates *asked, const uint16_t *restrict bucket,
                      struct cut cut, uint32_t *restrict units, uint8_t *restrict codes)
{
    uint32_t past = past_ties(bucket, cut);
    uint32_t kept = append(bucket, 0, past, cut.bucket + 1, 0, units);
    kept = append(bucket, past, asked->end_unit - asked->first_unit, cut.bucket, kept, units);
    for (uint32_t i = 0; i < kept; i++) {
        codes[i] = code_of(bucket[units[i]], cut.zero);
        units[i] += asked->first_unit;
    }
}

void candidates_select(const struct candidates *asked, void *memory, size_t stride, uint32_t *units,
                       uint8_t *codes, float *tail)
{
    struct scratch *scratch = memory;
    size_t row = padded(asked->end_unit - asked->first_unit);
    drawing_init(&scratch->drawing, asked);
    memset(&scratch->block, 0, sizeof scratch->block);
    draw_weights(asked, scratch);
    score_all(asked, scratch);
    const uint16_t *bucket = scratch->bucket;
    for (uint32_t s = 0; s < asked->steps; s++, bucket += row) {
        count_units(bucket, asked->end_unit - asked->first_unit, scratch->count);
        struct cut cut = find_cut(asked, scratch->count, &tail[s]);
        copy_kept(asked, bucket, cut, units + s * stride, codes + s * stride);
    }
}
