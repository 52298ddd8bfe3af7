/* Times of single kernels, each worked by hand. HBM: 1000 GB/s, so 1 MB takes 1 us at 100 %. */
#include "decode/cost/kernel_time.h"
#include "unit/fixture/load_profile.h"

#include <math.h>

#define FIGURE(value) "{value: " value ", basis: published, source: s}"

/* What every profile states. Kernels reach half of both peaks: 500 GB/s, 50 and 100 TFLOP/s. */
#define PLAIN                                                                                                                             \
    "gpu: {hbm_bandwidth: " FIGURE("1000GB/s") ", hbm_share: " FIGURE("50%") ", cta_bandwidth: " FIGURE("1GB/s") ", flops_bf16: " FIGURE( \
        "100TFLOP/s") ", flops_fp8: " FIGURE("200TFLOP/s") ", flops_share: {value: 50%, basis: assumed, range: [50%, 150%], source: s}"   \
                                                           ", kernel_floor: " FIGURE(                                                     \
                                                               "2us") ", graph_node: " FIGURE("1us")

static const char plain[] =
    PLAIN ", topk: {points: [[1000, 10us], [3000, 30us]], basis: published, source: s}"
          ", collective: {points: [[1kB, 10us], [3kB, 20us]], basis: published, source: s}}\n"
          "link: {h2d: " FIGURE("10GB/s") ", copy_latency: " FIGURE("5us") "}";

static const char moving[] = PLAIN
    ", move: {points: [[1B, 2us], [1000000B, 2us], [2000000B, 4us]], basis: published, source: s}}";

/* Kernels that have figures of their own. */
static const char
    own[] =
        PLAIN ", attention_fixed: " FIGURE("10us") ", attention_share: " FIGURE("100%") ", attention_pair: " FIGURE("10ns") ", attention_fixed_fp8: " FIGURE(
            "20us") ", attention_share_fp8: " FIGURE("50%") ", attention_pair_fp8: " FIGURE("20ns") ", product_fixed: " FIGURE("5us") ", product_share: " FIGURE("80%") ", product_fixed_fp8: " FIGURE("6us") ", product_share_fp8: " FIGURE("40%") ", flops_share_fp8: " FIGURE("25%") ", product_fixed_int4: " FIGURE("7us") ", product_share_int4: " FIGURE("20%") ", flops_share_int4: " FIGURE("10%") "}";

/* The same on tensor cores that multiply fp4. */
static const char fp4[] = PLAIN
    ", product_fixed: " FIGURE("5us") ", product_share: " FIGURE("80%") ", product_fixed_int4: " FIGURE("7us") ", product_share_int4: " FIGURE("20%") ", flops_share_int4: " FIGURE(
        "10%") ", flops_fp4: " FIGURE("400TFLOP/s") ", product_fixed_fp4: " FIGURE("8us") ", product_share_fp4: " FIGURE("50%") ", flops_share_fp4: " FIGURE("10%") "}";

/* Kernels with figures that few profiles have, beside those of heads and of dense products. */
static const char
    rare[] =
        PLAIN ", attention_fixed: " FIGURE("1us") ", attention_share: " FIGURE("100%") ", product_fixed: " FIGURE("1us") ", product_share: " FIGURE("100%") ", mla_fixed: " FIGURE("10us") ", mla_share: " FIGURE(
            "80%") ", mla_pair: " FIGURE("1ns") ", mla_flops_share: " FIGURE("40%") ", mla_fixed_fp8: " FIGURE("12us") ", mla_share_fp8: " FIGURE("40%") ", mla_pair_fp8: " FIGURE("2ns") ", mla_flops_share_fp8: " FIGURE("10%") ", experts_fixed: " FIGURE("7us") ", experts_share: " FIGURE("50%") ", experts_flops_share: {points: [[1, 1%], [4, 10%]], basis: published, source: s}"
                                                                                                                                                                                                                                                                                                      ", topk: " FIGURE(
                                                                                                                                                                                                                                                                                                          "99us") ", topk_fused: {points: [[1000, 10us], [3000, 30us]], basis: published, source: s}"
                                                                                                                                                                                                                                                                                                                  ", topk_fused_row: {points: [[1000, 50ns], [3000, 150ns]], basis: assumed,"
                                                                                                                                                                                                                                                                                                                  " range: [50%, 200%], source: s}"
                                                                                                                                                                                                                                                                                                                  ", collective: " FIGURE("8us") ", collective_2: " FIGURE("2us") ", collective_4: " FIGURE(
                                                                                                                                                                                                                                                                                                                      "4us") "}";

