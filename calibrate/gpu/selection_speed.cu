/* The group selection: kernels of retrieval.
 *
 *   gpu.topk            selects a tenth of the scores of a layer: 8 rows (KV heads) of 64 to 512 K
 *                       scores each, then rows of more sequences; axis: scores of all rows
 *   gpu.topk_fused      selects 2048 of each row, as an indexer does: the time of 8 rows
 *   gpu.topk_fused_row  the same, 512 rows: the time over their number; axis: scores of a row
 *
 * Observed: scoring of pages, centroids, codes and hashes, as shares of the HBM peak by entries of
 * a KV head; QSAC's comparison with its labels; merging of attention's parts.
 */
#include "calibrate/gpu/bench.h"
#include "calibrate/gpu/groups.h"
#include "calibrate/kernels/kernels.h"

#include <stdio.h>

#include <algorithm>

#define WANTED ((size_t)2 << 30)
#define LEAST ((size_t)4 << 20) /* room for the parts of the largest merge */
#define SCORES_WANTED ((size_t)64 << 20)
#define SCORES_LEAST ((size_t)1 << 20)
#define HEADS 8
#define GROUP 4
#define DIM 128
#define PAIRS_MOST (HEADS * 64)
#define CHOSEN_OF 10
#define INDEXED 2048 /* that an indexer selects */
#define INDEX_ROWS_FEW 8
#define INDEX_ROWS_MANY PAIRS_MOST
#define CODE_PARTS 16
#define HASH_WORDS 8
#define ENTRIES_MOST ((size_t)524288)

struct selection_bench {
    struct kernel_bench bench;
    gpu_memory queries, floats, chosen, scratch, whole;
    gpu_memory scores; /* random; top-k and merging read them */
    gpu_memory scored; /* scoring writes them */
    struct room scores_room;
    size_t scores_most;

    bool create(uint64_t seed, struct error *why);
    bool take_floats(size_t heads, struct error *why);
    bool take_scratch(struct error *why);
};

/* Weights of 1, thresholds that no cosine reaches, so that every label is written, and room for the
 * two outputs. */
bool selection_bench::take_floats(size_t heads, struct error *why)
{
    std::vector<float> values(4 * heads, 1);
    std::fill(values.begin() + (ptrdiff_t)heads, values.end(), 2.0f);
    size_t bytes = values.size() * sizeof values[0];
    return floats.take(bytes, why) &&
           GPU_TRY(cudaMemcpy(floats.data, values.data(), bytes, cudaMemcpyHostToDevice), why);
}

bool selection_bench::take_scratch(struct error *why)
{
    size_t bytes = kernel_topk_scratch(PAIRS_MOST);
    return scratch.take(bytes, why) && GPU_TRY(cudaMemset(scratch.data, 0, bytes), why);
}

/* `scores` holds bf16 in [-1, 1); two of them, read as a float, are a number of about that range.
 */
bool selection_bench::create(uint64_t seed, struct error *why)
{
    size_t heads = (size_t)PAIRS_MOST * GROUP, query_bytes = heads * DIM * sizeof(uint16_t);
    if (!gpu_room(SCORES_WANTED * sizeof(float), SCORES_LEAST * sizeof(float), &scores_room, why)) {
        return false;
    }
    size_t room = scores_room.bytes;
    scores_most = room / sizeof(float);
    return scores.take(room, why) && gpu_fill_bf16(scores.data, room / 4 * 4, seed + 1, why) &&
           scored.take(HEADS * ENTRIES_MOST * sizeof(float), why) &&
           chosen.take(std::max(scores_most / CHOSEN_OF, INDEXED * (size_t)INDEX_ROWS_MANY) *
                           sizeof(uint32_t),
                       why) &&
           take_scratch(why) && queries.take(query_bytes, why) &&
           gpu_fill_bf16(queries.data, query_bytes, seed + 2, why) && take_floats(heads, why) &&
           whole.take(heads * (DIM + 1) * sizeof(float), why) &&
           bench.create(WANTED, LEAST, seed, why);
}

/* ---- one operation each ---- */

static bool put_topk(const struct bench_work *work, struct error *why)
{
    struct selection_bench *all = (struct selection_bench *)work->group;
    return kernel_topk((const float *)all->scores.data, work->rows, work->each,
                       work->each / CHOSEN_OF, (uint32_t *)all->chosen.data, all->scratch.data,
                       all->bench.stream.at, why);
}

