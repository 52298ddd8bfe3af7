/* Schedules worked out by hand, on the model and the machine of tiny.h. Each comment is the whole
 * schedule of a step: nanoseconds since the last kernel of the step before ended. Launches of a
 * layer with 8 operators are 3 for pre, 1 for attend, 4 for post; 3 for the edge. */
#include "wish.h"

/* ---- all KV in HBM --------------------------------------------------------------------------- */

#define FULL "mechanisms={resident_heads: all, operators: 8}"
#define FULL_GRAPH "mechanisms={resident_heads: all, operators: 8, launch: graph}"

/*  launch  token 0-20000, pre 21000, (2 more) 23000, attend 24000, post 25000, ... far ahead
 *  main    waits for the first launch at 21000, then never again:
 *          pre 28212, attend 40 + 8 * 1000 = 8040, post 140420: 176672 a layer; edge 20180 */
static void eager_kernels_hide_their_launches(void **state)
{
    const struct wish wish = {
        .step = 20000 + 1000 + 2 * 176672 + 20180,
        .parts =
            {[PART_COMPUTE] = 2 * 176672 + 20180, [PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .layers = {176672, 176672},
    };
    (void)state;
    check(2, FULL, OVERRIDES(NULL), &wish);
}

/* A launch takes 100 us. The launch thread is never idle: 8 + 8 + 3 launches and the token.
 *  launch  the last two of the edge of the step before -179820, token 199820,
 *          L0 pre 299820 (499820), attend 599820, post 699820 (999820),
 *          L1 pre 1099820 (1299820), attend 1399820, post 1499820 (1799820), edge 1899820
 *  main    L0 pre 299820-328032, attend 599820-607860, post 699820-840240,
 *          L1 pre 1099820-1128032, attend 1399820-1407860, post 1499820-1640240,
 *          edge 1899820-1920000
 * Everything but the last kernel and the token is launches. */
static void slow_launches_hide_the_kernels(void **state)
{
    const struct wish wish = {
        .step = 19 * 100000 + 20000,
        .parts = {[PART_COMPUTE] = 20180, [PART_OVERHEAD] = 20000, [PART_LAUNCH] = 1900000 - 20180},
        .stalls = {[PART_OVERHEAD] = 20000, [PART_LAUNCH] = 1900000 - 2 * 176672 - 20180},
        .layers = {840240 - 299820, 1640240 - 840240},
    };
    (void)state;
    check(2, FULL, OVERRIDES("hardware.host.launch=100us"), &wish);
}

/* No kernel is shorter than 20 us: pre 60 us for its 3, attend 20, post still 140.42, edge 60. */
static void short_kernels_last_as_long_as_the_floor(void **state)
{
    const struct wish wish = {
        .step = 21000 + 2 * (60000 + 20000 + 140420) + 60000,
        .parts = {[PART_COMPUTE] = 500840, [PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .layers = {220420, 220420},
    };
    (void)state;
    check(2, FULL, OVERRIDES("hardware.gpu.kernel_floor=20us"), &wish);
}

/* One launch of 5 us a step. A gap of 50 us between nodes: pre 150, attend 50, post 200, edge 150.
 */
static void graph_is_launched_once(void **state)
{
    const struct wish quick = {
        .step = 25000 + 2 * 176672 + 20180,
        .parts = {[PART_COMPUTE] = 373524, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {176672, 176672},
    };
    const struct wish gaps = {
        .step = 25000 + 2 * 400000 + 150000,
        .parts = {[PART_COMPUTE] = 950000, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {400000, 400000},
    };
    (void)state;
    check(2, FULL_GRAPH, OVERRIDES("hardware.host.launch=100us"), &quick);
    check(2, FULL_GRAPH, OVERRIDES("hardware.gpu.graph_node=50us"), &gaps);
}

/* The scheduler's 1500 us come after the token's 20 us, on the launch thread. */
static void scheduler_holds_up_the_next_step(void **state)
{
    const struct wish wish = {
        .step = 1520000 + 5000 + 373524,
        .parts = {[PART_COMPUTE] = 373524, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 1520000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 1520000},
        .layers = {176672, 176672},
    };
    (void)state;
    check(2, "mechanisms={resident_heads: all, operators: 8, launch: graph, step_overhead: 1500us}",
          OVERRIDES(NULL), &wish);
}

/* Half a context: attention alone is shorter, by 500 tokens * 8 ns. Two sequences: their 1000
 * tokens each are 8000 ns more in attend; each sequence more adds, by operator, (norm) 8000 +
 * (qkv) 4800 + (rope) 4800 + (kv_write) 1600 B to pre, 4000 to attend, 4000 + 8000 + 10000 + 12000
 * + 6000 to post and 4000 + 8000 + 4000 to the edge, at 100 B a nanosecond. */
static void batch_and_context_cost_their_bytes(void **state)
{
    const struct wish half = {
        .step = 25000 + 2 * 172672 + 20180,
        .parts = {[PART_COMPUTE] = 365524, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {172672, 172672},
    };
    const struct wish two = {
        .step = 25000 + 2 * (28404 + 16080 + 140820) + 20340,
        .parts = {[PART_COMPUTE] = 390948, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {185304, 185304},
    };
    (void)state;
    check(2, FULL_GRAPH, OVERRIDES("context=500"), &half);
    check(2, FULL_GRAPH, OVERRIDES("batch=2"), &two);
}

/* Arithmetic of 0.1 TFLOP/s: 100 FLOPs a nanosecond. qkv 2 * 1000 * 1400 / 100 = 28000, less than
 * its 28048 by bytes; attention 4 * 1000 * 1000 / 100 = 40000, o 20000 (20040 by bytes), gate_up
 * 80000 (80100), down 40000 (40060), the head 20000 (20040). At half that rate, every product is
 * bound by it: qkv 56000, attention 80000, o 40000, gate_up 160000, down 80000, head 40000, and the
 * other kernels stay: pre 164 (norm 100, rope 48, kv_write 16), post 220 (norm 100, activation
 * 120), edge 140 (embedding 40, norm 100). */
static void each_operator_has_its_own_roofline(void **state)
{
    const struct wish even = {
        .step = 25000 + 2 * (28212 + 40000 + 140420) + 20180,
        .parts = {[PART_COMPUTE] = 437444, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {208632, 208632},
    };
    const struct wish slow = {
        .step = 25000 + 2 * (56164 + 80000 + 280220) + 40140,
        .parts = {[PART_COMPUTE] = 872908, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {416384, 416384},
    };
    (void)state;
    check(2, FULL_GRAPH, OVERRIDES("hardware.gpu.flops_bf16=100GFLOP/s"), &even);
    check(2, FULL_GRAPH, OVERRIDES("hardware.gpu.flops_bf16=50GFLOP/s"), &slow);
    check(2, FULL_GRAPH,
          OVERRIDES("hardware.gpu.flops_bf16=100GFLOP/s", "hardware.gpu.flops_share=50%"), &slow);
}

/* Two GPUs: 10 query and 2 KV heads, half of the FFN and of the head; norms, hidden states and the
 * embedding as before. Bytes: pre 10000 + (qkv) 1403400 + 2400 + 800 = 1416600; attend 2000 + 400 *
 * 1000; post (o) 1003000 + 10000 + (gate_up) 4006000 + 6000 + (down) 2004000 = 7029000; edge 4000 +
 * 10000 + 1003000. Two all-reduces of 5 us a layer. */
static void gpus_share_the_work_and_meet_twice_a_layer(void **state)
{
    const struct wish wish = {
        .step = 25000 + 2 * (14166 + 4020 + 70290 + 10000) + 10170,
        .parts = {[PART_COMPUTE] = 2 * (14166 + 4020 + 70290) + 10170,
                  [PART_COLLECTIVE] = 20000,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {98476, 98476},
    };
    (void)state;
    check(2, FULL_GRAPH, OVERRIDES("tensor_parallel=2"), &wish);
}

/* 5 query heads a KV head. K and V of what is attended to are read, written 5 times and read 5
 * times: 10 times more than in place, 10 * 800 B a token. */
static void copies_for_query_heads_are_written_and_read(void **state)
{
    const struct wish all = {
        .step = 25000 + 2 * (176672 + 80000) + 20180,
        .parts = {[PART_COMPUTE] = 533524, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {256672, 256672},
    };
    /* 100 tokens: no shorter than 1000, and 8000. 4000 entries of 20 B, 11 times, and 30 B of
     * scores: 10000, and top-k 10000. */
    const struct wish some = {
        .step = 25000 + 2 * (28212 + 20000 + 9000 + 140420) + 20180,
        .parts = {[PART_COMPUTE] = 2 * (28212 + 9000 + 140420) + 20180,
                  [PART_RETRIEVAL] = 40000,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {197632, 197632},
    };
    (void)state;
    check(2, "mechanisms={resident_heads: all, operators: 8, launch: graph, repeat_kv: yes}",
          OVERRIDES(NULL), &all);
    check(2,
          "mechanisms={resident_heads: all, operators: 8, launch: graph, repeat_kv: yes,"
          " sinks: 0tok, recent: 0tok, selection: 100tok, retrieval: pq, retrieval_bytes: 20B,"
          " retrieval_scores: 30B, retrieval_kernels: 4}",
          OVERRIDES(NULL), &some);
}

/* 0.1 TFLOP/s: 4000 keys of 50 values against 5 queries each are 2 000 000 FLOPs, 20000 ns, where
 * their 400 000 B take 4000. Attention to 100 tokens takes 4000. */
static void scores_of_keys_take_their_flops(void **state)
{
    const struct wish wish = {
        .step = 25000 + 2 * (28212 + 30000 + 4000 + 140420) + 20180,
        .parts = {[PART_COMPUTE] = 2 * (28212 + 4000 + 140420) + 20180,
                  [PART_RETRIEVAL] = 60000,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {202632, 202632},
    };
    (void)state;
    check(2,
          "mechanisms={resident_heads: all, operators: 8, launch: graph, sinks: 0tok,"
          " recent: 0tok, selection: 10%, retrieval: clusters, retrieval_keys: 1x,"
          " retrieval_kernels: 3}",
          OVERRIDES("hardware.gpu.flops_bf16=100GFLOP/s"), &wish);
}

/* ---- KV on the host -------------------------------------------------------------------------- */

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
 *   lookup    waking the pool 10000, 40 lookups * 100 on 4 threads: 11000
 *   estimate  26 clusters * 4 * 200 B, 208 ns: no shorter than 1000
 *   transfer  1000, then 64000 B at 8 B/ns: 9000; a head's 16000 B at 16 B/ns would take less
 *   hits      128000 B read and written at 100 B/ns: 1280 alone. The loads hold 64 CTAs of 256
 *             threads, half of 16 SMs with 2048: twice as long beside them
 *   attend    40 + 8 * 160 = 1320
 *   update    10000, 20 promotions and 20 insertions * 200 on 4 threads: 12000
 *   admit     64000 B by 4 CTAs of 1 B/ns: 16000
 *   writeback 2000 + 800 B at 10 B/ns, beside the edge, which it costs 8 ns of HBM
 *
 *  launch  token 20000, pre 21000 (23000), retrieve 24000 (26000), sync 62309-82309, estimate
 *          83309, waits for the lookup 93309, transfer 94309, hits 95309, attend 96309, waits for
 *          the update 105309, admit 106309, post 107309 (110309), edge 111309 (113309)
 *  main    pre 21000-49212, retrieve 49212-60277, estimate 83309-84309, hits 95309-97869,
 *          attend 103309-104629, admit 106309-122309, post -262729, edge -282917
 *  d2h     ids 60277-62309
 *  pool    lookup 82309-93309, update 93309-105309
 *  side    transfer 94309-103309
 *
 * The step goes back over edge, post, admit, its launch, update, lookup, sync, ids, retrieve, pre,
 * its launch and the token. */
static void cpu_manager_holds_up_the_launches(void **state)
{
    const struct wish wish = {
        .step = 282917,
        .parts = {[PART_COMPUTE] = 28212 + 140420 + 20188,
                  [PART_RETRIEVAL] = 11065,
                  [PART_LAUNCH] = 2000,
                  [PART_SYNC] = 22032,
                  [PART_MANAGER] = 23000,
                  [PART_MERGE] = 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 2000 + 1000, /* pre, estimate, hits, admit */
                   [PART_SYNC] = 22032,
                   [PART_MANAGER] = 9000 + 680, /* lookup from 84309, update from 104629 */
                   [PART_LINK] = 103309 - 97869},
        .layers = {262729 - 21000},
        .in = 64000,
        .out = 320 + 800,
    };
    (void)state;
    check(1, MANAGED, OVERRIDES("context=1600", "trace=assumed:hit=50%"), &wish);
}

/* One CTA a head loads 1024 B in each 1000 ns: the 16000 B of a head take 15625, so that 64000 B
 * move at 4.096 B/ns until 110934. They hold a 32nd of the SMs; the hits have what HBM
 * leaves, 95.904 B/ns: 95309-96644. Attend 110934-112254, admit -128254, post -268674, edge
 * -288862. The step goes back from attend over the transfer, its launch and the lookup. */
static void slowest_head_holds_up_the_layer(void **state)
{
    const struct wish wish = {
        .step = 288862,
        .parts = {[PART_COMPUTE] = 28212 + 1320 + 140420 + 20188,
                  [PART_RETRIEVAL] = 11065,
                  [PART_LAUNCH] = 2000,
                  [PART_SYNC] = 22032,
                  [PART_MANAGER] = 11000,
                  [PART_LINK] = 16625,
                  [PART_MERGE] = 16000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_OVERHEAD] = 20000,
                   [PART_LAUNCH] = 1000 + 1000 + 2000,
                   [PART_SYNC] = 22032,
                   [PART_MANAGER] = 9000,
                   [PART_LINK] = 110934 - 96644},
        .layers = {268674 - 21000},
        .in = 64000,
        .out = 320 + 800,
    };
    (void)state;
    check(1, MANAGED,
          OVERRIDES("context=1600", "trace=assumed:hit=50%", "mechanisms.transfer_ctas=1"), &wish);
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
    const struct wish wish = {
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
    check(2, AHEAD, OVERRIDES("trace=assumed:hit=50%"), &wish);
}

/* The same with stores of 0.2 B/ns: 87012-290012. The main stream has 99.8 B/ns meanwhile: L0
 * attend -95812, post -236514, L1 pre -264783. L1 attend waits until 290012: -291012, post -431432,
 * edge -451620. The step goes back over the stores and the flags to retrieve. */
static void late_prefetch_stalls_on_the_link(void **state)
{
    const struct wish wish = {
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
    check(2, AHEAD, OVERRIDES("trace=assumed:hit=50%", "hardware.link.cpu_store=200MB/s"), &wish);
}

/* All hit: nothing is scored but by resident heads, nothing moves, nobody waits. The labels'
 * kernels and the query projection remain: 20000. */
static void all_hits_move_nothing(void **state)
{
    const struct wish wish = {
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
    check(2, AHEAD, OVERRIDES("trace=assumed:hit=100%"), &wish);
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
    const struct wish wish = {
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
          OVERRIDES("trace=assumed:hit=0%"), &wish);
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
    const struct wish wish = {
        .step = 248940,
        .parts = {[PART_COMPUTE] = 28212 + 1000 + 140740 + 20188,
                  [PART_RETRIEVAL] = 10800,
                  [PART_MANAGER] = 1000,
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
          OVERRIDES("trace=assumed:hit=60%"), &wish);
}

/* Loads among the kernels: 200 of 400 tokens hit, and are copied when the others have come.
 *
 *  main  pre 25000-53212, retrieve 800 + 10000 -64012, lookup -65012,
 *        40000 B at 8 B/ns, 1000 + 5000, -71012, hits -72012, attend -73012,
 *        admit by 4 CTAs, 10000, -83012, post -223432, edge -243620 */
static void transfer_among_the_kernels_overlaps_none(void **state)
{
    const struct wish wish = {
        .step = 243620,
        .parts = {[PART_COMPUTE] = 28212 + 1000 + 140420 + 20188,
                  [PART_RETRIEVAL] = 10800,
                  [PART_MANAGER] = 1000,
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
          OVERRIDES("trace=assumed:hit=50%"), &wish);
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
    const struct wish wish = {
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
          OVERRIDES("trace=assumed:hit=0%"), &wish);
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
    const struct wish wish = {
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
          OVERRIDES("trace=assumed:hit=0%", "hardware.link.h2d=100MB/s"), &wish);
}

/* ---- streaming ------------------------------------------------------------------------------- */

/* Weights of a layer cross in 2000 + 1680400 and are what everything waits for; one load follows
 * the other. Let those of layer 1 be there at T; the main stream has 100 B/ns for 2000 ns, then 90:
 *
 *  main    L1 pre T+31125, attend T+40059, post T+196082, edge T+218505; then L0's weights are
 *          there at T+1682400, L0 ends 196082 later, and L1's are there at T+3364800 */
static void streamed_weights_set_the_pace(void **state)
{
    enum { LOAD = 1682400, LAYER = 196082, TAIL = 218505 };
    const struct wish wish = {
        .step = 2 * LOAD,
        .parts = {[PART_COMPUTE] = TAIL, [PART_WEIGHTS] = 2 * LOAD - TAIL},
        .stalls = {[PART_WEIGHTS] = 2 * LOAD - TAIL - LAYER},
        .layers = {LAYER, LOAD},
        .in = 2 * TINY_LAYER_WEIGHTS,
    };
    (void)state;
    check(2, "mechanisms={resident_heads: all, weights: 0%, operators: 8}", OVERRIDES(NULL), &wish);
}

/* Two sequences pass one after the other; the KV of the next pass, 2000 + 80000, crosses beside
 * this one's compute, into the buffer that the pass before it attended to. New KV, 2000 + 80,
 * leaves after each pass, which costs the next kernel 8 ns.
 *
 *  launch  token 20000, copy call 21000, pre 22000, ... ahead
 *  h2d     0.1's 21000-103000, 1.0's -185000, 1.1's 250933-332933, the next 0.0's 435613-517613
 *  main    pre 22000: 1000 ns at 100, then 90, -53236, attend -62170, post: to 103000 at 90, to
 *          105000 at 100, to 185000 at 90, -214673; 0.1 pre -242893, attend -250933, post 2000 ns
 *          at 100, 80000 at 90, -399353; 1.0 pre -427573, attend -435613, post -584033; 1.1 pre
 *          -612253, attend -620293, post -760713, edge (2034000 B) -781061 */
static void micro_batches_take_turns(void **state)
{
    const struct wish wish = {
        .step = 781061,
        .parts = {[PART_COMPUTE] = 781061 - 22000, [PART_LAUNCH] = 2000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 2000, [PART_OVERHEAD] = 20000},
        .layers = {399353 - 22000, 760713 - 399353},
        .in = 4 * 800000,
        .out = 4 * 800,
    };
    (void)state;
    check(2,
          "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, micro_batch: zig-zag,"
          " micro_batch_sequences: 1, operators: 8}",
          OVERRIDES("batch=2", "trace=assumed:hit=0%"), &wish);
}

/* FlexGen's loop, over one layer in two halves. The KV of the next step is copied through a pinned
 * block, at 1 B/ns instead of 10: 1000 + 720000 of the launch thread; then it crosses in 2000 +
 * 80000.
 *
 *  launch  token 20000, pre 21000 (23000), attend 24000, barrier 59332-79332, copy 800332, post
 *          801332 (804332), barrier 949752-969752, edge 970752
 *  d2h     new KV 57252-59332
 *  h2d     800332-882332
 *  main    pre 21000-49212, attend -57252, post 801332: 1000 ns at 100, 80000 at 90, -949752,
 *          edge 970752-990932 */
static void barriers_end_each_pass_of_pageable_copies(void **state)
{
    const struct wish wish = {
        .step = 990932,
        .parts = {[PART_COMPUTE] = 36252 + 148420 + 20180,
                  [PART_LAUNCH] = 3000,
                  [PART_SYNC] = 40000,
                  [PART_GATHER] = 721000,
                  [PART_LINK] = 2080,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 3000,
                   [PART_SYNC] = 40000,
                   [PART_GATHER] = 721000,
                   [PART_LINK] = 2080,
                   [PART_OVERHEAD] = 20000},
        .layers = {949752 - 21000},
        .in = 800000,
        .out = 800,
    };
    (void)state;
    check(1,
          "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, transfer: pageable,"
          " halves: yes, barrier: pass, operators: 8}",
          OVERRIDES("trace=assumed:hit=0%"), &wish);
}

/* Nothing is kept but activations, 2000 B a token, and K and V are made of them: 800000 B of
 * weights, 1000 * (2000 + 800) B. Those of the next step cross from its start in 2000 + 200000.
 *
 *  launch  token 20000, copy call 21000, pre 22000, ... ahead
 *  h2d     21000-223000
 *  main    pre 22000: 1000 ns at 100, then 90, -53236, recompute -93236, attend -102170, post to
 *          223000 at 90, -254673, edge, 20 ns longer for the new activations, -274873 */
static void activations_become_keys_and_values(void **state)
{
    const struct wish wish = {
        .step = 274873,
        .parts = {[PART_COMPUTE] = 274873 - 22000 - 40000,
                  [PART_RECOMPUTE] = 40000,
                  [PART_LAUNCH] = 2000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 2000, [PART_OVERHEAD] = 20000},
        .layers = {254673 - 22000},
        .in = 2000000,
        .out = 2000,
    };
    (void)state;
    check(1,
          "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, representation: act,"
          " operators: 8}",
          OVERRIDES("trace=assumed:hit=0%"), &wish);
}

/* Half of each: 400000 B of KV and 1000000 B of activations in 2000 + 140000. The micro-batch costs
 * 5000 besides; what was loaded is copied behind what was made, 800000 B.
 *
 *  h2d     21000-163000
 *  main    pre 22000-53236, overhead -58236, recompute 2200000 B at 90 -82681, merge -91570, attend
 *          -100504, post to 163000 at 90, -247174, edge, 14 ns longer, -267368 */
static void hybrid_recomputes_beside_the_loads(void **state)
{
    const struct wish wish = {
        .step = 267368,
        .parts = {[PART_COMPUTE] = 31236 + (247174 - 91570) + 20194,
                  [PART_RECOMPUTE] = 24445,
                  [PART_MERGE] = 8889,
                  [PART_LAUNCH] = 2000,
                  [PART_OVERHEAD] = 25000},
        .stalls = {[PART_LAUNCH] = 2000, [PART_OVERHEAD] = 20000},
        .layers = {247174 - 22000},
        .in = 1400000,
        .out = 1400,
    };
    (void)state;
    check(1,
          "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, representation: hybrid,"
          " representation_share: 50%, merge: yes, micro_batch_overhead: 5us, operators: 8}",
          OVERRIDES("trace=assumed:hit=0%"), &wish);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eager_kernels_hide_their_launches),
        cmocka_unit_test(slow_launches_hide_the_kernels),
        cmocka_unit_test(short_kernels_last_as_long_as_the_floor),
        cmocka_unit_test(graph_is_launched_once),
        cmocka_unit_test(scheduler_holds_up_the_next_step),
        cmocka_unit_test(batch_and_context_cost_their_bytes),
        cmocka_unit_test(each_operator_has_its_own_roofline),
        cmocka_unit_test(gpus_share_the_work_and_meet_twice_a_layer),
        cmocka_unit_test(copies_for_query_heads_are_written_and_read),
        cmocka_unit_test(scores_of_keys_take_their_flops),
        cmocka_unit_test(admitted_blocks_come_whole),
        cmocka_unit_test(index_comes_a_layer_ahead),
        cmocka_unit_test(transfer_among_the_kernels_overlaps_none),
        cmocka_unit_test(cpu_manager_holds_up_the_launches),
        cmocka_unit_test(slowest_head_holds_up_the_layer),
        cmocka_unit_test(prefetch_in_time_is_hidden),
        cmocka_unit_test(late_prefetch_stalls_on_the_link),
        cmocka_unit_test(all_hits_move_nothing),
        cmocka_unit_test(launch_thread_gathers_and_waits),
        cmocka_unit_test(barrier_waits_for_the_prefetch),
        cmocka_unit_test(streamed_weights_set_the_pace),
        cmocka_unit_test(micro_batches_take_turns),
        cmocka_unit_test(barriers_end_each_pass_of_pageable_copies),
        cmocka_unit_test(activations_become_keys_and_values),
        cmocka_unit_test(hybrid_recomputes_beside_the_loads),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
