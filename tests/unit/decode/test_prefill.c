/* Prefill on the model and the machine of tiny.h, worked out by hand. A layer of R tokens moves
 *
 *   pre     2 802 000 + 19 200 R     norms, QKV, RoPE, K and V
 *   attend              4 800 R      Q read and written 4000, K and V read once 800
 *   post   14 002 000 + 40 000 R
 *
 * bytes: of 1000 tokens 22 002 000, 4 800 000 and 54 002 000, in all 808 040 ns. The first kernel
 * is launched after 1000 ns; behind the layers are the edge, 20 180 and for each further sequence
 * 16 000 B, 160 ns, and the token's way, 20 000. What crosses the link takes its bytes from HBM,
 * too, and so from the kernels. */
#include "unit/fixture/tiny.h"

#include "decode/time/prefill.h"
#include "unit/fixture/run_setup.h"

#include <math.h>

enum { LAYER_NS = 808040, ENDS_NS = 1000 + TINY_EDGE_NS + 20000, FURTHER_NS = 160 };

/* A kernel that shares HBM may end up to a nanosecond late. */
#define ROUNDING 10

static int64_t prefill_ns(const struct setup *setup)
{
    struct plan plan = make_plan(setup);
    struct ledger ledger;
    struct error why;
    struct replay_plan replay = plan_replay(setup, &plan, 0);
    struct prefill_time time;
    bool offloads = plan_offloaded_heads(&plan) > 0;
    ledger_init(&ledger);
    if ((offloads && !replay_assumed(0.5, 0, 1, &replay, &ledger, &why)) ||
        !prefill_run(setup, &plan, offloads ? &ledger : NULL, NULL, &time, &why)) {
        fail_msg("%s", message_of(&why));
    }
    ledger_release(&ledger);
    plan_release(&plan);
    return time.ns;
}

/* Of a model of two layers, with two overrides. */
static int64_t prefill_of(const char *one, const char *two)
{
    char model[128], bare[128];
    tiny_model(2, model);
    bare_system(bare);
    struct setup setup =
        SETUP(model, tiny_machine, bare, "context=", "prompt=1000", "steps=1", one, two);
    int64_t ns = prefill_ns(&setup);
    setup_release(&setup);
    return ns;
}

#define HOST_PQ_AND(more)                                                                          \
    "mechanisms={retrieval: pq, retrieval_bytes: 16B, retrieval_stream: yes, selection: 10%,"      \
    " transfer: cpu-store, cluster_centroids: 1, cluster_iterations: 3" more "}"
#define HOST_PQ HOST_PQ_AND("")

