#include "predict/scenario/scenario_keys.h"

#include "policy/policy.h"
#include "predict/scenario/resolve_parallel.h"
#include "predict/scenario/scenario_alias.h"
#include "server/requests/arrivals.h"
#include "server/server_engine.h"
#include "server/workload.h"

#include <assert.h>
#include <string.h>

static const char *const prompt_words[] = {"context", "none", NULL};
static const char *const output_words[] = {"none", NULL};
static const char *const batch_words[] = {"max", NULL};
static const char *const steps_words[] = {"all", NULL};
static const char *const room_words[] = {"none", NULL};
static const char *const warmup_words[] = {"auto", NULL};

const struct scenario_key scenario_keys[] = {
    {"model", "llama-3-8b",
     "name or Hugging Face id of a shipped model, folder with a config.json, or its path",
     .shape = SCENARIO_NAME, .named = &named_model},
    {"config", "{sliding_window: 4096}",
     "keys in place of those of the model's config.json; also model.KEY=VALUE in an override",
     .shape = SCENARIO_CONFIG},
    {"hardware", "a40", "machine, or {gpu: a40, link: pcie5-x16, host: epyc-9654}",
     .shape = SCENARIO_MACHINE},
    {"system", "retroinfer", "preset of scenarios/systems, or a path", .shape = SCENARIO_NAME,
     .named = &named_system},
    {"trace", "smollm2-135m",
     "decode trace or trace profile, by name or path; ensemble: the recordings of three small "
     "models; or assumed:hit=93%,spread=5%",
     .shape = SCENARIO_TRACE},
    {"context", "131072",
     "tokens per sequence; 128K is 131072; default with a prompt: prompt + output / 2",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .positive = true},
    {"contexts", "{4K: 1, 128K: 2}",
     "instead of 'context': number of sequences, or share of the batch, by context; or a list with "
     "one per sequence",
     .shape = SCENARIO_CONTEXTS},
    {"prompt", "1920",
     "tokens per sequence that prefill computes; or context: all before half the output",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .words = prompt_words, .positive = true},
    {"output", "128", "tokens generated after the prompt; adds e2e_tokens_per_s",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .words = output_words, .positive = true},
    {"batch", "1", "sequences, or max: as many as fit", .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT,
     .words = batch_words, .positive = true},
    {"steps", "32", "steps to report; default: all of the trace", .shape = SCENARIO_WHOLE,
     .unit = UNIT_COUNT, .words = steps_words, .positive = true},
    {"warmup", "auto", "steps replayed before them; default: half of the trace",
     .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT, .words = warmup_words},
    {"seed", "1", "seed of random arrivals, generated traces and the spread of assumed ones",
     .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT},
    {"order", "batch", "batch, or sequential: one unit after the other", .shape = SCENARIO_WORD,
     .words = policy_orders},
    {"tensor_parallel", "1", "GPUs that split each layer", .shape = SCENARIO_WHOLE,
     .unit = UNIT_COUNT, .positive = true},
    {"data_parallel", "1", "ranks with sequences of their own, which share the experts of a model",
     .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT, .positive = true},
    {"expert_parallel", "1", "groups of GPUs that have a part of the experts each",
     .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT, .positive = true},
    {"pipeline_parallel", "1", "stages of layers, each on GPUs of its own", .shape = SCENARIO_WHOLE,
     .unit = UNIT_COUNT, .positive = true},
    {"decode_context_parallel", "1",
     "parts of a sequence's tokens, each on GPUs with equal KV heads", .shape = SCENARIO_WHOLE,
     .unit = UNIT_COUNT, .positive = true},
    {"expert_exchange", "all-gather", "how ranks share experts: all-gather or all-to-all of tokens",
     .shape = SCENARIO_WORD, .words = parallel_exchanges},
    {"expert_skew", "0.5", "exponent of Zipf's law by which experts are chosen; 0: all alike",
     .shape = SCENARIO_NUMBER, .unit = UNIT_COUNT, .most = 10},
    {"dtype", "{weights: fp8, kv: fp8}",
     "bf16, fp8, int8, int4, mxfp4 or nvfp4; default: the model's", .shape = SCENARIO_DTYPES},
    {"drafts", "{count: 3, method: eagle3, acceptance: 70%}",
     "speculative decoding: tokens that a step drafts and verifies; default: none",
     .shape = SCENARIO_DRAFTS},
    {"hbm_usable", "90%", "share of HBM that may be used; default: the engine's, or 90%",
     .shape = SCENARIO_NUMBER, .unit = UNIT_SHARE, .positive = true, .most = 1},
    {"hbm_reserve", "2GiB", "HBM kept free within that share", .shape = SCENARIO_WHOLE,
     .unit = UNIT_BYTES},
    {"kv_pool_tokens", "41408", "tokens of KV in HBM, instead of what fits",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .words = room_words, .serving = true,
     .positive = true},
    {"host_memory", "256GiB",
     "host memory that may be taken whole; what a machine has is hardware.host.dram_capacity",
     .shape = SCENARIO_WHOLE, .unit = UNIT_BYTES, .words = room_words, .serving = true,
     .positive = true},
    {"disk_space", "1TB", "bytes of the machine's drives for prefixes; default: all",
     .shape = SCENARIO_WHOLE, .unit = UNIT_BYTES, .words = room_words, .serving = true,
     .positive = true},
    {"pool_space", "8TB", "bytes of the machine's pool for prefixes; default: all",
     .shape = SCENARIO_WHOLE, .unit = UNIT_BYTES, .words = room_words, .serving = true,
     .positive = true},
    {"workload", "requests.jsonl",
     "file of requests (Mooncake, Bailian, LLMServingSim, Azure, BurstGPT, vLLM, or what a "
     "benchmark kept), or synthetic:prompt=1000,output=200 or synthetic:lengths=sharegpt; "
     "replaces context and batch",
     .shape = SCENARIO_TEXT, .serving = true},
    {"rate", "2.5", "requests per second, drawn; default: the workload's own arrivals",
     .shape = SCENARIO_NUMBER, .unit = UNIT_COUNT, .serving = true, .positive = true},
    {"burstiness", "1", "shape of the gamma distribution of arrival gaps; 1: a Poisson process",
     .shape = SCENARIO_NUMBER, .unit = UNIT_COUNT, .serving = true, .positive = true},
    {"arrivals", "constant",
     "random, by 'rate' and 'burstiness'; constant: by 'rate', with equal gaps; at-once: all at the "
     "beginning",
     .shape = SCENARIO_WORD, .words = arrivals_names, .serving = true},
    {"warm_requests", "16",
     "requests of the workload that come first, warm the prefix cache, and count in no figure",
     .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT, .serving = true, .positive = true},
    {"clients", "16", "clients that send their next request when the last one ends",
     .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT, .serving = true, .positive = true},
    {"time_scale", "2", "factor by which arrival gaps are stretched", .shape = SCENARIO_NUMBER,
     .unit = UNIT_COUNT, .serving = true, .positive = true},
    {"limit", "1000", "use only the first requests of the workload", .shape = SCENARIO_WHOLE,
     .unit = UNIT_COUNT, .serving = true, .positive = true},
    {"hash_tokens", "16",
     "tokens of a hash in the workload, or of a chunk of its token ids; default: its format's",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .serving = true, .positive = true},
    {"timed", "no", "no: without a clock, only the prefixes found, request by request",
     .shape = SCENARIO_SWITCH, .serving = true},
    {"replicas", "4", "servers behind one router", .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT,
     .serving = true, .positive = true},
    {"routing", "prefix",
     "round-robin; or prefix: to the server that saw most of the prompt; or, by the load of the "
     "moment, least-requests, two-choices, prefix-load or scores",
     .shape = SCENARIO_WORD, .words = routing_names, .serving = true},
    {"cache_threshold", "30%",
     "routing prefix-load: share of a prompt that a server must have seen to get it again",
     .shape = SCENARIO_NUMBER, .unit = UNIT_SHARE, .serving = true, .most = 1},
    {"balance_abs_threshold", "64",
     "routing prefix-load: requests by which servers may differ before load decides",
     .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT, .serving = true},
    {"balance_rel_threshold", "1.5",
     "routing prefix-load: factor by which requests may differ, as well, before load decides",
     .shape = SCENARIO_NUMBER, .unit = UNIT_COUNT, .serving = true},
    {"engine", "vllm-0.19",
     "engine and version whose limits and memory a server has; default: the system's; or none",
     .shape = SCENARIO_ENGINE, .serving = true},
    {"compile", "warm",
     "torch.compile at a server's start: cold (an empty cache), warm, or eager: no graphs, either",
     .shape = SCENARIO_WORD, .words = server_compile_names, .serving = true},
    {"max_sequences", "256", "most sequences of a server's step; default: the engine's",
     .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT, .serving = true, .positive = true},
    {"batched_tokens", "2048", "most tokens of a server's step; default: the engine's",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .serving = true, .positive = true},
    {"request_tokens", "32K",
     "most tokens of a request, prompt and output together, as vLLM's --max-model-len; the server "
     "refuses longer ones",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .serving = true, .positive = true},
    {"slo", "{ttft_ms: 2000, tpot_ms: 60}", "objectives that goodput counts",
     .shape = SCENARIO_OBJECTIVES, .serving = true},
    {"mechanisms", "{sync: gpu}", "overrides of the system's mechanisms",
     .shape = SCENARIO_MECHANISMS},
    {"sweep", "{context: [32768, 131072]}", "keys with lists: one run for each combination",
     .shape = SCENARIO_SWEEP},
    {.name = NULL},
};

