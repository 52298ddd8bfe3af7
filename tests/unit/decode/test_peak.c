/* HBM at the fullest moment of a step or of the prefill before. */
#include "unit/fixture/tiny.h"

/* Two sequences of 1000 tokens of the tiny model with 2 layers. Of a token: hidden state 2000 B;
 * operands of the FFN's activation, more than any other operator's, 2 * 3 * 2000; K and V of a
 * layer 800 B. */
static const struct {
    const char *mechanisms, *prompt;
    uint64_t buffers, workspace;
    bool in_prefill;
} moments[] = {
    /* Without a prompt, and with one so short that a step of two sequences holds more. */
    {"{resident_heads: all}", NULL, 0, 28000, false},
    {"{resident_heads: all, prefill_chunk: 1tok}", "prompt=1", 0, 28000, false},
    /* A layer that is full and resident is not loaded: a layer's selection of 100 tokens each. */
    {"{resident_heads: first-layer, resident_layers: 1, full_layers: 1, retrieval: hata,"
     " retrieval_bytes: 32B, selection: 10%, transfer: cpu-store}",
     NULL, 160000, 28000 + 2 * 4 * 1000 * 4, false}, /* scores beside it */
    /* All 2000 tokens, 100 of them at a time, and no more than there are. */
    {"{resident_heads: all, prefill_chunk: 0tok}", "prompt=1000", 0, 28000000, true},
    {"{resident_heads: all, prefill_chunk: 100tok}", "prompt=1000", 0, 1400000, true},
    {"{resident_heads: all, prefill_chunk: 8192tok}", "prompt=1000", 0, 28000000, true},
    /* Plain PyTorch: 8 B for each score of 20 query heads, of two prompts, or of 100 tokens of one. */
    {"{resident_heads: all, prefill_chunk: 0tok, prompt_scores: 8B}", "prompt=1000", 0,
     4000000 + 2 * 1000 * 1000 * 20 * 8, true},
    {"{resident_heads: all, prefill_chunk: 100tok, prompt_scores: 8B}", "prompt=1000", 0,
     200000 + 100 * 1000 * 20 * 8, true},
    /* KV that leaves: of one sequence, two layers. */
    {"{retrieval: hata, retrieval_bytes: 32B, selection: 10%, transfer: cpu-store, prefill_chunk: 100tok}",
     "prompt=1000", 1600000, 1400000, true},
    /* k-means beside it: of 4000 keys 4 B, of a centroid of 16 50 values of 4 B. */
    {"{retrieval: clusters, retrieval_tokens: 16tok, selection: 10%, transfer: cpu-store, prefill_chunk: 100tok}",
     "prompt=1000", 1600000, 1400000 + 4000 * 4 + 250 * 200, true},
    /* One sequence passes, with two buffers of half a layer's weights; both have hidden states. */
    {"{prefetch: whole-layer, micro_batch: zig-zag, micro_batch_sequences: 1, weights: 0%,"
     " halves: yes, prefill_chunk: 0tok}",
     "prompt=1000", 1600000 + 2 * 14002000, 4000000 + 12000000, true},
    /* Activations of a layer are its hidden states: those that wait are where they are kept. A
     * layer's K and V, and 2000 B of the last one's. */
    {"{prefetch: whole-layer, representation: act, micro_batch: balanced,"
     " micro_batch_tokens: 1000tok, prefill_chunk: 0tok}",
     "prompt=1000", 2800000, 2000000 + 12000000, true},
};

static struct setup make_two(const char *mechanisms, const char *prompt)
{
    char model[128], bare[128], all[256];
    tiny_model(2, model);
    bare_system(bare);
    snprintf(all, sizeof all, "mechanisms=%s", mechanisms);
    return make_setup(OVERRIDES(model, tiny_machine, bare, "context=1000", "batch=2", all, prompt));
}

static void fuller_moment_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(moments); i++) {
        struct setup setup = make_two(moments[i].mechanisms, moments[i].prompt);
        struct plan plan = make_plan(&setup);
        print_message("%s\n", moments[i].mechanisms);
        assert_int_equal(plan.memory.in[TIER_GPU].buffers, moments[i].buffers);
        assert_int_equal(plan.memory.in[TIER_GPU].workspace, moments[i].workspace);
        assert_int_equal(plan.memory.peak_in_prefill, moments[i].in_prefill);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* A longer prompt never takes less, and none takes less than decode alone. */
static void memory_grows_with_the_prompt(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(moments); i++) {
        uint64_t before = 0;
        for (uint32_t prompt = 0; prompt <= 1000; prompt = prompt == 0 ? 1 : 4 * prompt) {
            char text[32];
            snprintf(text, sizeof text, "prompt=%u", prompt);
            struct setup setup = make_two(moments[i].mechanisms, prompt > 0 ? text : NULL);
            struct plan plan = make_plan(&setup);
            assert_true(plan.memory.in[TIER_GPU].all >= before);
            before = plan.memory.in[TIER_GPU].all;
            plan_release(&plan);
            setup_release(&setup);
        }
    }
}

/* A prompt that does not fit makes the batch that does smaller. */
static void prefill_limits_the_batch(void **state)
{
    (void)state;
    struct setup decode = make_two("{resident_heads: all, prefill_chunk: 0tok}", NULL);
    struct setup both = make_two("{resident_heads: all, prefill_chunk: 0tok}", "prompt=1000");
    struct plan decodes = make_plan(&decode), prefills = make_plan(&both);
    /* 9 GB less 37 610 000 B of weights, for 1 600 000 B of KV and 14 000 of workspace a sequence,
     * of which prefill makes 14 000 000. */
    assert_int_equal(decodes.max_batch, (9000000000 - 37610000) / 1614000);
    assert_int_equal(prefills.max_batch, (9000000000 - 37610000) / 15600000);
    plan_release(&decodes);
    plan_release(&prefills);
    setup_release(&decode);
    setup_release(&both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fuller_moment_counts),
        cmocka_unit_test(memory_grows_with_the_prompt),
        cmocka_unit_test(prefill_limits_the_batch),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
