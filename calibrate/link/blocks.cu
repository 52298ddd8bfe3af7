/* The group link-blocks: KV in pieces, as engines keep it, between pinned memory and the GPU, each way.
 *
 *   link.calls_in, link.batch_in, link.kernel_in, and the same with _out
 *                    payload by bytes of a piece
 *   host.batch_call  CPU time of a call by number of pieces
 *
 * Pieces of vLLM's blocks of 16 tokens have 32 KiB where a layer's K and V are apart (8 heads of 128
 * values in bf16), 64 KiB where they are together, 8 and 16 KiB on GPUs that share the heads, 18 KiB of
 * latents (MLA), 2 MiB where a block has all 32 layers. LMCache's chunk of 256 tokens, 32 MiB, is
 * 1024 of the first. A token's K in a layer has 2 KiB, in a page-first layout of HiCache 64 KiB.
 *
 * Observed: the CPU time of a call for each piece, also where a full queue holds it up; and the rate of
 * a batch by number of pieces.
 */
#include "calibrate/link/groups.h"
#include "calibrate/link/pieces.h"

#include <stdio.h>

#define WANTED (256 * MiB)
#define MOST_BYTES (64 * MiB) /* of a copy by size */
#define MOST_PIECES 2048
#define COUNTED_BYTES 8192 /* of a piece, by number */

static const size_t sizes[] = {256,   1024,  4096,  8192,   16384,  18432,
                               24576, 32768, 65536, 262144, 2097152};
static const uint32_t counts[] = {64, 512, 4096, 16384};

#define SIZES (sizeof sizes / sizeof *sizes)
#define COUNTS (sizeof counts / sizeof *counts)

struct blocks {
    struct link_buffers buffers;
    struct pieces pieces[SIZES], counted;
    gpu_stream stream;

    bool create(uint64_t seed, struct error *why);
};

bool blocks::create(uint64_t seed, struct error *why)
{
    bool ok = buffers.take(WANTED, seed, why) && stream.create(why) &&
              counted.create(&buffers, COUNTED_BYTES, why);
    for (size_t i = 0; ok && i < SIZES; i++) {
        ok = pieces[i].create(&buffers, sizes[i], why);
    }
    return ok;
}

enum blocks_value { BLOCKS_RATE, BLOCKS_CALL, BLOCKS_CALL_A_PIECE };

struct blocks_figure {
    const char *name;
    enum pieces_way way;
    cudaMemcpyKind kind;
    enum blocks_value value;
    const char *note;
};

#define CALLS "a cudaMemcpyAsync a piece"
#define ONE_CALL "one cudaMemcpyBatchAsync"
#define KERNEL "a gather by 32 CTAs of 256 threads, each with 8 loads of 16 bytes in flight"

static const cudaMemcpyKind in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost;

static const struct blocks_figure by_size[] = {
    {"link.calls_in", PIECES_BY_CALLS, in, BLOCKS_RATE, CALLS},
    {"link.calls_out", PIECES_BY_CALLS, out, BLOCKS_RATE, CALLS},
    {"link.batch_in", PIECES_BY_BATCH, in, BLOCKS_RATE, ONE_CALL},
    {"link.batch_out", PIECES_BY_BATCH, out, BLOCKS_RATE, ONE_CALL},
    {"link.kernel_in", PIECES_BY_KERNEL, in, BLOCKS_RATE, KERNEL},
    {"link.kernel_out", PIECES_BY_KERNEL, out, BLOCKS_RATE, KERNEL},
    {"blocks.call_in", PIECES_BY_CALLS, in, BLOCKS_CALL_A_PIECE, CALLS},
    {"blocks.call_out", PIECES_BY_CALLS, out, BLOCKS_CALL_A_PIECE, CALLS},
};
static const struct blocks_figure by_count[] = {
    {"host.batch_call", PIECES_BY_BATCH, in, BLOCKS_CALL, ONE_CALL},
    {"blocks.batch_in", PIECES_BY_BATCH, in, BLOCKS_RATE, ONE_CALL},
    {"blocks.batch_out", PIECES_BY_BATCH, out, BLOCKS_RATE, ONE_CALL},
};

