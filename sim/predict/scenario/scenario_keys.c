#include "predict/scenario/scenario_keys.h"

#include "predict/scenario/resolve.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Other words for keys stand in a table. People write mechanisms and machines' figures without maps. */

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

/* By `all_to_all` of struct model_parallel. */
static const char *const expert_exchanges[] = {"all-gather", "all-to-all", NULL};
static const char *const prompt_words[] = {"context", "none", NULL};
static const char *const output_words[] = {"none", NULL};
static const char *const batch_words[] = {"max", NULL};
static const char *const steps_words[] = {"all", NULL};
static const char *const room_words[] = {"none", NULL};
static const char *const warmup_words[] = {"auto", NULL};
static const char *const overlap_words[] = {"engine", "no", "yes", NULL};

#define MOST_BYTES ((double)((uint64_t)1 << 53))
#define MOST_STEPS (1 << 16) /* all are timed in one schedule */
#define MOST_COUNT (1 << 20)
#define MOST_PARTS 1024

#define IN(at, owner, member)                                                                      \
    .place = SCENARIO_##at, .offset = offsetof(struct owner, member),                              \
    .size = sizeof((struct owner *)NULL)->member
#define SETUP(member) IN(SETUP, setup, member)
#define WORKLOAD(member) IN(WORKLOAD, workload, member), .serving = true
#define GPUS(member) IN(GPUS, scenario_gpus, member)
#define WHOLE(kind) .shape = SCENARIO_WHOLE, .unit = UNIT_##kind
#define NUMBER(kind) .shape = SCENARIO_NUMBER, .unit = UNIT_##kind

