/* The group link-rows: scattered rows of pinned memory copied to the GPU, a copy for each row; by
 * one call a row, and by one call for all rows if toolkit (12.8) and driver have
 * cudaMemcpyBatchAsync. Observations: payload in bytes/s, from the first call to the last byte. */
#include "calibrate/link/buffers.h"
#include "calibrate/link/groups.h"

#include <string.h>

#define WANTED (256 * MiB)
#define ROWS 512
#define LEAST_ROW 256
#define MOST_ROW 65536
#define SIZES 9
#define SCATTER 40503 /* odd, so that its multiples modulo a power of two visit every index */

struct link_rows {
    struct link_buffers buffers;
    gpu_stream stream;
    uint64_t turns = 0;
};

struct link_row {
    struct link_rows *all;
    size_t bytes;
};

/* The offset of the next row: a new one each time, far from the last. */
static size_t link_rows_place_of(struct link_row *row)
{
    size_t places = row->all->buffers.bytes / row->bytes;
    return (size_t)(row->all->turns++ * SCATTER) % places * row->bytes;
}

static bool link_rows_finish(const struct link_row *row, double begin, double *rate,
                             struct error *why)
{
    bool ok = row->all->stream.wait(why);
    *rate = (double)ROWS * (double)row->bytes * 1e9 / (clock_ns() - begin);
    return ok;
}

static bool sample_calls(void *state, double *rate, struct error *why)
{
    struct link_row *row = (struct link_row *)state;
    struct link_buffers *buffers = &row->all->buffers;
    char *to = buffers->gpu.data + buffers->turn(ROWS * row->bytes);
    bool ok = true;
    double begin = clock_ns();
    for (size_t i = 0; ok && i < ROWS; i++) {
        ok = GPU_TRY(cudaMemcpyAsync(to + i * row->bytes,
                                     buffers->host.data + link_rows_place_of(row), row->bytes,
                                     cudaMemcpyHostToDevice, row->all->stream.at),
                     why);
    }
    return ok && link_rows_finish(row, begin, rate, why);
}

#if CUDART_VERSION >= 12080

/* The signature of toolkit 13, or that of 12.8, which also returns the copy that failed. */
static cudaError_t copy_batch(void **to, const void **from, size_t *sizes, size_t count,
                              cudaStream_t stream)
{
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t first = 0;
#if CUDART_VERSION >= 13000
    return cudaMemcpyBatchAsync(to, from, sizes, count, &attributes, &first, 1, stream);
#else
    size_t failed;
    return cudaMemcpyBatchAsync(to, (void **)from, sizes, count, &attributes, &first, 1, &failed,
                                stream);
#endif
}

static bool sample_batch(void *state, double *rate, struct error *why)
{
    struct link_row *row = (struct link_row *)state;
    struct link_buffers *buffers = &row->all->buffers;
    char *place = buffers->gpu.data + buffers->turn(ROWS * row->bytes);
    void *to[ROWS];
    const void *from[ROWS];
    size_t sizes[ROWS];
    double begin = clock_ns();
    for (size_t i = 0; i < ROWS; i++) {
        to[i] = place + i * row->bytes;
        from[i] = buffers->host.data + link_rows_place_of(row);
        sizes[i] = row->bytes;
    }
    return GPU_TRY(copy_batch(to, from, sizes, ROWS, row->all->stream.at), why) &&
           link_rows_finish(row, begin, rate, why);
}

/* False, with the reason, if the driver does not have it. */
static bool link_rows_has_batch(struct link_row *row, struct error *why)
{
    int driver;
    double rate;
    return GPU_TRY(cudaDriverGetVersion(&driver), why) &&
           (driver >= 12080 || error_set(why, NULL, 0, "the driver supports CUDA %d.%d, not 12.8",
                                         driver / 1000, driver % 1000 / 10)) &&
           sample_batch(row, &rate, why);
}

#else

static bool sample_batch(void *, double *, struct error *why)
{
    return error_set(why, NULL, 0, "built with a toolkit older than 12.8");
}

static bool link_rows_has_batch(struct link_row *row, struct error *why)
{
    return sample_batch(row, NULL, why);
}

#endif

/* Copy from the first offset on, and compare with the source. */
static bool check(struct link_row *row, bool (*sample)(void *, double *, struct error *),
                  struct error *why)
{
    static char found[ROWS * LEAST_ROW];
    double rate;
    row->all->turns = row->all->buffers.next = 0;
    if (!sample(row, &rate, why) || !GPU_TRY(cudaMemcpy(found, row->all->buffers.gpu.data,
                                                        sizeof found, cudaMemcpyDeviceToHost),
                                             why)) {
        return false;
    }
    row->all->turns = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const char *expected = row->all->buffers.host.data + link_rows_place_of(row);
        if (memcmp(found + i * row->bytes, expected, row->bytes) != 0) {
            return error_set(why, NULL, 0, "row %zu of %zu bytes is another", i, row->bytes);
        }
    }
    return true;
}

bool copied_rows_are_right(struct error *why)
{
    struct link_rows all;
    struct link_row row = {&all, LEAST_ROW};
    struct error without;
    return all.buffers.take(16 * MiB, 1, why) && all.stream.create(why) &&
           check(&row, sample_calls, why) &&
           (!link_rows_has_batch(&row, &without) || check(&row, sample_batch, why));
}

bool link_rows(const struct effort *effort, uint64_t seed, struct findings *findings,
               struct error *why)
{
    struct link_rows all;
    struct error without;
    struct link_row rows[SIZES];
    struct probe probes[2 * SIZES];
    uint32_t sizes = 0, count = 0, before = findings->count;
    if (!all.buffers.take(WANTED, seed, why) || !all.stream.create(why) ||
        !findings_add(findings, "link.row_calls", "bytes", UNIT_BYTES_PER_S, why) ||
        !findings_add(findings, "link.row_batch", "bytes", UNIT_BYTES_PER_S, why)) {
        return false;
    }
    for (size_t bytes = LEAST_ROW; bytes <= MOST_ROW && ROWS * bytes <= all.buffers.bytes;
         bytes *= 2) {
        rows[sizes++] = {&all, bytes};
    }
    bool batch = link_rows_has_batch(&rows[0], &without);
    for (uint32_t i = 0; i < sizes; i++) {
        double bytes = (double)rows[i].bytes;
        probes[count++] = {"link.row_calls", bytes, &rows[i], sample_calls};
        if (batch) {
            probes[count++] = {"link.row_batch", bytes, &rows[i], sample_batch};
        }
    }
    bool ok =
        measure_probes(probes, count, effort, seed, findings, why) &&
        findings_note(findings, "link.row_calls",
                      "512 scattered rows of this size from pinned memory, a call each; CPU "
                      "clock, first call to last byte",
                      why) &&
        findings_note(findings, "link.row_batch",
                      batch ? "512 scattered rows of this size from pinned memory in one call; "
                              "CPU clock, call to last byte"
                            : without.found,
                      why);
    if (ok) {
        room_note(&all.buffers.room, findings, before);
    }
    return ok;
}
