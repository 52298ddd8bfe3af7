/* The kernel of attention.c, included once for each width of vectors, with
 *
 *   ATTEND   name of the function to define
 *   LANES    floats in a vector
 *   TARGET   attribute that lets the compiler use such vectors
 *
 * These are undefined at the end. Within a block of rows a tile of queries passes over keys, then
 * over values; both stay in the first cache for the next tile. When a row is used, the next row of
 * the other kind is prefetched.
 *
 *            row 0   row 1  ...  row 31 | row 32 ...
 *     keys     1       1           1    |   3          1: scores, and values are prefetched
 *     values   2       2           2    |   4          2: sums, and the next keys are prefetched
 */

#define GLUE(a, b) a##b
#define NAME(name, suffix) GLUE(name, suffix)
#define LOCAL(name) NAME(name##_, ATTEND)
#define KERNEL static inline TARGET __attribute__((always_inline))

typedef float LOCAL(lanes) __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t LOCAL(whole) __attribute__((vector_size(LANES * sizeof(int32_t))));
#define lanes LOCAL(lanes)
#define whole LOCAL(whole)

KERNEL lanes LOCAL(load)(const float *at)
{
    lanes value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* A bf16 number is the upper half of a float. So a vector of words with two of them each becomes
 * two vectors of floats without a shuffle: even indices, then odd indices. Queries and output have
 * the same order inside the kernel. */
KERNEL void LOCAL(load_bf16)(const uint16_t *at, lanes *even, lanes *odd)
{
    whole words;
    memcpy(&words, at, sizeof words);
    *even = (lanes)(words << 16);
    *odd = (lanes)(words & ~0xffff);
}

KERNEL lanes LOCAL(larger)(lanes a, lanes b)
{
    whole larger = a > b;
    return (lanes)(((whole)a & larger) | ((whole)b & ~larger));
}

KERNEL float LOCAL(sum)(lanes value)
{
    float parts[LANES];
    memcpy(parts, &value, sizeof parts);
#pragma GCC unroll 4
    for (uint32_t half = LANES / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
        for (uint32_t i = 0; i < half; i++) {
            parts[i] += parts[i + half];
        }
    }
    return parts[0];
}

KERNEL float LOCAL(most)(lanes value)
{
    float parts[LANES];
    memcpy(parts, &value, sizeof parts);
#pragma GCC unroll 4
    for (uint32_t half = LANES / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
        for (uint32_t i = 0; i < half; i++) {
            parts[i] = parts[i] > parts[i + half] ? parts[i] : parts[i + half];
        }
    }
    return parts[0];
}

/* 2^x for x <= 0, with 0 for results below 2^-126: a power series in x less the nearest integer,
 * with an error within 2e-7. */
KERNEL lanes LOCAL(exp2)(lanes x)
{
    whole counts = x > -126.0f;
    x = (lanes)((whole)x & counts);
    whole rounded = __builtin_convertvector(x - 0.5f, whole);
    lanes rest = x - __builtin_convertvector(rounded, lanes);
    lanes value = rest * 1.5403530e-4f + 1.3333558e-3f;
    value = value * rest + 9.6181291e-3f;
    value = value * rest + 5.5504109e-2f;
    value = value * rest + 2.4022651e-1f;
    value = value * rest + 6.9314718e-1f;
    value = value * rest + 1;
    return (lanes)(((whole)value + (rounded << 23)) & counts);
}

/* scores[q][r] = scale * query q . key r, for `tile` queries and two rows at a time (the last row
 * twice if their number is odd). */
KERNEL void LOCAL(score)(const struct block *block, const float *queries, uint32_t dim, float scale,
                         float (*scores)[BLOCK], const uint32_t tile)
{
    for (uint32_t r = 0; r < block->rows; r += 2) {
        const uint16_t *first = block->keys[r], *second = block->keys[r + 1];
        lanes sums[TILE][2] = {{{0}}};
        for (uint32_t d = 0; d < dim; d += ATTENTION_DIM_STEP) {
            __builtin_prefetch(block->values[r] + d);
            __builtin_prefetch(block->values[r + 1] + d);
#pragma GCC unroll 8
            for (uint32_t i = d; i < d + ATTENTION_DIM_STEP; i += 2 * LANES) {
                lanes even[2], odd[2];
                LOCAL(load_bf16)(first + i, &even[0], &odd[0]);
                LOCAL(load_bf16)(second + i, &even[1], &odd[1]);
#pragma GCC unroll 4
                for (uint32_t q = 0; q < tile; q++) {
                    const float *query = queries + (size_t)q * dim + i;
                    sums[q][0] += LOCAL(load)(query) * even[0];
                    sums[q][1] += LOCAL(load)(query) * even[1];
                    sums[q][0] += LOCAL(load)(query + LANES) * odd[0];
                    sums[q][1] += LOCAL(load)(query + LANES) * odd[1];
                }
            }
        }
#pragma GCC unroll 4
        for (uint32_t q = 0; q < tile; q++) {
            scores[q][r] = scale * LOCAL(sum)(sums[q][0]);
            scores[q][r + 1] = scale * LOCAL(sum)(sums[q][1]);
        }
    }
}

/* Raise `most` to the largest score so far and replace scores by weights 2^(score - most). Returns
 * the factor by which earlier sums shrink. */
KERNEL float LOCAL(weigh)(float *scores, uint32_t rows, float *most, float *total)
{
    for (uint32_t r = rows; r < BLOCK; r++) {
        scores[r] = -INFINITY;
    }
    lanes largest = LOCAL(load)(scores);
    for (uint32_t r = LANES; r < BLOCK; r += LANES) {
        largest = LOCAL(larger)(largest, LOCAL(load)(scores + r));
    }
    float before = *most, now = LOCAL(most)(largest);
    now = now > before ? now : before;
    lanes sum = {0};
    for (uint32_t r = 0; r < BLOCK; r += LANES) {
        lanes weight = LOCAL(exp2)(LOCAL(load)(scores + r) - now);
        memcpy(scores + r, &weight, sizeof weight);
        sum += weight;
    }
    float shrunk = exp2f(before - now);
    *most = now;
    *total = *total * shrunk + LOCAL(sum)(sum);
    return shrunk;
}

/* out[q] = out[q] * shrunk[q] + sum of weights[q][r] * value r. */
KERNEL void LOCAL(accumulate)(const struct block *block, uint32_t dim, float (*weights)[BLOCK],
                              const float *shrunk, float *out, const uint32_t tile)
{
    for (uint32_t d = 0; d < dim; d += 2 * LANES) {
        lanes sums[TILE][2];
#pragma GCC unroll 4
        for (uint32_t q = 0; q < tile; q++) {
            sums[q][0] = LOCAL(load)(out + (size_t)q * dim + d) * shrunk[q];
            sums[q][1] = LOCAL(load)(out + (size_t)q * dim + d + LANES) * shrunk[q];
        }
        for (uint32_t r = 0; r < block->rows; r++) {
            lanes even, odd;
            LOCAL(load_bf16)(block->values[r] + d, &even, &odd);
            __builtin_prefetch(block->next_keys[r] + d);
#pragma GCC unroll 4
            for (uint32_t q = 0; q < tile; q++) {
                sums[q][0] += even * weights[q][r];
                sums[q][1] += odd * weights[q][r];
            }
        }
#pragma GCC unroll 4
        for (uint32_t q = 0; q < tile; q++) {
            memcpy(out + (size_t)q * dim + d, sums[q], sizeof sums[q]);
        }
    }
}

KERNEL void LOCAL(tile)(const struct block *block, const struct attention_shape *shape,
                        struct softmax *softmax, uint32_t first, const uint32_t tile)
{
    float scores[TILE][BLOCK], shrunk[TILE];
    uint32_t dim = shape->dim;
    size_t at = (size_t)first * dim;
    LOCAL(score)(block, softmax->queries + at, dim, softmax->scale, scores, tile);
    for (uint32_t q = 0; q < tile; q++) {
        shrunk[q] = LOCAL(weigh)(scores[q], block->rows, &softmax->most[first + q],
                                 &softmax->total[first + q]);
    }
    LOCAL(accumulate)(block, dim, scores, shrunk, softmax->out + at, tile);
}

static TARGET void ATTEND(const struct attention_shape *shape, const struct attention_head *head,
                          struct softmax *softmax)
{
    struct block block;
    for (uint32_t i = 0; i < shape->group * shape->dim; i++) {
        softmax->queries[pair_place(i, LANES)] = head->queries[i];
    }
    for (uint32_t row = 0; row < head->count; row += BLOCK) {
        block_take(&block, head, row);
        uint32_t q = 0;
        for (; q + TILE <= shape->group; q += TILE) {
            LOCAL(tile)(&block, shape, softmax, q, TILE);
        }
        for (; q < shape->group; q++) {
            LOCAL(tile)(&block, shape, softmax, q, 1);
        }
    }
    for (uint32_t i = 0; i < shape->group * shape->dim; i++) {
        head->out[i] = softmax->out[pair_place(i, LANES)];
    }
}

#undef lanes
#undef whole
#undef KERNEL
#undef LOCAL
#undef NAME
#undef GLUE
#undef ATTEND
#undef LANES
#undef TARGET
