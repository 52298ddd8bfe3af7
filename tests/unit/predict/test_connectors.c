/* A request saved and loaded by each engine: schedules worked out by hand, with the figures that
 * ship.
 *
 * * Llama-3.1-8B keeps 128 KiB a token. A prompt of 257 tokens has 16 blocks of 16 that can be
 * found again: 32 MiB, in one chunk of LMCache, or 4 pages of SGLang. An H100's link carries 50
 * GB/s, so they take 671.08864 us, after 4.2 us for a copy. Steps take 10 ms, and 1.5 ms if they
 * compute nothing. The GPU itself keeps nothing. A comes at 0, and again at 100 ms, when nothing
 * else runs; or while B, of 1 token and 20 of answer, runs from 95 on. The step at 105 has A then;
 * or that at 115, if an engine schedules ahead: so do all here but vLLM 0.11. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/mechanism_values.h"
#include "predict/server/serving_memory.h"
#include "unit/fixture/make_setup.h"
#include "unit/fixture/server_course.h"

#include <math.h>
#include <string.h>

enum { PROMPTS = 3, MOST = 40 };
static const struct test_way link[] = {{50e9, 50e9, 83.4e9}}, network[] = {{20e9, 20e9, 40e9}};

/* Add a request for one of the prompts, of which A is the first. */
static void add_prompt(struct course *course, uint32_t prompt, int64_t at_ms)
{
    add_request(course, at_ms * MS, 257, 1);
    course->requests.all[course->requests.count - 1].first_chunk = prompt;
    course->requests.all[course->requests.count - 1].chunks = 1;
}

static struct course make_course(const char *system, const char *engine)
{
    static uint32_t chunks[PROMPTS] = {0, 1, 2};
    static struct request_chunk kinds[PROMPTS] = {
        {UINT32_MAX, 257, 0}, {UINT32_MAX, 257, 0}, {UINT32_MAX, 257, 0}};
    bool pool = strcmp(system, "system=vllm-mooncake") == 0; /* in place of host memory */
    struct error why;
    const char *const overrides[] = {"model=llama-3.1-8b",
                                     "hardware={extends: h100-sxm, pool: {capacity: 1TB, "
                                     "read: 20GB/s, write: 20GB/s, latency: 10us}, disk: "
                                     "{capacity: 1TB, read: 5GB/s, write: 5GB/s, latency: 80us}}",
                                     "tensor_parallel=1",
                                     "workload=synthetic:prompt=257,output=1",
                                     "trace=",
                                     "context=",
                                     "rate=1",
                                     pool ? "mechanisms.prefix=gpu" : "mechanisms.prefix=two-tier",
                                     system,
                                     engine,
                                     NULL};
    struct point point = make_point(overrides);
    struct serving_ways ways;
    struct trust trust = {.basis = BASIS_MEASURED};
    struct course course = begin_course(MOST);
    const struct mechanisms *m = point.setup.mechanisms;
    const struct server_connector *connector = serving_connector(&point);
    assert_true(connector != NULL && serving_ways_init(&ways, &point, 1, &trust, &why));
    serving_pieces_waits(&point, &course.options);
    course.load = ways.load[1];
    course.save = ways.save[1];
    course.options.unit_tokens = (uint32_t)(m->prefix_unit > 0 ? m->prefix_unit : m->prefix_block);
    course.options.token_bytes = 131072;
    course.options.saves_cross = course.prefix.saves_wait = true;
    course.options.path.overlaps = point.engine.path.overlaps;
    course.prefix.block_tokens = (uint32_t)m->prefix_block;
    course.prefix.unit_blocks = course.options.unit_tokens / course.prefix.block_tokens;
    course.prefix.prompts_only = connector->prompts_only;
    course.prefix.frees_early = connector->frees_early;
    course.prefix.lower_count = 1;
    course.prefix.lower[0] = (struct prefix_tier){
        .blocks = 1 << 10, .policy = policy_find("lru", NULL, 0, &why), .write = m->prefix_write};
    course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .load_rate = 50e9};
    course.ways = pool ? network : link;
    course.way_count = 1;
    course.requests.chunks = chunks;
    course.requests.chunk_count = PROMPTS;
    course.requests.kind = kinds;
    course.requests.chunk_tokens = CHUNK;
    course.requests.ids.count = PROMPTS;
    serving_ways_release(&ways);
    point_release(&point);
    return course;
}