static void check(struct kernel kernel, double us, enum kernel_bound bound, enum basis basis)
{
    if (fabs(kernel.ns / 1e3 - us) > 1e-9 * us) {
        fail_msg("%.9g us, not %.9g", kernel.ns / 1e3, us);
    }
    assert_int_equal(kernel.bound, bound);
    assert_int_equal(kernel.trust.basis, basis);
}

static void a_read_takes_its_bytes_at_its_share_of_hbm(void **state)
{
    (void)state;
    struct profile profile = load_well(plain);
    check(kernel_read(&profile, 1e6), 2, BOUND_HBM, BASIS_PUBLISHED);
    assert_true(kernel_read(&profile, 0).ns == 0);
    profile_release(&profile);
}

/* Small activations take 2 us, those that the L2 does not hold as long as its reads; without the
 * figure all do. */
static void activations_move_through_the_l2(void **state)
{
    (void)state;
    struct profile with = load_well(moving), without = load_well(plain);
    check(kernel_move(&with, 1), 2, BOUND_HBM, BASIS_PUBLISHED);
    check(kernel_move(&with, 1.5e6), 3, BOUND_HBM, BASIS_PUBLISHED);
    check(kernel_move(&without, 1e6), 2, BOUND_HBM, BASIS_PUBLISHED);
    assert_true(kernel_move(&with, 0).ns == 0);
    profile_release(&with);
    profile_release(&without);
}

/* 1 MB is read and written in 4 us; ten CTAs, of which the busiest has a tenth of 1 MB, take 100
 * us, and a thousand 1 us. */
static void a_copy_by_ctas_takes_their_latency_or_hbm(void **state)
{
    (void)state;
    struct profile profile = load_well(plain);
    check(kernel_cta_copy(&profile, 1e6, 1e6, 10), 100, BOUND_LATENCY, BASIS_PUBLISHED);
    check(kernel_cta_copy(&profile, 1e6, 1e6, 1000), 4, BOUND_HBM, BASIS_PUBLISHED);
    profile_release(&profile);
}

static void no_kernel_is_shorter_than_the_gap_between_two(void **state)
{
    (void)state;
    struct profile profile = load_well(plain);
    struct kernel read = kernel_read(&profile, 1e6);
    check(kernel_spaced(&profile, read, 1, true), 2, BOUND_HBM, BASIS_PUBLISHED);
    check(kernel_spaced(&profile, read, 3, true), 3, BOUND_FIXED, BASIS_PUBLISHED);
    check(kernel_spaced(&profile, read, 3, false), 6, BOUND_FIXED, BASIS_PUBLISHED);
    profile_release(&profile);
}

static void two_kernels_have_the_bound_of_the_longer(void **state)
{
    (void)state;
    struct profile profile = load_well(plain);
    struct kernel read = kernel_read(&profile, 1e6); /* 2 us */
    struct kernel select = kernel_select(&profile, 10, 100, false);
    check(kernel_then(read, select), 12, BOUND_CURVE, BASIS_PUBLISHED);
    check(kernel_then(kernel_read(&profile, 1e7), select), 30, BOUND_HBM, BASIS_PUBLISHED);
    profile_release(&profile);
}

/* 200 MFLOP take 4 us at the bf16 rate and 2 us at that of fp8; 1 MB takes 2 us. The assumed share
 * of the FLOPs counts only where they are the bound. */
static void a_product_takes_the_larger_of_bytes_and_flops(void **state)
{
    (void)state;
    struct profile profile = load_well(plain);
    check(kernel_product(&profile, 2e8, 1, 1e6, DTYPE_BF16), 4, BOUND_FLOPS, BASIS_ASSUMED);
    check(kernel_product(&profile, 2e8, 1, 1e6, DTYPE_INT4), 4, BOUND_FLOPS, BASIS_ASSUMED);
    check(kernel_product(&profile, 4e8, 1, 1e6, DTYPE_FP8), 4, BOUND_FLOPS, BASIS_ASSUMED);
    check(kernel_product(&profile, 1e7, 1, 1e6, DTYPE_BF16), 2, BOUND_HBM, BASIS_PUBLISHED);
    profile_release(&profile);
}