static bool selection_speed_put_index(const struct bench_work *work, struct error *why)
{
    struct selection_bench *all = (struct selection_bench *)work->group;
    return kernel_topk((const float *)all->scores.data, work->rows, work->each, INDEXED,
                       (uint32_t *)all->chosen.data, all->scratch.data, all->bench.stream.at, why);
}

/* The scored entries, as many bytes as are counted, are elsewhere in the arena each time. */
static char *entries_of(const struct bench_work *work)
{
    struct selection_bench *all = (struct selection_bench *)work->group;
    return all->bench.arena.turn((size_t)work->amount);
}

static bool selection_speed_put_pages(const struct bench_work *work, struct error *why)
{
    struct selection_bench *all = (struct selection_bench *)work->group;
    return kernel_score_pages((const uint16_t *)all->queries.data,
                              (const uint16_t *)entries_of(work), work->rows, GROUP, DIM,
                              work->each, (float *)all->scored.data, all->bench.stream.at, why);
}

static bool put_centroids(const struct bench_work *work, struct error *why)
{
    struct selection_bench *all = (struct selection_bench *)work->group;
    return kernel_score_centroids((const uint16_t *)all->queries.data,
                                  (const uint16_t *)entries_of(work), work->rows, GROUP, DIM,
                                  work->each, (float *)all->scored.data, all->bench.stream.at, why);
}

static bool put_codes(const struct bench_work *work, struct error *why)
{
    struct selection_bench *all = (struct selection_bench *)work->group;
    const uint16_t *codebooks = (const uint16_t *)all->bench.arena.memory.data;
    return kernel_score_codes((const uint16_t *)all->queries.data, codebooks,
                              (const uint8_t *)entries_of(work), work->rows, GROUP, DIM, CODE_PARTS,
                              work->each, (float *)all->scored.data, all->bench.stream.at, why);
}

static bool put_hashes(const struct bench_work *work, struct error *why)
{
    struct selection_bench *all = (struct selection_bench *)work->group;
    return kernel_score_hashes((const uint32_t *)all->queries.data,
                               (const uint32_t *)entries_of(work), work->rows, GROUP, HASH_WORDS,
                               work->each, (float *)all->scored.data, all->bench.stream.at, why);
}

static bool put_labels(const struct bench_work *work, struct error *why)
{
    struct selection_bench *all = (struct selection_bench *)work->group;
    float *floats = (float *)all->floats.data;
    const size_t heads = (size_t)PAIRS_MOST * GROUP;
    size_t bytes = (size_t)work->rows * GROUP * DIM * sizeof(uint16_t);
    return kernel_compare_labels((const uint16_t *)all->queries.data,
                                 (uint16_t *)all->bench.arena.turn(bytes), floats, floats + heads,
                                 work->rows, GROUP, DIM, floats + 2 * heads,
                                 (uint32_t *)(floats + 3 * heads), all->bench.stream.at, why);
}

static bool selection_speed_put_merge(const struct bench_work *work, struct error *why)
{
    struct selection_bench *all = (struct selection_bench *)work->group;
    float *whole = (float *)all->whole.data;
    size_t bytes = (size_t)work->each * work->rows * DIM * sizeof(float);
    return kernel_merge((const float *)all->bench.arena.turn(bytes),
                        (const float *)all->scores.data, work->each, work->rows, DIM, whole,
                        whole + (size_t)work->rows * DIM, NULL, all->bench.stream.at, why);
}

/* ---- what is measured ---- */

static const uint32_t topk_shapes[][2] = {{8, 64},     {8, 512},    {8, 2048},    {8, 4096},
                                          {8, 8192},   {8, 16384},  {8, 32768},   {8, 65536},
                                          {8, 131072}, {8, 524288}, {32, 524288}, {128, 524288}};

static bool add_topk(struct selection_bench *all, std::vector<bench_work> *works,
                     struct findings *findings, struct error *why)
{
    for (const uint32_t(&shape)[2] : topk_shapes) {
        double scores = (double)shape[0] * shape[1];
        if (scores <= (double)all->scores_most) {
            works->push_back({"gpu.topk", scores, put_topk, all, shape[0], shape[1], 0, 1});
        }
    }
    return findings_note(findings, "gpu.topk",
                         "radix selection of a tenth of each row, 8 rows of 64 to 512 K scores, "
                         "then 32 and 128 of 512 K",
                         why);
}