static void stop_course(struct course *course)
{
    course->requests.chunks = NULL;
    course->requests.kind = NULL;
    end_course(course);
}

/* When A ends at first, and again when it found its prompt, alone and beside B; in ns. */
static void check(const char *system, const char *engine, int64_t first, int64_t alone,
                  int64_t beside)
{
    for (int with_b = 0; with_b < 2; with_b++) {
        struct course course = make_course(system, engine);
        add_prompt(&course, 0, 0);
        if (with_b) {
            add_request(&course, 95 * MS, 1, 20);
        }
        add_prompt(&course, 0, 100);
        run_course(&course);
        const struct served *again = &course.served[1 + with_b];
        assert_int_equal(course.served[0].end_ns, first);
        assert_int_equal(again->match.found[1], 256);
        assert_int_equal(again->end_ns, with_b ? beside : alone);
        /* B's answer fills a block of 16, which some engines keep. */
        bool keeps = course.options.unit_tokens == 16 && !course.prefix.prompts_only;
        double saved = 256 + (with_b && keeps ? 16 : 0);
        assert_true(fabs(series_sum(&course, SERIES_SAVED) - saved * 131072) < 1e-3);
        assert_true(fabs(series_sum(&course, SERIES_LOADED) - 256.0 * 131072) < 1e-3);
        stop_course(&course);
    }
}

/* vLLM 0.11: K and V of each layer of a block are a piece of 32 KiB, of 16 x 32 x 2 = 1024, and a
 * call of 2.3 us. They cross at 1.78 + 28/108 x 48.12 = 14.2556 GB/s, in 2353.78 us, 1681.35 longer
 * than at the 49.9 GB/s of large ones. The calls, 2355.2 us, hold up the next step: A's save none,
 * because nothing follows. B's steps begin at 95 and 105; the second one has A, whose calls make it
 * 12.3552 ms long. Its load ends in it, at 107.36, which the step at 117.3552 does not know. A runs
 * in that from 127.3552. Alone, it waits for an empty step. */
static void vllm_0_11_copies_small_pieces(void **state)
{
    (void)state;
    struct course course = make_course("system=vllm-offload", "engine=vllm-0.11");
    assert_true(fabs(1e-3 * 16 * course.load.unit - 1681.35) < 0.01);
    assert_true(fabs(1e-3 * 16 * course.load.cpu - 2355.2) < 1e-6);
    stop_course(&course);
    check("system=vllm-offload", "engine=vllm-0.11", 10 * MS, 113856635, 137355200);
}

/* vLLM 0.19: all layers of a block are one piece of 2 MiB, as fast as the link: A's KV is there
 * after 4.2 + 671.08864 us. The 16 calls make the step at 115 36.8 us longer. A runs in the third
 * step from it, at 145.0368; alone, after two empty steps. */
static void vllm_0_19_waits_for_its_schedule(void **state)
{
    (void)state;
    check("system=vllm-offload", "engine=vllm-0.19", 10 * MS, 113675289, 155036800);
}

/* vLLM 0.23: dense models have pieces of 32 KiB again, K or V of a layer. 1024 of them in one call
 * cross at 28.7556 GB/s, in 1166.88 us, and cost the CPU 540 us, by which the step at 115 is
 * longer. As 0.19 otherwise: A runs in the third step from that, at 145.54; alone, after two empty
 * ones. Answers are not saved. */
static void vllm_0_23_has_small_pieces_again(void **state)
{
    (void)state;
    check("system=vllm-offload", "engine=vllm-0.23", 10 * MS, 114171086, 155540000);
}

/* Its blocks are free before they are saved. Of 20 A has 17 until 10 ms, and saves 16 of them from
 * then on; B, of 8 tokens, has one. C came at 5 and takes A's in the step that begins at 20.54,
 * behind the calls for A's. They are saved by then, at 10 + 0.0042 + 0.67108864. With a link of 1
 * GB/s they are at 10 + 0.0042 + 33.554432: the step waits until then, and B with it. C's calls
 * come in the step behind. In 0.20 A's blocks are its own until then, all layers of a block are one
 * piece, of 16 in a call of 8.4375 us, and C is in the step at 50.0084375: nobody waits but C. */
