/* What a system does with its memory: sizes by hand, the largest batch, steps. */
#include "unit/fixture/rounds.h"
#include "unit/fixture/tiny.h"

#include "core/named.h"
#include "core/units.h"
#include "decode/plan/memory.h"

#include <math.h>

/* ---- sizes ----------------------------------------------------------------------------------- */

/* batch * 32 layers * 8 KV heads * 3 * round(10 % of the clusters) * 16 tokens * 512 B. Clusters
 * are context / 16, a multiple of 8 and of the segments of 8192 tokens: all of these are. */
static const struct {
    const char *context, *batch;
    uint64_t bytes;
    const char *gib;
} retroinfer_caches[] = {
    /* 2048 clusters, 205 of them: 256 * 615 * 8192 */
    {"context=32768", "batch=1", 1289748480, "1.20"},
    /* 4096, 410: 256 * 1230 * 8192 */
    {"context=65536", "batch=1", 2579496960, "2.40"},
    /* 8192, 819: 256 * 2457 * 8192 */
    {"context=131072", "batch=1", 5152702464, "4.80"},
    /* 512, 51, 32 sequences: 32 * 256 * 153 * 8192 */
    {"context=8192", "batch=32", 10267656192, "9.56"},
    {"context=8192", "batch=64", 20535312384, "19.12"},
};

