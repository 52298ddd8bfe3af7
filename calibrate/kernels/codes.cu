/* Scores of codes, by table look-ups instead of products.
 *
 * Product quantisation (Jégou et al., 2011; PQCache): a table has each query's product with each of
 * the 256 entries of each part of the codebook. A key's score is the sum of the table entries that
 * the bytes of its code select. The tables of four queries are interleaved, so that one look-up
 * gives all four; a larger group takes several rounds. Hashes (HATA): the score is the number of
 * equal bits of a key's and a query's hash.
 */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"

#include <math.h>

#define THREADS 256
#define CODES 256
#define AT_ONCE 4
#define CTA_CODES 8192 /* entries of a CTA: enough to be worth making the table */
#define CTA_HASHES (THREADS * 8)

struct code_task {
    const uint16_t *queries, *codebooks;
    const uint8_t *codes;
    uint32_t group, dim, parts, entries;
    float *scores;
};

/* table[parts][256] of products with queries from `first` on; missing queries have -INFINITY. */
static __device__ void make_table(float4 *table, const struct code_task &task, uint32_t first)
{
    uint32_t width = task.dim / task.parts;
    const uint16_t *queries = task.queries + (uint64_t)blockIdx.y * task.group * task.dim;
    const uint16_t *codebook = task.codebooks + (uint64_t)blockIdx.y * CODES * task.dim;
    for (uint32_t i = threadIdx.x; i < task.parts * CODES; i += THREADS) {
        float product[AT_ONCE] = {};
        for (uint32_t at = 0; at < width; at++) {
            float entry = bf16_low(codebook[(uint64_t)i * width + at]);
#pragma unroll
            for (uint32_t j = 0; j < AT_ONCE; j++) {
                if (first + j < task.group) {
                    uint32_t value = (first + j) * task.dim + i / CODES * width + at;
                    product[j] += bf16_low(queries[value]) * entry;
                }
            }
        }
#pragma unroll
        for (uint32_t j = 0; j < AT_ONCE; j++) {
            product[j] = first + j < task.group ? product[j] : -INFINITY;
        }
        table[i] = {product[0], product[1], product[2], product[3]};
    }
}

/* The bytes of a code, in one load. */
template <int PARTS> static __device__ void load_code(uint8_t (&code)[PARTS], const uint8_t *from)
{
    if constexpr (PARTS == 16) {
        *(uint4 *)code = *(const uint4 *)from;
    } else if constexpr (PARTS == 8) {
        *(uint2 *)code = *(const uint2 *)from;
    } else if constexpr (PARTS == 4) {
        *(uint32_t *)code = *(const uint32_t *)from;
    } else {
        *(uint16_t *)code = *(const uint16_t *)from;
    }
}

template <int PARTS> static __device__ float codes_look_up(const float4 *table, const uint8_t *from)
{
    alignas(16) uint8_t code[PARTS];
    load_code<PARTS>(code, from);
    float4 sum = {0, 0, 0, 0};
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        float4 some = table[part * CODES + code[part]];
        sum.x += some.x;
        sum.y += some.y;
        sum.z += some.z;
        sum.w += some.w;
    }
    return fmaxf(fmaxf(sum.x, sum.y), fmaxf(sum.z, sum.w));
}

template <int PARTS>
static __global__ void __launch_bounds__(THREADS) score_codes(const struct code_task task)
{
    float4 *table = (float4 *)launch_shared;
    uint64_t row = (uint64_t)blockIdx.y * task.entries;
    uint32_t begin = blockIdx.x * CTA_CODES;
    uint32_t end = task.entries - begin > CTA_CODES ? begin + CTA_CODES : task.entries;
    for (uint32_t first = 0; first < task.group; first += AT_ONCE) {
        make_table(table, task, first);
        __syncthreads();
        for (uint32_t i = begin + threadIdx.x; i < end; i += THREADS) {
            float score = codes_look_up<PARTS>(table, task.codes + (row + i) * PARTS);
            task.scores[row + i] = first == 0 ? score : fmaxf(score, task.scores[row + i]);
        }
        __syncthreads(); /* all look-ups are done before the table is made again */
    }
}