static void vllm_0_23_waits_for_what_it_takes(void **state)
{
    (void)state;
    static const struct test_way slow[] = {{1e9, 1e9, 2e9}};
    static const struct {
        const char *engine;
        const struct test_way *way;
        int64_t b, c, waited;
    } rows[] = {{"engine=vllm-0.23", link, 81080000, 30540000, 0},
                {"engine=vllm-0.23", slow, 104098632, 53558632, 43558632 - 20540000},
                {"engine=vllm-0.20", slow, 80016874, 60008437, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct course course = make_course("system=vllm-offload", rows[i].engine);
        course.ways = rows[i].way;
        course.clock.load_rate = rows[i].way->up;
        course.prefix.gpu_blocks = 20;
        course.prefix.gpu_keeps = true;
        add_prompt(&course, 0, 0);
        add_request(&course, 0, 1, 8);
        add_prompt(&course, 1, 5);
        run_course(&course);
        assert_int_equal(course.served[1].end_ns, rows[i].b);
        assert_int_equal(course.served[2].end_ns, rows[i].c);
        assert_int_equal(course.totals.copies_ns[COPY_TAKES], rows[i].waited);
        stop_course(&course);
    }
}

/* TensorRT-LLM copies what the GPU evicts. Of 9 blocks of 32 tokens A has all, and leaves 8, of 4
 * MiB each. C takes them at 100: its step waits for 4.2 + 671.08864 us until they are on the host.
 * At 200 A comes again, and C's leave while A's come: both ways together carry 83.4 GB/s, so the
 * step waits for 4.2 + 804.66264 us. B, with a block of its own, waits with each: C is in the step
 * at 115, and A in the second one that begins after 200, at 215.675289. */
static void tensorrt_copies_what_it_evicts(void **state)
{
    (void)state;
    for (int with_b = 0; with_b < 2; with_b++) {
        struct course course = make_course("system=tensorrt-llm", "engine=tensorrt-llm-1.0");
        course.prefix.gpu_blocks = 9 + (uint64_t)with_b;
        course.prefix.gpu_keeps = true;
        add_prompt(&course, 0, 0);
        if (with_b) {
            add_request(&course, 95 * MS, 1, 20);
        }
        add_prompt(&course, 1, 100);
        add_prompt(&course, 0, 200);
        run_course(&course);
        const struct served *c = &course.served[1 + with_b], *again = c + 1;
        assert_int_equal(c->end_ns, with_b ? 125675289 : 110675289);
        assert_int_equal(again->match.found[1], 256);
        assert_int_equal(again->end_ns, with_b ? 226484152 : 210808863);
        assert_int_equal(course.served[with_b].end_ns, with_b ? 296484152 : 10 * MS);
        stop_course(&course);
    }
}

/* vLLM 0.29: K and V of a layer of a block are a piece of 64 KiB, of 512 in one call, at 38.8 GB/s:
 * 193.716 us longer than at the link's 50. The CPU takes 270 us for them. A runs in the fifth step
 * from the one at 115, at 165.27; alone, after four empty ones. */
static void vllm_0_29_has_pieces_of_a_layer(void **state)
{
    (void)state;
    check("system=vllm-offload", "engine=vllm-0.29", 10 * MS, 116869005, 175270000);
}

/* LMCache: the step that filled the chunk copies it out, in 4.2 + 110 + 671.08864 us, before its
 * token. A kernel reads it back from rows of 2 KiB at 35.2 GB/s, in 4.2 + 953.25091 us, before the
 * step; B waits as well. Before a step that begins A it is looked up, for 60 + 257 x 0.01 us; B for
 * 60.01, so that the step at 115 begins so much later. */
static void lmcache_holds_up_the_step(void **state)
{
    (void)state;
    check("system=lmcache", "engine=vllm-0.19", 10847859, 111020021, 126080031);
}

/* LMCache as a server: K or V of a layer of a block are a piece of 32 KiB, of 1024 in one call of
 * another process, and cross at 27.5 + 4/36 x 11.3 = 28.7556 GB/s, in 1166.88 us. A's load is asked
 * for in one step and begun in the next: A runs in the fourth step from the one at 115; alone,
 * after three empty ones. */
static void lmcache_server_copies_beside_steps(void **state)
{
    (void)state;
    check("system=lmcache-server", "engine=vllm-0.23", 10 * MS, 115671086, 165 * MS);
}

/* And its one stream: what another prompt saves from 110 on, for 4.2 + 671.08864 us, is before the
 * load of A, which came at 105. */
static void lmcache_server_loads_behind_saves(void **state)
{
    (void)state;
    struct course course = make_course("system=lmcache-server", "engine=vllm-0.23");
    add_prompt(&course, 0, 0);
    add_prompt(&course, 1, 100);
    add_prompt(&course, 0, 105);
    run_course(&course);
    assert_int_equal(course.served[2].end_ns, 110 * MS + 675288 + 15671086);
    stop_course(&course);
}

/* SGLang: a kernel writes 32 MiB at the link's rate, beside what follows. It reads at 35.2 GB/s,
 * layer by layer, so the step waits for the first of 32 layers alone: 957.45091 / 32 us. */
static void hicache_loads_under_its_step(void **state)
{
    (void)state;
    check("system=sglang-hicache", "engine=sglang-0.5", 10 * MS, 110029921, 125029921);
}

/* Dynamo's KVBM: a kernel reads K or V of a layer, at 35.2 GB/s, and the CPU makes no calls: as
 * vLLM 0.19, with a load of 957.45 us. */
static void kvbm_waits_as_vllm(void **state)
{
    (void)state;
    check("system=kvbm", "engine=vllm-0.19", 10 * MS, 113957451, 155 * MS);
}

/* Mooncake: one transfer from the pool, in 4.2 + 10 us and 32 MiB at 20 GB/s, 1677.7216 us; then as
 * vLLM 0.22. Answers stay on the GPU. */
static void mooncake_reads_a_pool(void **state)
{
    (void)state;
    check("system=vllm-mooncake", "engine=vllm-0.22", 10 * MS, 114691922, 155 * MS);
}

/* The CPU's time for the calls that bring a unit in and out. */
static void check_calls(const char *const *overrides, double load_us, double save_us)
{
    struct point point = make_point(overrides);
    struct trust trust = {.basis = BASIS_MEASURED};
    const struct server_connector *connector = serving_connector(&point);
    assert_near(serving_pieces_times(&point, connector, false, &trust).cpu, 1e3 * load_us, 1e-6);
    assert_near(serving_pieces_times(&point, connector, true, &trust).cpu, 1e3 * save_us, 1e-6);
    assert_true(trust.basis > BASIS_MEASURED);
    point_release(&point);
}

/* A call is 2.3 us, or 270 us for 512 in one. Qwen3-Next has 12 full layers among 48 and
 * DeepSeek-V3 61 with one latent. Since 0.23, vLLM loads pieces below 28 KiB by a kernel: K of a
 * layer of Llama-3.1-8B on two GPUs has 16. */
static void pieces_are_those_of_the_model(void **state)
{
    (void)state;
    static const struct {
        const char *model, *gpus, *engine;
        double load_us, save_us;
    } rows[] = {
        {"model=llama-3.1-8b", "tensor_parallel=1", "engine=vllm-0.11", 64 * 2.3, 64 * 2.3},
        {"model=qwen3-next-80b-a3b", "tensor_parallel=2", "engine=vllm-0.11", 24 * 2.3, 24 * 2.3},
        {"model=deepseek-v3", "tensor_parallel=8", "engine=vllm-0.11", 61 * 2.3, 61 * 2.3},
        {"model=llama-3.1-8b", "tensor_parallel=1", "engine=vllm-0.19", 2.3, 2.3},
        {"model=deepseek-v3", "tensor_parallel=8", "engine=vllm-0.19", 61 * 2.3, 61 * 2.3},
        {"model=llama-3.1-8b", "tensor_parallel=1", "engine=vllm-0.23", 64 * 270. / 512,
         64 * 270. / 512},
        {"model=llama-3.1-8b", "tensor_parallel=2", "engine=vllm-0.23", 0, 64 * 270. / 512},
        {"model=llama-3.1-8b", "tensor_parallel=1", "engine=vllm-0.29", 32 * 270. / 512,
         32 * 270. / 512},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const overrides[] = {rows[i].model,       rows[i].gpus,          rows[i].engine,
                                         "hardware=h100-sxm", "system=vllm-offload", NULL};
        check_calls(overrides, rows[i].load_us, rows[i].save_us);
    }
}

/* SGLang saves K and V of a page since 0.5.15, in one call from 128 KiB on: K of 64 tokens of
 * Llama-3.1-8B has 4 MiB, of 16 of Qwen2.5-1.5B on two GPUs 112 KiB. */
static void hicache_saves_whole_pages(void **state)
{
    (void)state;
    const char *const large[] = {"model=llama-3.1-8b",   "tensor_parallel=1",
                                 "hardware=h100-sxm",    "system=sglang-hicache",
                                 "engine=sglang-0.5.15", NULL};
    const char *const small[] = {"model=qwen2.5-1.5b",
                                 "tensor_parallel=2",
                                 "hardware=h100-sxm",
                                 "system=sglang-hicache",
                                 "engine=sglang-0.5.15",
                                 "mechanisms.prefix_unit=16tok",
                                 NULL};
    check_calls(large, 0, 2 * 270. / 512);
    check_calls(small, 0, 2 * 2.3);
}

/* The systems and engines above. */
static const char *const movers[][2] = {
    {"system=vllm-offload", "engine=vllm-0.11"}, {"system=vllm-offload", "engine=vllm-0.19"},
    {"system=vllm-offload", "engine=vllm-0.29"}, {"system=lmcache", "engine=vllm-0.19"},
    {"system=vllm-offload", "engine=vllm-0.23"}, {"system=sglang-hicache", "engine=sglang-0.5"},
    {"system=kvbm", "engine=vllm-0.19"},         {"system=lmcache-server", "engine=vllm-0.23"},
};

/* Prompts come in an order of their own, each when all is quiet. Returns their time in all, and what the host
 * had of them. */
static int64_t run_quietly(const char *const mover[2], uint64_t host_blocks, double rate,
                           uint64_t *found)
{
    const struct test_way way[] = {{rate, rate, 1.7 * rate}};
    struct course course = make_course(mover[0], mover[1]);
    int64_t ns = 0;
    course.prefix.lower[0].blocks = host_blocks;
    course.clock.load_rate = rate;
    course.ways = way;
    for (uint32_t i = 0; i < MOST; i++) {
        add_prompt(&course, i * i / 5 % PROMPTS, 200 * i);
    }
    run_course(&course);
    *found = 0;
    for (uint32_t i = 0; i < MOST; i++) {
        ns += course.served[i].end_ns - course.served[i].arrived_ns;
        *found += course.served[i].match.found[1];
    }
    stop_course(&course);
    return ns;
}

static void more_host_memory_never_finds_less(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++) {
        uint64_t before = 0, found = 0;
        for (uint64_t blocks = 8; blocks <= 64; blocks += 8) {
            run_quietly(movers[i], blocks, 50e9, &found);
            assert_true(found >= before);
            before = found;
        }
        assert_int_equal(found, (MOST - PROMPTS) * 256);
    }
}

