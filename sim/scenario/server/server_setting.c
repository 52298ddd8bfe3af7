/* Each row is a name; a setting has one in each program, and others on a command line. */
#include "scenario/server/server_setting.h"

#include "base/name.h"
#include "scenario/server/server_option.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum setting_kind {
    TEXT,
    NAME,
    WHOLE,
    LENGTH,
    SHARE,
    DTYPE,
    KV_DTYPE,
    WEIGHTS_DTYPE,
    SWITCH,
    SWITCH_OFF
};

/* The names of settings; those of the command line without dashes in front, with '_' for '-'. NAME
 * counts only if nothing else names the model. */
static const struct server_setting {
    const char *name;
    int said;
    enum setting_kind kind;
} settings[] = {
    {"model", STATED_MODEL, TEXT},
    {"model_path", STATED_MODEL, TEXT},
    {"model_name", STATED_MODEL, NAME},
    {"tensor_parallel_size", STATED_TENSOR_PARALLEL, WHOLE},
    {"tp_size", STATED_TENSOR_PARALLEL, WHOLE},
    {"tp", STATED_TENSOR_PARALLEL, WHOLE},
    {"data_parallel_size", STATED_DATA_PARALLEL, WHOLE},
    {"dp_size", STATED_DATA_PARALLEL, WHOLE},
    {"dp", STATED_DATA_PARALLEL, WHOLE},
    {"attn_dp_size", SAID_RANK_COUNT, WHOLE},
    {"attention_data_parallel_size", SAID_RANK_COUNT, WHOLE},
    {"pipeline_parallel_size", STATED_PIPELINE_PARALLEL, WHOLE},
    {"pp_size", STATED_PIPELINE_PARALLEL, WHOLE},
    {"pp", STATED_PIPELINE_PARALLEL, WHOLE},
    {"ep_size", STATED_EXPERT_PARALLEL, WHOLE},
    {"ep", STATED_EXPERT_PARALLEL, WHOLE},
    {"expert_parallel_size", STATED_EXPERT_PARALLEL, WHOLE},
    {"enable_expert_parallel", SAID_EXPERTS, SWITCH},
    {"no_enable_expert_parallel", SAID_EXPERTS, SWITCH_OFF},
    {"disable_expert_parallel", SAID_EXPERTS, SWITCH_OFF},
    {"max_num_seqs", STATED_MAX_SEQUENCES, WHOLE},
    {"max_running_requests", STATED_MAX_SEQUENCES, WHOLE},
    {"max_num_batched_tokens", STATED_BATCHED_TOKENS, WHOLE},
    {"chunked_prefill_size", STATED_BATCHED_TOKENS, WHOLE},
    {"max_model_len", STATED_REQUEST_TOKENS, LENGTH},
    {"max_seq_len", STATED_REQUEST_TOKENS, LENGTH},
    {"context_length", STATED_REQUEST_TOKENS, LENGTH},
    {"context_len", STATED_REQUEST_TOKENS, LENGTH},
    {"gpu_memory_utilization", STATED_HBM_USABLE, SHARE},
    {"device_memory_utilization", STATED_HBM_USABLE, SHARE},
    {"mem_fraction_static", STATED_HBM_USABLE, SHARE},
    {"dtype", SAID_DTYPE, DTYPE},
    {"kv_cache_dtype", STATED_KV_DTYPE, KV_DTYPE},
    {"cache_dtype", STATED_KV_DTYPE, KV_DTYPE},
    {"quantization", STATED_WEIGHTS_DTYPE, WEIGHTS_DTYPE},
    {"q", STATED_WEIGHTS_DTYPE, WEIGHTS_DTYPE},
    {"max_total_tokens", STATED_KV_POOL, WHOLE},
    {"max_total_num_tokens", STATED_KV_POOL, WHOLE},
    {"GPU KV cache size", STATED_KV_POOL, WHOLE},
    {"num_gpu_blocks", SAID_BLOCKS, WHOLE},
    {"num_gpu_blocks_override", SAID_BLOCKS, WHOLE},
    {"block_size", SAID_BLOCK_TOKENS, WHOLE},
    {"enable_prefix_caching", SAID_PREFIX, SWITCH},
    {"no_enable_prefix_caching", SAID_PREFIX, SWITCH_OFF},
    {"disable_prefix_caching", SAID_PREFIX, SWITCH_OFF},
    {"disable_radix_cache", SAID_PREFIX, SWITCH_OFF},
    {"enable_hierarchical_cache", SAID_TIERS, SWITCH},
    {"enable_hicache", SAID_TIERS, SWITCH},
    {"enable_dp_attention", SAID_RANKS, SWITCH},
    {"enforce_eager", SAID_EAGER, SWITCH},
    {"no_enforce_eager", SAID_EAGER, SWITCH_OFF},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

const struct server_setting *server_setting_find(const char *name)
{
    for (int i = 0; i < SETTINGS; i++) {
        if (strcmp(settings[i].name, name) == 0) {
            return &settings[i];
        }
    }
    return NULL;
}

const struct server_setting *server_setting_at(size_t index)
{
    return index < SETTINGS ? &settings[index] : NULL;
}

const char *server_setting_name(const struct server_setting *setting)
{
    return setting->name;
}

bool server_setting_is_switch(const struct server_setting *setting)
{
    return setting->kind == SWITCH || setting->kind == SWITCH_OFF;
}

/* What values of a kind are. */
static const char *const expected[] = {
    [TEXT] = "a name or a path",
    [NAME] = "a name",
    [WHOLE] = "a whole number above 0",
    [LENGTH] = "a whole number above 0, or auto",
    [SHARE] = "a share above 0 and at most 1",
    [DTYPE] = "auto, bfloat16, float16 or half; 4 bytes a weight are not modelled",
    [KV_DTYPE] = "auto, bfloat16, float16, or a form of fp8, int8, int4, nvfp4 or fp4_e2m1",
    [WEIGHTS_DTYPE] = "a method of quantization",
    [SWITCH] = "true or false",
    [SWITCH_OFF] = "true or false",
};

const char *server_setting_expected(const struct server_setting *setting)
{
    return expected[setting->kind];
}

/* ---- names that nothing has -------------------------------------------------------------- */

/* Only logs and metrics have this name. */
static bool is_logged(const char *name)
{
    static const char *const logged[] = {
        "model_name",     "cache_dtype", "max_total_num_tokens", "GPU KV cache size",
        "num_gpu_blocks", "max_seq_len", "context_len"};
    for (size_t i = 0; i < sizeof logged / sizeof *logged; i++) {
        if (strcmp(logged[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The names of a command line: those of settings, then those of other options. */
static const char *option_row(size_t index)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        if (!is_logged(settings[i].name) && index-- == 0) {
            return settings[i].name;
        }
    }
    return server_option_row(index);
}

const char *server_setting_suggest(const char *name)
{
    const char *nearest = server_option_known(name) ? NULL : name_nearest(name, option_row);
    return nearest != NULL && server_setting_find(nearest) != NULL ? nearest : NULL;
}

/* ---- values ----------------------------------------------------------------------------- */

static bool invalid(const struct server_said *said, const char *name, const char *value,
                    const char *instead, struct error *why)
{
    error_set(why, said->file, said->line, "'%s' is '%.60s'", name, value);
    return error_expect(why, "%s", instead);
}

/* Units behind a number: those of vLLM's human_readable_int() and of SGLang's. Only decimal ones
 * may follow a fraction. */
static const struct setting_unit {
    const char *name;
    enum server_maker maker;
    uint64_t times;
    bool fraction;
} units[] = {
    {"k", SERVER_VLLM, 1000, true},
    {"m", SERVER_VLLM, 1000000, true},
    {"g", SERVER_VLLM, 1000000000, true},
    {"K", SERVER_VLLM, 1 << 10, false},
    {"M", SERVER_VLLM, 1 << 20, false},
    {"G", SERVER_VLLM, 1 << 30, false},
    {"k", SERVER_SGLANG, 1000, true},
    {"M", SERVER_SGLANG, 1000000, true},
    {"G", SERVER_SGLANG, 1000000000, true},
    {"Ki", SERVER_SGLANG, 1 << 10, false},
    {"Mi", SERVER_SGLANG, 1 << 20, false},
    {"Gi", SERVER_SGLANG, 1 << 30, false},
    {"", SERVER_VLLM, 1, false},
    {"", SERVER_SGLANG, 1, false},
};

static const struct setting_unit *find_unit(enum server_maker maker, const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].maker == maker && strcmp(units[i].name, name) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

/* Digits, with commas in the whole part of a log's number: returns what follows them, `*number` in
 * units of 1 / `*parts`. A number past 32 bits stays past them. */
static const char *read_digits(const char *at, uint64_t *number, uint64_t *parts)
{
    enum { MOST_PARTS = 1000000000 };
    bool fraction = false;
    for (*number = 0, *parts = 1;; at++) {
        bool digit = isdigit((unsigned char)*at), keeps = !fraction || *parts < MOST_PARTS;
        if (digit && keeps && *number < UINT64_MAX / 10 - 10) {
            *number = 10 * *number + (uint64_t)(*at - '0');
            *parts *= fraction ? 10 : 1;
        } else if (*at == '.' && !fraction && isdigit((unsigned char)at[1])) {
            fraction = true;
        } else if (!digit && (*at != ',' || fraction)) {
            return at;
        }
    }
}

/* "41,408", "2048", "25.6k", "8K", "430913.0". */
static bool parse_whole(enum server_maker maker, const char *text, uint64_t *out)
{
    uint64_t number, parts;
    const char *end = read_digits(text, &number, &parts);
    const struct setting_unit *unit = find_unit(maker, end);
    if (!isdigit((unsigned char)*text) || unit == NULL || number / parts > UINT32_MAX) {
        return false;
    }
    *out = number / parts * unit->times + number % parts * unit->times / parts;
    return *out <= UINT32_MAX && (number % parts == 0 || unit->fraction);
}

/* Negative or 0: not set in a log; what is typed may only be -1, SGLang's way to leave prompts
 * whole. */
static bool server_setting_read_whole(const struct server_said *said, const char *name,
                                      const char *value, char *out, size_t size, struct error *why)
{
    uint64_t number;
    bool minus = *value == '-', good = parse_whole(said->maker, value + minus, &number);
    bool counts = good && !minus && number > 0;
    bool whole_prompts = strcmp(name, "chunked_prefill_size") == 0 && strcmp(value, "-1") == 0;
    if (!good || (said->typed && !counts && !whole_prompts)) {
        return invalid(said, name, value, expected[WHOLE], why);
    }
    if (counts) {
        snprintf(out, size, "%" PRIu64, number);
    }
    return true;
}

static bool server_setting_read_share(const struct server_said *said, const char *name,
                                      const char *value, char *out, size_t size, struct error *why)
{
    char *end;
    double share = strtod(value, &end);
    if (end == value || *end != '\0' || !(share > 0 && share <= 1)) {
        return invalid(said, name, value, expected[SHARE], why);
    }
    snprintf(out, size, "%.6g", share);
    return true;
}

static bool server_setting_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Weights and activations; "auto", and any of two bytes, is what the model has. In a log
 * "torch.bfloat16", and types that no command can name. */
static bool server_setting_read_dtype(const struct server_said *said, const char *name,
                                      const char *value, struct error *why)
{
    static const char *const two_bytes[] = {"auto", "bfloat16", "float16", "half"};
    const char *type = value + (server_setting_begins(value, "torch.") ? strlen("torch.") : 0);
    bool good = !said->typed && strcmp(type, "float32") != 0;
    for (size_t i = 0; i < sizeof two_bytes / sizeof *two_bytes; i++) {
        good = good || strcmp(type, two_bytes[i]) == 0;
    }
    return good || invalid(said, name, value, expected[DTYPE], why);
}

/* "auto" is the model's own. */
static bool read_kv_dtype(const struct server_said *said, const char *name, const char *value,
                          char *out, size_t size, struct error *why)
{
    static const struct {
        const char *name, *dtype;
        bool begins; /* more may follow: fp8_e5m2, int8_per_token_head */
    } types[] = {
        {"auto", "", false},        {"bfloat16", "bf16", false}, {"bf16", "bf16", false},
        {"float16", "bf16", false}, {"fp8", "fp8", true},        {"int8", "int8", true},
        {"int4", "int4", true},     {"nvfp4", "nvfp4", true},    {"fp4_e2m1", "mxfp4", true}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].begins ? server_setting_begins(value, types[i].name)
                            : strcmp(value, types[i].name) == 0) {
            snprintf(out, size, "%s", types[i].dtype);
            return true;
        }
    }
    return invalid(said, name, value, expected[KV_DTYPE], why);
}

/* Methods that name a type; what others mean is in the model's config.json. */
static void read_weights_dtype(const char *value, char *out, size_t size)
{
    static const struct {
        const char *method, *dtype;
    } methods[] = {{"fp8", "fp8"}, {"awq", "int4"}, {"gptq", "int4"}, {"mxfp4", "mxfp4"}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (server_setting_begins(value, methods[i].method)) {
            snprintf(out, size, "%s", methods[i].dtype);
        }
    }
}

static bool read_switch(const struct server_said *said, const struct server_setting *setting,
                        const char *value, char *out, size_t size, struct error *why)
{
    bool on = strcasecmp(value, "true") == 0;
    if (!on && strcasecmp(value, "false") != 0) {
        return invalid(said, setting->name, value, expected[SWITCH], why);
    }
    snprintf(out, size, "%s", on == (setting->kind == SWITCH) ? "yes" : "no");
    return true;
}

/* Read the value by its kind; `out` stays empty if it says nothing. */
static bool server_setting_read_value(const struct server_said *said,
                                      const struct server_setting *setting, const char *value,
                                      char *out, size_t size, struct error *why)
{
    switch (setting->kind) {
    case WHOLE:
        return server_setting_read_whole(said, setting->name, value, out, size, why);
    case LENGTH: /* "auto" and vLLM's -1: as long as the pool allows */
        return strcasecmp(value, "auto") == 0 || strcmp(value, "-1") == 0 ||
               server_setting_read_whole(said, setting->name, value, out, size, why);
    case SHARE:
        return server_setting_read_share(said, setting->name, value, out, size, why);
    case DTYPE:
        return server_setting_read_dtype(said, setting->name, value, why);
    case KV_DTYPE:
        return read_kv_dtype(said, setting->name, value, out, size, why);
    case WEIGHTS_DTYPE:
        read_weights_dtype(value, out, size);
        return true;
    case SWITCH:
    case SWITCH_OFF:
        return read_switch(said, setting, value, out, size, why);
    default: /* TEXT, NAME */
        snprintf(out, size, "%s", value);
        return true;
    }
}

bool server_setting_take(const struct server_setting *setting, const char *value,
                         struct server_said *said, bool *used, struct error *why)
{
    struct stated_key *key = &said->all[setting->said];
    char text[sizeof key->value] = "";
    bool taken = true;
    used = used != NULL ? used : &taken;
    *used = true;
    if (value[0] == '\0' || strcmp(value, "None") == 0 || strcmp(value, "null") == 0) {
        return true;
    }
    if (strlen(value) >= sizeof text) {
        return invalid(said, setting->name, value, "fewer than 256 characters", why);
    }
    if (!server_setting_read_value(said, setting, value, text, sizeof text, why)) {
        return false;
    }
    bool default_type = setting->kind == KV_DTYPE || setting->kind == DTYPE; /* "auto" */
    *used = text[0] != '\0' || default_type;
    if (text[0] != '\0' && (setting->kind != NAME || key->value[0] == '\0')) {
        memcpy(key->value, text, sizeof text);
        snprintf(key->said, sizeof key->said, "%s", setting->name);
        key->line = said->line;
        key->typed = said->typed;
    }
    return true;
}
