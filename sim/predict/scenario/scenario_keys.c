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

#define KEY(name, example, what, ...) {#name, example, what, __VA_ARGS__},
const struct scenario_key scenario_keys[] = {
#include "predict/scenario/scenario_keys.def"
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

bool scenario_check_keys(const struct node *root, struct error *why)
{
    bool known = node_check_keys(root, NAMES(scenario_keys), "scenario", why);
    for (size_t i = 0; root->kind == NODE_MAP && i < root->count; i++) {
        const struct node *child = root->children[i];
        const struct scenario_key *key = scenario_key_find(child->key, strlen(child->key));
        char path[SCENARIO_PATH];
        if (key == NULL) {
            error_nearest(why, scenario_suggest(child->key, path));
            break;
        }
        /* Several values stand under `sweep`, and only contexts are a list themselves. */
        if (known && child->kind == NODE_LIST && key->shape != SCENARIO_CONTEXTS &&
            key->shape != SCENARIO_SWEEP) {
            node_error(child, why, "'%s' is a list", child->key);
            return error_expect(why,
                                "a single value; or, to run each, the list as sweep.%s=[...] or "
                                "under 'sweep:' in a file",
                                child->key);
        }
    }
    return known || error_rest(why, "spillway simulate --help");
}
