/* Attention of prompts, alone and beside decodes, worked by hand. 32 query heads share 8 KV heads of
 * 128 values: 512 FLOPs and 512 bytes for a token that a row attends to. HBM reads 1000 GB/s. */
#include "decode/cost/attention.h"
#include "unit/fixture/load_profile.h"

#include <math.h>

#define FIGURE(value) "{value: " value ", basis: published, source: s}"
#define GPU                                                                                        \
    "gpu: {hbm_bandwidth: " FIGURE("1000GB/s") ", hbm_share: " FIGURE(                             \
        "100%") ", attention_fixed: " FIGURE("1us") ", attention_share: " FIGURE("100%") ", "

/* 50 000 FLOPs a nanosecond; a block takes 40 ns for each token. */
#define SLOW                                                                                             \
    GPU "flops_bf16: " FIGURE("100TFLOP/s") ", prompt_fixed: " FIGURE("10us") ", prompt_share: " FIGURE( \
        "50%") ", prompt_extra: " FIGURE("100") ", prompt_token: " FIGURE("40ns") ", prompt_block: " FIGURE("10ns")
static const char slow[] = SLOW "}";
static const char waiting[] = SLOW ", sms: " FIGURE("10") ", prompt_wait: " FIGURE("1us") "}";

/* Bound by its memory if the L2 keeps nothing; it holds 30.5 blocks at a time. */
#define FAST                                                                                       \
    GPU "flops_bf16: " FIGURE("1000TFLOP/s") ", prompt_fixed: " FIGURE(                            \
        "10us") ", prompt_share: " FIGURE("100%") ", prompt_token: " FIGURE("1ns")

/* Prompts of `rows` rows of which the last attends to `end` tokens. */
static struct prompt_attention prompts_of(double count, double rows, double end)
{
    double mean = end - rows / 2, blocks = count * ceil(rows / PROMPT_BLOCK);
    return (struct prompt_attention){
        .heads = 32,
        .kv_heads = 8,
        .token_flops = 512,
        .token_bytes = 512,
        .flops = count * 32 * 512 * rows * mean,
        .bytes = count * 8 * 512 * end,
        .prompts = count,
        .rows = count * rows,
        .most_rows = rows,
        .blocks = blocks,
        .block_tokens = blocks * mean,
        .longest = end,
    };
}

static void check(const char *text, const struct prompt_attention *work, double us)
{
    struct profile profile = load_well(text);
    double got = kernel_prompt_attention(&profile, work).ns / 1e3;
    profile_release(&profile);
    if (fabs(got - us) > 1e-9 * us) {
        fail_msg("%.9g us, not %.9g", got, us);
    }
}

/* 1024 rows attend to 512 tokens each, and cost as if to 612: 205.4 us. The last block attends to
 * 512 tokens more than the mean one: 20.5 us. */
static void many_blocks_take_their_flops(void **state)
{
    (void)state;
    struct prompt_attention work = prompts_of(1, 1024, 1024);
    check(slow, &work, 10 + 171.79869184 + 33.554432 + 20.48);
}

/* Each of 10 SMs computes 128 rows for 128 tokens, 8.4 MFLOP, in 1.68 us, and waits 1 us more. A block waits
 * 7.8 ns for each token. */
static void a_kernel_waits_for_its_tiles(void **state)
{
    (void)state;
    struct prompt_attention work = prompts_of(1, 1024, 1024);
    work.waits = true;
    check(waiting, &work, 10 + (171.79869184 + 33.554432) * 2.6777216 / 1.6777216 + 20.48 + 4);
}

/* One block for each of 32 heads: each attends to 65 536 tokens, 40 ns each, whatever the FLOPs. */
static void few_blocks_take_the_longest(void **state)
{
    (void)state;
    struct prompt_attention work = prompts_of(1, 64, 65536);
    work.heads = 8;
    work.flops /= 4;
    check(slow, &work, 10 + 2621.44);
}

/* A prompt of 128 rows has 2 blocks, and so has each of 2 decodes: 1 of them empty, for each head.
 * A decode's row costs as much as 64. */
static void a_decode_takes_blocks_of_its_own(void **state)
{
    (void)state;
    struct prompt_attention work = prompts_of(1, 128, 128);
    work.decodes = 2;
    work.decode_tokens = 2000;
    double flops = 32 * 512 * (128.0 * 64 + 64 * 2000 + 100 * (128 + 2 * 64));
    double mean = (2 * 64 + 2000) / 4.0;
    check(slow, &work, 10 + flops / 50e6 + 0.04 * (1000 - mean) + 2 * 32 * 0.01);
}

/* 128 decodes of 1000 tokens: 524 MB of KV, 66 MB of one head. Without room for these, each of
 * four query heads reads them itself; with 16 decodes, all heads run at the same time. */
static void kv_beyond_the_l2_is_read_again(void **state)
{
    (void)state;
    struct prompt_attention work = prompts_of(1, 16, 16);
    work.decodes = 128;
    work.decode_tokens = 128 * 1000;
    double once = (128 * 1000 + 16) * 8 * 512 / 1e6;
    check(FAST ", l2: " FIGURE("1MiB") "}", &work, 10 + 4 * once);
    check(FAST ", l2: " FIGURE("1GiB") "}", &work, 10 + once);
    work.decodes = 4;
    check(FAST ", l2: " FIGURE("1MiB") "}", &work, 10 + once);
}

static void prompts_add_up(void **state)
{
    (void)state;
    struct prompt_attention one = prompts_of(1, 500, 500), two = prompts_of(2, 500, 500);
    struct profile profile = load_well(slow);
    double alone = kernel_prompt_attention(&profile, &one).ns;
    double both = kernel_prompt_attention(&profile, &two).ns;
    assert_true(both > alone && both < 2 * alone);
    profile_release(&profile);
}

/* Without figures of its own it is a product: 17.2 GFLOP at half of the peak. */
static void without_figures_it_is_a_product(void **state)
{
    (void)state;
    struct prompt_attention work = prompts_of(2, 1024, 1024);
    check(GPU "flops_bf16: " FIGURE("100TFLOP/s") ", flops_share: " FIGURE("50%") "}", &work,
          343.59738368);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_blocks_take_their_flops),
        cmocka_unit_test(a_kernel_waits_for_its_tiles),
        cmocka_unit_test(few_blocks_take_the_longest),
        cmocka_unit_test(a_decode_takes_blocks_of_its_own),
        cmocka_unit_test(kv_beyond_the_l2_is_read_again),
        cmocka_unit_test(prompts_add_up),
        cmocka_unit_test(without_figures_it_is_a_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
