/* Properties and scores in fixed point. The loops over a block have a constant length and no branch,
 * so that gcc vectorises them; they are compiled once for each level of processor. */

#include "trace/generate/scores.h"

#include <math.h>
#include <string.h>

#include "trace/hash.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum {
    BLOCK = SCORES_BLOCK,
    FINE = 16, /* of a code */
    OCTAVE = 10 * FINE,
    LEVEL_MOST = 9000, /* the moving part adds at most 23200: within 16 bits */
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
struct scores_kind {
    int32_t level, own, move;
};

/* Where the own part and two halves of directions are drawn: by a head, or for all heads of its layer. */
struct scores_keys {
    uint64_t own, first, second;
};

/* The neighbourhoods of one size: the one that was looked up last. */
struct neighbours {
    uint32_t end;    /* the first unit past it; 0: none was looked up */
    uint64_t number; /* of it, or of the wider one that it takes after */
};

struct scores_drawing {
    struct scores_kind octaves[OCTAVES]; /* at the middle of each, from the octave below 1 on */
    struct scores_kind anchor;
    uint32_t anchors; /* out of 2^16 units */
    struct scores_keys keys, layer_keys;
    uint64_t near_key, alike_key;
    uint64_t near[PROFILE_WIDTHS], alike; /* probabilities, out of 2^32 */
    uint32_t widths;                      /* with neighbours; 0: each unit is drawn alone */
    struct neighbours neighbours[PROFILE_WIDTHS];
    uint32_t context;
    uint32_t now; /* position of the token being decoded */
};

/* Of the units that are scored together. The columns of properties serve while these are drawn. */
struct scores_block {
    uint64_t number[BLOCK], alike[BLOCK]; /* what is drawn; 1: for all heads of the layer */
    uint64_t hash[BLOCK], low[BLOCK], high[BLOCK]; /* the own part, and two halves of directions */
    int32_t level[BLOCK], own[BLOCK], move[BLOCK];
    int16_t direction[PROFILE_LATENTS][BLOCK];
    int16_t base[BLOCK], half[BLOCK], score[BLOCK]; /* with no directions, with eight, with all */
};

struct scores {
    int32_t weight[CANDIDATES_MOST_STEPS][PROFILE_LATENTS];
    struct scores_drawing drawing;
    struct scores_block block;
};

size_t scores_scratch(void)
{
    return sizeof(struct scores);
}

static struct scores_kind make_kind(double level, double own, double move)
{
    level = fmin(fmax(level * OCTAVE, -LEVEL_MOST), LEVEL_MOST);
    return (struct scores_kind){(int32_t)lrint(level),
                                (int32_t)lrint(own * OCTAVE * 256 / HASH_BYTES_DEVIATION),
                                (int32_t)lrint(move * OCTAVE)};
}

static struct scores_keys make_keys(uint64_t key)
{
    return (struct scores_keys){hash_at(key, 1), hash_at(key, 2), hash_at(key, 3)};
}

static uint64_t of_32_bits(double probability)
{
    return (uint64_t)llrint(probability * 0x1p32);
}

/* Levels are shifted so that the highest is 0. */
static void drawing_init(struct scores_drawing *drawing, const struct candidates *asked)
{
    const struct trace_profile_head *head = asked->head;
    double own = sqrt(head->score[PROFILE_PARTS - 1]);
    double move = sqrt(fmax(1 - head->score[PROFILE_PARTS - 1], 0)), most = head->level[0];
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
    drawing->anchors = (uint32_t)lrint(head->anchor_share * 65536);
    drawing->context = asked->context;
    drawing->keys = make_keys(asked->key);
    drawing->layer_keys = make_keys(asked->layer_key);
    drawing->near_key = hash_at(asked->layer_key, 4);
    drawing->alike_key = hash_at(asked->key, 4);
    drawing->alike = of_32_bits(asked->locality->alike);
    drawing->widths = 0;
    for (uint32_t i = 0; i < PROFILE_WIDTHS; i++) {
        drawing->near[i] = of_32_bits(asked->locality->near[i]);
        drawing->neighbours[i] = (struct neighbours){0};
        drawing->widths = drawing->near[i] > 0 ? i + 1 : drawing->widths;
    }
    drawing->now = asked->context + asked->first_step;
}

static int16_t clamped(int32_t level)
{
    return (int16_t)(level < -LEVEL_MOST ? -LEVEL_MOST : level > LEVEL_MOST ? LEVEL_MOST : level);
}

