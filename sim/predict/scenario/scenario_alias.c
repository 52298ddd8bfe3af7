/* Other words for keys stand in a table. People write mechanisms and figures of a machine without
 * the map that holds them. */
#include "predict/scenario/scenario_alias.h"

#include "core/name.h"
#include "decode/mechanisms.h"
#include "machine/profile.h"
#include "predict/scenario/scenario_keys.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *key, *others[8]; /* ends with NULL */
} aliases[] = {
    {"tensor_parallel", {"tp", "tp_size", "gpus", "num_gpus", "n_gpus", "tensor_parallel_size"}},
    {"data_parallel", {"dp", "dp_size", "data_parallel_size"}},
    {"expert_parallel", {"ep", "ep_size", "expert_parallel_size"}},
    {"pipeline_parallel", {"pp", "pp_size", "pipeline_parallel_size"}},
    {"decode_context_parallel", {"dcp", "dcp_size", "decode_context_parallel_size"}},
    {"dtype.weights", {"quantization", "quant", "weights", "weight_dtype"}},
    {"dtype.kv", {"kv_dtype", "kv_cache_dtype", "kv_quant"}},
    {"hardware", {"gpu", "machine", "device", "hw"}},
    {"hardware.link", {"link", "pcie"}},
    {"system", {"preset", "method", "framework"}},
    {"context", {"ctx", "seq_len", "context_length", "context_len", "kv_len", "tokens"}},
    {"request_tokens", {"max_model_len", "max_context"}},
    {"batch", {"batch_size", "bs"}},
    {"clients", {"concurrency", "users", "max_concurrency"}},
    {"prompt", {"input", "input_len", "prompt_len", "isl", "input_tokens", "prompt_tokens"}},
    {"output", {"output_len", "osl", "output_tokens", "max_tokens", "max_new_tokens"}},
    {"warm_requests", {"num_warmups", "warmup_requests"}},
    {"rate", {"qps", "rps", "request_rate"}},
    {"workload", {"requests", "dataset"}},
    {"max_sequences", {"max_num_seqs", "max_running_requests"}},
    {"batched_tokens", {"max_num_batched_tokens", "chunked_prefill_size"}},
    {"hbm_usable", {"gpu_memory_utilization", "mem_fraction_static"}},
    {"hardware.price_per_hour", {"price", "price_per_hour", "cost"}},
};

/* A key, a mechanism or a figure of a machine: its name, and the map that holds it. */
struct stated_name {
    const char *map, *name;
};

/* Returns false behind the last. */
static bool stated_name_at(size_t index, struct stated_name *out)
{
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        if (index-- == 0) {
            *out = (struct stated_name){"", key->name};
            return true;
        }
    }
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        if (index-- == 0) {
            *out = (struct stated_name){"mechanisms.", key->name};
            return true;
        }
    }
    *out = (struct stated_name){"hardware.", index < CURVE_COUNT ? curve_kinds[index].name : NULL};
    return index < CURVE_COUNT;
}

/* The name without the part of the machine: "hbm_capacity" of "gpu.hbm_capacity". */
static const char *last_part(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

const char *scenario_alias(const char *text, char path[SCENARIO_PATH])
{
    struct stated_name one;
    text += strspn(text, "-");
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (name_match(text, aliases[i].others) >= 0) {
            return aliases[i].key;
        }
    }
    for (size_t i = 0; stated_name_at(i, &one); i++) {
        if (one.map[0] != '\0' &&
            (name_same(one.name, text) || name_same(last_part(one.name), text))) {
            snprintf(path, SCENARIO_PATH, "%s%s", one.map, one.name);
            return path;
        }
    }
    return NULL;
}

const char *scenario_suggest(const char *text, char path[SCENARIO_PATH])
{
    struct stated_name one;
    int nearest = NAME_FAR;
    const char *alias = scenario_alias(text, path);
    for (size_t i = 0; alias == NULL && stated_name_at(i, &one); i++) {
        int distance = name_distance(text, one.name),
            last = name_distance(text, last_part(one.name));
        distance = last < distance ? last : distance;
        if (distance < nearest && strcmp(one.name, text) != 0) {
            snprintf(path, SCENARIO_PATH, "%s%s", one.map, one.name);
            nearest = distance;
        }
    }
    return alias != NULL ? alias : nearest != NAME_FAR ? path : NULL;
}