static void a_product_takes_its_fixed_time_first(void **state)
{
    static const struct {
        enum dtype weights;
        double flops, bytes, us;
        enum kernel_bound bound;
        enum basis basis;
    } cases[] = {
        {DTYPE_BF16, 0, 1e6, 5 + 1.25, BOUND_FIXED, BASIS_PUBLISHED},
        {DTYPE_BF16, 0, 1e7, 5 + 12.5, BOUND_HBM, BASIS_PUBLISHED},
        {DTYPE_BF16, 1e9, 1e7, 5 + 20, BOUND_FLOPS, BASIS_ASSUMED}, /* 50 TFLOP/s */
        {DTYPE_FP8, 0, 1e7, 6 + 25, BOUND_HBM, BASIS_PUBLISHED},
        {DTYPE_FP8, 2e9, 1e7, 6 + 40, BOUND_FLOPS, BASIS_PUBLISHED}, /* 50 TFLOP/s */
        {DTYPE_INT4, 0, 1e7, 7 + 50, BOUND_HBM, BASIS_PUBLISHED},
        {DTYPE_INT4, 1e9, 1e7, 7 + 100, BOUND_FLOPS, BASIS_PUBLISHED}, /* 10 TFLOP/s */
    };
    (void)state;
    struct profile profile = load_well(own);
    for (size_t i = 0; i < COUNT(cases); i++) {
        check(kernel_product(&profile, cases[i].flops, 1, cases[i].bytes, cases[i].weights),
              cases[i].us, cases[i].bound, cases[i].basis);
    }
    profile_release(&profile);
}

/* Tensor cores of fp4 multiply NVFP4 at their own rate; others unpack it, as all unpack MXFP4. Times
 * with the figures of another type are assumed. */
static void floats_of_4_bits_say_what_they_borrow(void **state)
{
    static const struct {
        const char *profile;
        enum dtype weights;
        double flops, us;
        enum kernel_bound bound;
        enum basis basis;
    } cases[] = {
        {fp4, DTYPE_NVFP4, 0, 8 + 20, BOUND_HBM, BASIS_PUBLISHED},
        {fp4, DTYPE_NVFP4, 1e9, 8 + 25, BOUND_FLOPS, BASIS_PUBLISHED}, /* 40 TFLOP/s */
        {fp4, DTYPE_MXFP4, 0, 7 + 50, BOUND_HBM, BASIS_ASSUMED},
        {fp4, DTYPE_MXFP4, 1e9, 7 + 100, BOUND_FLOPS, BASIS_ASSUMED},
        {own, DTYPE_NVFP4, 0, 7 + 50, BOUND_HBM, BASIS_ASSUMED},
        {own, DTYPE_MXFP4, 0, 7 + 50, BOUND_HBM, BASIS_ASSUMED},
        {plain, DTYPE_NVFP4, 0, 20, BOUND_HBM, BASIS_ASSUMED},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct profile profile = load_well(cases[i].profile);
        print_message("# case %zu\n", i);
        check(kernel_product(&profile, cases[i].flops, 1, 1e7, cases[i].weights), cases[i].us,
              cases[i].bound, cases[i].basis);
        check(kernel_experts(&profile, cases[i].flops, 1, 1e7, 0, cases[i].weights), cases[i].us,
              cases[i].bound, cases[i].basis);
        profile_release(&profile);
    }
}

static void attention_without_figures_is_a_product(void **state)
{
    (void)state;
    struct profile profile = load_well(plain);
    struct attention_work work = {.bytes = 1e6, .flops = 2e8, .rows = 4, .pairs = 8};
    check(kernel_attention(&profile, &work), 4, BOUND_FLOPS, BASIS_ASSUMED);
    work.multiplied = DTYPE_FP8;
    check(kernel_attention(&profile, &work), 2, BOUND_HBM, BASIS_PUBLISHED);
    profile_release(&profile);
}

