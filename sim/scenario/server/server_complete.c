#include "scenario/server/server_complete.h"

#include "serve/server_engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VLLM_BLOCK = 16 }; /* tokens of a block of vLLM, if block_size is not stated */

static uint64_t server_complete_number_of(const struct stated_key *key, uint64_t unsaid)
{
    return key->value[0] != '\0' ? strtoull(key->value, NULL, 10) : unsaid;
}

static void set(struct stated_key *key, const struct stated_key *from, const char *value)
{
    snprintf(key->value, sizeof key->value, "%s", value);
    memmove(key->said, from->said, sizeof key->said);
    key->line = from->line;
}

static bool says(const struct stated_key *key, const char *value)
{
    return strcmp(key->value, value) == 0;
}

/* SGLang counts all GPUs in tp_size, and its dp_size are servers of their own, unless the ranks
 * share the layers outside attention: enable_dp_attention says so, and attn_dp_size, which counts
 * these ranks apart. */
static void complete_ranks(struct stated_key *all)
{
    if (server_complete_number_of(&all[SAID_RANK_COUNT], 1) > 1) {
        if (all[STATED_DATA_PARALLEL].value[0] != '\0') {
            all[STATED_REPLICAS] = all[STATED_DATA_PARALLEL];
        }
        all[STATED_DATA_PARALLEL] = all[SAID_RANK_COUNT];
        snprintf(all[SAID_RANKS].value, sizeof all[SAID_RANKS].value, "yes");
    }
    uint64_t tensor = server_complete_number_of(&all[STATED_TENSOR_PARALLEL], 1);
    uint64_t data = server_complete_number_of(&all[STATED_DATA_PARALLEL], 1);
    if (data <= 1) {
        return;
    }
    if (!says(&all[SAID_RANKS], "yes")) {
        all[STATED_REPLICAS] = all[STATED_DATA_PARALLEL];
        all[STATED_DATA_PARALLEL].value[0] = '\0';
    } else if (tensor % data == 0) {
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, tensor / data);
        set(&all[STATED_TENSOR_PARALLEL], &all[STATED_TENSOR_PARALLEL], text);
    }
}

/* For both makers: the pool from its blocks, and the ranks of experts. */
static void complete_both(struct stated_key *all)
{
    const struct stated_key *blocks = &all[SAID_BLOCKS];
    char text[32];
    if (blocks->value[0] != '\0' && all[STATED_KV_POOL].value[0] == '\0') {
        snprintf(text, sizeof text, "%" PRIu64,
                 server_complete_number_of(blocks, 0) *
                     server_complete_number_of(&all[SAID_BLOCK_TOKENS], VLLM_BLOCK));
        set(&all[STATED_KV_POOL], blocks, text);
    }
    if (says(&all[SAID_EXPERTS], "yes")) {
        snprintf(text, sizeof text, "%" PRIu64,
                 server_complete_number_of(&all[STATED_TENSOR_PARALLEL], 1) *
                     server_complete_number_of(&all[STATED_DATA_PARALLEL], 1));
        set(&all[STATED_EXPERT_PARALLEL], &all[SAID_EXPERTS], text);
    }
}

static void complete_vllm(struct stated_key *all)
{
    const struct stated_key vllm = {.said = "vLLM"};
    bool off = says(&all[SAID_PREFIX], "no");
    set(&all[STATED_SYSTEM], off ? &all[SAID_PREFIX] : &vllm, off ? "none" : "vllm");
    if (says(&all[SAID_EAGER], "yes")) {
        set(&all[STATED_COMPILE], &all[SAID_EAGER], server_compile_names[COMPILE_EAGER]);
    }
}

static bool complete_sglang(struct stated_key *all, struct error *why)
{
    const struct stated_key sglang = {.said = "SGLang"};
    complete_ranks(all);
    const char *engine = server_engine_latest("sglang", why);
    if (engine == NULL) {
        return false;
    }
    set(&all[STATED_ENGINE], &sglang, engine);
    bool tiers = says(&all[SAID_TIERS], "yes");
    set(&all[STATED_SYSTEM], tiers ? &all[SAID_TIERS] : &sglang,
        tiers ? "sglang-hicache" : "sglang");
    if (says(&all[SAID_PREFIX], "no")) {
        set(&all[STATED_PREFIX], &all[SAID_PREFIX], "none");
    }
    return true;
}

/* A form of parallelism with a single rank is the default, and need not be stated. */
static void drop_single_ranks(struct stated_key *all)
{
    for (int id = STATED_DATA_PARALLEL; id <= STATED_EXPERT_PARALLEL; id++) {
        if (says(&all[id], "1")) {
            all[id].value[0] = '\0';
        }
    }
}

bool server_complete(struct server_said *said, struct error *why)
{
    complete_both(said->all);
    if (said->maker == SERVER_VLLM) {
        complete_vllm(said->all);
    } else if (!complete_sglang(said->all, why)) {
        return false;
    }
    drop_single_ranks(said->all);
    return true;
}
