/* KV on the host: schedules worked out by hand, as expected.h reads them. */
#include "unit/fixture/expected_times.h"

#define MANAGED                                                                                    \
    "mechanisms={policy: lru, budget: 3x, granularity: 16tok, sinks: 0tok, recent: 0tok,"          \
    " selection: 10%, retrieval: clusters, retrieval_bytes: 256B, retrieval_tokens: 16tok,"        \
    " retrieval_kernels: 3, estimation: 25%, manager: cpu, update: blocking,"                      \
    " transfer: sm-zero-copy, merge: yes, sync: cpu, syncs: 1, operators: 8}"

/* RetroInfer's shape: 1600 tokens in 104 clusters, 10 of them (160 tokens) wanted, half of them
 * hit, so that each of 4 heads misses 80 tokens: 320 tokens, 64000 B, and as many are hit.
 *
 *   retrieve  104 * 4 centroids of 256 B, 1064.96 ns, and top-k 10000, 3 kernels: 11065
 *   ids       2000 + 8 B * 10 * 4 at 10 B/ns: 2032
 *   lookup    waking 4 threads 10000; waking 1, 40 lookups * 100 on 4 threads, waking the caller: 6000
 *   estimate  26 clusters * 4 * 200 B, 208 ns: no shorter than 1000
 *   transfer  1000, then 64000 B at 8 B/ns: 9000; a head's 16000 B at 16 B/ns would take less
 *   hits      128000 B read and written at 100 B/ns: 1280 alone. The loads hold 64 CTAs of 256
 *             threads, half of 16 SMs with 2048: twice as long beside them
 *   attend    40 + 8 * 160 = 1320
 *   update    waking 1 thread 2500, then 3 others 7500; waking the first of these, 20 promotions and
 *             20 insertions * 200 on 4 threads, waking the caller take less, 7000
 *   admit     64000 B by 4 CTAs of 1 B/ns: 16000
 *   writeback 2000 + 800 B at 10 B/ns, beside the edge, which it costs 8 ns of HBM
 *
 *  launch  token 20000, pre 21000 (23000), retrieve 24000 (26000), sync 62309-82309, estimate
 *          83309, wakes all 93309, wakes one 95809, transfer 96809, hits 97809, attend 98809, waits
 *          for the update 103309, admit 104309, post 105309 (108309), edge 109309 (111309)
 *  main    pre 21000-49212, retrieve 49212-60277, estimate 83309-84309, hits 97809-100369,
 *          attend 105809-107129, admit -123129, post -263549, edge -283737
 *  d2h     ids 60277-62309
 *  pool    woken 85809, lookup -86809; woken 98309, update -100309; all others woken 103309
 *  side    transfer 96809-105809
 *
 * The step goes back over edge, post, admit, attend, transfer, its launch, both wakings, the
 * estimate's launch, sync, ids, retrieve, pre, its launch and the token. */
static void cpu_manager_holds_up_the_launches(void **state)
{
    const struct expected_times expected = {
        .step = 283737,
        .parts = {[PART_COMPUTE] = 28212 + 1320 + 140420 + 20188,
                  [PART_RETRIEVAL] = 11065,
                  [PART_LAUNCH] = 3000,
                  [PART_SYNC] = 22032,
                  [PART_HANDOFF] = 10000 + 2500,
                  [PART_LINK] = 9000,
                  [PART_MERGE] = 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 2000, /* pre, estimate, hits */
                   [PART_SYNC] = 22032,
                   [PART_HANDOFF] = 9000 + 2500, /* the lookup's from 84309 */
                   [PART_LINK] = 105809 - 100369},
        .layers = {263549 - 21000},
        .in = 64000,
        .out = 320 + 800,
    };
    (void)state;
    check(1, MANAGED, OVERRIDES("context=1600", "trace=assumed:hit=50%"), &expected);
}

/* Attention loads 932 tokens of each head where they lie, 745600 B at 8 B/ns behind a round trip of
 * 1000, beside what it does else in 8040: it begins when pre ends and ends with its loads.
 *
 *  launch  token 20000, pre 21000 (23000), attend 24000, post 25000 (28000), edge 29000 (31000)
 *  main    pre 21000-49212, attend -57252, ends -143412, post -283832, edge beside the writeback
 *          -304020
 *  side    loads 49212-143412 */
