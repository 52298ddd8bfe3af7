#include "calibrate/device/device.h"

#include "calibrate/device/gather.h"
#include "calibrate/device/read.h"
#include "calibrate/device/row_ids.h"
#include "calibrate/link/checks.h"
#include "calibrate/link/groups.h"

#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#define GATHERED (4 * MiB)
#define LEAST_ROW 16
#define MOST_ROW 16384
#define FEW 61 /* rows; a prime, so that CTAs get unequal shares */

static bool checks_allocate(size_t bytes, char **memory, struct error *why)
{
    *memory = (char *)malloc(bytes);
    return *memory != nullptr || error_set(why, NULL, 0, "no memory for %zu bytes", bytes);
}

/* ---- gathers ---- */

struct checks_gathering {
    pinned_memory pinned;
    gpu_memory hbm, to;
    gpu_stream stream;
    char *expected = nullptr, *found = nullptr;

    ~checks_gathering()
    {
        free(expected);
        free(found);
    }
};

static bool checks_start(struct checks_gathering *all, struct error *why)
{
    return checks_allocate(GATHERED, &all->expected, why) &&
           checks_allocate(GATHERED, &all->found, why) && all->pinned.take(2 * GATHERED, 1, why) &&
           all->hbm.take(GATHERED, why) && all->to.take(GATHERED, why) && all->stream.create(why) &&
           GPU_TRY(cudaMemcpy(all->hbm.data, all->pinned.data, GATHERED, cudaMemcpyHostToDevice),
                   why);
}

/* Pinned memory and HBM hold the same rows. A gather writes to HBM, or to the second half of the
 * pinned memory. */
static bool check_one(struct checks_gathering *all, const struct gpu_gather *shape, bool from_host,
                      bool to_host, struct error *why)
{
    struct gpu_gather gather = *shape;
    size_t bytes = (size_t)gather.rows * gather.row_bytes;
    uint32_t *ids = row_ids_shuffled(GATHERED / gather.row_bytes, gather.row_bytes, why);
    gpu_memory list;
    if (ids == nullptr) {
        return false;
    }
    for (uint32_t row = 0; row < gather.rows; row++) {
        memcpy(all->expected + (size_t)row * gather.row_bytes,
               all->pinned.data + (size_t)ids[row] * gather.row_bytes, gather.row_bytes);
    }
    bool ok = list.take(gather.rows * sizeof *ids, why) &&
              GPU_TRY(cudaMemcpy(list.data, ids, list.bytes, cudaMemcpyHostToDevice), why);
    free(ids);
    gather.ids = (const uint32_t *)list.data;
    gather.from = from_host ? all->pinned.seen : all->hbm.data;
    gather.to = to_host ? all->pinned.seen + GATHERED : all->to.data;
    memset(all->pinned.data + GATHERED, 0, bytes);
    ok = ok && GPU_TRY(cudaMemset(all->to.data, 0, bytes), why) &&
         GPU_TRY(cudaDeviceSynchronize(), why) && gpu_gather_launch(&gather, all->stream.at, why) &&
         all->stream.wait(why) &&
         GPU_TRY(cudaMemcpy(all->found, gather.to, bytes, cudaMemcpyDefault), why);
    return ok && (memcmp(all->expected, all->found, bytes) == 0 ||
                  error_set(why, NULL, 0,
                            "%u rows of %u bytes by %u CTAs, %u loads of %u bytes, from %s to %s: "
                            "bytes differ",
                            gather.rows, gather.row_bytes, gather.ctas, gather.loads, gather.width,
                            from_host ? "host" : "HBM", to_host ? "host" : "HBM"));
}

static bool checks_try_shape(struct checks_gathering *all, uint32_t row_bytes, uint32_t rows,
                             uint32_t ctas, struct error *why)
{
    for (uint32_t width : {8u, 16u}) {
        for (uint32_t loads : {1u, 2u, 4u, 8u}) {
            struct gpu_gather shape = {};
            shape.rows = rows;
            shape.row_bytes = row_bytes;
            shape.ctas = ctas;
            shape.width = width;
            shape.loads = loads;
            if (!check_one(all, &shape, false, false, why) ||
                !check_one(all, &shape, true, false, why) ||
                !check_one(all, &shape, false, true, why)) {
                return false;
            }
        }
    }
    return true;
}

static bool gathers_are_right(struct error *why)
{
    struct checks_gathering all;
    bool ok = checks_start(&all, why);
    for (uint32_t row = LEAST_ROW; ok && row <= MOST_ROW; row *= 4) {
        uint32_t most = (uint32_t)(GATHERED / row);
        ok = checks_try_shape(&all, row, 1, 3, why) && checks_try_shape(&all, row, FEW, 7, why) &&
             checks_try_shape(&all, row, most, 32, why);
    }
    return ok;
}

/* ---- reads ---- */

static uint32_t sum_of(const char *data, size_t bytes)
{
    uint32_t sum = 0, word;
    for (size_t at = 0; at < bytes; at += sizeof word) {
        memcpy(&word, data + at, sizeof word);
        sum ^= word;
    }
    return sum;
}