/* 8 pairs take 80 ns in bf16 and 160 ns in fp8. */
static void attention_with_figures_counts_flops_if_it_is_latent(void **state)
{
    (void)state;
    struct profile profile = load_well(own);
    struct attention_work work = {.bytes = 2e7, .flops = 2e9, .rows = 4, .pairs = 8};
    check(kernel_attention(&profile, &work), 20 + 0.08 + 10, BOUND_HBM, BASIS_PUBLISHED);
    work.latent = true;
    check(kernel_attention(&profile, &work), 40 + 0.08 + 10, BOUND_FLOPS, BASIS_ASSUMED);
    work.latent = false;
    work.kv = DTYPE_FP8;
    check(kernel_attention(&profile, &work), 40 + 0.16 + 20, BOUND_HBM, BASIS_PUBLISHED);
    work.bytes = 2e6;
    check(kernel_attention(&profile, &work), 4 + 0.16 + 20, BOUND_FIXED, BASIS_PUBLISHED);
    profile_release(&profile);
}

/* Four queries of 4 heads have 16 rows, as many as were measured; five have 20. */
static void queries_that_read_together_count_flops_past_16_rows(void **state)
{
    (void)state;
    struct profile profile = load_well(own);
    struct attention_work work = {.bytes = 2e7, .flops = 8e9, .rows = 16, .queries = 4, .pairs = 8};
    check(kernel_attention(&profile, &work), 20 + 0.08 + 10, BOUND_HBM, BASIS_PUBLISHED);
    work.flops = 1e10, work.rows = 20, work.queries = 5;
    check(kernel_attention(&profile, &work), 200 + 0.08 + 10, BOUND_FLOPS, BASIS_ASSUMED);
    profile_release(&profile);
}

/* The FLOPs alone would take 80 us. Attention over bf16 KV has no figures here, so that they do. */
static void figures_of_fp8_do_without_those_of_bf16(void **state)
{
    (void)state;
    struct profile profile =
        load_well(PLAIN ", attention_fixed_fp8: " FIGURE("20us") ", attention_share_fp8: " FIGURE(
            "50%") ", attention_pair_fp8: " FIGURE("20ns") "}");
    struct attention_work work = {
        .bytes = 2e7, .flops = 4e9, .rows = 4, .pairs = 8, .kv = DTYPE_FP8};
    check(kernel_attention(&profile, &work), 40 + 0.16 + 20, BOUND_HBM, BASIS_PUBLISHED);
    work.kv = DTYPE_BF16;
    check(kernel_attention(&profile, &work), 80, BOUND_FLOPS, BASIS_ASSUMED);
    profile_release(&profile);
}

/* 8 sequences of 128 query heads are 1024 pairs: 1.024 us in bf16. 40 and 20 TFLOP/s. */
static void latents_have_figures_of_their_own(void **state)
{
    (void)state;
    struct profile profile = load_well(rare);
    struct attention_work work = {
        .bytes = 1e7, .flops = 4e8, .rows = 128, .pairs = 8, .latent = true};
    check(kernel_attention(&profile, &work), 10 + 1.024 + 12.5, BOUND_HBM, BASIS_PUBLISHED);
    work.flops = 4e9;
    check(kernel_attention(&profile, &work), 10 + 1.024 + 100, BOUND_FLOPS, BASIS_PUBLISHED);
    work.kv = DTYPE_FP8;
    check(kernel_attention(&profile, &work), 12 + 2.048 + 200, BOUND_FLOPS, BASIS_PUBLISHED);
    work.latent = false;
    work.kv = DTYPE_BF16;
    check(kernel_attention(&profile, &work), 1 + 10, BOUND_HBM, BASIS_PUBLISHED);
    profile_release(&profile);
}

/* Experts of MXFP4 at 20 TFLOP/s of bf16, or of fp8 beside activations of fp8. */
static const char mxfp4[] = PLAIN
    ", experts_fixed_mxfp4: " FIGURE("3us") ", experts_share_mxfp4: " FIGURE("50%") ", experts_flops_share_mxfp4: " FIGURE("20%") ", experts_fixed_mxfp4_fp8: " FIGURE(
        "2us") ", experts_share_mxfp4_fp8: " FIGURE("100%") ", experts_flops_share_mxfp4_fp8: " FIGURE("25%") "}";