/* The number under which a unit's neighbourhood, its own or wider, is drawn. Units come ascending. */
static uint64_t scores_number_of(struct scores_drawing *drawing, uint32_t unit, uint32_t width)
{
    struct neighbours *neighbours = &drawing->neighbours[width];
    if (unit >= neighbours->end) {
        uint64_t blocks = profile_blocks[width], index = unit * blocks / drawing->context;
        uint64_t own = (uint64_t)(width + 1) << 32 | index;
        bool takes_after = width + 1 < drawing->widths &&
                           hash_at(drawing->near_key, own) >> 32 < drawing->near[width + 1];
        neighbours->end = (uint32_t)(((index + 1) * drawing->context + blocks - 1) / blocks);
        neighbours->number = takes_after ? scores_number_of(drawing, unit, width + 1) : own;
    }
    return neighbours->number;
}

/* Inlined into each version, so that it is compiled for that one's processor. */
#define PART_OF_VERSION static inline __attribute__((always_inline))

/* A unit is drawn under its own number, or under that of its neighbourhood. */
PART_OF_VERSION void number_units(struct scores_drawing *drawing, uint32_t first, uint32_t count,
                                  struct scores_block *block)
{
    for (uint32_t u = 0; u < BLOCK; u++) {
        block->number[u] = first + u;
    }
    for (uint32_t from = 0, to; drawing->widths > 0 && from < count; from = to) {
        uint64_t number = scores_number_of(drawing, first + from, 0);
        uint32_t end = drawing->neighbours[0].end - first;
        to = end < count ? end : count;
        for (uint32_t u = from; u < to; u++) {
            uint64_t chance = hash_at(drawing->near_key, first + u) >> 32;
            block->number[u] = chance < drawing->near[0] ? number : first + u;
        }
    }
}

PART_OF_VERSION void choose_alike(const struct scores_drawing *drawing, struct scores_block *block)
{
    for (uint32_t u = 0; u < BLOCK; u++) {
        block->alike[u] = hash_at(drawing->alike_key, block->number[u]) >> 32 < drawing->alike;
    }
}

PART_OF_VERSION void hash_units(uint64_t key, uint64_t layer_key, const struct scores_block *block,
                                uint64_t out[BLOCK])
{
    for (uint32_t u = 0; u < BLOCK; u++) {
        out[u] = hash_at(block->alike[u] ? layer_key : key, block->number[u]);
    }
}

/* Units [from, to) of one octave, between its middle and the next one's; `far` is unit 0's distance. */
PART_OF_VERSION void fill_octave(const struct scores_drawing *drawing, uint64_t far,
                                 uint32_t octave, uint32_t from, uint32_t to,
                                 struct scores_block *block)
{
    const struct scores_kind low = drawing->octaves[octave], high = drawing->octaves[octave + 1];
    const int32_t level = high.level - low.level, own = high.own - low.own;
    const int32_t move = high.move - low.move;
    for (uint32_t u = from; u < to; u++) {
        int32_t part = (int32_t)(((far - u) * 181 >> 7 << 8 >> octave) & 255);
        block->level[u] = low.level + (level * part >> 8);
        block->own[u] = low.own + (own * part >> 8);
        block->move[u] = low.move + (move * part >> 8);
    }
}

/* The kinds of `count` units by distance, the first's `far`, octave by octave, each from the square root of 2
 * times a power of 2 to the next. */
PART_OF_VERSION void fill_kinds(const struct scores_drawing *drawing, uint64_t far, uint32_t count,
                                struct scores_block *block)
{
    for (uint32_t from = 0, to; from < count; from = to) {
        uint64_t scaled = (far - from) * 181 >> 7;
        uint32_t octave = 63 - (uint32_t)__builtin_clzll(scaled | 1);
        uint64_t least = (((uint64_t)128 << octave) + 180) / 181; /* distance in this octave */
        uint64_t end = octave == 0 ? count : far - least + 1;
        to = end < count ? (uint32_t)end : count;
        fill_octave(drawing, far, octave, from, to, block);
    }
}

/* Anchors are of another kind, whatever their distance. */
PART_OF_VERSION void fill_bases(const struct scores_drawing *drawing, struct scores_block *block)
{
    const struct scores_kind anchor = drawing->anchor;
    const uint32_t anchors = drawing->anchors;
    for (uint32_t u = 0; u < BLOCK; u++) {
        bool is_anchor = (uint32_t)(block->hash[u] * 0x9E3779B97F4A7C15u >> 48) < anchors;
        int32_t sum = (int32_t)hash_byte_sum(block->hash[u]) - (int32_t)HASH_BYTES_MEAN;
        int32_t level = is_anchor ? anchor.level : block->level[u];
        int32_t own = is_anchor ? anchor.own : block->own[u];
        block->move[u] = is_anchor ? anchor.move : block->move[u];
        block->base[u] = clamped(level + (sum * own >> 8));
    }
}