static const struct {
    const char *what, *one, *two;
    int64_t ns;
} cases[] = {
    {"all in HBM", "mechanisms.resident_heads=all", "batch=1", 2 * LAYER_NS + ENDS_NS},
    /* A pass reads the layer's 16 804 000 B of weights and moves 64 000 B a token. */
    {"three sequences together", "mechanisms.resident_heads=all", "batch=3",
     2 * (168040 + 3 * 640000) + 2 * FURTHER_NS + ENDS_NS},
    {"three in micro-batches of two",
     "mechanisms={resident_heads: all, micro_batch: zig-zag, micro_batch_sequences: 2}", "batch=3",
     2 * (2 * 168040 + 3 * 640000) + 2 * FURTHER_NS + ENDS_NS},
    /* 1000 * 800 B leave a layer in 82 000 ns, behind its K and V. */
    {"KV to the host", "mechanisms.resident_heads=none", "batch=1",
     2 * (LAYER_NS + 8000) + ENDS_NS},
    /* The first leaves at 221 020; each takes 2000 and 1 600 000. */
    {"KV to the host, slowly", "mechanisms.resident_heads=none", "hardware.link.d2h=500MB/s",
     221020 + 2 * 1602000},
    /* 1000 * 2000 B. */
    {"activations to the host",
     "mechanisms={prefetch: whole-layer, representation: act, sinks: 0tok, recent: 0tok}",
     "batch=1", 2 * (LAYER_NS + 20000) + ENDS_NS},
    /* Products 2 * 8 400 000 a token; 1000 * 1000 / 2 pairs of 4 * 1000; at 1000 FLOP/ns. What is
     * no product: norms 2 * 80 020, RoPE 48 000, K and V 16 000, activation 120 000. */
    {"bound by arithmetic", "mechanisms.resident_heads=all", "hardware.gpu.flops_bf16=1TFLOP/s",
     2 * (16800000 + 2000000 + 344040) + ENDS_NS},
    /* Of two sequences 688 040; HBM has room for what leaves. */
    {"two bound by arithmetic", "batch=2", "hardware.gpu.flops_bf16=1TFLOP/s",
     2 * (2 * (16800000 + 2000000) + 688040) + FURTHER_NS + ENDS_NS},
    /* A window of 4 + 64 + 532 tokens stays; each other has its average, 4 B a head. */
    {"what is outside the window to the host",
     "mechanisms={attention: hybrid, policy: window-maw, budget: 532tok}",
     "hardware.link.d2h=100MB/s", 221020 + 2 * (2000 + 400 * 4 * 204 * 10)},
    /* Keys are there at 303 020. A pass of k-means compares 4000 with one centroid, 100 FLOP each
     * at 1 FLOP/ns: no iteration is hidden, so 3 are made, and 2 passes beside. */
    {"codes trained on the host", HOST_PQ, "batch=1", 303020 + 2 * 5 * 400000},
    /* A layer hides 202 passes of 4000; the second layer's keys are there at 1 119 060. */
    {"codes trained as long as a layer takes", HOST_PQ, "hardware.host.kmeans=100GFLOP/s",
     1119060 + 202 * 4000},
    {"codes trained with more passes beside", HOST_PQ_AND(", cluster_passes: 4"), "batch=1",
     303020 + 2 * 7 * 400000},
    {"codes trained in 190 iterations at most", HOST_PQ_AND(", cluster_iterations_most: 190"),
     "hardware.host.kmeans=100GFLOP/s", 1119060 + 192 * 4000},
    {"codes trained in 300 iterations at most", HOST_PQ, "hardware.host.kmeans=1TFLOP/s",
     2 * (LAYER_NS + 8000) + ENDS_NS},
    {"what is dropped crosses no link", "mechanisms={policy: heavy-hitter, budget: 20%}",
     "hardware.link.d2h=100MB/s", 2 * LAYER_NS + ENDS_NS},
};

static void schedules_are_as_worked_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("%s\n", cases[i].what);
        assert_near((double)prefill_of(cases[i].one, cases[i].two), (double)cases[i].ns, ROUNDING);
    }
}

/* A layer's weights take 2000 + 1 680 400 ns behind the call of 1000: the second ones are there at
 * 3 365 800. From then on the first layer's come again, for decode, and leave 90 B/ns of HBM: after
 * 2000 ns of latency the layer's 80 804 000 B less 200 000 and the edge's 2 018 000. */
static void streamed_weights_come_once_a_layer(void **state)
{
    (void)state;
    double expected = 3365800 + 2000 + (80804000 - 200000 + 2018000) / 90.0 + 20000;
    int64_t whole = prefill_of("mechanisms={resident_heads: all, weights: 0%}", "batch=1");
    assert_near((double)whole, expected, ROUNDING);
    /* In two micro-batches none come twice. The first pass starts at 1 683 400; while the next
     * weights take their 1 682 400, 151 436 000 of a layer's 161 608 000 B are moved, the rest
     * behind them at 100 B/ns. */
    int64_t two = prefill_of("mechanisms={resident_heads: all, weights: 0%, micro_batch: zig-zag,"
                             " micro_batch_sequences: 1}",
                             "batch=2");
    assert_near((double)two, 1683400 + 2 * (1682400 + 101720) + TINY_EDGE_NS + FURTHER_NS + 20000,
                ROUNDING);
}

