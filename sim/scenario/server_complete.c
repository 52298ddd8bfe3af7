#include "scenario/server_complete.h"

#include "serve/server_engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VLLM_BLOCK = 16 }; /* tokens of a block of vLLM, if block_size is not stated */

static uint64_t server_complete_number_of(const struct server_fact *fact, uint64_t unsaid)
{
    return fact->value[0] != '\0' ? strtoull(fact->value, NULL, 10) : unsaid;
}

static void set(struct server_fact *fact, const struct server_fact *from, const char *value)
{
    snprintf(fact->value, sizeof fact->value, "%s", value);
    memmove(fact->said, from->said, sizeof fact->said);
    fact->line = from->line;
}

static bool says(const struct server_fact *fact, const char *value)
{
    return strcmp(fact->value, value) == 0;
}

/* SGLang counts all GPUs in tp_size, and its dp_size are servers of their own, unless the ranks
 * share the layers outside attention: enable_dp_attention says so, and attn_dp_size, which counts
 * these ranks apart. */
static void complete_ranks(struct server_fact *all)
{
    if (server_complete_number_of(&all[SAID_RANK_COUNT], 1) > 1) {
        if (all[FACT_DATA_PARALLEL].value[0] != '\0') {
            all[FACT_REPLICAS] = all[FACT_DATA_PARALLEL];
        }
        all[FACT_DATA_PARALLEL] = all[SAID_RANK_COUNT];
        snprintf(all[SAID_RANKS].value, sizeof all[SAID_RANKS].value, "yes");
    }
    uint64_t tensor = server_complete_number_of(&all[FACT_TENSOR_PARALLEL], 1);
    uint64_t data = server_complete_number_of(&all[FACT_DATA_PARALLEL], 1);
    if (data <= 1) {
        return;
    }
    if (!says(&all[SAID_RANKS], "yes")) {
        all[FACT_REPLICAS] = all[FACT_DATA_PARALLEL];
        all[FACT_DATA_PARALLEL].value[0] = '\0';
    } else if (tensor % data == 0) {
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, tensor / data);
        set(&all[FACT_TENSOR_PARALLEL], &all[FACT_TENSOR_PARALLEL], text);
    }
}

/* For both makers: the pool from its blocks, and the ranks of experts. */
static void complete_both(struct server_fact *all)
{
    const struct server_fact *blocks = &all[SAID_BLOCKS];
    char text[32];
    if (blocks->value[0] != '\0' && all[FACT_KV_POOL].value[0] == '\0') {
        snprintf(text, sizeof text, "%" PRIu64,
                 server_complete_number_of(blocks, 0) *
                     server_complete_number_of(&all[SAID_BLOCK_TOKENS], VLLM_BLOCK));
        set(&all[FACT_KV_POOL], blocks, text);
    }
    if (says(&all[SAID_EXPERTS], "yes")) {
        snprintf(text, sizeof text, "%" PRIu64,
                 server_complete_number_of(&all[FACT_TENSOR_PARALLEL], 1) *
                     server_complete_number_of(&all[FACT_DATA_PARALLEL], 1));
        set(&all[FACT_EXPERT_PARALLEL], &all[SAID_EXPERTS], text);
    }
}

static void complete_vllm(struct server_fact *all)
{
    const struct server_fact vllm = {.said = "vLLM"};
    bool off = says(&all[SAID_PREFIX], "no");
    set(&all[FACT_SYSTEM], off ? &all[SAID_PREFIX] : &vllm, off ? "none" : "vllm");
    if (says(&all[SAID_EAGER], "yes")) {
        set(&all[FACT_COMPILE], &all[SAID_EAGER], server_compile_names[COMPILE_EAGER]);
    }
}

static void complete_sglang(struct server_fact *all)
{
    const struct server_fact sglang = {.said = "SGLang"};
    complete_ranks(all);
    set(&all[FACT_ENGINE], &sglang, server_engine_names[SERVER_ENGINE_SGLANG_05]);
    bool tiers = says(&all[SAID_TIERS], "yes");
    set(&all[FACT_SYSTEM], tiers ? &all[SAID_TIERS] : &sglang, tiers ? "sglang-hicache" : "sglang");
    if (says(&all[SAID_PREFIX], "no")) {
        set(&all[FACT_PREFIX], &all[SAID_PREFIX], "none");
    }
}

/* A form of parallelism with a single rank is the default, and need not be stated. */
static void drop_single_ranks(struct server_fact *all)
{
    for (int id = FACT_DATA_PARALLEL; id <= FACT_EXPERT_PARALLEL; id++) {
        if (says(&all[id], "1")) {
            all[id].value[0] = '\0';
        }
    }
}

void server_complete(struct server_said *said)
{
    complete_both(said->all);
    if (said->maker == SERVER_VLLM) {
        complete_vllm(said->all);
    } else {
        complete_sglang(said->all);
    }
    drop_single_ranks(said->all);
}