static void retroinfer_cache_is_as_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(retroinfer_caches); i++) {
        struct setup setup = SETUP("system=retroinfer-10pct", retroinfer_caches[i].context,
                                   retroinfer_caches[i].batch);
        struct plan plan = make_plan(&setup);
        char gib[32];
        snprintf(gib, sizeof gib, "%.2f", (double)plan.memory.in[TIER_GPU].cache / (1 << 30));
        assert_int_equal(plan.memory.in[TIER_GPU].cache, retroinfer_caches[i].bytes);
        assert_int_equal(plan.budget_bytes, retroinfer_caches[i].bytes);
        assert_string_equal(gib, retroinfer_caches[i].gib);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* Contexts that no number of clusters divides: clusters, tokens / 16 to the nearest multiple of 8
 * and of the segments. */
static const struct {
    const char *context;
    uint64_t entries, selected, estimated;
} clusters[] = {
    {"context=100", 8, 16, 2},          /* 6 → 8: one is selected, 1.9 estimated */
    {"context=1600", 104, 160, 24},     /* 100 → 104: 10.4, 24.1 */
    {"context=24576", 1536, 2464, 356}, /* 3 segments, so of 24: 1536 = 64 * 24; 153.6 → 154 */
    {"context=40000", 2520, 4032, 585}, /* 5 segments, so of 40: 2500 → 2520; 252; 584.64 */
};

static void clusters_come_in_segments(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(clusters); i++) {
        struct setup setup = SETUP("system=retroinfer-10pct", clusters[i].context);
        struct plan plan = make_plan(&setup);
        assert_int_equal(plan.cohorts[0].sizes.entries, clusters[i].entries);
        assert_int_equal(plan.cohorts[0].sizes.selected_tokens, clusters[i].selected);
        assert_int_equal(plan.cohorts[0].sizes.estimated_entries, clusters[i].estimated);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* 1600 tokens are 104 clusters of 16, 1664 tokens. */
static void no_more_than_the_context_is_selected(void **state)
{
    (void)state;
    struct setup setup = SETUP("system=retroinfer-10pct", "context=1600",
                               "mechanisms.selection=100%", "mechanisms.estimation=0%");
    struct plan plan = make_plan(&setup);
    assert_int_equal(plan.cohorts[0].sizes.selected_tokens, 1600);
    plan_release(&plan);
    setup_release(&setup);
}

/* QSAC holds one selection: 205 of 2048 clusters at 32K tokens. A budget of as many per cent as the
 * selection pays for it, though 10 % of the tokens are 204 blocks; a larger one is not used. */
static void qsac_holds_one_selection(void **state)
{
    static const char *const budgets[] = {"mechanisms.budget=1x", "mechanisms.budget=10%",
                                          "mechanisms.budget=50%", "mechanisms.budget=4GiB"};
    (void)state;
    for (size_t i = 0; i < COUNT(budgets); i++) {
        struct setup setup = SETUP("system=retroinfer-10pct", "context=32768",
                                   "mechanisms.manager=gpu", "mechanisms.policy=qsac", budgets[i]);
        struct plan plan = make_plan(&setup);
        assert_int_equal(plan.cohorts[0].sizes.cache_tokens, 205 * 16);
        assert_int_equal(plan.memory.in[TIER_GPU].cache, 256ULL * 205 * 16 * 512);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* CLO keeps layer 0 whole and 10 % of the other 31 layers: 1/32 + 31/320 = 12.8125 % of the KV, and
 * 4 + 64 tokens for each of the 248 heads that leave. */
static const struct {
    const char *context, *batch;
    uint64_t resident, cache, window;
} clo_floors[] = {
    /* 8 * 40960 * 512; 248 * 4096 * 512: 687 865 856 of 5 368 709 120, 12.8125 % to the byte */
    {"context=40960", "batch=1", 167772160, 520093696, 8634368},
    {"context=40960", "batch=3", 503316480, 1560281088, 25903104},
    /* 8 * 131072 * 512; 10 % are 13107.2 tokens: 248 * 13107 * 512 */
    {"context=131072", "batch=1", 536870912, 1664274432, 8634368},
};

static void clo_keeps_layer_0_and_a_tenth(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(clo_floors); i++) {
        struct setup setup = SETUP("system=clo", clo_floors[i].context, clo_floors[i].batch);
        struct plan plan = make_plan(&setup);
        assert_int_equal(plan.memory.in[TIER_GPU].kv, clo_floors[i].resident);
        assert_int_equal(plan.memory.in[TIER_GPU].cache, clo_floors[i].cache);
        assert_int_equal(plan.memory.in[TIER_GPU].window, clo_floors[i].window);
        plan_release(&plan);
        setup_release(&setup);
    }
    assert_int_equal(clo_floors[0].resident + clo_floors[0].cache, 5368709120 * 128125 / 1000000);
}

/* Pages that a layer's pinned weights do not fill: of two norms of 2000 B, Q, K and V of 933 333 B
 * each, o of 2 000 000, gate, up and down of 4 000 000 each. */
enum { TINY_LAYER_PADDING = 2 * 2096 + 1664 + 2944 + 3 * 1792 };

/* Every term of the memory of two sequences of 1000 tokens of the tiny model with 2 layers: 8 KV
 * heads in all, of 400 B a token. Systems that offload select 10 %, 100 tokens. */
static const struct {
    const char *mechanisms;
    struct expected_memory {
        uint64_t weights; /* 0: all of them */
        uint64_t resident, window, cache, metadata, buffers, workspace, host_padding;
        uint64_t dram; /* the sum */
    } memory;
} tiny_memories[] = {
    /* All KV: 8 * 1000 * 400. Two hidden states of 2 B * 1000, and what the FFN's activation reads
     * and writes of both sequences, 2 * 3 * 2 B * 2000, which is more than logits of 4 B * 1000. */
    {"{resident_heads: all}", {.resident = 3200000, .workspace = 28000}},
    /* Windows of 68 tokens: 8 * 68 * 400. What retrieval reads: 8 * 1000 * 32 * 2. No cache, so a
     * layer's selection in a buffer, 4 * 100 * 400; scores of a layer, 8 * 1000 * 4. All KV in host
     * memory. */
    {"{retrieval: hata, retrieval_bytes: 32B, selection: 10%, transfer: cpu-store}",
     {.window = 217600,
      .metadata = 512000,
      .buffers = 160000,
      .workspace = 60000,
      .dram = 3200000}},
    /* The same selection as a count; the window is a tenth and 4 sinks: 8 * 104 * 400. */
    {"{retrieval: hata, retrieval_bytes: 32B, selection: 100tok, recent: 10%, transfer: cpu-store}",
     {.window = 332800,
      .metadata = 512000,
      .buffers = 160000,
      .workspace = 60000,
      .dram = 3200000}},
    /* The second layer alone has an index, 4 * 1000 * 32 * 2, in host memory, and two buffers in
     * HBM; the first loads everything. */
    {"{retrieval: pq, retrieval_bytes: 32B, selection: 10%, transfer: cpu-store,"
     " prefetch: next-layer, full_layers: 1, retrieval_stream: yes}",
     {.window = 217600,
      .metadata = 512000,
      .buffers = 3200000,
      .workspace = 60000,
      .host_padding = 2048, /* 62.5 pages are 63 */
      .dram = 3456000 + 2048}},
    /* Copies of a layer's index and of 168 tokens for each of 5 query heads of 4 KV heads:
     * 2 * 4 * 5 * (1000 * 32 + 168 * 200), beside the 160000 of the selection. */
    {"{retrieval: pq, retrieval_bytes: 32B, selection: 10%, transfer: cpu-store, repeat_kv: yes}",
     {.window = 217600,
      .metadata = 512000,
      .buffers = 2784000,
      .workspace = 60000,
      .dram = 3200000}},
    /* A layer ahead: two buffers. A gather stages twice a layer's selection in host memory. */
    {"{retrieval: hata, retrieval_bytes: 32B, selection: 10%, prefetch: next-layer,"
     " transfer: gather+copy}",
     {.window = 217600,
      .metadata = 512000,
      .buffers = 320000,
      .workspace = 60000,
      .host_padding = 4 * (81920 - 80000), /* four buffers of 19.5 pages */
      .dram = 3520000 + 7680}},
    /* A first layer that loads everything: two buffers of all 1000 tokens, and no
     * index: 4 * 1000 * 32 * 2. */
    {"{retrieval: hata, retrieval_bytes: 32B, selection: 10%, transfer: cpu-store,"
     " prefetch: next-layer, full_layers: 1}",
     {.window = 217600,
      .metadata = 256000,
      .buffers = 3200000,
      .workspace = 60000,
      .dram = 3200000}},
    /* The first layer resident, 4 * 1000 * 400; windows and caches of 200 tokens for the other 4
     * heads. What is not merged goes straight into the cache: no buffer. */
    {"{retrieval: hata, retrieval_bytes: 32B, selection: 10%, transfer: cpu-store,"
     " resident_heads: first-layer, policy: lru, budget: 2x}",
     {.resident = 1600000,
      .window = 108800,
      .cache = 320000,
      .metadata = 512000,
      .workspace = 60000,
      .dram = 1600000}},
    /* Both layers: nothing is left to offload. */
    {"{retrieval: hata, retrieval_bytes: 32B, selection: 10%, transfer: cpu-store,"
     " resident_heads: first-layer, resident_layers: 2, policy: lru, budget: 2x}",
     {.resident = 3200000, .metadata = 512000, .workspace = 60000}},
    /* 64 clusters of 16 tokens, of which 6 are selected, 96 tokens. An estimation zone reads K and
     * V of a cluster's summary, 200 B, where these are more than the centroid: 8 * 64 * 200 * 2.
     * One execution buffer: 4 * 96 * 400. */
    {"{retrieval: clusters, retrieval_tokens: 16tok, retrieval_bytes: 100B, selection: 10%,"
     " transfer: cpu-store, policy: lru, budget: 2x, merge: yes, estimation: 20%}",
     {.window = 217600,
      .cache = 614400,
      .metadata = 204800,
      .buffers = 153600,
      .workspace = 30048,
      .dram = 3200000}},
    /* Three quarters of both layers' weights lie in host memory, 12 603 000 B each; two buffers. */
    {"{resident_heads: all, weights: 25%}",
     {.weights = 2 * TINY_LAYER_WEIGHTS + TINY_EDGE_WEIGHTS - 25206000,
      .resident = 3200000,
      .buffers = 25206000,
      .workspace = 28000,
      .host_padding = 3 * TINY_LAYER_PADDING / 2,
      .dram = 25206000 + 3 * TINY_LAYER_PADDING / 2}},
    /* A fifth of each head's 1000 tokens is kept, 8 * 200 * 400; the rest is nowhere. */
    {"{policy: heavy-hitter, budget: 20%, sinks: 0tok, recent: 0tok, transfer: sm-zero-copy}",
     {.cache = 640000, .workspace = 28000}},
    /* Two buffers of one sequence's KV in a layer, 800 000 B, and two of the larger half of a
     * layer's weights, without norm and QKV: 16 804 000 - 2 802 000. */
    {"{prefetch: whole-layer, micro_batch: zig-zag, micro_batch_sequences: 1, weights: 0%,"
     " halves: yes}",
     {.weights = TINY_EDGE_WEIGHTS,
      .window = 217600,
      .buffers = 1600000 + 2 * 14002000,
      .workspace = 16000,
      .host_padding = 4 * (802816 - 800000) + 2 * TINY_LAYER_PADDING, /* K, V: 195.3 pages */
      .dram = 3200000 + 2 * TINY_LAYER_WEIGHTS + 11264 + 2 * TINY_LAYER_PADDING}},
    /* The same by PyTorch: each K or V of a layer 1 MiB, each matrix a power of two: norms 2048,
     * Q, K and V 1 MiB each, o 2 MiB, up, gate and down 4 MiB each. */
    {"{prefetch: whole-layer, micro_batch: zig-zag, micro_batch_sequences: 1, weights: 0%,"
     " halves: yes, pinned_rounding: powers}",
     {.weights = TINY_EDGE_WEIGHTS,
      .window = 217600,
      .buffers = 1600000 + 2 * 14002000,
      .workspace = 16000,
      .host_padding = (4 << 20) - 3200000 + 2 * ((17 << 20) + 4096 - TINY_LAYER_WEIGHTS),
      .dram = (38 << 20) + 2 * 4096}},
    /* Pageable KV takes what it is. */
    {"{prefetch: whole-layer, weights: 0%, transfer: pageable, pinned_rounding: powers}",
     {.weights = TINY_EDGE_WEIGHTS,
      .window = 217600,
      .buffers = 3200000 + 2 * TINY_LAYER_WEIGHTS,
      .workspace = 28000,
      .host_padding = 2 * ((17 << 20) + 4096 - TINY_LAYER_WEIGHTS),
      .dram = 3200000 + 2 * ((17 << 20) + 4096)}},
};

static void memory_is_the_sum_of_its_terms(void **state)
{
    (void)state;
    char model[128], bare[128];
    tiny_model(2, model);
    bare_system(bare);
    for (size_t i = 0; i < COUNT(tiny_memories); i++) {
        const struct expected_memory *expected = &tiny_memories[i].memory;
        char mechanisms[256];
        snprintf(mechanisms, sizeof mechanisms, "mechanisms=%s", tiny_memories[i].mechanisms);
        struct setup setup =
            SETUP(model, tiny_machine, bare, "context=1000", "batch=2", mechanisms);
        struct plan plan = make_plan(&setup);
        uint64_t weights =
            expected->weights > 0 ? expected->weights : 2 * TINY_LAYER_WEIGHTS + TINY_EDGE_WEIGHTS;
        assert_int_equal(plan.memory.in[TIER_GPU].weights, weights);
        assert_int_equal(plan.memory.in[TIER_GPU].kv, expected->resident);
        assert_int_equal(plan.memory.in[TIER_GPU].window, expected->window);
        assert_int_equal(plan.memory.in[TIER_GPU].cache, expected->cache);
        assert_int_equal(plan.memory.in[TIER_GPU].metadata, expected->metadata);
        assert_int_equal(plan.memory.in[TIER_GPU].buffers, expected->buffers);
        assert_int_equal(plan.memory.in[TIER_GPU].workspace, expected->workspace);
        assert_int_equal(plan.memory.in[TIER_HOST].padding, expected->host_padding);
        assert_int_equal(plan.memory.in[TIER_HOST].all, expected->dram);
        assert_int_equal(plan.memory.in[TIER_GPU].all,
                         weights + expected->resident + expected->window + expected->cache +
                             expected->metadata + expected->buffers + expected->workspace);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* Two layers, two sequences of 1000 tokens a pass, whose KV of 2 * 4 * 200 B a token lies on the
 * host. Each rank has a copy of the weights, and each stage a layer with the embedding, or with
 * norm and head; both have passes of their own. In HBM a stage has the KV of both passes in its
 * layer: as much as that of one pass in both. A pool of tokens takes half of their bytes on each
 * stage. */
static void ranks_and_stages_have_memory_of_their_own(void **state)
{
    static const struct {
        const char *form;
        uint64_t weights, host, pool;
    } cases[] = {
        {"data_parallel=1", 2 * TINY_LAYER_WEIGHTS + TINY_EDGE_WEIGHTS, 3200000, 16000000},
        {"data_parallel=3", 2 * TINY_LAYER_WEIGHTS + TINY_EDGE_WEIGHTS, 9600000, 16000000},
        {"pipeline_parallel=2", TINY_LAYER_WEIGHTS + 2002000, 6400000, 8000000},
    };
    (void)state;
    char model[128], bare[128];
    tiny_model(2, model);
    bare_system(bare);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup setup =
            SETUP(model, tiny_machine, bare, "context=1000", "batch=2", cases[i].form);
        struct plan plan = make_plan(&setup);
        assert_int_equal(plan.memory.in[TIER_GPU].weights, cases[i].weights);
        assert_int_equal(plan.memory.in[TIER_HOST].kv, cases[i].host);
        plan_release(&plan);
        setup_release(&setup);
        setup = SETUP(model, tiny_machine, bare, "context=1000", "batch=2", cases[i].form,
                      "mechanisms.resident_heads=all", "kv_pool_tokens=10000");
        plan = make_plan(&setup);
        assert_int_equal(plan.memory.in[TIER_GPU].kv, 3200000);
        assert_int_equal(plan.limit[TIER_GPU], plan.memory.in[TIER_GPU].weights +
                                                   plan.memory.in[TIER_GPU].workspace +
                                                   cases[i].pool);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* ---- a model's own indexer ------------------------------------------------------------------- */

/* DeepSeek-V3.2: 2048 tokens of any context; a key of 128 values and a scale of 4 B for each token
 * in 61 layers, on every GPU. Without an indexer the system's own count and codes; a system that
 * does not ask selects nothing. */
static const struct {
    const char *model, *system;
    const char *context;
    uint64_t selected, metadata;
} indexers[] = {
    {"model=deepseek-v3.2", "system=vllm", "context=131072", 2048, 0}, /* in the engine's KV */
    {"model=deepseek-v3.2", "system=hisparse", "context=131072", 2048, 61ull * 131072 * 132},
    {"model=glm-5.3", "system=vllm", "context=131072", 2048, 0},
    {"model=deepseek-v3.2", "system=vllm", "context=2048", 2048, 0},
    {"model=deepseek-v3.2", "system=fullattn", "context=131072", 131072, 0},
    {"model=llama-3-8b", "system=vllm", "context=131072", 131072, 0},
    {"model=llama-3-8b", "system=hisparse", "context=131072", 2048, 256ull * 131072 * 132},
};

static void models_own_indexer_selects_its_own_count(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(indexers); i++) {
        struct setup setup = SETUP(indexers[i].model, "hardware=h200", indexers[i].system,
                                   indexers[i].context, "mechanisms.retrieval_kernels=5");
        struct plan plan = make_plan(&setup);
        assert_int_equal(plan.cohorts[0].sizes.selected_tokens, indexers[i].selected);
        assert_int_equal(plan.memory.in[TIER_GPU].metadata, indexers[i].metadata);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* ---- layers that keep no KV of the whole context --------------------------------------------- */

/* KV in HBM of 3 sequences, whatever the system does with layers that keep all: a state of 36 layers
 * (test_shipped.c), windows of 29 layers, chunks of 36. */
static void windows_chunks_and_states_stay_in_hbm(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        uint64_t full, local; /* bytes of a sequence of 100000 tokens */
    } cases[] = {
        {"model=qwen3-next-80b-a3b", UINT64_C(12) * 100000 * 2048, UINT64_C(36) * 1097728},
        {"model=gemma-3-4b", UINT64_C(5) * 100000 * 4096, UINT64_C(29) * 1024 * 4096},
        {"model=llama-4-scout", UINT64_C(12) * 100000 * 4096, UINT64_C(36) * 8192 * 4096},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup vllm = SETUP(cases[i].model, "hardware=b300", "system=vllm", "engine=none",
                                  "batch=3", "context=100000");
        struct setup retroinfer = SETUP(cases[i].model, "hardware=b300", "system=retroinfer-10pct",
                                        "batch=3", "context=100000");
        struct plan all = make_plan(&vllm), some = make_plan(&retroinfer);
        print_message("# %s\n", cases[i].model);
        assert_int_equal(all.memory.in[TIER_GPU].kv, 3 * (cases[i].full + cases[i].local));
        assert_int_equal(some.memory.in[TIER_GPU].kv, 3 * cases[i].local);
        plan_release(&all);
        plan_release(&some);
        setup_release(&vllm);
        setup_release(&retroinfer);
    }
}

/* ---- budgets --------------------------------------------------------------------------------- */

/* RetroInfer, two sequences of 131072 tokens, blocks of 16 tokens, 819 * 16 tokens selected. */
static const struct {
    const char *budget;
    uint64_t tokens; /* a head */
} budgets[] = {
    {"0x", 0},         {"30%", 39312}, /* 39321.6 tokens, 2457 blocks */
    {"3x", 39312},                     /* 3 * 13104 */
    {"0.5x", 6544},                    /* 6552 tokens, 409.5 blocks */
    {"4096tok", 4096}, {"4100tok", 4096},
    {"16tok", 16},     {"8GiB", 32768}, /* 2^33 / (2 * 256 heads * 512 B) */
    {"5GB", 19072},                     /* 19073.5 tokens, 1192 blocks */
    {"4MiB", 16},                       /* a block for each head */
    {"100%", 131072},  {"20x", 131072}, /* more than there is */
    {"1TiB", 131072},
};

static void budgets_of_every_unit_become_blocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(budgets); i++) {
        char budget[64];
        snprintf(budget, sizeof budget, "mechanisms.budget=%s", budgets[i].budget);
        struct setup setup = SETUP("system=retroinfer-10pct", "batch=2", budget);
        struct plan plan = make_plan(&setup);
        if (plan.cohorts[0].sizes.cache_tokens != budgets[i].tokens) {
            fail_msg("%s: %llu tokens, not %llu", budgets[i].budget,
                     (unsigned long long)plan.cohorts[0].sizes.cache_tokens,
                     (unsigned long long)budgets[i].tokens);
        }
        assert_int_equal(plan.memory.in[TIER_GPU].cache,
                         plan.cohorts[0].sizes.cache_tokens * 2 * 256 * 512);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* A plan that is refused, and what is said. */
static const struct {
    const char *overrides[3];
    const char *message;
} refused[] = {
    {{"system=clo", "mechanisms.selection=0.01%", "context=4K"},
     "a selection of 0.01 % of 4096 tokens is empty\n"
     "  expected: a larger one, such as 0.0244 % (tokens: 1)"},
    {{"system=retroinfer-10pct", "mechanisms.selection=0.01%", "context=4K"}, /* whole clusters */
     "a selection of 0.01 % of 4096 tokens is empty\n"
     "  expected: a larger one, such as 0.391 % (tokens: 16)"},
    {{"system=retroinfer-10pct", "mechanisms.budget=15tok"},
     "the budget is less than one block for each head\n"
     "  expected: at least 16 tokens for each of 256 heads of 1 sequences"},
    {{"system=retroinfer-10pct", "mechanisms.budget=0.01%"}, /* 13.1 tokens */
     "the budget is less than one block for each head\n"
     "  expected: at least 16 tokens for each of 256 heads of 1 sequences"},
    {{"system=retroinfer-10pct", "mechanisms.budget=4MiB", "batch=3"},
     "the budget is less than one block for each head\n"
     "  expected: at least 16 tokens for each of 256 heads of 3 sequences"},
    {{"system=clo", "mechanisms.budget=0.99x"},
     "policy 'qsac' caches whole selections, and the budget is less than one\n"
     "  expected: a budget of at least 1x"},
    {{"system=clo", "mechanisms.budget=13106tok"},
     "policy 'qsac' caches whole selections, and the budget is less than one\n"
     "  expected: a budget of at least 1x"},
    {{"system=clo", "mechanisms.budget=0x"},
     "policy 'qsac' caches whole selections, and the budget is less than one\n"
     "  expected: a budget of at least 1x"},
    {{"system=fullattn", "model=opt-6.7b", "context=2049"},
     "'opt-6.7b' has learned positions and cannot run 2049 tokens\n"
     "  expected: a context of at most 2048"},
    {{"system=retroinfer-10pct", "mechanisms.selection=100800tok"}, /* 76.9 % and 23.2 % */
     "selection and estimation together are more than all entries\n"
     "  expected: at most 8192 entries, not 6300 + 1901"},
    {{"system=clo", "context=68"},
     "a context of 68 tokens has nothing outside the window\n"
     "  expected: more than 68 tokens"},
};

static void what_cannot_be_planned_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        const char *third = refused[i].overrides[2];
        struct setup setup = SETUP(refused[i].overrides[0], refused[i].overrides[1],
                                   third != NULL ? third : "seed=1");
        struct plan plan;
        struct trust trust = {.basis = BASIS_MEASURED};
        struct error why;
        assert_false(plan_resolve(&setup, NULL, &plan, &trust, &why));
        assert_string_equal(message_of(&why), refused[i].message);
        assert_int_equal(why.kind, ERROR_USAGE);
        assert_null(plan.arrays.last);
        setup_release(&setup);
    }
}

/* 10 % of 65536 is 6553.6: the budget and the selection round alike. */
static void equal_shares_of_budget_and_selection_are_1x(void **state)
{
    (void)state;
    for (uint64_t context = 1000; context < 1010; context++) {
        char text[64];
        snprintf(text, sizeof text, "context=%llu", (unsigned long long)context);
        struct setup setup = SETUP("system=clo", text, "mechanisms.budget=10%");
        struct plan plan = make_plan(&setup);
        assert_int_equal(plan.cohorts[0].sizes.cache_tokens, plan.cohorts[0].sizes.selected_tokens);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* ---- context --------------------------------------------------------------------------------- */

static const struct {
    const char *model, *context;
    bool extrapolated;
} contexts[] = {
    {"model=llama-3.1-8b", "context=131072", false}, {"model=llama-3.1-8b", "context=131073", true},
    {"model=llama-3-8b", "context=1048576", false},  {"model=llama-3-8b", "context=1048577", true},
    {"model=opt-6.7b", "context=2048", false},
};

static void context_past_the_trained_one_is_marked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(contexts); i++) {
        struct setup setup = SETUP(contexts[i].model, contexts[i].context);
        struct plan plan;
        struct trust trust = {.basis = BASIS_MEASURED};
        struct error why;
        assert_true(plan_resolve(&setup, NULL, &plan, &trust, &why));
        assert_int_equal(trust.extrapolated, contexts[i].extrapolated);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* ---- sliding windows ------------------------------------------------------------------------- */

/* gpt-oss-120b: 36 layers, every other one slides over 128 tokens; 8 KV heads of 64. */
static void sliding_layers_stay(void **state)
{
    (void)state;
    struct setup setup = SETUP("model=gpt-oss-120b", "system=retroinfer-10pct", "hardware=h200");
    struct plan plan = make_plan(&setup);
    for (uint32_t l = 0; l < plan.layers; l++) {
        bool slides = setup.model.layers[l].attention == ATTENTION_SLIDING;
        assert_int_equal(slides, l % 2 == 0);
        assert_int_equal(plan.offloaded[l], slides ? 0 : 8);
        for (uint32_t h = 0; h < plan.kv_heads; h++) {
            assert_int_equal(plan.heads[l * plan.kv_heads + h].offloaded, !slides);
        }
    }
    assert_int_equal(plan.memory.in[TIER_GPU].kv, 18 * 8 * 128 * 256);         /* 18 windows */
    assert_int_equal(plan.memory.in[TIER_GPU].window, 18 * 8 * 68 * 256);      /* of the others */
    assert_int_equal(plan.memory.in[TIER_HOST].all, 18ULL * 8 * 131072 * 256); /* all their KV */
    assert_int_equal(plan.memory.in[TIER_GPU].cache, 18ULL * 8 * 2457 * 16 * 256); /* 3x */
    plan_release(&plan);
    setup_release(&setup);
}

/* ---- the largest batch ----------------------------------------------------------------------- */

/* Does the setup run with so many sequences? A cache that cannot be had does not. */
static bool fits_at(struct setup *setup, uint32_t batch, struct plan *plan)
{
    struct trust trust = {.basis = BASIS_MEASURED};
    struct error why;
    setup->batch = batch;
    memset(plan, 0, sizeof *plan);
    return plan_resolve(setup, NULL, plan, &trust, &why) && plan->fits;
}

/* The plan at max_batch fits and the one behind it does not, for the reason that is given. */
static void check_largest(struct setup *setup, uint32_t largest, enum tier_id limit)
{
    struct plan plan;
    if (largest > 0) {
        assert_true(fits_at(setup, largest, &plan));
        assert_true(plan.memory.in[TIER_GPU].all <= plan.limit[TIER_GPU] &&
                    plan.memory.in[TIER_HOST].all <= plan.limit[TIER_HOST]);
        plan_release(&plan);
    }
    assert_false(fits_at(setup, largest + 1, &plan));
    if (plan.arrays.last != NULL) {
        bool hbm = plan.memory.in[TIER_GPU].all > plan.limit[TIER_GPU],
             dram = plan.memory.in[TIER_HOST].all > plan.limit[TIER_HOST];
        assert_true(hbm || dram);
        assert_int_equal(limit, hbm ? TIER_GPU : TIER_HOST);
        assert_int_equal(plan.max_batch, largest);
    } else {
        assert_int_equal(limit, TIER_GPU);
    }
    plan_release(&plan);
}

/* A server asks about thousands of batches, none of which is the largest. */
static void nobody_searches_a_batch_that_every_memory_holds(void **state)
{
    (void)state;
    struct setup setup = SETUP("batch=3");
    setup.unlimited_memory = true;
    struct plan plan = make_plan(&setup);
    assert_true(plan.fits);
    assert_int_equal(plan.batch, 3);
    assert_int_equal(plan.max_batch, 3);
    plan_release(&plan);
    setup_release(&setup);
}

static const char *const batch_budgets[] = {"",
                                            "mechanisms.budget=1x",
                                            "mechanisms.budget=3x",
                                            "mechanisms.budget=30%",
                                            "mechanisms.budget=14000tok",
                                            "mechanisms.budget=4GiB"};
static const char *const batch_machines[][2] = {
    {"hardware=a40", "context=8192"},         {"hardware=h200", "context=131072"},
    {"hardware=h200", "host_memory=40GiB"},   {"hardware=a40", "hbm_reserve=20GiB"},
    {"hardware=a40", "kv_pool_tokens=60000"},
};

/* With a budget in bytes the cache rounds down to blocks at every batch, so that only the edge is
 * sharp; otherwise every smaller batch fits. Systems that want a disk or a pool are refused. */
static void largest_batch_is_the_last_that_fits(void **state)
{
    (void)state;
    char **systems;
    size_t count, checked = 0;
    struct error why;
    assert_true(find_names("scenarios/systems", "yaml", &systems, &count, &why));
    for (size_t s = 0; s < count; s++) {
        char system[64];
        snprintf(system, sizeof system, "system=%s", systems[s]);
        for (size_t i = 0; i < COUNT(batch_budgets) * COUNT(batch_machines); i += ROUNDS(1, 5)) {
            const char *budget = batch_budgets[i % COUNT(batch_budgets)];
            const char *const *machine = batch_machines[i / COUNT(batch_budgets)];
            struct setup setup;
            if (!try_setup(OVERRIDES(system, machine[0], machine[1], "batch=max",
                                     budget[0] ? budget : "seed=1"),
                           &setup, &why)) {
                continue; /* a budget without a policy */
            }
            struct plan plan;
            struct trust trust = {.basis = BASIS_MEASURED};
            if (plan_resolve(&setup, NULL, &plan, &trust, &why)) {
                uint32_t largest = plan.max_batch;
                assert_int_equal(plan.batch, largest > 0 ? largest : 1);
                assert_int_equal(plan.fits, largest > 0);
                enum tier_id limit = plan.full;
                plan_release(&plan);
                check_largest(&setup, largest, limit);
                for (uint32_t batch = 1; strstr(budget, "GiB") == NULL && batch <= largest;
                     batch += 1 + largest / 4) {
                    assert_true(fits_at(&setup, batch, &plan));
                    plan_release(&plan);
                }
                checked++;
            } else {
                assert_int_equal(why.kind, ERROR_USAGE);
            }
            setup_release(&setup);
        }
        free(systems[s]);
    }
    free(systems);
    assert_true(ROUNDS(1, 5) * checked > count * COUNT(batch_budgets) * COUNT(batch_machines) / 3);
}

/* One token of a small model: nothing stops it but the most that a scenario may say. */
static void largest_batch_is_at_most_the_most_that_can_be_said(void **state)
{
    (void)state;
    struct setup setup = SETUP("model=gemma-3-270m", "hardware=h200", "context=1",
                               "hardware.gpu.hbm_capacity=100TiB", "batch=1048576");
    struct plan plan = make_plan(&setup);
    assert_true(plan.fits);
    assert_int_equal(plan.max_batch, 1048576);
    plan_release(&plan);
    setup_release(&setup);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The trace has 7 steps. -1: refused. */
static const struct {
    const char *steps, *warmup;
    int64_t reported, replayed;
} step_cases[] = {
    {"steps=all", "warmup=auto", 4, 3},      {"steps=all", "warmup=0", 7, 0},
    {"steps=2", "warmup=auto", 2, 3},        {"steps=4", "warmup=auto", 4, 3},
    {"steps=5", "warmup=auto", -1, 0},       {"steps=1", "warmup=6", 1, 6},
    {"steps=all", "warmup=7", -1, 0},        {"steps=2", "warmup=6", -1, 0},
    {"steps=1", "warmup=4000000000", -1, 0},
};

static void steps_are_those_that_the_trace_has(void **state)
{
    (void)state;
    char model[128], trace[128];
    tiny_model(3, model);
    tiny_trace("other", trace);
    for (size_t i = 0; i < COUNT(step_cases); i++) {
        struct setup setup = SETUP(model, tiny_machine, trace, "context=1000", step_cases[i].steps,
                                   step_cases[i].warmup);
        struct plan plan;
        struct trust trust = {.basis = BASIS_MEASURED};
        struct error why;
        bool good = plan_resolve(&setup, NULL, &plan, &trust, &why);
        assert_int_equal(good, step_cases[i].reported > 0);
        if (good) {
            assert_int_equal(plan.steps, step_cases[i].reported);
            assert_int_equal(plan.warmup, step_cases[i].replayed);
            plan_release(&plan);
        } else {
            assert_non_null(strstr(why.found, "the trace has 7 steps, too few"));
            assert_string_equal(why.expected, "'warmup' and 'steps' that add up to at most 7");
        }
        setup_release(&setup);
    }
}

/* Of seven recorded steps, two drafts: the last that three queries can read is the fifth. */
static const struct {
    const char *drafts;
    uint32_t steps, places[6];
} draft_cases[] = {
    {"drafts={count: 2, method: ngram, acceptance: 0%}", 5, {0, 1, 2, 3, 4, 5}},
    {"drafts={count: 2, method: ngram, acceptance: 100%}", 2, {0, 3, 6}},
    {"drafts={count: 6, method: ngram, acceptance: 0%}", 1, {0, 1}},
};

static void steps_begin_behind_accepted_drafts(void **state)
{
    (void)state;
    char model[128], trace[128];
    tiny_model(3, model);
    tiny_trace("other", trace);
    for (size_t i = 0; i < COUNT(draft_cases); i++) {
        struct setup setup = SETUP(model, tiny_machine, trace, "context=1000",
                                   "system=retroinfer-10pct", "warmup=0", draft_cases[i].drafts);
        struct plan plan = make_plan(&setup);
        assert_int_equal(plan.steps, draft_cases[i].steps);
        assert_memory_equal(plan.rows, draft_cases[i].places, (plan.steps + 1) * sizeof *plan.rows);
        plan_release(&plan);
        setup_release(&setup);
    }
}

static void assumed_ledger_needs_no_warmup(void **state)
{
    (void)state;
    struct setup setup = SETUP("system=clo", "steps=3", "warmup=100");
    struct plan plan = make_plan(&setup);
    assert_int_equal(plan.steps, 3);
    assert_int_equal(plan.warmup, 0);
    plan_release(&plan);
    setup_release(&setup);
}

/* ---- equal plans ----------------------------------------------------------------------------- */

static uint64_t hash_of(const char *const *overrides)
{
    struct setup setup = make_setup(overrides);
    struct plan plan = make_plan(&setup);
    uint64_t hash = plan_hash(&setup, &plan);
    plan_release(&plan);
    setup_release(&setup);
    return hash;
}

static void plans_are_equal_where_their_integers_are(void **state)
{
    (void)state;
    uint64_t hash = hash_of(OVERRIDES("system=retroinfer-10pct"));
    assert_int_equal(hash, hash_of(OVERRIDES("system=retroinfer-10pct", "hardware=h200")));
    assert_int_equal(hash, hash_of(OVERRIDES("system=retroinfer-10pct", "mechanisms.sync=gpu")));
    assert_int_equal(hash, hash_of(OVERRIDES("system=retroinfer-10pct", "mechanisms.budget=30%")));
    assert_int_not_equal(hash,
                         hash_of(OVERRIDES("system=retroinfer-10pct", "mechanisms.budget=2x")));
    assert_int_not_equal(hash, hash_of(OVERRIDES("system=retroinfer-10pct", "batch=2")));
    assert_int_not_equal(hash, hash_of(OVERRIDES("system=retroinfer-10pct", "context=131073")));
    assert_int_not_equal(hash, hash_of(OVERRIDES("system=retroinfer-10pct", "model=llama-3.1-8b")));
    assert_int_not_equal(hash, hash_of(OVERRIDES("system=retroinfer-10pct", "steps=3")));
    assert_int_not_equal(hash, hash_of(OVERRIDES("system=retroinfer-10pct",
                                                 "mechanisms.resident_heads=first-layer")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retroinfer_cache_is_as_published),
        cmocka_unit_test(qsac_holds_one_selection),
        cmocka_unit_test(clusters_come_in_segments),
        cmocka_unit_test(no_more_than_the_context_is_selected),
        cmocka_unit_test(clo_keeps_layer_0_and_a_tenth),
        cmocka_unit_test(memory_is_the_sum_of_its_terms),
        cmocka_unit_test(ranks_and_stages_have_memory_of_their_own),
        cmocka_unit_test(models_own_indexer_selects_its_own_count),
        cmocka_unit_test(windows_chunks_and_states_stay_in_hbm),
        cmocka_unit_test(budgets_of_every_unit_become_blocks),
        cmocka_unit_test(what_cannot_be_planned_is_refused),
        cmocka_unit_test(equal_shares_of_budget_and_selection_are_1x),
        cmocka_unit_test(context_past_the_trained_one_is_marked),
        cmocka_unit_test(sliding_layers_stay),
        cmocka_unit_test(nobody_searches_a_batch_that_every_memory_holds),
        cmocka_unit_test(largest_batch_is_the_last_that_fits),
        cmocka_unit_test(largest_batch_is_at_most_the_most_that_can_be_said),
        cmocka_unit_test(steps_are_those_that_the_trace_has),
        cmocka_unit_test(steps_begin_behind_accepted_drafts),
        cmocka_unit_test(assumed_ledger_needs_no_warmup),
        cmocka_unit_test(plans_are_equal_where_their_integers_are),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