static void attention_in_place_ends_with_its_loads(void **state)
{
    const struct expected_times expected = {
        .step = 304020,
        .parts = {[PART_COMPUTE] = 28212 + 140420 + 20188,
                  [PART_LINK] = 94200,
                  [PART_LAUNCH] = 1000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LINK] = 143412 - 57252, [PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .layers = {283832 - 21000},
        .in = 745600,
        .out = 800,
    };
    (void)state;
    check(1, "mechanisms={transfer: in-place, operators: 8}", OVERRIDES("trace=assumed:hit=0%"),
          &expected);
}

static int64_t step_of(const char *transfer, const char *figure)
{
    struct setup setup = make_tiny(1, "mechanisms={operators: 8}",
                                   OVERRIDES("trace=assumed:hit=0%", transfer, figure));
    return first_step_ns(&setup);
}

/* The slower of a link and the host's memory bounds what is loaded and what is copied: with either
 * at 5 B/ns it takes as long, but for what HBM and the writeback share. */
static void slower_of_link_and_memory_bounds(void **state)
{
    (void)state;
    static const char *const transfers[] = {"mechanisms.transfer=in-place",
                                            "mechanisms.transfer=copy-engine"};
    for (int i = 0; i < 2; i++) {
        int64_t memory = step_of(transfers[i], "hardware.host.dram_bandwidth=5GB/s");
        int64_t link = step_of(transfers[i], "hardware.link.h2d=5GB/s");
        assert_true(memory - link < 200 && link - memory < 200);
        assert_true(memory > step_of(transfers[i], "batch=1") + 50000);
    }
}

/* All KV on a disk, blocks of 16 tokens. A twentieth of all 4 * 1600 tokens is missed, and a
 * cluster is a block: 20 of 400 blocks are read, 3200 B in a page of 4096 each, 10000 + 81920 B at
 * 2 B/ns. The launch thread waits for them before it goes on to the update, 93309-144269. New KV is
 * written beside what follows. */
static void misses_are_read_in_pages(void **state)
{
    enum { READ = 10000 + 81920 / 2 };
    const struct expected_times expected = {
        .step = 283737 + READ,
        .parts = {[PART_COMPUTE] = 28212 + 1320 + 140420 + 20188,
                  [PART_RETRIEVAL] = 11065,
                  [PART_LAUNCH] = 3000,
                  [PART_SYNC] = 22032,
                  [PART_HANDOFF] = 10000 + 2500,
                  [PART_DISK] = READ,
                  [PART_LINK] = 9000,
                  [PART_MERGE] = 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 2000,
                   [PART_SYNC] = 22032,
                   [PART_HANDOFF] = 9000 + 2500,
                   [PART_DISK] = READ,
                   [PART_LINK] = 105809 - 100369},
        .layers = {263549 - 21000 + READ},
        .in = 64000,
        .out = 320 + 800,
        .read = 81920,
        .written = 800,
    };
    (void)state;
    check(1, MANAGED,
          OVERRIDES("context=1600", "trace=assumed:hit=50%", "mechanisms.disk_kv=100%",
                    "mechanisms.disk_block=16tok"),
          &expected);
}

/* Dear units: the jobs outlast the waking, and both are waited for. A lookup takes 1000, an update
 * 4000; all else is as before.
 *
 *   lookup    waking 1 thread 2500, 40 lookups * 1000 on 4 threads, waking the caller: 15000
 *   update    waking 2 threads in turn, 40 updates * 4000 on 4 threads, waking the caller: 47500
 *
 *  launch  estimate 83309, wakes all 93309, woken from the lookup 98309, wakes one 100809, transfer
 *          101809, hits 102809, attend 103809, woken from the update 145809, admit 146809
 *  main    hits 102809-105369, attend 110809-112129, admit 146809-162809, post -303229,
 *          edge -323417
 *  pool    woken 85809, lookup -95809; woken 103309, update -143309
 *  side    transfer 101809-110809 */
static void a_layer_waits_for_jobs_that_outlast_the_waking(void **state)
{
    const struct expected_times expected = {
        .step = 323417,
        .parts = {[PART_COMPUTE] = 28212 + 140420 + 20188,
                  [PART_RETRIEVAL] = 11065,
                  [PART_LAUNCH] = 1000 + 1000 + 1000, /* pre, estimate, admit */
                  [PART_SYNC] = 22032,
                  [PART_LOOKUP] = 10000,
                  [PART_UPDATE] = 40000,
                  [PART_HANDOFF] = 2 * 2500 + 3 * 2500,
                  [PART_MERGE] = 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 2000 + 1000, /* pre, estimate, hits, admit */
                   [PART_SYNC] = 22032,
                   [PART_LOOKUP] = 10000,
                   [PART_UPDATE] = 143309 - 112129,
                   [PART_HANDOFF] = 85809 - 84309 + 3 * 2500,
                   [PART_LINK] = 110809 - 105369},
        .layers = {303229 - 21000},
        .in = 64000,
        .out = 320 + 800,
    };
    (void)state;
    check(1, MANAGED,
          OVERRIDES("context=1600", "trace=assumed:hit=50%", "hardware.host.lookup=1us",
                    "hardware.host.update=4us"),
          &expected);
}

struct pool_times {
    int64_t step, lookup; /* ns; the lookup's are the mean of a step */
};

static struct pool_times times_with(const char *figure, const char *mechanism)
{
    struct setup setup = make_tiny(
        1, MANAGED, OVERRIDES("context=1600", "trace=assumed:hit=50%", figure, mechanism));
    struct course course;
    make_course(&setup, &course);
    struct pool_times times = {course.timing.step[0].ns,
                               course.timing.part_ns[PART_LOOKUP] / course.timing.steps};
    course_release(&course);
    setup_release(&setup);
    return times;
}

static int64_t step_ns(const char *threads)
{
    return times_with("hardware.host.cores=50", threads).step;
}

/* A pool of one thread hands over to itself, and 50 threads take only four jobs: waking 50 takes
 * 125000, all others 122500. */
static void hand_offs_cost_by_threads_and_work_by_jobs(void **state)
{
    (void)state;
    int64_t one = step_ns("mechanisms.pool_threads=1"), four = step_ns("mechanisms.pool_threads=4");
    int64_t fifty = step_ns("mechanisms.pool_threads=50");
    /* One: lookup 2500 + 4000 + 2500 from 83309; the update, 2500 + 8000 + 2500 behind it, ends just
     * before admit is launched, which would otherwise start at 107129. */
    assert_int_equal(four - one, 107129 - (83309 + 9000 + 13000 + 1000));
    /* Fifty: the lookup ends 115000 later; admit waits for the last thread, woken at 333309. */
    assert_int_equal(fifty - four, 115000 + 333309 + 1000 - 222129);
}

static int64_t lookup_ns(const char *heads)
{
    return times_with("hardware.host.lookup=1us", heads).lookup;
}

/* Each of 4 heads looks up 10 clusters. With three heads a job, two jobs have two each. */
static void a_job_has_whole_heads(void **state)
{
    (void)state;
    assert_int_equal(lookup_ns("mechanisms.pool_heads=1"), 10000);
    assert_int_equal(lookup_ns("mechanisms.pool_heads=2"), 20000);
    assert_int_equal(lookup_ns("mechanisms.pool_heads=3"), 20000);
    assert_int_equal(lookup_ns("mechanisms.pool_heads=4"), 40000);
}

/* CTAs of twice as many threads, or multiprocessors that hold half as many, are all taken: the
 * loads leave the hits a tenth of the SMs, in which 800 of their 1280 ns are done when the transfer
 * ends at 105809. Hits 97809-106289, attend -107609, admit -123609, post -264029, edge -284217. */
static void threads_of_loads_hold_up_what_runs_beside(void **state)
{
    static const char *const ways[] = {"mechanisms.transfer_cta_threads=512",
                                       "hardware.gpu.sm_threads=1024"};
    const struct expected_times expected = {
        .step = 284217,
        .parts = {[PART_COMPUTE] = 28212 + 1320 + 140420 + 20188,
                  [PART_RETRIEVAL] = 11065,
                  [PART_LAUNCH] = 4000,
                  [PART_SYNC] = 22032,
                  [PART_HANDOFF] = 10000 + 2500,
                  [PART_MERGE] = 106289 - 97809 + 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 2000,
                   [PART_SYNC] = 22032,
                   [PART_HANDOFF] = 9000 + 2500},
        .layers = {264029 - 21000},
        .in = 64000,
        .out = 320 + 800,
    };
    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++) {
        check(1, MANAGED, OVERRIDES("context=1600", "trace=assumed:hit=50%", ways[i]), &expected);
    }
}