/* All keys are read once, 4 * 100 B a token; k-means reads them in each iteration. With 1000 tokens
 * in clusters of 16 each is compared with 63 centroids: 10 * 4000 * 63 * 100 FLOP. */
static void clusters_cost_their_iterations(void **state)
{
    (void)state;
    const char *slow = "hardware.gpu.flops_bf16=1TFLOP/s";
    char system[256];
    int64_t ns[2];
    for (int i = 0; i < 2; i++) {
        snprintf(system, sizeof system,
                 "mechanisms={retrieval: clusters, retrieval_keys: 1x, retrieval_tokens: 16tok,"
                 " selection: 10%%, retrieval_kernels: 3, transfer: sm-zero-copy,"
                 " cluster_iterations: %d}",
                 10 * i);
        ns[i] = prefill_of(system, "batch=1");
    }
    assert_near((double)ns[0], 2 * (LAYER_NS + 8000 + 4000) + ENDS_NS, ROUNDING);
    assert_near((double)(ns[1] - ns[0]), 2 * 9 * 4000, ROUNDING);
    int64_t without = prefill_of("mechanisms.resident_heads=none", slow);
    assert_near((double)(prefill_of(system, slow) - without), 2 * 252000, ROUNDING);
}

/* And the head: logits are gathered once. */
static void collectives_follow_attention_and_ffn(void **state)
{
    (void)state;
    char model[128], bare[128];
    int64_t got[2];
    for (int i = 0; i < 2; i++) {
        struct setup setup =
            SETUP(tiny_model(2, model), tiny_machine, bare_system(bare), "context=", "prompt=1000",
                  "mechanisms.resident_heads=all", "tensor_parallel=2",
                  i == 0 ? "hardware.gpu.collective=20us" : "hardware.gpu.collective=30us");
        got[i] = prefill_ns(&setup);
        setup_release(&setup);
    }
    assert_int_equal(got[1] - got[0], 2 * 2 * 10000 + 10000);
}

/* An all-reduce takes 10 ns a byte; a token has 2000 B. 1000 tokens in chunks of 400 are two chunks
 * and a rest of 200, so no byte is sent twice, and each all-reduce pays 3 us of its own. 1000
 * logits of 2 B are gathered as half as many bytes are reduced, in 3 us + 1000 B. */
static void each_chunk_has_its_own_collectives(void **state)
{
    static const struct {
        const char *chunk;
        int64_t ns;
    } expected[] = {
        {"mechanisms.prefill_chunk=0tok", 3000 + 20000000},
        {"mechanisms.prefill_chunk=1000tok", 3000 + 20000000},
        {"mechanisms.prefill_chunk=400tok", 3 * 3000 + 20000000},
        {"mechanisms.prefill_chunk=500tok", 2 * 3000 + 20000000},
    };
    (void)state;
    char model[128], bare[128];
    for (size_t i = 0; i < COUNT(expected); i++) {
        int64_t got[2];
        for (int j = 0; j < 2; j++) {
            struct setup setup = SETUP(
                tiny_model(2, model), tiny_machine, bare_system(bare), "context=", "prompt=1000",
                "mechanisms.resident_heads=all", "tensor_parallel=2", expected[i].chunk,
                j == 0 ? "hardware.gpu.collective=2us"
                       : "hardware.gpu.collective={points: [[0B, 3us], [1MB, 10003us]],"
                         " basis: assumed, range: [50%, 200%], source: made up}");
            got[j] = prefill_ns(&setup);
            setup_release(&setup);
        }
        int64_t chunks = (expected[i].ns - 20000000) / 3000;
        assert_near((double)(got[1] - got[0]),
                    2.0 * 2 * (double)(expected[i].ns - chunks * 2000) + 11000, ROUNDING);
    }
}