/* What a user measured of his own server. */
#define MEASURED(key, what, figure)                                                                \
    {                                                                                              \
        "measured_" key, "1.08x",                                                                  \
            what                                                                                   \
            " of a run of this server, as a multiple of what is predicted for that run (compare)", \
            NUMBER(TIMES), .positive = true, WORKLOAD(measured[figure]), .least = 0.01,            \
                           .most = 100, .open = true                                               \
    }

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
     WHOLE(TOKENS), .positive = true, SETUP(context), .most = CONTEXTS_LONGEST, .open = true},
    {"contexts", "{4K: 1, 128K: 2}",
     "instead of 'context': number of sequences, or share of the batch, by context; or a list with "
     "one per sequence",
     .shape = SCENARIO_CONTEXTS},
    {"prompt", "1920",
     "tokens per sequence that prefill computes; or context: all before half the output",
     WHOLE(TOKENS), .words = prompt_words, .positive = true, SETUP(prompt),
     .most = CONTEXTS_LONGEST / 2, .word = SETUP_PROMPT_OF_CONTEXT},
    {"output", "128", "tokens generated after the prompt; adds e2e_tokens_per_s", WHOLE(TOKENS),
     .words = output_words, .positive = true, SETUP(output), .most = CONTEXTS_LONGEST / 2},
    {"grows", "12288",
     "last tokens of the context that the run itself decodes, one a step; default: the context stands "
     "still",
     WHOLE(TOKENS), .words = output_words, .positive = true, SETUP(grows), .most = MOST_STEPS,
     .open = true},
    {"batch", "1", "sequences, or max: as many as fit", WHOLE(COUNT), .words = batch_words,
     .positive = true, SETUP(batch), .most = CONTEXTS_MOST_BATCH, .word = SETUP_BATCH_MAX},
    {"steps", "32", "steps to report; default: all of the trace", WHOLE(COUNT),
     .words = steps_words, .positive = true, SETUP(steps), .most = MOST_STEPS,
     .word = SETUP_STEPS_ALL},
    {"warmup", "auto", "steps replayed before them; default: half of the trace", WHOLE(COUNT),
     .words = warmup_words, SETUP(warmup), .most = UINT32_MAX, .word = SETUP_WARMUP_AUTO},
    {"seed", "1", "seed of random arrivals, generated traces and the spread of assumed ones",
     WHOLE(COUNT), SETUP(seed), .most = MOST_BYTES},
    {"order", "batch", "batch, or sequential: one unit after the other", .shape = SCENARIO_WORD,
     .words = policy_orders, SETUP(order)},
    {"tensor_parallel", "1", "GPUs that split each layer", WHOLE(COUNT), .positive = true,
     GPUS(tensor), .most = MOST_PARTS},
    {"data_parallel", "1", "ranks with sequences of their own, which share the experts of a model",
     WHOLE(COUNT), .positive = true, GPUS(parts.data), .most = MOST_PARTS},
    {"expert_parallel", "1", "groups of GPUs that have a part of the experts each", WHOLE(COUNT),
     .positive = true, GPUS(parts.experts), .most = MOST_PARTS},
    {"pipeline_parallel", "1", "stages of layers, each on GPUs of its own", WHOLE(COUNT),
     .positive = true, GPUS(parts.pipeline), .most = MOST_PARTS},
    {"decode_context_parallel", "1",
     "parts of a sequence's tokens, each on GPUs with equal KV heads", WHOLE(COUNT),
     .positive = true, GPUS(parts.context), .most = MOST_PARTS},
    {"expert_exchange", "all-gather", "how ranks share experts: all-gather or all-to-all of tokens",
     .shape = SCENARIO_WORD, .words = expert_exchanges, GPUS(parts.all_to_all)},
    {"expert_skew", "0.5", "exponent of Zipf's law by which experts are chosen; 0: all alike",
     NUMBER(COUNT), .most = 10, GPUS(parts.skew)},
    {"dtype", "{weights: fp8, kv: fp8}",
     "bf16, fp8, int8, int4, mxfp4 or nvfp4; default: the model's", .shape = SCENARIO_DTYPES},
    {"drafts", "{count: 3, method: eagle3, acceptance: 70%}",
     "speculative decoding: tokens that a step drafts and verifies; default: none",
     .shape = SCENARIO_DRAFTS},
    {"hbm_usable", "90%", "share of HBM that may be used; default: the engine's, or 90%",
     NUMBER(SHARE), .positive = true, .most = 1, SETUP(hbm_usable)},
    {"hbm_reserve", "2GiB", "HBM kept free within that share", WHOLE(BYTES), SETUP(hbm_reserve),
     .most = MOST_BYTES},
    {"kv_pool_tokens", "41408", "tokens of KV in HBM, instead of what fits", WHOLE(TOKENS),
     .words = room_words, .serving = true, .positive = true, SETUP(kv_pool_tokens),
     .most = MOST_BYTES},
    {"kv_pool_blocks", "2588", "the same in blocks of the engine, as its /metrics say it",
     WHOLE(COUNT), .serving = true, .positive = true, SETUP(kv_pool_blocks), .most = UINT32_MAX,
     .open = true},
    {"kv_pool", "34.9GiB", "the same in bytes of each GPU", WHOLE(BYTES), .serving = true,
     .positive = true, SETUP(kv_pool), .most = MOST_BYTES, .open = true},
    {"hybrid_kv", "no",
     "no: vLLM keeps all tokens of layers with windows (--disable-hybrid-kv-cache-manager)",
     .shape = SCENARIO_SWITCH, .serving = true, SETUP(hybrid_kv), .open = true},
    {"window_ratio", "0.5",
     "SGLang's KV: tokens of windows for each of full layers (--swa-full-tokens-ratio)",
     NUMBER(COUNT), .serving = true, .positive = true, SETUP(window_ratio), .most = 1,
     .open = true},
    {"state_ratio", "0.25",
     "SGLang's KV: memory of states by that of other KV (--mamba-full-memory-ratio)", NUMBER(COUNT),
     .serving = true, .positive = true, SETUP(state_ratio), .most = 100, .open = true},
    {"host_memory", "256GiB",
     "host memory that may be taken whole (default: of a server its part of 90 % of the machine's, "
     "hardware.host.dram_capacity)",
     WHOLE(BYTES), .words = room_words, .serving = true, .positive = true, SETUP(room[TIER_HOST]),
     .most = MOST_BYTES},
