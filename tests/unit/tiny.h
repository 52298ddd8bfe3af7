/* A model and a machine of round figures, so that sizes and schedules can be worked out by hand.
 *
 * The model: hidden 1000, 20 query heads and 4 KV heads of 50, FFN 2000, vocabulary 1000, bf16. A
 * token's K and V of one KV head are 2 * 50 * 2 B = 200 B, of a layer 800 B. Bytes that a decode
 * step of one sequence moves, where it attends to A tokens:
 *
 *   pre     norm    weights 2000, read and written 4 * 1000 * 2             10 000
 *           qkv     weights 1000 * 1400 * 2, moved (1000 + 1400) * 2     2 804 800
 *           rope    2 * 1200 * 2                                             4 800
 *           kv_write  K and V of the token read, 2 * 200 * 2, and kept 800   1 600    2 821 200
 *   attend  Q read and written 2 * 1000 * 2, KV A * 800                               4 000 + 800 A
 *   post    o       weights 1000 * 1000 * 2, moved 2000 * 2              2 004 000
 *           norm                                                            10 000
 *           gate_up weights 2 * 1000 * 2000 * 2, moved 5000 * 2          8 010 000
 *           activation  3 * 2000 * 2                                        12 000
 *           down    weights 2000 * 1000 * 2, moved 3000 * 2              4 006 000   14 042 000
 *   edge    embedding 2 * 1000 * 2                                           4 000
 *           norm                                                            10 000
 *           head    weights 1000 * 1000 * 2, moved 2000 * 2              2 004 000    2 018 000
 *
 * The machine moves 100 B a nanosecond in HBM whatever the size, and its arithmetic is never the
 * bound: pre takes 28 212 ns, attend 40 + 8 A, post 140 420, the edge 20 180.
 *
 * Weights that it holds: a layer 2000 + 2 800 000 + 2 000 000 + 2000 + 8 000 000 + 4 000 000 =
 * 16 804 000 B; the edge, embedding, norm and head, 2 000 000 + 2000 + 2 000 000 = 4 002 000 B. */
#ifndef TINY_H
#define TINY_H

#include "make_setup.h"
#include "make_trace.h"

#include <unistd.h>

enum {
    TINY_PRE_NS = 28212,
    TINY_POST_NS = 140420,
    TINY_EDGE_NS = 20180,
    TINY_ATTEND_NS = 40,      /* and */
    TINY_ATTEND_TOKEN_NS = 8, /* for each token */
    TINY_HEAD_BYTES = 200,    /* K and V of one token of one KV head */
    TINY_LAYER_WEIGHTS = 16804000,
    TINY_EDGE_WEIGHTS = 4002000,
};

static const char *const tiny_machine =
    "hardware={gpu: {hbm_capacity: 10GB, hbm_bandwidth: 100GB/s, hbm_share: 100%,"
    " cta_bandwidth: 1GB/s, sms: 16, flops_bf16: 1000PFLOP/s, flops_fp8: 1000PFLOP/s,"
    " flops_share: 100%, kernel_floor: 1us, topk: 10us, collective: 5us, graph_node: 1us,"
    " flag: 3us},"
    " link: {h2d: 10GB/s, d2h: 10GB/s, duplex: 20GB/s, copy_latency: 2us, round_trip: 1us,"
    " zero_copy: 8GB/s, cta_in_flight: 1KiB, cpu_store: 4GB/s, coherent: 0, gpus_per_uplink: 1},"
    " host: {launch: 1us, graph_launch: 5us, copy_call: 1us, sync: 20us, dram_capacity: 10GB,"
    " dram_bandwidth: 100GB/s, cores: 4, node_threads: 4, pool_handoff: 10us, lookup: 100ns, update: 200ns,"
    " gather: 5GB/s, attention: {points: [[1, 2GB/s], [4, 8GB/s]], basis: assumed,"
    " range: [50%, 200%], source: made up}, pageable: 1GB/s, kmeans: 1GFLOP/s}}";

/* The folder that the tests of a program write to; fixtures of its group. */
static char folder[32];

static inline int enter_folder(void **state)
{
    (void)state;
    make_folder(folder);
    return 0;
}

static inline int leave_folder(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static inline void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Write the model into the folder; `override` becomes "model=" and its path. */
static inline const char *tiny_model(uint32_t layers, char override[128])
{
    char text[512];
    snprintf(override, 128, "model=%s/tiny.json", folder);
    snprintf(text, sizeof text,
             "{\"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 1000,"
             " \"intermediate_size\": 2000, \"num_hidden_layers\": %u,"
             " \"num_attention_heads\": 20, \"num_key_value_heads\": 4, \"vocab_size\": 1000,"
             " \"max_position_embeddings\": 100000}",
             layers);
    write_text(override + strlen("model="), text);
    return override;
}

/* A system of which everything is left at its default: KV on the host, everything selected. */
static inline const char *bare_system(char override[128])
{
    snprintf(override, 128, "system=%s/bare.yaml", folder);
    write_text(override + strlen("system="), "summary: nothing said\n");
    return override;
}

/* A random trace of the tiny model's heads in 3 layers, known as recorded from `model`: "trace="
 * and its path. It has 7 steps. */
static inline const char *tiny_trace(const char *model, char override[128])
{
    char source[64];
    struct trace_header header = make_header();
    snprintf(source, sizeof source, "{\"model\":\"%s\"}", model);
    snprintf(override, 128, "trace=%s/%s.swt", folder, model);
    header.layers = 3;
    header.kv_heads = 4;
    header.query_heads = 20;
    header.head_dim = 50;
    header.source = source;
    make_trace(&header, override + strlen("trace="), 1);
    return override;
}

#endif
