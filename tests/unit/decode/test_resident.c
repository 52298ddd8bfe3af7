/* Which heads stay in HBM, how many the link can prefetch for, what importance each has. */
#include "unit/fixture/tiny.h"

#include "decode/plan/memory.h"
#include "decode/plan/resident.h"

/* About 8, 4, 2, 1, 0 from 32K to 512K by CLO's equation, on an A40 that reads as fast as one
 * without ECC. At 64K, the time of the kernels that CLO does not fuse makes it 5. */
static void prefetchable_heads_are_as_published(void **state)
{
    static const struct {
        const char *context;
        uint32_t heads;
    } cases[] = {{"context=32768", 8},
                 {"context=65536", 5},
                 {"context=131072", 2},
                 {"context=262144", 1},
                 {"context=524288", 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup setup = SETUP("system=clo", "hardware=a40-no-ecc", cases[i].context);
        struct plan plan = make_plan(&setup);
        struct trust trust = {.basis = BASIS_MEASURED};
        struct error why;
        assert_true(memory_head_sizes(&setup, 248, &plan, &why));
        assert_int_equal(resident_prefetchable(&setup, &plan, &trust), cases[i].heads);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* Mean adjacent cosines. Without a table every importance is 1, the threshold eta, 0.8, and the
 * difficulty 0.8 - (cosine - 0.1). */
static const double cosines[12] = {
    0,   0,   0,  0,   /* layer 0 stays whole */
    .95, .85, .5, .99, /* -0.05, 0.05, 0.4, -0.09: two are hard */
    .4,  .3,  .2, .1,  /* 0.5, 0.6, 0.7, 0.8: all are */
};

/* A layer computes for 28212 + (40 + 8 * 100) + 140420 = 169 472 ns; one head's selection is
 * 100 * 200 B = 20 000 B. Each resident head takes 1000 - 100 tokens * 200 B = 180 000 B more.
 * At the least, HBM holds layer 0, 800 000 B, and 8 caches of 20 000 B: 960 000 B of KV. */
static const struct {
    const char *link, *pool;
    const char *offloaded; /* 1: leaves HBM; layer by layer, head by head */
} resident_cases[] = {
    /* 33 894 B cross meanwhile, N_p = 1: the harder of layer 1, the three hardest of layer 2. */
    {"hardware.link.h2d=200MB/s", "kv_pool_tokens=100000", "0000 1101 1000"},
    /* 16 947 B: N_p = 0. */
    {"hardware.link.h2d=100MB/s", "kv_pool_tokens=100000", "0000 1001 0000"},
    /* 42 368 B: N_p = 2. */
    {"hardware.link.h2d=250MB/s", "kv_pool_tokens=100000", "0000 1111 1100"},
    /* More than all 4 heads: none. */
    {"hardware.link.h2d=10GB/s", "kv_pool_tokens=100000", "0000 1111 1111"},
    /* N_p = 1, but of 560 tokens' 1 344 000 B only 384 000 are left, for two heads: the hardest of
     * all layers. */
    {"hardware.link.h2d=200MB/s", "kv_pool_tokens=560", "0000 1111 1100"},
    /* 550 tokens: 1 320 000 B, exactly two heads; 549: one. */
    {"hardware.link.h2d=200MB/s", "kv_pool_tokens=550", "0000 1111 1100"},
    {"hardware.link.h2d=200MB/s", "kv_pool_tokens=549", "0000 1111 1110"},
    {"hardware.link.h2d=200MB/s", "kv_pool_tokens=400", "0000 1111 1111"},
};

static const char *const difficulty =
    "mechanisms={policy: qsac, budget: 1x, sinks: 0tok, recent: 0tok, selection: 10%,"
    " retrieval: hata, transfer: cpu-store, resident_heads: difficulty, operators: 8}";

static void hardest_heads_stay_in_hbm(void **state)
{
    (void)state;
    char model[128], trace[128], path[64];
    tiny_model(3, model);
    write_text(make_path(folder, "tiny.heads.tsv", path), "1 1 1 1\n1 1 1 1\n1 1 1 1\n");
    tiny_trace("other", trace);
    for (size_t i = 0; i < COUNT(resident_cases); i++) {
        struct setup setup = SETUP(model, tiny_machine, trace, "context=1000", difficulty,
                                   resident_cases[i].link, resident_cases[i].pool);
        struct plan plan;
        struct trust trust = {.basis = BASIS_MEASURED};
        struct error why;
        assert_true(plan_resolve(&setup, cosines, &plan, &trust, &why));
        char offloaded[16] = "";
        for (uint32_t h = 0; h < 12; h++) {
            offloaded[h + h / 4] = plan.heads[h].offloaded ? '1' : '0';
        }
        offloaded[4] = offloaded[9] = ' ';
        assert_string_equal(offloaded, resident_cases[i].offloaded);
        for (uint32_t l = 0; l < 3; l++) {
            uint32_t count = 0;
            for (uint32_t h = 0; h < 4; h++) {
                count += plan.heads[4 * l + h].offloaded;
            }
            assert_int_equal(plan.offloaded[l], count);
        }
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* Head by head, whatever the cosines and whoever's trace. */
static void importances_are_the_models(void **state)
{
    static const double cosine[12] = {.9, .8, .7, .6, .5, .4, .3, .2, .1, .95, .96, 0};
    static const float table[12] = {.1f, .2f, .3f, .4f, .5f, .6f, .7f, .8f, .9f, 1, 0, .05f};
    (void)state;
    char model[128], trace[128], path[64];
    tiny_model(3, model);
    write_text(make_path(folder, "tiny.heads.tsv", path),
               "0.1 0.2 0.3 0.4  0 0 0 0 0 0 .3 0 0 0 0 0 0 0 0 .4 0 0 0 0\n"
               "0.5 0.6 0.7 0.8  0 0 0 0 0 0 .3 0 0 0 0 0 0 0 0 .4 0 0 0 0\n"
               "0.9 1 0 0.05  0 0 0 0 0 0 .3 0 0 0 0 0 0 0 0 .4 0 0 0 0\n");
    struct setup setup =
        SETUP(model, tiny_machine, tiny_trace("other", trace), "context=1000", difficulty);
    struct plan plan;
    struct trust trust = {.basis = BASIS_MEASURED};
    struct error why;
    assert_true(plan_resolve(&setup, cosine, &plan, &trust, &why));
    for (uint32_t h = 0; h < 12; h++) {
        assert_near(plan.heads[h].importance, table[h], 0);
        assert_int_equal(plan.heads[h].queries, 5);
    }
    assert_near(plan.heads[1].query_importance[1], .3f, 0);
    assert_near(plan.heads[11].query_importance[0], .4f, 0);
    plan_release(&plan);
    setup_release(&setup);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefetchable_heads_are_as_published),
        cmocka_unit_test(hardest_heads_stay_in_hbm),
        cmocka_unit_test(importances_are_the_models),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