#define TIER(ID, name, where, sharers, total, one, example, what, ...)                             \
    {#name "_space",                                                                               \
     example,                                                                                      \
     what,                                                                                         \
     WHOLE(BYTES),                                                                                 \
     .words = room_words,                                                                          \
     .serving = true,                                                                              \
     .positive = true,                                                                             \
     SETUP(room[TIER_##ID]),                                                                       \
     .most = MOST_BYTES},
#include "core/tiers.def"
    {"workload", "requests.jsonl",
     "file of requests (Mooncake, Bailian, LLMServingSim, Azure, BurstGPT, vLLM, or what a "
     "benchmark kept), or synthetic:prompt=1000,output=200 or synthetic:lengths=sharegpt; "
     "replaces context and batch",
     .shape = SCENARIO_TEXT, .serving = true},
    {"rate", "2.5", "requests per second, drawn; default: the workload's own arrivals",
     NUMBER(COUNT), .positive = true, WORKLOAD(rate), .least = 1e-6, .most = 1e6, .open = true},
    {"burstiness", "1", "shape of the gamma distribution of arrival gaps; 1: a Poisson process",
     NUMBER(COUNT), .positive = true, WORKLOAD(burstiness), .least = 1e-3, .most = 1e3,
     .open = true},
    {"arrivals", "constant",
     "random, by 'rate' and 'burstiness'; constant: by 'rate', with equal gaps; at-once: all at the "
     "beginning",
     .shape = SCENARIO_WORD, .words = arrivals_names, WORKLOAD(arrivals), .open = true},
    {"warm_requests", "16",
     "requests of the workload that come first, warm the prefix cache, and count in no figure",
     WHOLE(COUNT), .positive = true, WORKLOAD(warm), .most = UINT32_MAX, .open = true},
    {"warm_rate", "0.5", "rate of the warm_requests, before those at 'rate'", NUMBER(COUNT),
     .positive = true, WORKLOAD(warm_rate), .least = 1e-6, .most = 1e6, .open = true},
    {"warm_clients", "1",
     "clients of each server that send the warm_requests; then the others of 'clients' begin",
     WHOLE(COUNT), .positive = true, WORKLOAD(warm_clients), .most = MOST_COUNT, .open = true},
    {"clients", "16", "clients that send their next request when the last one ends", WHOLE(COUNT),
     .positive = true, WORKLOAD(clients), .most = MOST_COUNT, .open = true},
    {"time_scale", "2", "factor by which arrival gaps are stretched", NUMBER(COUNT),
     .positive = true, WORKLOAD(time_scale), .least = 1e-6, .most = 1e6},
    {"limit", "1000", "use only the first requests of the workload", WHOLE(COUNT), .positive = true,
     WORKLOAD(limit), .most = UINT32_MAX, .open = true},
    {"hash_tokens", "16",
     "tokens of a hash in the workload, or of a chunk of its token ids; default: its format's",
     WHOLE(TOKENS), .positive = true, WORKLOAD(hash_tokens), .most = MOST_COUNT, .open = true},
    {"timed", "no", "no: without a clock, only the prefixes found, request by request",
     .shape = SCENARIO_SWITCH, WORKLOAD(timed)},
    {"api", "none",
     "http; or none: the program that asks holds the engine, as offline benchmarks do (vllm bench "
     "throughput, trtllm-bench)",
     .shape = SCENARIO_WORD, .words = workload_apis, WORKLOAD(api), .open = true},
    {"replicas", "4", "servers behind one router", WHOLE(COUNT), .positive = true,
     WORKLOAD(replicas), .most = 4096},
    {"routing", "prefix",
     "round-robin; or prefix: to the server that saw most of the prompt; or, by the load of the "
     "moment, least-requests, two-choices, prefix-load or scores",
     .shape = SCENARIO_WORD, .words = routing_names, WORKLOAD(routing)},
    {"cache_threshold", "30%",
     "routing prefix-load: share of a prompt that a server must have seen to get it again",
     NUMBER(SHARE), .most = 1, WORKLOAD(cache_threshold), .open = true},
    {"balance_abs_threshold", "64",
     "routing prefix-load: requests by which servers may differ before load decides", WHOLE(COUNT),
     WORKLOAD(balance_abs), .most = MOST_COUNT, .open = true},
    {"balance_rel_threshold", "1.5",
     "routing prefix-load: factor by which requests may differ, as well, before load decides",
     NUMBER(COUNT), WORKLOAD(balance_rel), .most = 1e6, .open = true},
    {"engine", "vllm-0.19",
     "engine and version whose steps, limits and memory a server has; default: the system's; or none",
     .shape = SCENARIO_ENGINE, .serving = true},
    {"compile", "warm",
     "torch.compile at a server's start: cold (an empty cache), warm, or eager: no graphs, either",
     .shape = SCENARIO_WORD, .words = server_compile_names, WORKLOAD(compile), .open = true},
    {"overlap", "engine",
     "whether a step is scheduled while the one before runs: yes, no, or as the engine's version",
     .shape = SCENARIO_WORD, .words = overlap_words, WORKLOAD(overlap), .open = true},
    {"graph_sequences", "512",
     "largest batch that a CUDA graph holds (default: the engine's); kernels of larger ones are "
     "launched one by one",
     WHOLE(COUNT), .positive = true, WORKLOAD(graph_sequences), .most = 65536, .open = true},
    {"max_sequences", "256", "most sequences of a server's step; default: the engine's",
     WHOLE(COUNT), .positive = true, WORKLOAD(sequences), .most = 65536},
    {"batched_tokens", "2048", "most tokens of a server's step; default: the engine's",
     WHOLE(TOKENS), .positive = true, WORKLOAD(batched_tokens), .most = MOST_COUNT},
    {"request_tokens", "32K",
     "most tokens of a request, prompt and output together, as vLLM's --max-model-len; the server "
     "refuses longer ones",
     WHOLE(TOKENS), .positive = true, WORKLOAD(request_tokens), .most = 2 * REQUEST_MOST_TOKENS,
     .open = true},
    {"slo", "{ttft_ms: 2000, tpot_ms: 60}", "objectives that goodput counts",
     .shape = SCENARIO_OBJECTIVES, .serving = true},
    MEASURED("ttft", "TTFT", BAND_TTFT),
    MEASURED("tpot", "TPOT", BAND_TPOT),
    MEASURED("rate", "output tokens a second", BAND_RATE),
    {"mechanisms", "{sync: gpu}", "overrides of the system's mechanisms",
     .shape = SCENARIO_MECHANISMS},
    {"sweep", "{context: [32768, 131072]}", "keys with lists: one run for each combination",
     .shape = SCENARIO_SWEEP},
    {.name = NULL},
};

const struct scenario_key *scenario_key_find(const char *name, size_t length)
{
    int key = name_index_of(name, length, NAMES(scenario_keys));
    return key >= 0 ? &scenario_keys[key] : NULL;
}

_Static_assert(sizeof scenario_keys / sizeof *scenario_keys <= SCENARIO_MOST_KEYS, "a value a key");

static struct scenario_value *value_of(struct scenario_values *values, const char *name)
{
    const struct scenario_key *key = scenario_key_find(name, strlen(name));
    assert(key != NULL && key->place != SCENARIO_ELSEWHERE);
    return &values->of[key - scenario_keys];
}

const struct scenario_value *scenario_value(const struct scenario_values *values, const char *name)
{
    return value_of((struct scenario_values *)values, name);
}

double scenario_stated(const struct scenario_values *values, const char *name, double otherwise)
{
    const struct scenario_value *value = scenario_value(values, name);
    return value->stated ? value->number : otherwise;
}

static bool expect_range(const struct scenario_key *key, struct error *why)
{
    char least[32], most[32];
    const char *word = key->words != NULL ? key->words[0] : NULL;
    if (key->shape == SCENARIO_WHOLE) {
        return error_expect(why, "a whole number from %d to %.0f%s%s", key->positive, key->most,
                            word != NULL ? ", or " : "", word != NULL ? word : "");
    }
    return error_expect(why, "%s%s %s %s", key->positive && key->least == 0 ? "above " : "from ",
                        units_write(key->least, key->unit, least, sizeof least),
                        key->positive && key->least == 0 ? "and at most" : "to",
                        units_write(key->most, key->unit, most, sizeof most));
}

static bool in_range(const struct scenario_key *key, double number)
{
    return number >= key->least && number <= key->most && (number > 0 || !key->positive);
}

static bool read_counted(const struct node *map, const struct scenario_key *key, double *out,
                         struct error *why)
{
    uint64_t whole = 0;
    bool is_whole = key->shape == SCENARIO_WHOLE;
    if (!(is_whole ? node_whole(map, key->name, key->unit, (uint64_t)key->most, &whole, why)
                   : node_quantity(map, key->name, key->unit, out, why))) {
        return is_whole && key->words != NULL && key->unit == UNIT_COUNT ? expect_range(key, why)
                                                                         : false;
    }
    *out = is_whole ? (double)whole : *out;
    if (in_range(key, *out)) {
        return true;
    }
    node_key_error(map, key->name, why, "'%s' is '%.60s'", key->name,
                   node_get(map, key->name)->text);
    return expect_range(key, why);
}

static bool read_number(const struct node *map, const struct scenario_key *key, double *out,
                        struct error *why)
{
    const struct node *node = node_get(map, key->name);
    int word = 0;
    bool yes = false, good = true;
    int named =
        node->kind == NODE_SCALAR && key->words != NULL ? name_match(node->text, key->words) : -1;
    if (key->shape == SCENARIO_WORD) {
        good = node_word(map, key->name, key->words, &word, why);
        *out = word;
    } else if (key->shape == SCENARIO_SWITCH) {
        good = node_bool(map, key->name, &yes, why);
        *out = yes;
    } else if (named >= 0) {
        *out = strcmp(key->words[named], "none") == 0 ? 0 : (double)key->word;
    } else {
        good = read_counted(map, key, out, why);
    }
    return good;
}

bool scenario_values_take(struct scenario_values *values, struct node *map, struct error *why)
{
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        const struct node *node =
            key->place != SCENARIO_ELSEWHERE ? node_get(map, key->name) : NULL;
        if (node == NULL) {
            continue;
        }
        bool stated = node->kind != NODE_NULL;
        struct scenario_value value = {
            .stated = stated, .empty = !stated, .file = node->file, .line = node->line};
        if (stated && !read_number(map, key, &value.number, why)) {
            return false;
        }
        values->of[key - scenario_keys] = value;
        node_remove(map, key->name);
    }
    return true;
}