static const uint32_t index_lengths[] = {2048, 4096, 8192, 16384, 32768, 65536, 131072};

static bool add_index(struct selection_bench *all, std::vector<bench_work> *works,
                      struct findings *findings, struct error *why)
{
    static const struct {
        const char *figure;
        uint32_t rows;
        double shared; /* among how many the time is shared out */
    } kinds[] = {{"gpu.topk_fused", INDEX_ROWS_FEW, 1},
                 {"gpu.topk_fused_row", INDEX_ROWS_MANY, INDEX_ROWS_MANY}};
    bool ok = true;
    for (const auto &kind : kinds) {
        char note[256];
        snprintf(note, sizeof note,
                 "radix selection of this program's own, %u of each of %u rows%s; one kernel up to "
                 "8192 scores, four beyond",
                 INDEXED, kind.rows, kind.shared > 1 ? ", time over their number" : "");
        ok = ok && findings_note(findings, kind.figure, note, why);
        for (uint32_t length : index_lengths) {
            if ((size_t)kind.rows * length <= all->scores_most) {
                works->push_back({kind.figure, (double)length, selection_speed_put_index, all,
                                  kind.rows, length, 0, kind.shared});
            }
        }
    }
    return ok;
}

struct score_row {
    const char *figure, *entry;
    bool (*put)(const struct bench_work *work, struct error *why);
    uint32_t bytes;
};

static const score_row score_rows[] = {
    {"scores.pages", "least and most of a page's keys", selection_speed_put_pages,
     2 * DIM * sizeof(uint16_t)},
    {"scores.centroids", "a centroid", put_centroids, DIM * sizeof(uint16_t)},
    {"scores.codes", "a product code of 16 bytes", put_codes, CODE_PARTS},
    {"scores.hashes", "a hash of 256 bits", put_hashes, HASH_WORDS * sizeof(uint32_t)},
};
static const uint32_t entry_counts[] = {1024, 8192, 65536, ENTRIES_MOST};

static bool add_scores(struct selection_bench *all, std::vector<bench_work> *works,
                       struct findings *findings, struct error *why)
{
    const struct kernel_bench &bench = all->bench;
    bool ok = true;
    for (const score_row &row : score_rows) {
        char note[256];
        snprintf(note, sizeof note,
                 "share of the HBM peak at which scoring reads %s an entry, 8 KV heads of 128, the "
                 "largest score of 4 query heads; axis: entries of a KV head",
                 row.entry);
        ok = ok && bench_observe(findings, row.figure, "entries", UNIT_SHARE,
                                 bench.peak > 0 ? note : "the driver states no HBM peak", why);
        for (uint32_t entries : entry_counts) {
            double bytes = (double)HEADS * entries * row.bytes;
            if (bench.peak > 0 && bytes <= (double)bench.arena.memory.bytes) {
                works->push_back(
                    {row.figure, (double)entries, row.put, all, HEADS, entries, bytes, bench.peak});
            }
        }
    }
    return ok;
}

static bool add_small(struct selection_bench *all, std::vector<bench_work> *works,
                      struct findings *findings, struct error *why)
{
    for (uint32_t pairs : {8U, 64U, 512U}) {
        works->push_back({"labels", (double)pairs, put_labels, all, pairs, 0, 0, 1});
    }
    for (uint32_t parts : {2U, 8U, 32U, 128U}) {
        works->push_back({"attention.merge", (double)parts, selection_speed_put_merge, all,
                          HEADS * GROUP, parts, 0, 1});
    }
    return bench_observe(findings, "labels", "pairs", UNIT_NS,
                         "QSAC's comparison of 4 queries of 128 with their labels, and the update; "
                         "axis: pairs of sequence and KV head",
                         why) &&
           bench_observe(findings, "attention.merge", "parts", UNIT_NS,
                         "merging attention of 32 query heads of 128 over so many parts", why);
}

bool selection_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why)
{
    struct selection_bench all;
    std::vector<bench_work> works;
    uint32_t before = findings->count;
    bool ok = all.create(seed, why) && add_topk(&all, &works, findings, why) &&
              add_index(&all, &works, findings, why) && add_scores(&all, &works, findings, why) &&
              add_small(&all, &works, findings, why) &&
              bench_measure(&all.bench, works, effort, seed, findings, why);
    if (ok) {
        room_note(&all.scores_room, findings, before);
        room_note(&all.bench.room, findings, before);
    }
    return ok;
}
