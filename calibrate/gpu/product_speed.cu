/* The group products: matrix products alone, in a graph, with weights from HBM.
 *
 *   gpu.flops_bf16      the peak: SMs x highest clock x FLOPs a clock, a power of two (peak.h)
 *   gpu.product_fixed, gpu.product_share
 *                       the fixed time, and the share of the HBM peak at which the bytes of
 *                       weights, activations and outputs move, fitted (kernel_fit.h) to the
 *                       projections of at least 1 MiB with up to 32 rows
 *   gpu.flops_share     the share of the peak, by rows, of a product with 8192 x 8192 weights,
 *                       after its fixed time. Below 64 rows all products are bound by their bytes, so the
 *                       share of 64 rows, which is at least what they reach, stands for fewer.
 *
 * Observed: the time of every projection of the shipped models, 1 to 128 rows. Products with fp8
 * weights are not measured: cuBLAS multiplies them by its second library, cuBLASLt, alone.
 */
#include "calibrate/device/facts.h"
#include "calibrate/gpu/bench.h"
#include "calibrate/gpu/groups.h"
#include "calibrate/gpu/kernel_fit.h"
#include "calibrate/gpu/peak.h"
#include "calibrate/gpu/projections.h"
#include "calibrate/kernels/products.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <string>

#define WANTED ((size_t)4 << 30)
#define LEAST ((size_t)256 << 20) /* weights of the peak, or twice its activations */
#define WIDTH 8192
#define PEAK_ROWS 8192
#define ROWS_MOST 65536
#define PEAK_SAMPLES 5
#define FIT_ROWS 32 /* up to which all products are bound by their bytes */
#define FIT_BYTES MiB

struct product_bench {
    struct kernel_bench bench;
    struct products *products = nullptr;
    gpu_memory out;
    struct room out_room;
    double flops_peak, fixed_ns;

    ~product_bench()
    {
        products_destroy(products);
    }
    bool create(uint64_t seed, struct error *why);
};

/* The shape of a work's matrix product. */
struct product_shape {
    struct product_bench *all;
    uint32_t in, out;
};

bool product_bench::create(uint64_t seed, struct error *why)
{
    const size_t row_bytes = WIDTH * sizeof(uint16_t);
    return gpu_room(ROWS_MOST * row_bytes, PEAK_ROWS * row_bytes, &out_room, why) &&
           (products = products_create(why)) != nullptr && out.take(out_room.bytes, why) &&
           bench.create(WANTED, LEAST, seed, why);
}

static size_t weight_bytes(const struct product_shape *shape)
{
    return (size_t)shape->in * shape->out * sizeof(uint16_t);
}

/* Weights are elsewhere in the arena each time; activations are after its middle. */
static bool put_product(const struct bench_work *work, struct error *why)
{
    const struct product_shape *shape = (const struct product_shape *)work->group;
    struct product_bench *all = shape->all;
    struct gpu_arena *arena = &all->bench.arena;
    const char *weights = arena->turn(weight_bytes(shape));
    const char *in = arena->memory.data + arena->memory.bytes / 2 / 512 * 512;
    return products_multiply(all->products, (const uint16_t *)in, (const uint16_t *)weights,
                             work->rows, shape->in, shape->out, (uint16_t *)all->out.data,
                             all->bench.stream.at, why);
}

static bool product_speed_fits(const struct product_shape *shape, uint32_t rows)
{
    const struct product_bench *all = shape->all;
    return weight_bytes(shape) <= all->bench.arena.memory.bytes &&
           (size_t)rows * shape->in * sizeof(uint16_t) <= all->bench.arena.memory.bytes / 2 &&
           (size_t)rows * shape->out * sizeof(uint16_t) <= all->out.bytes;
}

static double product_speed_product_flops(const struct product_shape *shape, uint32_t rows)
{
    return 2.0 * rows * shape->in * shape->out;
}

/* ---- the peak ---- */

/* The clocks of all SMs, added up. */
struct clocks {
    int sms;
    double most_hz, now_hz; /* now_hz: while products ran; 0: not known */
    char now[160];          /* for the note */
};

/* The highest clock is the higher one of two statements: to CUDA, some GPUs state a lower one than
 * they reach. */