bool scenario_values_set(struct scenario_values *values, const char *name, double number,
                         struct error *why)
{
    struct scenario_value *value = value_of(values, name);
    const struct scenario_key *key = &scenario_keys[value - values->of];
    bool counted = key->shape == SCENARIO_NUMBER || key->shape == SCENARIO_WHOLE;
    bool whole = key->shape != SCENARIO_WHOLE || number == nearbyint(number);
    if (counted && !(whole && in_range(key, number))) {
        error_usage(why, "--set", 0, "'%s' cannot be %.6g", name, number);
        return expect_range(key, why);
    }
    *value = (struct scenario_value){.stated = true, .number = number, .file = "--set"};
    return true;
}

void scenario_values_remove(struct scenario_values *values, const char *name)
{
    *value_of(values, name) = (struct scenario_value){.stated = false};
}

void scenario_values_lay(struct scenario_values *values, const struct scenario_values *over)
{
    for (size_t i = 0; i < SCENARIO_MOST_KEYS; i++) {
        values->of[i] = over->of[i].stated || over->of[i].empty ? over->of[i] : values->of[i];
    }
}

void scenario_values_fill(const struct scenario_values *values, enum scenario_place place,
                          void *out)
{
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        const struct scenario_value *value = &values->of[key - scenario_keys];
        void *at = (char *)out + key->offset;
        if (key->place != place || !value->stated) {
            continue;
        }
        if (key->shape == SCENARIO_NUMBER) {
            *(double *)at = value->number;
        } else if (key->size == sizeof(bool)) {
            *(bool *)at = value->number != 0;
        } else if (key->size == sizeof(uint32_t)) {
            *(uint32_t *)at = (uint32_t)(int64_t)value->number;
        } else {
            *(int64_t *)at = (int64_t)value->number;
        }
    }
}

