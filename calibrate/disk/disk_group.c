/* The group disk: blocks of a scratch file, at random places, as a cache reads and writes them.
 *
 * Each figure is a row: past the page cache or through it, how many requests are in flight, and how
 * many of them write. Sizes go from a page to a few MiB. A sample is at most MOST_REQUESTS blocks
 * and MOST_BYTES, so that all samples together stay below disk_most_read and disk_most_written,
 * whatever their number of seconds.
 */
#include "core/array.h"
#include "core/random.h"
#include "calibrate/disk/groups.h"
#include "calibrate/disk/reads.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BLOCK = 4 << 10, LAST_BLOCK = 4 << 20, SIZES = 6, MOST_SAMPLES = 24 };
enum { MOST_REQUESTS = 512, MOST_BYTES = 16 << 20, MOST_IN_FLIGHT = 8 << 20 };

struct disk_where disk_where = {".", (size_t)512 << 20};

enum disk_path { DIRECT, WARM, COLD }; /* past the page cache; from it; into it from the drive */

/* A figure. `every`: each so many-th request writes; 0: none. */
struct disk_way {
    const char *figure;
    enum disk_path path;
    uint32_t depth, every;
    const char *how;
};
static const struct disk_way ways[] = {
    {"disk.read", DIRECT, DRIVE_DEPTH, 0, "read past the page cache"},
    {"disk.read_one", DIRECT, 1, 0, "read past the page cache"},
    {"disk.read.depth4", DIRECT, 4, 0, "read past the page cache"},
    {"disk.write", DIRECT, DRIVE_DEPTH, 1, "written past the page cache, not flushed"},
    {"disk.write.depth1", DIRECT, 1, 1, "written past the page cache, not flushed"},
    {"disk.mixed", DIRECT, DRIVE_DEPTH, 4,
     "every fourth written, the others read, past the page "
     "cache; all count"},
    {"disk.cached", WARM, 8, 0, "read from the page cache"},
    {"disk.cached_cold", COLD, 8, 0, "read through the page cache, which held none of them"},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* A warm-up and the samples; half of the rows write at most. */
const uint64_t disk_most_written = (uint64_t)3 * SIZES * (MOST_SAMPLES + 3) * MOST_BYTES;
const uint64_t disk_most_read = (uint64_t)WAYS * SIZES * (MOST_SAMPLES + 3) * 2 * MOST_BYTES;

/* One point of a figure. */
struct disk_point {
    struct disk_bench *bench;
    const struct disk_way *way;
    size_t block;
};

struct disk_bench {
    const struct scratch *scratch;
    struct disk_ring *ring;
    gsl_rng *random;
    char *memory; /* MOST_IN_FLIGHT, or a block's */
    struct disk_request requests[MOST_REQUESTS];
    struct disk_point points[WAYS * SIZES];
    uint32_t count;
};

/* ---- a sample ---- */

static size_t disk_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Requests in flight: large blocks fill the drive with fewer of them. */
static uint32_t disk_depth(const struct disk_point *point)
{
    return (uint32_t)disk_least(point->way->depth, MOST_IN_FLIGHT / point->block);
}

/* At least four for each in flight, so that most run beside others. */
static uint32_t disk_count(const struct disk_point *point)
{
    size_t most = disk_least(MOST_BYTES / point->block, MOST_REQUESTS);
    size_t few = (size_t)16 * point->way->depth;
    return (uint32_t)disk_least(most, few);
}

/* Random blocks of the file: of its first part where the page cache is to hold them all. */
static uint32_t disk_choose(struct disk_bench *bench, const struct disk_point *point)
{
    size_t bytes = bench->scratch->bytes;
    size_t blocks =
        (point->way->path == WARM ? disk_least(bytes, MOST_BYTES) : bytes) / point->block;
    uint32_t count = disk_count(point), every = point->way->every;
    for (uint32_t i = 0; i < count; i++) {
        size_t slot = i % (MOST_IN_FLIGHT / point->block);
        bench->requests[i] = (struct disk_request){
            .offset = gsl_rng_uniform_int(bench->random, blocks) * (uint64_t)point->block,
            .memory = bench->memory + slot * point->block,
            .write = every > 0 && i % every == every - 1,
        };
    }
    return count;
}

static bool disk_go(struct disk_bench *bench, const struct disk_point *point, uint32_t count,
                    double *ns, struct error *why)
{
    const struct scratch *scratch = bench->scratch;
    int file = point->way->path == DIRECT ? scratch->direct : scratch->cached;
    return disk_ring_run(bench->ring, file, point->block, bench->requests, count, disk_depth(point),
                         ns, why);
}

/* What must be in the page cache is read before; what must not be is dropped. */
static bool disk_prepare(struct disk_bench *bench, const struct disk_point *point, uint32_t count,
                         struct error *why)
{
    double ignored;
    if (point->way->path == COLD) {
        scratch_forget(bench->scratch);
    }
    return point->way->path != WARM || disk_go(bench, point, count, &ignored, why);
}

static bool sample_disk(void *state, double *value, struct error *why)
{
    const struct disk_point *point = state;
    uint32_t count = disk_choose(point->bench, point);
    double ns;
    if (!disk_prepare(point->bench, point, count, why) ||
        !disk_go(point->bench, point, count, &ns, why)) {
        return false;
    }
    *value = (double)count * (double)point->block * 1e9 / ns;
    return true;
}

/* ---- a bench ---- */

static void disk_bench_destroy(struct disk_bench *bench)
{
    if (bench != NULL) {
        disk_ring_destroy(bench->ring);
        gsl_rng_free(bench->random);
        free(bench->memory);
        free(bench);
    }
}

static struct disk_bench *disk_bench_create(const struct scratch *scratch, uint64_t seed,
                                            struct error *why)
{
    struct disk_bench *bench = array_zeroed(1, sizeof *bench, why);
    bool good = bench != NULL && (bench->ring = disk_ring_create(why)) != NULL &&
                (bench->memory = scratch_memory(MOST_IN_FLIGHT, why)) != NULL &&
                (bench->random = random_stream(seed, "disk.blocks", 0, why)) != NULL;
    if (!good) {
        disk_bench_destroy(bench);
        return NULL;
    }
    memset(bench->memory, 1, MOST_IN_FLIGHT);
    bench->scratch = scratch;
    return bench;
}

static bool disk_note(const struct disk_bench *bench, const struct disk_way *way,
                      struct findings *findings, struct error *why)
{
    char note[512];
    snprintf(note, sizeof note,
             "%s: blocks at random places of a scratch file of %zu MiB, %s, by io_uring, %u at a "
             "time, fewer of more than %d KiB",
             bench->scratch->drive, bench->scratch->bytes >> 20, way->how, way->depth,
             (MOST_IN_FLIGHT / DRIVE_DEPTH) >> 10);
    return findings_note(findings, way->figure, note, why);
}

static struct probe disk_probe(struct disk_bench *bench, const struct disk_way *way, size_t block)
{
    struct disk_point *point = &bench->points[bench->count++];
    *point = (struct disk_point){bench, way, block};
    return (struct probe){way->figure, (double)block, point, sample_disk};
}

/* ---- the group ---- */

static uint32_t disk_probes(struct disk_bench *bench, struct probe probes[WAYS * SIZES],
                            struct findings *findings, struct error *why)
{
    uint32_t count = 0;
    bool good = true;
    for (int i = 0; good && i < WAYS; i++) {
        good = findings_add(findings, ways[i].figure, "bytes", UNIT_BYTES_PER_S, why) != NULL &&
               disk_note(bench, &ways[i], findings, why);
        for (size_t block = FIRST_BLOCK; good && block <= LAST_BLOCK; block *= 4) {
            probes[count++] = disk_probe(bench, &ways[i], block);
        }
    }
    return good ? count : 0;
}

/* The time of a page alone, less what its bytes take at the drive's best rate. */
static bool disk_put_latency(const struct scratch *scratch, struct findings *findings,
                             struct error *why)
{
    const struct finding *one = findings_get(findings, "disk.read_one");
    const struct finding *many = findings_get(findings, "disk.read");
    struct found_point latency = one->points[0];
    double best = 0, page = latency.size * 1e9;
    for (uint32_t i = 0; i < many->count; i++) {
        best = many->points[i].median > best ? many->points[i].median : best;
    }
    latency.median = fmax(1, page / one->points[0].median - page / best);
    latency.p10 = fmax(1, page / one->points[0].p90 - page / best);
    latency.p90 = fmax(1, page / one->points[0].p10 - page / best);
    latency.size = 0;
    struct finding *finding = findings_add(findings, "disk.latency", "", UNIT_NS, why);
    char note[256];
    snprintf(note, sizeof note, "%s: a page read alone, less its bytes at the highest rate",
             scratch->drive);
    return finding != NULL && finding_put(finding, &latency, why) &&
           findings_note(findings, "disk.latency", note, why);
}

static bool disk_measure(const struct scratch *scratch, const struct effort *effort, uint64_t seed,
                         struct findings *findings, struct error *why)
{
    struct probe probes[WAYS * SIZES];
    struct effort bounded = *effort;
    struct disk_bench *bench = disk_bench_create(scratch, seed, why);
    uint32_t count = bench != NULL ? disk_probes(bench, probes, findings, why) : 0;
    bounded.most = effort->most < MOST_SAMPLES ? effort->most : MOST_SAMPLES;
    bool good = count > 0 && measure_probes(probes, count, &bounded, seed, findings, why) &&
                disk_put_latency(scratch, findings, why);
    disk_bench_destroy(bench);
    return good;
}

bool disk_run(const struct effort *effort, uint64_t seed, struct findings *findings,
              struct error *why)
{
    struct scratch scratch;
    char note[256];
    if (!scratch_open(&scratch, disk_where.folder, disk_where.bytes, why)) {
        return false;
    }
    snprintf(note, sizeof note, "%s: the file system's size", scratch.drive);
    bool good = disk_measure(&scratch, effort, seed, findings, why) &&
                findings_state(findings, "disk.capacity", scratch.capacity, note, why);
    scratch_close(&scratch);
    return good;
}

const struct group disk_groups[] = {
    {"disk", "reads and writes of the drive by size, at several depths", 0.35, disk_run},
    {.name = NULL},
};