typedef void code_kernel(const struct code_task task);

static const struct {
    uint32_t parts;
    code_kernel *kernel;
} code_kernels[] = {
    {2, score_codes<2>}, {4, score_codes<4>}, {8, score_codes<8>}, {16, score_codes<16>}};

bool kernel_score_codes(const uint16_t *queries, const uint16_t *codebooks, const uint8_t *codes,
                        uint32_t pairs, uint32_t group, uint32_t dim, uint32_t parts,
                        uint32_t entries, float *scores, void *stream, struct error *why)
{
    const struct code_task task = {queries, codebooks, codes, group, dim, parts, entries, scores};
    for (const auto &row : code_kernels) {
        if (row.parts == parts && dim % parts == 0 && group > 0 && group <= KERNEL_MOST_GROUP &&
            entries <= UINT32_MAX / 2) {
            dim3 grid(divide_up(entries, (uint32_t)CTA_CODES), pairs);
            return pairs == 0 || entries == 0 ||
                   launch(row.kernel, grid, THREADS, parts * CODES * sizeof(float4), stream, why,
                          task);
        }
    }
    return error_set(why, NULL, 0, "codes of %u parts for %u queries of %u values", parts, group,
                     dim);
}

template <int WORDS>
static __global__ void __launch_bounds__(THREADS)
    score_hashes(const uint32_t *queries, const uint4 *hashes, uint32_t group, uint32_t entries,
                 float *scores)
{
    uint32_t *asked = (uint32_t *)launch_shared;
    for (uint32_t i = threadIdx.x; i < group * WORDS; i += THREADS) {
        asked[i] = queries[(uint64_t)blockIdx.y * group * WORDS + i];
    }
    __syncthreads();
    uint64_t row = (uint64_t)blockIdx.y * entries;
    uint32_t begin = blockIdx.x * CTA_HASHES;
    uint32_t end = entries - begin > CTA_HASHES ? begin + CTA_HASHES : entries;
    for (uint32_t i = begin + threadIdx.x; i < end; i += THREADS) {
        uint4 hash[WORDS / 4];
        for (int quarter = 0; quarter < WORDS / 4; quarter++) {
            hash[quarter] = hashes[(row + i) * (WORDS / 4) + (uint64_t)quarter];
        }
        int apart_least = 32 * WORDS;
        for (uint32_t head = 0; head < group; head++) {
            int apart = 0;
#pragma unroll
            for (int quarter = 0; quarter < WORDS / 4; quarter++) {
                uint4 query = ((const uint4 *)asked)[head * (WORDS / 4) + (uint32_t)quarter];
                apart += __popc(query.x ^ hash[quarter].x) + __popc(query.y ^ hash[quarter].y) +
                         __popc(query.z ^ hash[quarter].z) + __popc(query.w ^ hash[quarter].w);
            }
            apart_least = apart < apart_least ? apart : apart_least;
        }
        scores[row + i] = (float)(32 * WORDS - apart_least);
    }
}

bool kernel_score_hashes(const uint32_t *queries, const uint32_t *hashes, uint32_t pairs,
                         uint32_t group, uint32_t words, uint32_t entries, float *scores,
                         void *stream, struct error *why)
{
    if ((words != 4 && words != 8) || group == 0 || group > KERNEL_MOST_GROUP ||
        entries > UINT32_MAX / 2) {
        return error_set(why, NULL, 0, "hashes of %u words for %u queries", words, group);
    }
    dim3 grid(divide_up(entries, (uint32_t)CTA_HASHES), pairs);
    return pairs == 0 || entries == 0 ||
           launch(words == 4 ? score_hashes<4> : score_hashes<8>, grid, THREADS,
                  group * words * sizeof(uint32_t), stream, why, queries, (const uint4 *)hashes,
                  group, entries, scores);
}