static bool read_clocks(struct clocks *clocks, const struct gpu_facts *facts, struct error *why)
{
    int khz;
    *clocks = {};
    if (!gpu_attribute(cudaDevAttrMultiProcessorCount, &clocks->sms, why) ||
        !gpu_attribute(cudaDevAttrClockRate, &khz, why)) {
        return false;
    }
    clocks->most_hz = clocks->sms * fmax(khz * 1e3, facts->state.most_sm_mhz * 1e6);
    snprintf(clocks->now, sizeof clocks->now, "their clock meanwhile is not stated%s%.100s",
             facts->unsaid[0] != '\0' ? ": " : "", facts->unsaid);
    return true;
}

/* Time for NVML to answer, once it has started. */
#define READ_NS 100e6

/* A queue holds some thousand launches. */
#define MOST_PRODUCTS 512

/* Queue products for about `ns`. */
static bool put_for(const struct bench_work *work, double ns, double each_ns, uint32_t *count,
                    struct error *why)
{
    bool ok = true;
    *count = (uint32_t)fmax(1, fmin(ns / each_ns, MOST_PRODUCTS));
    for (uint32_t i = 0; ok && i < *count; i++) {
        ok = work->put(work, why);
    }
    return ok;
}

/* Read the clock from NVML, unless it is null, while products run. If they ended before the answer, it
 * does not count. */
static bool read_clock_now(struct product_bench *all, const struct bench_work *work, double each_ns,
                           const struct nvml *nvml, struct clocks *clocks, struct error *why)
{
    struct nvml_state state;
    uint32_t count;
    if (nvml == nullptr) {
        return true;
    }
    if (!put_for(work, READ_NS, each_ns, &count, why)) {
        return false;
    }
    nvml_read(nvml, &state);
    cudaError_t status = cudaStreamQuery(all->bench.stream.at);
    (void)cudaGetLastError(); /* work that is pending counts as an error */
    if (state.sm_mhz > 0 && status == cudaErrorNotReady) {
        clocks->now_hz = clocks->sms * (state.sm_mhz * 1e6);
        snprintf(clocks->now, sizeof clocks->now, "%.3f GHz while products ran",
                 state.sm_mhz / 1e3);
    }
    return all->bench.stream.wait(why);
}

/* Run products back to back until the clock is steady (peak.h). `each_ns`: of the last window. */
static bool product_speed_warm_up(struct product_bench *all, const struct bench_work *work,
                                  double flops, struct peak_warm_up *warm, double *each_ns,
                                  struct error *why)
{
    const struct kernel_bench *bench = &all->bench;
    bool more = true;
    *warm = {};
    *each_ns = PEAK_WINDOW_NS;
    while (more) {
        uint32_t count;
        double ns = 0;
        if (!bench->timer.start(bench->stream.at, why) ||
            !put_for(work, PEAK_WINDOW_NS, *each_ns, &count, why) ||
            !bench->timer.stop(bench->stream.at, why) || !bench->timer.read(&ns, why)) {
            return false;
        }
        *each_ns = ns / count;
        more = peak_warm_up(warm, ns, flops * 1e9 / *each_ns);
    }
    return true;
}

static bool find_peak(struct product_bench *all, struct findings *findings, struct error *why)
{
    struct product_shape large = {all, WIDTH, WIDTH};
    double flops = product_speed_product_flops(&large, PEAK_ROWS), ns = 0, each_ns;
    struct bench_work work = {"", 0, put_product, &large, PEAK_ROWS, 0, 0, 1};
    struct peak_warm_up warm;
    struct gpu_facts facts;
    struct clocks clocks;
    struct error unsaid;
    char note[256];
    if (!gpu_facts_read(&facts, why) || !read_clocks(&clocks, &facts, why)) {
        return false;
    }
    struct nvml *nvml = nvml_open(facts.bus, &unsaid);
    bool ok = put_product(&work, why) && all->bench.stream.wait(why) &&
              product_speed_warm_up(all, &work, flops, &warm, &each_ns, why) &&
              read_clock_now(all, &work, each_ns, nvml, &clocks, why);
    nvml_close(nvml);
    if (!ok) {
        return false;
    }
    double rate = warm.rate;
    for (int i = 0; i < PEAK_SAMPLES; i++) {
        if (!bench_time(&all->bench, &work, &ns, why)) {
            return false;
        }
        rate = fmax(rate, flops * 1e9 / ns);
    }
    double each = peak_flops_a_clock(rate, clocks.most_hz, clocks.now_hz);
    all->flops_peak = clocks.most_hz * each;
    snprintf(note, sizeof note, "peak: %d SMs x %.3f GHz at most x %.0f FLOPs a clock; %s%s",
             clocks.sms, clocks.most_hz / clocks.sms / 1e9, each, clocks.now,
             warm.steady ? "" : "; it still rose after 2 s of products");
    return findings_state(findings, "gpu.flops_bf16", all->flops_peak, note, why);
}

