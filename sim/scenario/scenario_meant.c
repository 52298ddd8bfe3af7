/* Other words for keys stand in a table; mechanisms and figures of a machine are found by their own
 * names, which people write without the map that they stand in. */
#include "scenario/scenario_meant.h"

#include "base/name.h"
#include "decode/mechanisms.h"
#include "hardware/profile.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *key, *others[8];
} words[] = {
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

static const char *scenario_meant_find_word(const char *given)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (size_t j = 0; j < 8 && words[i].others[j] != NULL; j++) {
            if (name_same(words[i].others[j], given)) {
                return words[i].key;
            }
        }
    }
    return NULL;
}

enum { MOST_PATHS = CURVE_COUNT + 128, PATH = 96 };

/* "mechanisms.budget", "hardware.gpu.hbm_capacity"; written once, ending with "". */
static char paths[MOST_PATHS][PATH];

static void write_paths(void)
{
    size_t count = 0;
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        snprintf(paths[count++], PATH, "mechanisms.%s", key->name);
    }
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        snprintf(paths[count++], PATH, "hardware.%s", curve_kinds[i].name);
    }
}

/* The path whose end, behind any of its dots, is `given`. */
static const char *find_path(const char *given)
{
    for (size_t i = 0; paths[i][0] != '\0'; i++) {
        for (const char *dot = paths[i]; (dot = strchr(dot, '.')) != NULL;) {
            if (name_same(++dot, given)) {
                return paths[i];
            }
        }
    }
    return NULL;
}

const char *scenario_key_meant(const char *given)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, write_paths);
    given += strspn(given, "-");
    const char *word = scenario_meant_find_word(given);
    return word != NULL ? word : find_path(given);
}