/* One CTA a head loads 1024 B in each 1000 ns: the 16000 B of a head take 15625, so that 64000 B
 * move at 4.096 B/ns until 113434. They hold a 32nd of the SMs; the hits have what HBM
 * leaves, 95.904 B/ns: 97809-99144. Attend 113434-114754, admit -130754, post -271174, edge
 * -291362. The step goes back from attend over the transfer, its launch and both wakings. */
static void slowest_head_holds_up_the_layer(void **state)
{
    const struct expected_times expected = {
        .step = 291362,
        .parts = {[PART_COMPUTE] = 28212 + 1320 + 140420 + 20188,
                  [PART_RETRIEVAL] = 11065,
                  [PART_LAUNCH] = 3000,
                  [PART_SYNC] = 22032,
                  [PART_HANDOFF] = 10000 + 2500,
                  [PART_LINK] = 16625,
                  [PART_MERGE] = 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 2000,
                   [PART_SYNC] = 22032,
                   [PART_HANDOFF] = 9000 + 2500,
                   [PART_LINK] = 113434 - 99144},
        .layers = {271174 - 21000},
        .in = 64000,
        .out = 320 + 800,
    };
    (void)state;
    check(1, MANAGED,
          OVERRIDES("context=1600", "trace=assumed:hit=50%", "mechanisms.transfer_ctas=1"),
          &expected);
}