static bool check_read(const pinned_memory *host, const gpu_memory *gpu, gpu_memory *sums,
                       size_t bytes, uint32_t ctas_per_sm, struct error *why)
{
    gpu_stream stream;
    uint32_t used, sum;
    bool ok = stream.create(why) &&
              gpu_read_launch(gpu->data, bytes, ctas_per_sm, (uint32_t *)sums->data, &used,
                              stream.at, why) &&
              stream.wait(why);
    char *each = nullptr;
    ok = ok && checks_allocate(used * sizeof sum, &each, why) &&
         GPU_TRY(cudaMemcpy(each, sums->data, used * sizeof sum, cudaMemcpyDeviceToHost), why);
    sum = ok ? sum_of(each, used * sizeof sum) : 0;
    free(each);
    return ok && (sum == sum_of(host->data, bytes) ||
                  error_set(why, NULL, 0, "a read of %zu bytes by %u CTAs an SM sums up to %08x",
                            bytes, ctas_per_sm, sum));
}

static bool reads_are_whole(struct error *why)
{
    static const size_t sizes[] = {16, 4096, 4096 + 48, MiB - 16, 16 * MiB, 64 * MiB};
    pinned_memory host;
    gpu_memory gpu, sums;
    uint32_t words;
    bool ok = host.take(64 * MiB, 3, why) && gpu.take(64 * MiB, why) &&
              GPU_TRY(cudaMemcpy(gpu.data, host.data, host.bytes, cudaMemcpyHostToDevice), why) &&
              gpu_read_sums(&words, why) && sums.take(words * sizeof words, why);
    for (size_t size : sizes) {
        ok = ok && check_read(&host, &gpu, &sums, size, GPU_READ_FULL, why) &&
             check_read(&host, &gpu, &sums, size, GPU_READ_HALF, why);
    }
    return ok;
}

/* ---- memory ---- */

static bool fills_have_no_zeros(struct error *why)
{
    gpu_memory gpu;
    char *found = nullptr;
    bool ok = checks_allocate(MiB, &found, why) && gpu.take(MiB, why) &&
              gpu_fill(gpu.data, MiB, 5, why) &&
              GPU_TRY(cudaMemcpy(found, gpu.data, MiB, cudaMemcpyDeviceToHost), why);
    size_t zeros = 0, ones = 0;
    for (size_t at = 0; ok && at < MiB; at += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, found + at, sizeof word);
        zeros += word == 0;
        ones += (size_t)__builtin_popcount(word);
    }
    free(found);
    double share = (double)ones / (8.0 * MiB);
    return ok &&
           ((zeros == 0 && share > 0.49 && share < 0.51) ||
            error_set(why, NULL, 0, "%zu words are zero, %.3f of the bits are ones", zeros, share));
}

/* ---- order ---- */

/* Work queued behind a gate does not run before the gate opens, and runs afterwards. */
static bool gates_hold(struct error *why)
{
    gpu_gate gate;
    gpu_stream stream;
    gpu_memory ones;
    pinned_memory flag;
    if (!gate.create(why) || !stream.create(why) || !flag.take(sizeof(uint32_t), 0, why) ||
        !ones.take(sizeof(uint32_t), why) ||
        !GPU_TRY(cudaMemset(ones.data, 1, sizeof(uint32_t)), why) ||
        !GPU_TRY(cudaDeviceSynchronize(), why)) {
        return false;
    }
    volatile uint32_t *word = (volatile uint32_t *)flag.data;
    *word = 0;
    if (!gate.close(stream.at, why) || !GPU_TRY(cudaMemcpyAsync(flag.data, ones.data, sizeof *word,
                                                                cudaMemcpyDeviceToHost, stream.at),
                                                why)) {
        return false;
    }
    double since = clock_ns();
    while (clock_ns() - since < 20e6) {
    }
    bool early = *word != 0;
    if (!gate.open(why) || !stream.wait(why)) {
        return false;
    }
    return (!early && *word == 0x01010101) ||
           error_set(why, NULL, 0, "a gate %s", early ? "did not hold" : "did not let through");
}

/* A gate that is not opened gives up, and open() then fails. */
static bool gates_end(struct error *why)
{
    gpu_gate gate;
    gpu_stream stream;
    struct error late;
    if (!gate.create(why) || !stream.create(why) || !gate.close(stream.at, why) ||
        !stream.wait(why)) {
        return false;
    }
    return !gate.open(&late) || error_set(why, NULL, 0, "a gate that gave up opened all the same");
}

static bool pauses_last(struct error *why)
{
    gpu_stream stream;
    gpu_timer timer;
    double ns;
    if (!stream.create(why) || !timer.create(why) || !timer.start(stream.at, why) ||
        !gpu_pause(5000000, stream.at, why) || !timer.stop(stream.at, why) ||
        !timer.read(&ns, why)) {
        return false;
    }
    return (ns > 4.9e6 && ns < 20e6) ||
           error_set(why, NULL, 0, "a pause of 5 ms took %.3f ms between events", ns / 1e6);
}

const struct link_check link_checks[] = {
    {"a gather's rows are those asked for", gathers_are_right},
    {"a read reads every word once", reads_are_whole},
    {"what is filled is random and has no zeros", fills_have_no_zeros},
    {"a gate holds until it is opened", gates_hold},
    {"a gate that nobody opens gives up", gates_end},
    {"a pause lasts as long as asked", pauses_last},
    {"flags arrive both ways", flags_arrive},
    {"pieces of KV arrive both ways, by calls, a batch and a kernel", pieces_arrive},
    {"rows that the CPU stores arrive in GPU memory, where it can store", stored_rows_arrive},
    {nullptr, nullptr},
};