/* ---- the models' projections ---- */

static std::string product_speed_figure_of(const struct projection *projection)
{
    return "product." + std::to_string(projection->in) + "x" + std::to_string(projection->out);
}

static bool product_speed_note_absence(const struct product_bench *all,
                                       const struct projection *projection, const char *figure,
                                       struct findings *findings, struct error *why)
{
    char needed[32], there[32], note[256];
    double bytes = (double)projection->in * projection->out * sizeof(uint16_t);
    snprintf(note, sizeof note, "weights of %s do not fit into the %s taken: %s",
             units_format(bytes, UNIT_BYTES, needed, sizeof needed),
             units_format((double)all->bench.arena.memory.bytes, UNIT_BYTES, there, sizeof there),
             projection->of);
    return findings_note(findings, figure, note, why);
}

static bool measure_projections(struct product_bench *all, const struct projection *projections,
                                size_t count, const struct effort *effort, uint64_t seed,
                                struct findings *findings, struct error *why)
{
    std::vector<product_shape> shapes(count);
    std::vector<std::string> figures(count);
    std::vector<bench_work> works;
    for (size_t i = 0; i < count; i++) {
        const struct projection *projection = &projections[i];
        char note[256];
        shapes[i] = {all, projection->in, projection->out};
        figures[i] = product_speed_figure_of(projection);
        snprintf(note, sizeof note, "cuBLAS, bf16, weights from HBM: %s", projection->of);
        if (!bench_observe(findings, figures[i].c_str(), "rows", UNIT_NS, note, why)) {
            return false;
        }
        if (!product_speed_fits(&shapes[i], 1) &&
            !product_speed_note_absence(all, projection, figures[i].c_str(), findings, why)) {
            return false;
        }
        for (uint32_t rows = 1; rows <= 128 && product_speed_fits(&shapes[i], rows); rows *= 2) {
            works.push_back(
                {figures[i].c_str(), (double)rows, put_product, &shapes[i], rows, 0, 0, 1});
        }
    }
    return bench_measure(&all->bench, works, effort, seed, findings, why);
}

/* ---- the fixed time, and the share of HBM ---- */

static std::vector<kernel_time> few_rows(const struct projection *projections, size_t count,
                                         const struct findings *findings)
{
    std::vector<kernel_time> times;
    for (size_t i = 0; i < count; i++) {
        double in = projections[i].in, out = projections[i].out;
        const struct finding *finding =
            findings_get(findings, product_speed_figure_of(&projections[i]).c_str());
        bool counts = finding != nullptr && in * out * sizeof(uint16_t) >= FIT_BYTES;
        for (uint32_t p = 0; counts && p < finding->count; p++) {
            double rows = finding->points[p].size;
            if (rows <= FIT_ROWS) {
                times.push_back({finding->points[p].median, 0,
                                 (in * out + rows * (in + out)) * sizeof(uint16_t)});
            }
        }
    }
    return times;
}

