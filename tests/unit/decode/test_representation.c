/* How a context is split into what is kept and what is made again, worked out by hand on the model
 * and the machine of tiny.h: a token of a layer is 800 B of KV, 80 ns on the link, or 2000 B of
 * activations, 200 ns. 1000 tokens' K and V are made in (800000 + 1000 * 2800) B / 100 B/ns, 36 ns
 * a token. */
#include "decode/mechanism_values.h"
#include "unit/fixture/tiny.h"

#include "decode/plan/memory_plan.h"

#include <math.h>

static const struct {
    const char *mechanisms;
    struct split split;
} splits[] = {
    {"representation: act", {.act_host = 1000}},
    {"representation: act, budget: 30%", {.act_hbm = 300, .act_host = 700}},
    /* Half of what is not in HBM, in whole blocks. */
    {"representation: hybrid, representation_share: 50%, granularity: 16tok",
     {.act_host = 496, .kv = 504}},
    {"representation: hybrid, representation_share: 50%, granularity: 10tok, budget: 20%",
     {.act_hbm = 200, .act_host = 400, .kv = 400}},
    {"representation: tokens, representation_share: 25%", {.ids = 250, .kv = 750}},
    /* 36 A = 80 (1000 - A): 689.7. */
    {"representation: hybrid, balance: yes, balance_counts_act: no", {.act_host = 689, .kv = 311}},
    /* KVPR's activations cross before the rest: they save nothing if they take longer than KV. */
    {"representation: both, balance: yes, balance_counts_act: no", {.kv = 1000}},
    /* The host has both of all tokens. */
    {"representation: both, representation_share: 50%", {.act_host = 500, .kv = 500}},
    /* 36 * 300 / 80 = 135 tokens of KV first, then 36 A = 80 K in what is left of 5 GB a layer:
     * A = 5e9 / 2360 = 2118598, K = 953369 + 135; 700 A / (A + K) = 482.7. */
    {"representation: hybrid, balance: yes, balance_counts_act: no, budget: 30%",
     {.act_hbm = 300, .act_host = 482, .kv = 218}},
    /* Their own loads are counted, and they take longer than KV's: 36 A = 80 (1000 - A) + 200 A
     * would ask for less than none. Each would keep both the GPU and the link longer at work. */
    {"representation: hybrid, balance: yes", {.kv = 1000}},
    /* A layer's weights take 1680400 ns, in which K and V of 46678 tokens are made. Then 36 A = 80 K
     * in what is left beside both, 4.89e9 B: A = 46678 + 2071949, K = 932377. */
    {"representation: hybrid, balance: yes, balance_counts_act: no, weights: 0%",
     {.act_host = 694, .kv = 306}},
};

static void contexts_split_as_worked_out(void **state)
{
    char model[128], bare[128];
    (void)state;
    tiny_model(2, model);
    bare_system(bare);
    for (size_t i = 0; i < COUNT(splits); i++) {
        char mechanisms[256];
        snprintf(mechanisms, sizeof mechanisms,
                 "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, %s}",
                 splits[i].mechanisms);
        struct setup setup = SETUP(model, tiny_machine, bare, "context=1000", mechanisms);
        struct plan plan = make_plan(&setup);
        const struct split *expected = &splits[i].split;
        print_message("%s\n", splits[i].mechanisms);
        assert_int_equal(plan.cohorts[0].sizes.split.act_hbm, expected->act_hbm);
        assert_int_equal(plan.cohorts[0].sizes.split.act_host, expected->act_host);
        assert_int_equal(plan.cohorts[0].sizes.split.ids, expected->ids);
        assert_int_equal(plan.cohorts[0].sizes.split.kv, expected->kv);
        assert_int_equal(plan.memory.in[TIER_GPU].cache, 2 * expected->act_hbm * 2000);
        bool both = setup.mechanisms->representation == REPRESENTATION_BOTH;
        uint64_t kept = expected->act_host * 2000 + expected->kv * 800;
        assert_int_equal(plan.memory.in[TIER_HOST].kv, 2 * (both ? 1000 * (2000 + 800) : kept));
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* All HBM that is left holds activations, down to less than one block of 16 tokens in 2 layers. */
static void rest_of_memory_is_filled(void **state)
{
    char model[128], bare[128];
    (void)state;
    tiny_model(2, model);
    bare_system(bare);
    struct setup setup =
        SETUP(model, tiny_machine, bare, "context=1000", "hardware.gpu.hbm_capacity=53MB",
              "mechanisms={prefetch: whole-layer, representation: act, budget: rest,"
              " granularity: 16tok}");
    struct plan plan = make_plan(&setup);
    assert_true(plan.fits);
    assert_true(plan.cohorts[0].sizes.split.act_hbm > 0 &&
                plan.cohorts[0].sizes.split.act_hbm < 900);
    assert_true(plan.limit[TIER_GPU] - plan.memory.in[TIER_GPU].all < 2 * 2 * 16 * 2000);
    plan_release(&plan);
    setup_release(&setup);
}

/* DeepSeek-V3.2: a layer's K and V are one latent of 512 + 64 numbers, made from 7168; the first 3
 * of 61 layers are dense, the others have 256 experts. */
static struct kernel made_again(const struct setup *setup, struct split split, uint32_t sequences)
{
    struct remaking remaking = {0};
    representation_add(setup, &split, sequences, &remaking);
    return representation_recompute(setup, &remaking);
}

static void latents_and_experts_are_made_again(void **state)
{
    (void)state;
    struct setup setup = SETUP("model=deepseek-v3.2", "hardware=h200", "system=vllm",
                               "dtype.weights=bf16", "context=1000");
    const struct model *model = &setup.model;
    struct kernel made = made_again(&setup, (struct split){.act_host = 250, .kv = 750}, 4);
    assert_true(made.bytes == 2.0 * 7168 * 576 + 1000 * (2.0 * 7168 + 2.0 * 576));
    double mean = (3.0 * (double)model_layer_weight_bytes(model, 0) +
                   58.0 * (double)model_layer_weight_bytes(model, 3)) /
                  61;
    struct kernel run = made_again(&setup, (struct split){.ids = 250, .kv = 750}, 4);
    assert_true(fabs(run.bytes - (mean + 1000 * 2.0 * 576)) < 1);
    setup_release(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_split_as_worked_out),
        cmocka_unit_test(rest_of_memory_is_filled),
        cmocka_unit_test(latents_and_experts_are_made_again),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