static void run_tiny(const char *context, const char *prompt, const char *output,
                     struct result *result)
{
    char model[128], bare[128];
    struct error why;
    struct setup setup = SETUP(tiny_model(2, model), tiny_machine, bare_system(bare), "batch=3",
                               "mechanisms.resident_heads=all", context, prompt, output);
    struct run_context runs;
    make_runs(&runs, 1);
    if (!run_setup(&setup, &runs, result, &why)) {
        fail_msg("%s", message_of(&why));
    }
    run_context_release(&runs);
    setup_release(&setup);
}

/* The prompt's pass gives the first token, as in a server. */
static void rate_counts_output_over_prefill_and_decode(void **state)
{
    struct result result;
    (void)state;
    run_tiny("context=1000", "prompt=1000", "output=50", &result);
    double prefill = 2 * (168040 + 3 * 640000) + 2 * FURTHER_NS + ENDS_NS;
    double step = (double)result_cell(&result, COLUMN(step_us))->integer;
    assert_int_equal(result_cell(&result, COLUMN(prefill_ms))->integer, (int64_t)prefill);
    assert_near(result_cell(&result, COLUMN(e2e_tokens_per_s))->real,
                3 * 50 * 1e9 / (prefill + 49 * step), 1e-6);
    assert_int_equal(result_cell(&result, COLUMN(extrapolated))->integer, 0);
    result_release(&result);

    run_tiny("context=1000", "prompt=1000", "output=none", &result);
    assert_true(result_cell(&result, COLUMN(prefill_ms))->set &&
                !result_cell(&result, COLUMN(e2e_tokens_per_s))->set);
    result_release(&result);

    run_tiny("context=1000", "prompt=none", "output=none", &result);
    assert_true(!result_cell(&result, COLUMN(prefill_ms))->set &&
                !result_cell(&result, COLUMN(e2e_tokens_per_s))->set);
    result_release(&result);

    /* The model was trained on 100 000 tokens. */
    run_tiny("context=100000", "prompt=99990", "output=11", &result);
    assert_int_equal(result_cell(&result, COLUMN(extrapolated))->integer, 1);
    result_release(&result);
}

static const struct {
    const char *context, *prompt, *output;
    uint64_t expected;
} contexts[] = {
    {"context=", "prompt=1920", "output=128", 1984},
    {"context=", "prompt=1920", "output=127", 1984},
    {"context=", "prompt=1920", "output=", 1920},
    {"context=4K", "prompt=1920", "output=128", 4096},
};

static void context_is_the_mean_of_decode_unless_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(contexts); i++) {
        struct setup setup = SETUP(contexts[i].context, contexts[i].prompt, contexts[i].output);
        assert_int_equal(setup.context, contexts[i].expected);
        setup_release(&setup);
    }
}

static const struct {
    const char *model, *prompt, *output, *found;
} refused[] = {
    {"model=llama-3-8b", "prompt=0", "output=", "'prompt' is '0'"},
    {"model=llama-3-8b", "prompt=10", "output=0", "'output' is '0'"},
    {"model=llama-3-8b", "prompt=", "output=10", "'output'"},
    {"model=opt-6.7b", "prompt=1921", "output=128", "cannot run 2049 tokens"},
    {"model=llama-3-8b", "prompt=1001", "output=128", "1000 tokens"},
};

static void senseless_requests_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct setup setup;
        struct error why;
        assert_false(try_setup(
            OVERRIDES("context=1000", refused[i].model, refused[i].prompt, refused[i].output),
            &setup, &why));
        if (strstr(message_of(&why), refused[i].found) == NULL) {
            fail_msg("'%s', not '%s'", message_of(&why), refused[i].found);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_are_as_worked_out),
        cmocka_unit_test(streamed_weights_come_once_a_layer),
        cmocka_unit_test(clusters_cost_their_iterations),
        cmocka_unit_test(collectives_follow_attention_and_ffn),
        cmocka_unit_test(each_chunk_has_its_own_collectives),
        cmocka_unit_test(rate_counts_output_over_prefill_and_decode),
        cmocka_unit_test(context_is_the_mean_of_decode_unless_said),
        cmocka_unit_test(senseless_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