/* The fixed time is stated even if the peak of HBM is not known: gpu.flops_share goes with it. */
static bool state_few_rows(struct product_bench *all, const struct projection *projections,
                           size_t count, struct findings *findings, struct error *why)
{
    const std::vector<kernel_time> times = few_rows(projections, count, findings);
    struct kernel_fit fit;
    char note[256];
    if (!kernel_fit_times(times.data(), (uint32_t)times.size(), all->bench.peak, &fit, why)) {
        return false;
    }
    all->fixed_ns = fit.fixed_ns;
    snprintf(note, sizeof note,
             "fitted to projections with bf16 weights of 1 MiB or more from HBM, 1 to %u rows, "
             "cuBLAS, in a graph: %.0f %% off (median), at most %.0f %%",
             FIT_ROWS, 100 * fit.median, 100 * fit.worst);
    return kernel_fit_state(&fit, "gpu.product_fixed", fit.fixed_ns, false, note, findings, why) &&
           (fit.share > 0
                ? kernel_fit_state(&fit, "gpu.product_share", fit.share, true, note, findings, why)
                : findings_note(findings, "gpu.product_share", "the driver states no HBM peak",
                                why));
}

/* ---- the share of the peak ---- */

static const uint32_t share_rows[] = {64,   128,  256,   512,   1024,     2048,
                                      4096, 8192, 16384, 32768, ROWS_MOST};
#define SHARES (sizeof share_rows / sizeof share_rows[0])

static bool product_speed_sample_share(void *state, double *share, struct error *why)
{
    struct bench_work *work = (struct bench_work *)state;
    const struct product_shape *shape = (const struct product_shape *)work->group;
    double ns = 0;
    if (!bench_time(&shape->all->bench, work, &ns, why)) {
        return false;
    }
    if (!(ns > shape->all->fixed_ns)) {
        return error_set(why, NULL, 0, "a product of %u rows takes %.0f ns, its fixed time %.0f ns",
                         work->rows, ns, shape->all->fixed_ns);
    }
    double rate =
        product_speed_product_flops(shape, work->rows) * 1e9 / (ns - shape->all->fixed_ns);
    return peak_share(rate, shape->all->flops_peak, share, why);
}

/* The share of the fewest rows stands for fewer. */
static bool extend_to_one(struct findings *findings, struct error *why)
{
    struct finding *shares = findings_add(findings, "gpu.flops_share", "", UNIT_COUNT, why);
    if (shares == nullptr) {
        return false;
    }
    struct found_point one = shares->points[0];
    one.size = 1;
    return finding_put(shares, &one, why);
}

static bool measure_shares(struct product_bench *all, const struct effort *effort, uint64_t seed,
                           struct findings *findings, struct error *why)
{
    struct product_shape large = {all, WIDTH, WIDTH};
    struct bench_work works[SHARES];
    struct probe probes[SHARES];
    uint32_t count = 0;
    for (; count < SHARES && product_speed_fits(&large, share_rows[count]); count++) {
        works[count] = {"", 0, put_product, &large, share_rows[count], 0, 0, 1};
        if (!put_product(&works[count], why) || !all->bench.stream.wait(why)) {
            return false;
        }
        probes[count] = {"gpu.flops_share", (double)share_rows[count], &works[count],
                         product_speed_sample_share};
    }
    char note[256];
    snprintf(
        note, sizeof note,
        "of the peak stated here, after gpu.product_fixed; cuBLAS, bf16 summed in fp32, weights "
        "of %u x %u; below %u rows that of %u, as no product is bound by its FLOPs there",
        WIDTH, WIDTH, share_rows[0], share_rows[0]);
    return measure_probes(probes, count, effort, seed, findings, why) &&
           extend_to_one(findings, why) && findings_note(findings, "gpu.flops_share", note, why);
}

/* ---- the group ---- */

#define SHARES_TIME 0.4 /* of the group's time */

bool product_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                   struct error *why)
{
    struct product_bench all;
    struct projection *projections;
    size_t count;
    struct effort shares = *effort, rest = *effort;
    uint32_t before = findings->count;
    shares.seconds *= SHARES_TIME;
    rest.seconds *= 1 - SHARES_TIME;
    if (!all.create(seed, why) || !find_peak(&all, findings, why) ||
        !projections_shipped(&projections, &count, why)) {
        return false;
    }
    bool ok = measure_projections(&all, projections, count, &rest, seed, findings, why) &&
              state_few_rows(&all, projections, count, findings, why) &&
              measure_shares(&all, &shares, seed, findings, why);
    free(projections);
    if (ok) {
        room_note(&all.out_room, findings, before);
        room_note(&all.bench.room, findings, before);
    }
    return ok;
}