PART_OF_VERSION void fill_directions(const uint64_t bytes[BLOCK], const int32_t move[BLOCK],
                                     int16_t (*direction)[BLOCK])
{
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t u = 0; u < BLOCK; u++) {
            direction[i][u] = (int16_t)((int8_t)(bytes[u] >> 8 * i) * move[u] >> 4);
        }
    }
}

/* Draw the properties of the `count` units from `first` on. */
PART_OF_VERSION void draw_block(struct scores_drawing *drawing, uint32_t first, uint32_t count,
                                struct scores_block *block)
{
    const struct scores_keys *keys = &drawing->keys, *layer = &drawing->layer_keys;
    number_units(drawing, first, count, block);
    if (drawing->alike > 0) { /* else all stay 0 */
        choose_alike(drawing, block);
    }
    hash_units(keys->own, layer->own, block, block->hash);
    hash_units(keys->first, layer->first, block, block->low);
    hash_units(keys->second, layer->second, block, block->high);
    fill_kinds(drawing, (uint64_t)drawing->now - first, count, block);
    fill_bases(drawing, block);
    fill_directions(block->low, block->move, &block->direction[0]);
    fill_directions(block->high, block->move, &block->direction[8]);
}

/* The directions of the query at each step, bounded so that every score fits 16 bits. */
static void draw_weights(const struct candidates *asked, struct scores *scores)
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
            scores->weight[s][i] = (int32_t)(direction[i] * bound * WEIGHT_ONE);
        }
    }
}

/* Add eight directions at once, to load and store the scores less often. */
PART_OF_VERSION void add_directions(const int16_t *restrict from,
                                    const int16_t (*restrict direction)[BLOCK],
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

PART_OF_VERSION void score_block(struct scores_block *block, const int32_t weight[PROFILE_LATENTS],
                                 uint16_t *restrict bucket)
{
    add_directions(block->base, &block->direction[0], weight, block->half);
    add_directions(block->half, &block->direction[8], weight + 8, block->score);
    for (uint32_t u = 0; u < BLOCK; u++) {
        bucket[u] = (uint16_t)((uint16_t)(INT16_MAX - block->score[u]) / FINE);
    }
}

PART_OF_VERSION void score_all(const struct candidates *asked, struct scores *scores,
                               uint16_t *bucket)
{
    uint32_t units = asked->end_unit - asked->first_unit;
    for (uint32_t from = 0; from < units; from += BLOCK) {
        uint32_t count = units - from < BLOCK ? units - from : BLOCK;
        draw_block(&scores->drawing, asked->first_unit + from, count, &scores->block);
        for (uint32_t s = 0; s < asked->steps; s++) {
            score_block(&scores->block, scores->weight[s], bucket + s * scores_row(units) + from);
        }
    }
}

static void score_plain(const struct candidates *asked, struct scores *scores, uint16_t *bucket)
{
    score_all(asked, scores, bucket);
}

/* A unit that is not appended is overwritten by the next one, so that no branch has to be predicted. */
static uint32_t append_plain(const uint16_t *restrict bucket, uint32_t from, uint32_t to,
                             uint32_t end, uint32_t kept, uint32_t *restrict units)
{
#pragma GCC unroll 8
    for (uint32_t u = from; u < to; u++) {
        units[kept] = u;
        kept += bucket[u] < end;
    }
    return kept;
}

static bool always(void)
{
    return true;
}

#ifdef __x86_64__

/* The features of x86-64-v3 and x86-64-v4 that the loops use. */
#define AVX2 __attribute__((target("avx2,bmi,bmi2")))
#define AVX512 __attribute__((target("avx2,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl")))

AVX2 static void score_avx2(const struct candidates *asked, struct scores *scores, uint16_t *bucket)
{
    score_all(asked, scores, bucket);
}

/* The numbers of the bits that are set in a byte, the lowest first, a byte each. */
#define LANE(m, i)                                                                                 \
    ((uint64_t)((m) >> (i)&1) * (i) << 8 * __builtin_popcount((m) & ((1u << (i)) - 1)))
#define LANES(m)                                                                                   \
    (LANE(m, 1) | LANE(m, 2) | LANE(m, 3) | LANE(m, 4) | LANE(m, 5) | LANE(m, 6) | LANE(m, 7))
#define LANES_4(m) LANES(m), LANES(m + 1), LANES(m + 2), LANES(m + 3)
#define LANES_16(m) LANES_4(m), LANES_4(m + 4), LANES_4(m + 8), LANES_4(m + 12)
#define LANES_64(m) LANES_16(m), LANES_16(m + 16), LANES_16(m + 32), LANES_16(m + 48)
static const uint64_t lanes_of[256] = {LANES_64(0u), LANES_64(64u), LANES_64(128u), LANES_64(192u)};

/* Eight units at once; the eight items written begin with the appended ones. */
AVX2 static uint32_t append_avx2(const uint16_t *restrict bucket, uint32_t from, uint32_t to,
                                 uint32_t end, uint32_t kept, uint32_t *restrict units)
{
    const __m128i ends = _mm_set1_epi16((short)end);
    uint32_t u = from;
    for (; u + 8 <= to; u += 8) {
        __m128i here = _mm_loadu_si128((const __m128i *)(bucket + u));
        __m128i before = _mm_cmplt_epi16(here, ends); /* both are below 2^15 */
        uint32_t taken = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(before, before)) & 255;
        __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)lanes_of[taken]));
        _mm256_storeu_si256((__m256i *)(units + kept),
                            _mm256_add_epi32(_mm256_set1_epi32((int)u), lanes));
        kept += (uint32_t)__builtin_popcount(taken);
    }
    return append_plain(bucket, u, to, end, kept, units);
}