static double key_member(const struct scenario_key *key, const void *from)
{
    const void *at = (const char *)from + key->offset;
    return key->shape == SCENARIO_NUMBER   ? *(const double *)at
           : key->size == sizeof(bool)     ? *(const bool *)at
           : key->size == sizeof(uint32_t) ? *(const int32_t *)at
                                           : (double)*(const int64_t *)at;
}

static bool key_write(struct node *all, const struct scenario_key *key, double number,
                      struct error *why)
{
    char text[64];
    if (key->shape == SCENARIO_WORD) {
        return node_set(all, key->name, key->words[(int)number], why);
    }
    if (key->shape == SCENARIO_SWITCH) {
        return node_set(all, key->name, number != 0 ? "yes" : "no", why);
    }
    for (size_t i = 0; key->words != NULL && key->words[i] != NULL; i++) {
        if (number == (strcmp(key->words[i], "none") == 0 ? 0 : (double)key->word)) {
            return node_set(all, key->name, key->words[i], why);
        }
    }
    if (key->shape == SCENARIO_NUMBER || key->unit == UNIT_BYTES) {
        units_write(number, key->unit, text, sizeof text);
    } else {
        snprintf(text, sizeof text, "%.0f", number);
    }
    return node_set(all, key->name, text, why);
}