static void experts_of_mxfp4_go_by_their_activations(void **state)
{
    (void)state;
    struct profile profile = load_well(mxfp4);
    check(kernel_experts(&profile, 1e6, 4, 1e7, 0, DTYPE_MXFP4), 3 + 20, BOUND_HBM,
          BASIS_PUBLISHED);
    check(kernel_experts(&profile, 1e9, 4, 1e7, 0, DTYPE_MXFP4), 3 + 50, BOUND_FLOPS,
          BASIS_PUBLISHED);
    check(kernel_experts(&profile, 1e6, 4, 1e7, 0, DTYPE_MXFP4_FP8), 2 + 10, BOUND_HBM,
          BASIS_PUBLISHED);
    check(kernel_experts(&profile, 1e9, 4, 1e7, 0, DTYPE_MXFP4_FP8), 2 + 20, BOUND_FLOPS,
          BASIS_PUBLISHED);
    profile_release(&profile);
}

/* 10 TFLOP/s with 4 rows of each expert, whose activations come on top; fp8 experts have no figures
 * here. */
static void experts_have_figures_of_their_own(void **state)
{
    (void)state;
    struct profile profile = load_well(rare);
    check(kernel_experts(&profile, 1e6, 4, 1e7, 0, DTYPE_BF16), 7 + 20, BOUND_HBM, BASIS_PUBLISHED);
    check(kernel_experts(&profile, 1e9, 4, 1e7, 0, DTYPE_BF16), 7 + 100, BOUND_FLOPS,
          BASIS_PUBLISHED);
    check(kernel_experts(&profile, 1e9, 4, 1e7, 2e6, DTYPE_BF16), 7 + 100 + 4, BOUND_FLOPS,
          BASIS_PUBLISHED);
    check(kernel_experts(&profile, 1e6, 4, 8e6, 2e6, DTYPE_FP8), 1 + 10, BOUND_HBM,
          BASIS_PUBLISHED);
    check(kernel_product(&profile, 1e6, 4, 1e7, DTYPE_BF16), 1 + 10, BOUND_HBM, BASIS_PUBLISHED);
    profile_release(&profile);
}

/* 100 rows of 1000 scores take 5 us of a full GPU, but no less than one row; 400 take 20. */
static void fused_selection_goes_by_row_length_then_by_rows(void **state)
{
    (void)state;
    struct profile profile = load_well(rare);
    check(kernel_select(&profile, 100, 1000, true), 10, BOUND_CURVE, BASIS_PUBLISHED);
    check(kernel_select(&profile, 400, 1000, true), 20, BOUND_CURVE, BASIS_ASSUMED);
    check(kernel_select(&profile, 1, 2000, true), 20, BOUND_CURVE, BASIS_PUBLISHED);
    check(kernel_select(&profile, 1, 2000, false), 99, BOUND_CURVE, BASIS_PUBLISHED);
    profile_release(&profile);
}

static void an_allreduce_takes_the_next_larger_number_of_gpus(void **state)
{
    (void)state;
    struct profile profile = load_well(rare);
    static const double us[] = {[0] = 8, [2] = 2, [3] = 4, [4] = 4, [5] = 8, [8] = 8};
    for (uint64_t gpus = 0; gpus < COUNT(us); gpus++) {
        if (us[gpus] > 0) {
            check(kernel_exchange(&profile, EXCHANGE_ALL_REDUCE, gpus, 1000), us[gpus], BOUND_CURVE,
                  BASIS_PUBLISHED);
        }
    }
    profile_release(&profile);
}

/* Four GPUs. An all-reduce takes 10 us and 1 us a KB, and each GPU sends 1.5 times its bytes. Of
 * the other exchanges each GPU sends 0.75 times the bytes: as many as in an all-reduce of half of
 * them. In an all-reduce between two GPUs each sends all bytes, as in a send. */