static void a_faster_link_is_never_slower(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++) {
        uint64_t found;
        int64_t slower = INT64_MAX;
        for (double rate = 5e9; rate <= 160e9; rate *= 2) {
            int64_t ns = run_quietly(movers[i], 64, rate, &found);
            assert_true(ns < slower);
            slower = ns;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vllm_0_11_copies_small_pieces),
        cmocka_unit_test(vllm_0_19_waits_for_its_schedule),
        cmocka_unit_test(vllm_0_23_has_small_pieces_again),
        cmocka_unit_test(vllm_0_23_waits_for_what_it_takes),
        cmocka_unit_test(tensorrt_copies_what_it_evicts),
        cmocka_unit_test(vllm_0_29_has_pieces_of_a_layer),
        cmocka_unit_test(lmcache_holds_up_the_step),
        cmocka_unit_test(lmcache_server_copies_beside_steps),
        cmocka_unit_test(lmcache_server_loads_behind_saves),
        cmocka_unit_test(hicache_loads_under_its_step),
        cmocka_unit_test(kvbm_waits_as_vllm),
        cmocka_unit_test(mooncake_reads_a_pool),
        cmocka_unit_test(pieces_are_those_of_the_model),
        cmocka_unit_test(hicache_saves_whole_pages),
        cmocka_unit_test(more_host_memory_never_finds_less),
        cmocka_unit_test(a_faster_link_is_never_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