bool scenario_key_write(struct node *all, const char *name, const void *from, struct error *why)
{
    const struct scenario_key *key = scenario_key_find(name, strlen(name));
    return key_write(all, key, key_member(key, from), why);
}

bool scenario_keys_write(struct node *all, const struct scenario_values *values,
                         enum scenario_place place, const void *from, struct error *why)
{
    bool good = true;
    for (const struct scenario_key *key = scenario_keys; good && key->name != NULL; key++) {
        bool writes = key->place == place && (!key->open || values->of[key - scenario_keys].stated);
        good = !writes || key_write(all, key, key_member(key, from), why);
    }
    return good;
}

struct node *scenario_keys_tree(const struct scenario_values *values, const struct node *others,
                                struct error *why)
{
    struct node *all = node_map(others->file, why);
    bool good = all != NULL;
    for (const struct scenario_key *key = scenario_keys; good && key->name != NULL; key++) {
        const struct scenario_value *value = &values->of[key - scenario_keys];
        const struct node *other = node_get(others, key->name);
        good = value->stated   ? key_write(all, key, value->number, why)
               : other != NULL ? node_put(all, key->name, other, why)
                               : true;
    }
    if (!good) {
        node_destroy(all);
        return NULL;
    }
    return all;
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
    if (node_check_keys(root, NAMES(scenario_keys), "scenario", why)) {
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