static void exchanges_take_as_long_as_all_reduces_of_as_many_sent_bytes(void **state)
{
    static const struct {
        enum exchange_kind kind;
        uint64_t gpus;
        double us;
        enum basis basis;
    } cases[] = {
        {EXCHANGE_ALL_REDUCE, 4, 10 + 8, BASIS_PUBLISHED},
        {EXCHANGE_ALL_GATHER, 4, 10 + 4, BASIS_ASSUMED},
        {EXCHANGE_REDUCE_SCATTER, 4, 10 + 4, BASIS_ASSUMED},
        {EXCHANGE_ALL_TO_ALL, 4, 10 + 4, BASIS_ASSUMED},
        {EXCHANGE_SEND, 2, 10 + 8, BASIS_ASSUMED},
        {EXCHANGE_ALL_GATHER, 0, 10 + 4, BASIS_ASSUMED},
    };
    (void)state;
    struct profile profile = load_well(
        PLAIN ", collective: {points: [[0B, 10us], [100kB, 110us]], basis: published, source: s}}");
    for (size_t i = 0; i < COUNT(cases); i++) {
        check(kernel_exchange(&profile, cases[i].kind, cases[i].gpus, 8000), cases[i].us,
              BOUND_CURVE, cases[i].basis);
    }
    for (enum exchange_kind kind = 0; kind <= EXCHANGE_SEND; kind++) {
        double least = 0;
        for (double bytes = 1; bytes < 1e9; bytes *= 3) {
            double ns = kernel_exchange(&profile, kind, 2, bytes).ns;
            assert_true(ns >= least);
            least = ns;
        }
    }
    profile_release(&profile);
}

/* Figures of a gather stand for reduce-scatters, too, and for fewer GPUs that have none. */
static void exchanges_have_figures_of_their_own(void **state)
{
    static const char some[] = PLAIN ", collective: " FIGURE("8us") ", gather_2: " FIGURE(
        "3us") ", gather_4: " FIGURE("5us") ", all_to_all: " FIGURE("6us") "}";
    static const struct {
        enum exchange_kind kind;
        uint64_t gpus;
        double us;
        enum basis basis;
    } cases[] = {
        {EXCHANGE_ALL_GATHER, 2, 3, BASIS_PUBLISHED},
        {EXCHANGE_REDUCE_SCATTER, 2, 3, BASIS_PUBLISHED},
        {EXCHANGE_ALL_GATHER, 3, 5, BASIS_PUBLISHED},
        {EXCHANGE_ALL_GATHER, 8, 8, BASIS_ASSUMED},
        {EXCHANGE_ALL_TO_ALL, 2, 6, BASIS_PUBLISHED},
        {EXCHANGE_ALL_REDUCE, 2, 8, BASIS_PUBLISHED},
        {EXCHANGE_SEND, 2, 8, BASIS_ASSUMED},
    };
    (void)state;
    struct profile profile = load_well(some);
    for (size_t i = 0; i < COUNT(cases); i++) {
        check(kernel_exchange(&profile, cases[i].kind, cases[i].gpus, 1000), cases[i].us,
              BOUND_CURVE, cases[i].basis);
    }
    profile_release(&profile);
}

/* What a fabric states replaces the GPU's own figures, those for other numbers of GPUs, too. */
static void a_fabric_replaces_the_collectives_of_the_gpu(void **state)
{
    static const char both[] =
        PLAIN ", collective: " FIGURE("8us") ", collective_2: " FIGURE("2us") ", gather: " FIGURE(
            "5us") "}\n"
                   "fabric: {collective_2: " FIGURE("30us") ", collective: " FIGURE("90us") "}";
    (void)state;
    struct profile profile = load_well(both);
    check(kernel_exchange(&profile, EXCHANGE_ALL_GATHER, 4, 1), 90, BOUND_CURVE, BASIS_ASSUMED);
    check(kernel_exchange(&profile, EXCHANGE_ALL_REDUCE, 2, 1), 30, BOUND_CURVE, BASIS_PUBLISHED);
    check(kernel_exchange(&profile, EXCHANGE_ALL_REDUCE, 3, 1), 90, BOUND_CURVE, BASIS_PUBLISHED);
    profile_release(&profile);
}

static void other_kernels_are_read_off_their_curves(void **state)
{
    (void)state;
    struct profile profile = load_well(plain);
    check(kernel_select(&profile, 20, 100, true), 20, BOUND_CURVE, BASIS_PUBLISHED);
    check(kernel_exchange(&profile, EXCHANGE_ALL_REDUCE, 2, 2000), 15, BOUND_CURVE,
          BASIS_PUBLISHED);
    check(kernel_copy(&profile, 1e5), 10 + 5, BOUND_LINK, BASIS_PUBLISHED);
    check(kernel_copy(&profile, 1e3), 0.1 + 5, BOUND_FIXED, BASIS_PUBLISHED);
    check(kernel_select(&profile, 40, 100, false), 40, BOUND_CURVE, BASIS_PUBLISHED);
    assert_true(kernel_select(&profile, 40, 100, false).trust.extrapolated);
    check(kernel_exchange(&profile, EXCHANGE_ALL_REDUCE, 2, 5000), 30, BOUND_CURVE,
          BASIS_PUBLISHED);
    assert_true(kernel_exchange(&profile, EXCHANGE_ALL_REDUCE, 16, 2000).trust.extrapolated);
    profile_release(&profile);
}