/* One kernel of two CTAs a head copies as many misses as hits: each have one CTA. Misses take 15625
 * as above, 97809-113434, and hold a 32nd of the SMs. Hits, 16000 B of each head at 1 B/ns, have the
 * others meanwhile and end at 114298. Attend -115618, admit -131618, post -272038, edge -292226. */
static void copies_share_ctas_by_their_tokens(void **state)
{
    const struct expected_times expected = {
        .step = 292226,
        .parts = {[PART_COMPUTE] = 28212 + 1320 + 140420 + 20188,
                  [PART_RETRIEVAL] = 11065,
                  [PART_LAUNCH] = 4000,
                  [PART_SYNC] = 22032,
                  [PART_HANDOFF] = 10000 + 2500,
                  [PART_MERGE] = 16489 + 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 2000,
                   [PART_SYNC] = 22032,
                   [PART_HANDOFF] = 9000 + 2500},
        .layers = {272038 - 21000},
        .in = 64000,
        .out = 320 + 800,
    };
    (void)state;
    check(1, MANAGED,
          OVERRIDES("context=1600", "trace=assumed:hit=50%", "mechanisms.transfer_ctas=2",
                    "mechanisms.hit_ctas=0"),
          &expected);
}

/* The same with 16 CTAs a head, of which a GPU of few threads holds some at once. Half of these are
 * loads, so that hits, 2000 alone, take twice as long beside them: 97809-101809. */
static void loads_hold_no_more_than_their_part_of_the_kernel(void **state)
{
    const struct expected_times expected = {
        .step = 283737,
        .parts = {[PART_COMPUTE] = 28212 + 1320 + 140420 + 20188,
                  [PART_RETRIEVAL] = 11065,
                  [PART_LAUNCH] = 3000,
                  [PART_SYNC] = 22032,
                  [PART_HANDOFF] = 10000 + 2500,
                  [PART_LINK] = 9000,
                  [PART_MERGE] = 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 2000,
                   [PART_SYNC] = 22032,
                   [PART_HANDOFF] = 9000 + 2500,
                   [PART_LINK] = 105809 - 101809},
        .layers = {263549 - 21000},
        .in = 64000,
        .out = 320 + 800,
    };
    (void)state;
    check(1, MANAGED,
          OVERRIDES("context=1600", "trace=assumed:hit=50%", "mechanisms.hit_ctas=0",
                    "hardware.gpu.sm_threads=256"),
          &expected);
}

/* CTAs of half as many threads, or threads that load half as much at a time, have 512 B in flight:
 * a head's 16000 B take 31250, 64000 B move at 2.048 B/ns until 129059. Attend 129059-130379, admit
 * -146379, post -286799, edge -306987. Hits start at 97809: beside 4 CTAs of 128 threads they have
 * what HBM leaves, 97.952 B/ns, until 99116; of 256 threads 31 of 32 SMs, 96.875, until 99131. */
static void loads_in_flight_are_threads_times_their_loads(void **state)
{
    static const struct {
        const char *way;
        int64_t hits_end;
    } ways[] = {{"mechanisms.transfer_cta_threads=128", 99116},
                {"mechanisms.transfer_lane_bytes=4B", 99131}};
    struct expected_times expected = {
        .step = 306987,
        .parts = {[PART_COMPUTE] = 28212 + 1320 + 140420 + 20188,
                  [PART_RETRIEVAL] = 11065,
                  [PART_LAUNCH] = 3000,
                  [PART_SYNC] = 22032,
                  [PART_HANDOFF] = 10000 + 2500,
                  [PART_LINK] = 32250,
                  [PART_MERGE] = 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 2000,
                   [PART_SYNC] = 22032,
                   [PART_HANDOFF] = 9000 + 2500},
        .layers = {286799 - 21000},
        .in = 64000,
        .out = 320 + 800,
    };
    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++) {
        expected.stalls[PART_LINK] = 129059 - ways[i].hits_end;
        check(1, MANAGED,
              OVERRIDES("context=1600", "trace=assumed:hit=50%", "mechanisms.transfer_ctas=1",
                        ways[i].way),
              &expected);
    }
}

#define AHEAD                                                                                      \
    "mechanisms={policy: qsac, budget: 1x, sinks: 0tok, recent: 0tok, selection: 10%,"             \
    " resident_heads: first-layer, retrieval: hata, retrieval_bytes: 20B, retrieval_query: 100%,"  \
    " retrieval_kernels: 4, transfer: cpu-store, prefetch: next-layer, sync: gpu, launch: graph,"  \
    " operators: 8}"