#define BY_SIZE (sizeof by_size / sizeof *by_size)
#define BY_COUNT (sizeof by_count / sizeof *by_count)
#define PROBES (BY_SIZE * SIZES + BY_COUNT * COUNTS)

struct blocks_copy {
    struct blocks *all;
    struct pieces *pieces;
    const struct blocks_figure *figure;
    uint32_t count;
};

/* By the CPU's clock, because engines start such copies while the GPU is already done with the last. */
static bool blocks_sample(void *state, double *value, struct error *why)
{
    const struct blocks_copy *copy = (const struct blocks_copy *)state;
    const struct blocks_figure *figure = copy->figure;
    cudaStream_t stream = copy->all->stream.at;
    copy->pieces->choose(copy->count, figure->kind);
    double begin = clock_ns();
    if (!copy->pieces->put(figure->way, figure->kind, PIECES_CTAS, stream, why)) {
        return false;
    }
    double called = clock_ns() - begin;
    if (!copy->all->stream.wait(why)) {
        return false;
    }
    double moved = (double)copy->count * (double)copy->pieces->bytes;
    *value = figure->value == BLOCKS_RATE   ? moved * 1e9 / (clock_ns() - begin)
             : figure->value == BLOCKS_CALL ? called
                                            : called / copy->count;
    return true;
}

static bool blocks_observe(const struct blocks_figure &figure, const char *axis,
                           const char *without, struct findings *findings, struct error *why)
{
    bool absent = figure.way == PIECES_BY_BATCH && without != NULL;
    char note[256];
    snprintf(note, sizeof note, "%s; scattered in pinned memory and on the GPU; CPU clock, %s",
             figure.note,
             figure.value == BLOCKS_RATE   ? "first call to last byte"
             : figure.value == BLOCKS_CALL ? "pieces of 8 KiB, until the call returns"
                                           : "until the last call returns, by pieces");
    return findings_add(findings, figure.name, axis,
                        figure.value == BLOCKS_RATE ? UNIT_BYTES_PER_S : UNIT_NS, why) != NULL &&
           findings_note(findings, figure.name, absent ? without : note, why);
}

static uint32_t pieces_of(const struct pieces *pieces)
{
    size_t count = MOST_BYTES / pieces->bytes;
    count = count < MOST_PIECES ? count : MOST_PIECES;
    return (uint32_t)(count < pieces->most ? count : pieces->most);
}

bool link_blocks(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why)
{
    struct blocks all;
    struct error no_batch;
    struct blocks_copy copies[PROBES];
    struct probe probes[PROBES];
    uint32_t count = 0, before = findings->count;
    bool ok = all.create(seed, why);
    const char *without =
        !ok || all.counted.can_batch(&all.stream, &no_batch) ? NULL : no_batch.found;
    auto add = [&](const struct blocks_figure &figure, struct pieces *pieces, uint32_t some,
                   double size) {
        if ((figure.way != PIECES_BY_BATCH || without == NULL) && some <= pieces->most) {
            copies[count] = {&all, pieces, &figure, some};
            probes[count] = {figure.name, size, &copies[count], blocks_sample};
            count++;
        }
    };
    for (const auto &figure : by_size) {
        ok = ok && blocks_observe(figure, "bytes", without, findings, why);
        for (size_t i = 0; ok && i < SIZES; i++) {
            add(figure, &all.pieces[i], pieces_of(&all.pieces[i]), (double)sizes[i]);
        }
    }
    for (const auto &figure : by_count) {
        ok = ok && blocks_observe(figure, "pieces", without, findings, why);
        for (size_t i = 0; ok && i < COUNTS; i++) {
            add(figure, &all.counted, counts[i], counts[i]);
        }
    }
    ok = ok && measure_probes(probes, count, effort, seed, findings, why);
    if (ok) {
        room_note(&all.buffers.room, findings, before);
    }
    return ok;
}