const struct scenario_key *scenario_key_find(const char *name, size_t length)
{
    const struct scenario_key *key = scenario_keys;
    while (key->name != NULL &&
           (strlen(key->name) != length || strncmp(key->name, name, length) != 0)) {
        key++;
    }
    return key->name != NULL ? key : NULL;
}

/* Several values stand under `sweep`, and only contexts are a list themselves. */
static bool check_lists(const struct node *root, struct error *why)
{
    for (size_t i = 0; i < root->count; i++) {
        const struct node *child = root->children[i];
        const struct scenario_key *key = scenario_key_find(child->key, strlen(child->key));
        assert(key != NULL); /* unknown keys were refused */
        if (child->kind == NODE_LIST && key->shape != SCENARIO_CONTEXTS &&
            key->shape != SCENARIO_SWEEP) {
            node_error(child, why, "'%s' is a list", child->key);
            return error_expect(why,
                                "a single value; or, to run each, the list as sweep.%s=[...] or "
                                "under 'sweep:' in a file",
                                child->key);
        }
    }
    return true;
}

bool scenario_check_keys(const struct node *root, struct error *why)
{
    const char *keys[64];
    size_t count = 0;
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        keys[count++] = key->name;
    }
    keys[count] = NULL;
    if (node_check_keys(root, keys, "scenario", why)) {
        return check_lists(root, why);
    }
    for (size_t i = 0; root->kind == NODE_MAP && i < root->count; i++) {
        char path[SCENARIO_PATH];
        const char *text = root->children[i]->key;
        if (scenario_key_find(text, strlen(text)) == NULL) {
            error_nearest(why, scenario_suggest(text, path));
            break;
        }
    }
    return error_rest(why, "spillway simulate --help");
}