/* LiteCache's shape: layer 0 resident, layer 1 fetched while layer 0 runs; 100 of 1000 tokens
 * wanted, half of them missed: 4 heads, 200 tokens, 40000 B.
 *
 *   retrieve  a query projection, 2000000 B, 20000; 4 * 1000 codes of 20 B, 800; top-k 10000: 30800
 *   transfer  a flag of 3000 each way; 40000 B at 4 B/ns: 10000
 *   local     of the resident heads, 800 + 10000
 *   attend    40 + 8 * 100 = 840: no shorter than 1000, at 84 B/ns
 *
 *  main    pre 25000-53212, retrieve -84012, local -94812, attend, post, ...
 *  ids     84012-87012
 *  stores  87012-100012, of which 90012-100012 move 4 B/ns through HBM: local and attend are slow
 *          enough not to notice, post has 96 B/ns
 *  main    attend -95812, post 4200 ns at 96, then 13638800 B at 100: -236400; L1 pre -264612,
 *          attend -265612, post -406032, edge with 8 ns for the writeback -426220 */
static void prefetch_in_time_is_hidden(void **state)
{
    const struct expected_times expected = {
        .step = 426220,
        .parts = {[PART_COMPUTE] = 426220 - 25000 - 41600,
                  [PART_RETRIEVAL] = 41600,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {236400 - 25000, 406032 - 236400},
        .in = 40000,
        .out = 800,
    };
    (void)state;
    check(2, AHEAD, OVERRIDES("trace=assumed:hit=50%"), &expected);
}

/* The same with stores of 0.2 B/ns: 87012-290012. The main stream has 99.8 B/ns meanwhile: L0
 * attend -95812, post -236514, L1 pre -264783. L1 attend waits until 290012: -291012, post -431432,
 * edge -451620. The step goes back over the stores and the flags to retrieve. */
static void late_prefetch_stalls_on_the_link(void **state)
{
    const struct expected_times expected = {
        .step = 451620,
        .parts = {[PART_COMPUTE] = 28212 + 1000 + 140420 + 20188,
                  [PART_RETRIEVAL] = 30800,
                  [PART_SYNC] = 3000,
                  [PART_LINK] = 203000,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000, [PART_LINK] = 290012 - 264783},
        .layers = {236514 - 25000, 431432 - 236514},
        .in = 40000,
        .out = 800,
    };
    (void)state;
    check(2, AHEAD, OVERRIDES("trace=assumed:hit=50%", "hardware.link.cpu_store=200MB/s"),
          &expected);
}

/* All hit: nothing is scored but by resident heads, nothing moves, nobody waits. The labels'
 * kernels and the query projection remain: 20000. */
static void all_hits_move_nothing(void **state)
{
    const struct expected_times expected = {
        .step = 25000 + 28212 + 20000 + 10800 + 1000 + 140420 + 28212 + 1000 + 140420 + 20188,
        .parts = {[PART_COMPUTE] = 2 * (28212 + 1000 + 140420) + 20188,
                  [PART_RETRIEVAL] = 30800,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {28212 + 30800 + 1000 + 140420, 28212 + 1000 + 140420},
        .in = 0,
        .out = 800,
    };
    (void)state;
    check(2, AHEAD, OVERRIDES("trace=assumed:hit=100%"), &expected);
}

/* An index on the host: a layer's 4000 entries of 100 B cross the link in 2000 + 40000, the second
 * layer's behind the first's, which nothing has asked for before. No cache: 400 tokens, 80000 B.
 *
 *   retrieve  400000 B, 4000; top-k 10000: 14000, at 30 B/ns
 *   transfer  a flag of 3000 each way; 80000 B at 4 B/ns: 20000
 *
 *  h2d     index 0 25000-67000, index 1 69000: 18000 ns at 10 B/ns, 20000 at 6 beside the stores,
 *          -117000
 *  main    pre 25000: 2000 ns at 100, then 2621200 B at 90, -56125,
 *          retrieve 67000-81000
 *  stores  84000-107000
 *  main    attend -108000, post 9000 ns at 90, then 13232000 B at 100, -249320,
 *          L1 pre with 8 ns for the writeback -277540, retrieve -291540
 *  stores  294540-317540
 *  main    attend -318540, post -458960, edge -479148 */
static void index_comes_a_layer_ahead(void **state)
{
    const struct expected_times expected = {
        .step = 479148,
        .parts = {[PART_COMPUTE] = 1000 + 141320 + 28220 + 1000 + 140420 + 20188,
                  [PART_RETRIEVAL] = 28000,
                  [PART_LINK] = 42000 + 2 * 23000,
                  [PART_SYNC] = 6000,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000,
                   [PART_OVERHEAD] = 20000,
                   [PART_SYNC] = 6000,
                   [PART_LINK] = 67000 - 56125 + 2 * 23000},
        .layers = {249320 - 25000, 458960 - 249320},
        .in = 2 * 400000 + 2 * 80000,
        .out = 1600,
    };
    (void)state;
    check(2,
          "mechanisms={sinks: 0tok, recent: 0tok, selection: 10%, retrieval: pq,"
          " retrieval_bytes: 100B, retrieval_stream: yes, retrieval_kernels: 4,"
          " transfer: cpu-store, sync: gpu, launch: graph, operators: 8}",
          OVERRIDES("trace=assumed:hit=0%"), &expected);
}

/* Blocks of 10 tokens of 4 heads, 8000 B. 160 of 400 tokens miss, which are 4 blocks. They are
 * scattered into the execution buffer, by 4 CTAs, before they are attended to; the cache gets its
 * blocks whole, 32000 B in 8 copies of 2000, while the layer goes on.
 *
 *  main    pre 25000-53212, retrieve 800 + 10000 -64012
 *  ids     -67012
 *  main    lookup 1000 -68012, hits 2 * 48000 B, no shorter than 1000, -69012
 *  stores  3000 + 32000 B at 4 B/ns, 68012-79012
 *  main    misses 8000 -87012, attend -88012, post
 *  h2d     16000, then 32000 B at 10 B/ns, 79012-98212, of which post notices 3200 ns at 90 B/ns
 *  main    post 320 ns late -228752, edge with 8 ns for the writeback -248940 */
static void admitted_blocks_come_whole(void **state)
{
    const struct expected_times expected = {
        .step = 248940,
        .parts = {[PART_COMPUTE] = 28212 + 1000 + 140740 + 20188,
                  [PART_RETRIEVAL] = 10800,
                  [PART_LOOKUP] = 1000,
                  [PART_SYNC] = 3000,
                  [PART_LINK] = 11000,
                  [PART_MERGE] = 8000,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000,
                   [PART_OVERHEAD] = 20000,
                   [PART_SYNC] = 3000,
                   [PART_LINK] = 10000},
        .layers = {228752 - 25000},
        .in = 32000 + 32000,
        .out = 800,
    };
    (void)state;
    check(1,
          "mechanisms={policy: lru, budget: 2x, granularity: 10tok, block_span: layer, sinks: 0tok,"
          " recent: 0tok, selection: 10%, retrieval: hata, retrieval_bytes: 20B,"
          " retrieval_kernels: 3, transfer: cpu-store, merge: yes, sync: gpu, launch: graph,"
          " operators: 8}",
          OVERRIDES("trace=assumed:hit=60%"), &expected);
}

/* PQCache's shape: the GPU tells hits from misses, copies say which to the CPU, and the launch
 * thread gathers, starts the transfer, and then updates the cache and starts the copies of admitted
 * blocks, all before it launches attention. 240 of 400 tokens hit; 4 blocks are admitted and 8
 * promoted: each head's 1.5 count as 2.
 *
 *   retrieve  800 + 10000
 *   diff      400 sectors of 32 B: no shorter than 4 kernels, 4000
 *   ids       2000; then 2000 + 16 B * 160 at 10 B/ns: 2256
 *   gather    32000 B at 5 B/ns: 6400
 *   insert    12 blocks * 2000
 *   fill      8 calls; 8 * 2000 + 32000 B at 10 B/ns: 19200
 *
 *  launch  token 20000, pre 21000 (23000), retrieve 24000 (26000), diff 27000 (30000),
 *          sync 66012-86012, two 88268-128268, hits 129268, waits for the gather 134668, copy call
 *          135668, misses 136668, insert 160668, fill 168668, attend 169668, post 170668 (173668)
 *  main    pre 21000-49212, retrieve -60012, diff -64012, hits 129268-130268,
 *          misses by 4 CTAs 140868-148868, attend 169668-170668, post 320 ns late for the fill
 *          -311408, edge with 8 ns for the writeback -331596
 *  d2h     ids 64012-66012, 86012-88268
 *  pool    gather 128268-134668
 *  h2d     misses 135668-140868, fill 168668-187868 */
static void the_launch_thread_updates_before_attention(void **state)
{
    const struct expected_times expected = {
        .step = 331596,
        .parts = {[PART_COMPUTE] = 28212 + 1000 + 140740 + 20188,
                  [PART_RETRIEVAL] = 10800,
                  [PART_LOOKUP] = 4000,
                  [PART_SYNC] = 2000 + 20000 + 2256 + 40000,
                  [PART_GATHER] = 6400,
                  [PART_UPDATE] = 24000,
                  [PART_LAUNCH] = 1000 + 2000 + 8000 + 1000, /* pre; copy, misses; fill; attend */
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 1000 + 9000, /* pre, hits, copy; fill, attend */
                   [PART_SYNC] = 64256,
                   [PART_GATHER] = 134668 - 130268,
                   [PART_LINK] = 5200,
                   [PART_UPDATE] = 160668 - 148868},
        .layers = {311408 - 21000},
        .in = 32000 + 32000,
        .out = 2560 + 800,
        /* token, 20 launches and 9 copy calls of 1000, 3 synchronisations, insert; gather */
        .cpu = 20000 + 29000 + 60000 + 24000 + 6400,
    };
    (void)state;
    check(1,
          "mechanisms={policy: lru, budget: 2x, granularity: 10tok, block_span: layer, sinks: 0tok,"
          " recent: 0tok, selection: 10%, retrieval: hata, retrieval_bytes: 20B,"
          " retrieval_kernels: 3, retrieval_id_bytes: 16B, manager: split, lookup_kernels: 4,"
          " transfer: gather+copy, transfer_stream: main, merge: yes, sync: cpu, syncs: 3,"
          " sync_copies: 2, operators: 8}",
          OVERRIDES("trace=assumed:hit=60%", "hardware.host.update=2us"), &expected);
}

/* Loads among the kernels: 200 of 400 tokens hit, and are copied when the others have come.
 *
 *  main  pre 25000-53212, retrieve 800 + 10000 -64012, lookup -65012,
 *        40000 B at 8 B/ns, 1000 + 5000, -71012, hits -72012, attend -73012,
 *        admit by 4 CTAs, 10000, -83012, post -223432, edge -243620 */
static void transfer_among_the_kernels_overlaps_none(void **state)
{
    const struct expected_times expected = {
        .step = 243620,
        .parts = {[PART_COMPUTE] = 28212 + 1000 + 140420 + 20188,
                  [PART_RETRIEVAL] = 10800,
                  [PART_LOOKUP] = 1000,
                  [PART_LINK] = 6000,
                  [PART_MERGE] = 11000,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000, [PART_LINK] = 6000},
        .layers = {223432 - 25000},
        .in = 40000,
        .out = 800,
    };
    (void)state;
    check(1,
          "mechanisms={policy: lru, budget: 2x, sinks: 0tok, recent: 0tok, selection: 10%,"
          " retrieval: hata, retrieval_bytes: 20B, retrieval_kernels: 3, transfer: sm-zero-copy,"
          " transfer_stream: main, merge: yes, sync: gpu, launch: graph, operators: 8}",
          OVERRIDES("trace=assumed:hit=50%"), &expected);
}

/* InfiniGen's shape: layer 0 loads its whole KV, 800000 B, during layer 1 of the step before; layer
 * 1 is speculated in layer 0, gathered and copied; nothing is cached: 400 tokens, 80000 B. A
 * barrier waits for the new KV, too: 2000 + 80.
 *
 *   retrieve  a fifth of the query projection, 4000; 4 * 1000 * 10 B, 400; top-k 10000: 14400
 *   ids       2000 + 8 B * 100 * 4 at 10 B/ns: 2320
 *   gather    80000 B at 5 B/ns: 16000
 *   transfer  2000 + 8000; of layer 0 2000 + 80000. The main stream has 90 B/ns meanwhile
 *   attend    of layer 0 over all 1000 tokens 8040, of layer 1 no shorter than 1000, at 84 B/ns
 *
 *  launch  token 20000, pre 21000 (23000), retrieve 24000 (25000), sync 65932-85932, waits for the
 *          gather 101932, copy call 102932, attend 103932, post 104932 (107932), barrier
 *          255273-275273, L1 copy call 276273, pre 277273 (279273), attend 280273, post 281273
 *          (284273), barrier 456886-476886, edge 477886
 *  d2h     ids 63612-65932
 *  pool    gather 85932-101932
 *  h2d     L1's 102932-112932, the next L0's 276273-358273
 *  main    pre 21000-49212, retrieve -63612,
 *          attend 103932: 1000 ns at 100, then 704000 B at 90, -112755,
 *          post 177 ns at 90, then 14026070 B at 100, -253193,
 *          L1 pre 277273: 1000 ns at 100, then 2721200 B at 90, -308509, attend -309509, post 48764
 *          ns at 90, then 9653240 B at 100, -454806, edge 477886-498066 */
static void launch_thread_gathers_and_waits(void **state)
{
    const struct expected_times expected = {
        .step = 498066,
        .parts = {[PART_COMPUTE] = 28212 + (253193 - 103932) + (454806 - 277273) + 20180,
                  [PART_RETRIEVAL] = 14400,
                  [PART_LAUNCH] =
                      1000 + 2000 + 2000 + 1000, /* pre, copy and attend, copy and pre, edge */
                  [PART_SYNC] = 2320 + 20000 + 20000 + 20000,
                  [PART_LINK] = 2 * 2080,
                  [PART_GATHER] = 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 6000,
                   [PART_SYNC] = 62320,
                   [PART_LINK] = 2 * 2080,
                   [PART_GATHER] = 16000,
                   [PART_OVERHEAD] = 20000},
        .layers = {253193 - 21000, 454806 - 253193},
        .in = 80000 + 800000,
        .out = 3200 + 2 * 800,
    };
    (void)state;
    check(2,
          "mechanisms={sinks: 0tok, recent: 0tok, selection: 10%, retrieval: partial-weights,"
          " retrieval_bytes: 10B, retrieval_per_query_head: yes, retrieval_query: 20%,"
          " retrieval_kernels: 2, full_layers: 1, transfer: gather+copy, prefetch: next-layer,"
          " sync: cpu, syncs: 1, barrier: layer, operators: 8}",
          OVERRIDES("trace=assumed:hit=0%"), &expected);
}

/* The same for layer 1 alone, over a link of 0.1 B/ns; layer 0 is resident and selects by itself,
 * in 400 + 10000. The barrier waits for what was prefetched, though nothing needs it yet.
 *
 *  launch  as above to the copy call 102932, local 103932 (104932), attend 105932, post 106932
 *          (109932), barrier 904932-924932, L1 pre 925932 (927932), attend 928932, post 929932
 *          (932932), barrier 1097644-1117644, edge 1118644
 *  h2d     L1's 102932-904932; the main stream has 99.9 B/ns from 104932
 *  main    pre, retrieve -63612, local 103932-114332, attend -115332, post -255893,
 *          L1 pre 925932-954144, attend -955144, post -1095564, edge 1118644-1138824 */
static void barrier_waits_for_the_prefetch(void **state)
{
    const struct expected_times expected = {
        .step = 1138824,
        .parts = {[PART_COMPUTE] = 28212 + 28212 + 1000 + 140420 + 20180,
                  [PART_RETRIEVAL] = 14400,
                  [PART_LAUNCH] = 1000 + 1000 + 1000 + 1000, /* pre, copy, pre, edge */
                  [PART_SYNC] = 2320 + 20000 + 20000 + 20000,
                  [PART_GATHER] = 16000,
                  [PART_LINK] = 802000 + 2080,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000 + 2000 + 1000 + 1000, /* pre, copy and local, pre, edge */
                   [PART_SYNC] = 62320,
                   [PART_GATHER] = 16000,
                   [PART_LINK] = 904932 - 255893 + 2080,
                   [PART_OVERHEAD] = 20000},
        .layers = {255893 - 21000, 1095564 - 255893},
        .in = 80000,
        .out = 3200 + 800,
    };
    (void)state;
    check(2,
          "mechanisms={resident_heads: first-layer, sinks: 0tok, recent: 0tok, selection: 10%,"
          " retrieval: partial-weights, retrieval_bytes: 10B, retrieval_per_query_head: yes,"
          " retrieval_query: 20%, retrieval_kernels: 2, transfer: gather+copy,"
          " prefetch: next-layer, sync: cpu, syncs: 1, barrier: layer, operators: 8}",
          OVERRIDES("trace=assumed:hit=0%", "hardware.link.h2d=100MB/s"), &expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(admitted_blocks_come_whole),
        cmocka_unit_test(index_comes_a_layer_ahead),
        cmocka_unit_test(transfer_among_the_kernels_overlaps_none),
        cmocka_unit_test(cpu_manager_holds_up_the_launches),
        cmocka_unit_test(attention_in_place_ends_with_its_loads),
        cmocka_unit_test(slower_of_link_and_memory_bounds),
        cmocka_unit_test(misses_are_read_in_pages),
        cmocka_unit_test(a_layer_waits_for_jobs_that_outlast_the_waking),
        cmocka_unit_test(hand_offs_cost_by_threads_and_work_by_jobs),
        cmocka_unit_test(a_job_has_whole_heads),
        cmocka_unit_test(threads_of_loads_hold_up_what_runs_beside),
        cmocka_unit_test(slowest_head_holds_up_the_layer),
        cmocka_unit_test(copies_share_ctas_by_their_tokens),
        cmocka_unit_test(loads_hold_no_more_than_their_part_of_the_kernel),
        cmocka_unit_test(loads_in_flight_are_threads_times_their_loads),
        cmocka_unit_test(prefetch_in_time_is_hidden),
        cmocka_unit_test(late_prefetch_stalls_on_the_link),
        cmocka_unit_test(all_hits_move_nothing),
        cmocka_unit_test(the_launch_thread_updates_before_attention),
        cmocka_unit_test(launch_thread_gathers_and_waits),
        cmocka_unit_test(barrier_waits_for_the_prefetch),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