/* Without fp8 or int4 of their own, products read others; what is not stated is read in a dry run,
 * too. */
static void a_dry_run_notes_the_figures_that_are_read(void **state)
{
    (void)state;
    struct profile dry = load_well(plain), with = load_well(own);
    const struct curve peak = dry.curves[CURVE_GPU_FLOPS_FP8];
    struct profile_reads reads = {.of = {false}};
    enum curve_id figures[CURVE_COUNT];
    dry.reads = with.reads = &reads;
    dry.curves[CURVE_GPU_FLOPS_FP8].count = 0;
    kernel_experts(&dry, 1, 1, 1, 0, DTYPE_FP8);
    dry.curves[CURVE_GPU_FLOPS_FP8] = peak;
    assert_int_equal(profile_reads_list(&reads, figures), 4);
    assert_int_equal(figures[0], CURVE_GPU_HBM_BANDWIDTH);
    assert_true(reads.of[CURVE_GPU_HBM_SHARE] && reads.of[CURVE_GPU_FLOPS_FP8]);
    reads = (struct profile_reads){.of = {false}};
    kernel_spaced(&with, kernel_product(&with, 1, 1, 1, DTYPE_INT4), 1, true);
    assert_int_equal(profile_reads_list(&reads, figures), 6);
    assert_true(reads.of[CURVE_GPU_PRODUCT_FIXED_INT4] && reads.of[CURVE_GPU_PRODUCT_SHARE_INT4]);
    assert_true(reads.of[CURVE_GPU_FLOPS_SHARE_INT4] && reads.of[CURVE_GPU_GRAPH_NODE]);
    reads = (struct profile_reads){.of = {false}};
    kernel_attention(&with, &(struct attention_work){.bytes = 1, .kv = DTYPE_FP8});
    assert_int_equal(profile_reads_list(&reads, figures), 4);
    assert_true(reads.of[CURVE_GPU_ATTENTION_PAIR_FP8] && !reads.of[CURVE_GPU_FLOPS_SHARE]);
    profile_release(&dry);
    profile_release(&with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_takes_its_bytes_at_its_share_of_hbm),
        cmocka_unit_test(activations_move_through_the_l2),
        cmocka_unit_test(a_copy_by_ctas_takes_their_latency_or_hbm),
        cmocka_unit_test(no_kernel_is_shorter_than_the_gap_between_two),
        cmocka_unit_test(two_kernels_have_the_bound_of_the_longer),
        cmocka_unit_test(a_product_takes_the_larger_of_bytes_and_flops),
        cmocka_unit_test(a_product_takes_its_fixed_time_first),
        cmocka_unit_test(floats_of_4_bits_say_what_they_borrow),
        cmocka_unit_test(attention_without_figures_is_a_product),
        cmocka_unit_test(attention_with_figures_counts_flops_if_it_is_latent),
        cmocka_unit_test(queries_that_read_together_count_flops_past_16_rows),
        cmocka_unit_test(figures_of_fp8_do_without_those_of_bf16),
        cmocka_unit_test(latents_have_figures_of_their_own),
        cmocka_unit_test(experts_have_figures_of_their_own),
        cmocka_unit_test(experts_of_mxfp4_go_by_their_activations),
        cmocka_unit_test(fused_selection_goes_by_row_length_then_by_rows),
        cmocka_unit_test(an_allreduce_takes_the_next_larger_number_of_gpus),
        cmocka_unit_test(exchanges_take_as_long_as_all_reduces_of_as_many_sent_bytes),
        cmocka_unit_test(exchanges_have_figures_of_their_own),
        cmocka_unit_test(a_fabric_replaces_the_collectives_of_the_gpu),
        cmocka_unit_test(other_kernels_are_read_off_their_curves),
        cmocka_unit_test(a_dry_run_notes_the_figures_that_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