static bool scores_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

AVX512 static void score_avx512(const struct candidates *asked, struct scores *scores,
                                uint16_t *bucket)
{
    score_all(asked, scores, bucket);
}

static bool scores_has_avx512(void)
{
    return scores_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

#endif

const struct scores_version scores_versions[] = {
#ifdef __x86_64__
    {"avx512", scores_has_avx512, score_avx512, append_avx2},
    {"avx2", scores_has_avx2, score_avx2, append_avx2},
#endif
    {"plain", always, score_plain, append_plain},
    {NULL, NULL, NULL, NULL},
};

void scores_make(const struct scores_version *version, const struct candidates *asked, void *memory,
                 uint16_t *bucket)
{
    struct scores *scores = memory;
    drawing_init(&scores->drawing, asked);
    memset(&scores->block, 0, sizeof scores->block);
    draw_weights(asked, scores);
    version->score(asked, scores, bucket);
}

/* Scores come as buckets (scores.h), so the best units are found by counting, without sorting. */

enum { BUCKETS = SCORES_BUCKETS };

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

/* The kept units: of buckets before `bucket` and its first `ties`. A unit's code is its bucket - `zero`. */
struct cut {
    uint32_t bucket, ties;
    int32_t zero;
};

static uint8_t code_of(int32_t bucket, int32_t zero)
{
    int32_t code = bucket - zero;
    return (uint8_t)(code < 0 ? 0 : code > 255 ? 255 : code);
}

/* The cut of the best `left` units. `zero` is the step's, and `first` its first bucket that holds units. */
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

/* Copy the kept units, with the bucket of the cut up to the last kept tie, found block by block. */
static void topk_candidates_copy_kept(const struct candidates *asked,
                                      const struct scores_version *version,
                                      const uint16_t *restrict bucket, struct cut cut,
                                      uint32_t *restrict units, uint8_t *restrict codes)
{
    uint32_t past = 0, ties = cut.ties, here, all = asked->end_unit - asked->first_unit;
    while ((here = topk_candidates_count_ties(bucket + past, (uint16_t)cut.bucket)) < ties) {
        ties -= here;
        past += BLOCK;
    }
    for (; ties > 0; past++) {
        ties -= bucket[past] == cut.bucket;
    }
    uint32_t kept = version->append(bucket, 0, past, cut.bucket + 1, 0, units);
    kept = version->append(bucket, past, all, cut.bucket, kept, units);
    for (uint32_t i = 0; i < kept; i++) {
        codes[i] = code_of(bucket[units[i]], cut.zero);
        units[i] += asked->first_unit;
    }
}

void candidates_select(const struct candidates *asked, void *memory,
                       const struct candidates_rows *rows)
{
    struct topk_scratch *scratch = memory;
    uint32_t all = asked->end_unit - asked->first_unit;
    size_t row = scores_row(all);
    const struct scores_version *version = scores_versions;
    while (!version->runs_here()) {
        version++;
    }
    scores_make(version, asked, (char *)scratch->bucket + bucket_bytes(all), scratch->bucket);
    const uint16_t *bucket = scratch->bucket;
    for (uint32_t s = 0; s < asked->steps; s++, bucket += row) {
        count_units(bucket, all, scratch->count);
        const uint32_t *count = scratch->count[0];
        uint32_t first = 0; /* bucket with units */
        while (count[first] == 0) {
            first++;
        }
        double sum = 0;
        for (uint32_t b = first; b < BUCKETS && b - first < 256; b++) {
            sum += count[b] * (double)trace_mass[b - first];
        }
        /* All units' masses add up to `asked->mass`. */
        int32_t zero = (int32_t)first - (int32_t)lrint(10 * log2(sum / asked->mass));
        size_t at = s * rows->stride;
        struct cut cut = find_cut(count, first, zero, rows->keep, &rows->tail[s]);
        topk_candidates_copy_kept(asked, version, bucket, cut, rows->units + at, rows->codes + at);
    }
}
