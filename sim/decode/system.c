/* Reading a system: its preset file with the scenario's overrides, every key checked. */

#include "decode/system.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "core/name.h"
#include "core/named.h"
#include "decode/mechanism_values.h"
#include "decode/replay/replay.h"
#include "policy/policy.h"

/* Keys of a preset file that are not mechanisms, the first ones texts; and the values that one may have. */
static const char *const info_keys[] = {"summary",   "paper",  "available", "baseline",
                                        "command",   "engine", "where",     "connector",
                                        "reference", "also",   NULL};
#define TEXT(member)                                                                               \
    offsetof(struct system_info, member), sizeof(((struct system_info *)NULL)->member)
static const struct {
    size_t offset, size;
} info_texts[] = {{TEXT(summary)}, {TEXT(paper)},  {TEXT(available)}, {TEXT(baseline)},
                  {TEXT(command)}, {TEXT(engine)}, {TEXT(where)},     {TEXT(connector)}};
static const char *const available_values[] = {"vllm", "sglang", "tensorrt-llm",
                                               "code", "paper",  NULL};

/* A word. An empty value could mean the preset's word or the default, so it is refused. */
static bool read_choice(const struct node *map, const struct mechanism_key *key, int *out,
                        struct error *why)
{
    if (node_stated(map, key->name) == NULL) {
        node_key_error(map, key->name, why, "'%s' is empty", key->name);
        return name_expect("", NAMES(key->values), why);
    }
    return node_word(map, key->name, key->values, out, why);
}

static bool read_budget(const struct node *node, struct amount *out, struct error *why)
{
    static const char *const examples =
        "8GiB, 30% of the KV, 3x the selection, 4096tok a layer, or the rest";
    struct quantity quantity;
    if (node->kind != NODE_SCALAR) {
        node_error(node, why, "'budget' is %s; a system has one budget",
                   node->kind == NODE_LIST  ? "a list"
                   : node->kind == NODE_MAP ? "a map"
                                            : "empty");
        return error_expect(why, "%s; to try several, use sweep.mechanisms.budget=[10%%, 20%%]",
                            examples);
    }
    if (strcmp(node->text, "rest") == 0) {
        *out = (struct amount){.rest = true};
        return true;
    }
    bool good = quantity_parse(node->text, &quantity);
    if (good && quantity.unit == UNIT_COUNT && quantity.value < 1) {
        quantity.unit = UNIT_SHARE; /* 1 is ambiguous: 100% or 1x */
    }
    if (!good || !(quantity.value >= 0) ||
        (quantity.unit != UNIT_BYTES && quantity.unit != UNIT_SHARE &&
         quantity.unit != UNIT_TIMES && quantity.unit != UNIT_TOKENS)) {
        node_error(node, why, "'%.100s' is not a budget", node->text);
        return error_expect(why, "%s", examples);
    }
    if (quantity.unit == UNIT_SHARE && quantity.value > 1) {
        node_error(node, why, "budget '%.100s' is more than the whole KV", node->text);
        return error_expect(why, "at most 100%%");
    }
    *out = (struct amount){.unit = quantity.unit, .value = quantity.value};
    return true;
}

/* A bare number is in the key's own unit. */
static bool read_extent(const struct node *node, const struct mechanism_key *key,
                        struct amount *out, struct error *why)
{
    struct quantity quantity;
    bool good =
        node->kind == NODE_SCALAR && quantity_parse(node->text, &quantity) && quantity.value >= 0;
    enum unit unit = good && quantity.unit == UNIT_COUNT ? key->unit : quantity.unit;
    bool tokens = good && unit == UNIT_TOKENS && quantity.value == floor(quantity.value) &&
                  quantity.value <= UINT32_MAX;
    bool share = good && unit == UNIT_SHARE && quantity.value <= 1;
    if (!tokens && !share) {
        node_error(node, why, "'%s' is not a part of a context: %.100s", key->name,
                   node->kind == NODE_SCALAR ? node->text : "a list or a map");
        return error_expect(why, "a share of at most 100%%, or whole tokens: 10%% or 2048tok");
    }
    *out = (struct amount){.unit = unit, .value = quantity.value};
    return true;
}

static bool system_read_key(const struct mechanism_key *key, const struct node *map,
                            struct mechanisms *out, struct error *why)
{
    const struct node *node = node_get(map, key->name);
    void *at = (char *)out + key->offset;
    if (node == NULL) {
        return true;
    }
    switch (key->type) {
    case MECHANISM_CHOICE:
        return read_choice(map, key, at, why);
    case MECHANISM_SWITCH: {
        bool yes = false, good = node_bool(map, key->name, &yes, why);
        *(int *)at = yes;
        return good;
    }
    case MECHANISM_WHOLE:
        return node_whole(map, key->name, key->unit, UINT32_MAX, at, why);
    case MECHANISM_REAL:
        return node_quantity(map, key->name, key->unit, at, why);
    case MECHANISM_BUDGET:
        return read_budget(node, at, why);
    case MECHANISM_EXTENT:
        return read_extent(node, key, at, why);
    case MECHANISM_POLICY:
        return policy_read(node, &out->policy, out->policy_values, why);
    }
    return true;
}

static bool read_keys(const struct node *map, struct mechanisms *out, struct error *why)
{
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        if (!system_read_key(key, map, out, why)) {
            return false;
        }
    }
    return true;
}

static bool read_standards(struct mechanisms *out, struct error *why)
{
    struct node *map = node_map("defaults", why);
    bool good = map != NULL;
    for (const struct mechanism_key *key = mechanism_keys; good && key->name != NULL; key++) {
        good = node_set(map, key->name, key->standard, why);
    }
    good = good && read_keys(map, out, why);
    node_destroy(map);
    return good;
}

static bool read_info(const struct node *file, const char *name, struct system_info *out,
                      struct error *why)
{
    int index;
    snprintf(out->name, sizeof out->name, "%s", name);
    for (size_t i = 0; i < sizeof info_texts / sizeof *info_texts; i++) {
        const char *text = strcmp(info_keys[i], "available") == 0 ? "paper" : "";
        if (!node_text(file, info_keys[i], &text, why)) {
            return false;
        }
        if (strlen(text) >= info_texts[i].size) {
            return node_key_error(file, info_keys[i], why, "'%s' has more than %zu bytes",
                                  info_keys[i], info_texts[i].size - 1);
        }
        strcpy((char *)out + info_texts[i].offset, text);
    }
    out->reference = false; /* unless the file says yes */
    return node_word(file, "available", available_values, &index, why) &&
           node_bool(file, "reference", &out->reference, why);
}

/* Refuse unknown keys in a preset (which has description keys, too) or in overrides. */
static bool system_check_keys(const struct node *map, bool preset, const char *where,
                              struct error *why)
{
    const char *keys[MECHANISM_MOST_KEYS + sizeof info_keys / sizeof *info_keys];
    size_t count = 0;
    for (size_t i = 0; preset && info_keys[i] != NULL; i++) {
        keys[count++] = info_keys[i];
    }
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        keys[count++] = key->name;
    }
    keys[count] = NULL;
    if (!preset && node_get(map, "page_size") != NULL) {
        node_key_error(map, "page_size", why, "unknown key 'page_size' in %s", where);
        error_nearest(why, "retrieval_tokens");
        return error_expect(why, "retrieval_tokens, the tokens of a page");
    }
    return node_check_keys(map, NAMES(keys), where, why) ||
           error_rest(why, "spillway list mechanisms");
}

/* An override that names another policy drops the parameters of the preset's policy. */
static bool system_set_overrides(struct node *file, const struct node *overrides, struct error *why)
{
    const struct node *name = node_get(node_get(overrides, "policy"), "name");
    const struct node *before = node_get(node_get(file, "policy"), "name");
    if (name != NULL && before != NULL && name->kind == NODE_SCALAR &&
        before->kind == NODE_SCALAR && strcmp(name->text, before->text) != 0) {
        node_remove(file, "policy");
    }
    return overrides == NULL ||
           (policy_open(file, "policy", overrides, why) && node_merge(file, overrides, why));
}

/* Another key that the reason quotes, as in "a selection needs a 'retrieval'"; NULL: none. */
static const char *quoted_key(const char *reason, const char *key)
{
    for (const struct mechanism_key *row = mechanism_keys; row->name != NULL; row++) {
        char quoted[64];
        int length = snprintf(quoted, sizeof quoted, "'%s", row->name);
        const char *at = strcmp(row->name, key) != 0 ? strstr(reason, quoted) : NULL;
        if (at != NULL && strchr("':", at[length]) != NULL) {
            return row->name;
        }
    }
    return NULL;
}

/* A contradiction is reported at its key if that is overridden, at the overrides, or in the preset. */
static bool system_check_sense(const struct mechanisms *mechanisms, const char *name,
                               const struct node *overrides, const struct node *merged,
                               struct error *why)
{
    const char *key = NULL, *reason = mechanisms_contradiction(mechanisms, &key);
    size_t count = overrides != NULL ? overrides->count : 0;
    char with[80] = "";
    if (reason == NULL) {
        return true;
    }
    const struct node *own = node_get(overrides, key), *node = own;
    const char *set = own != NULL ? key : count == 1 ? overrides->children[0]->key : NULL;
    if (own == NULL && count > 0) {
        node = overrides->children[0];
        snprintf(with, sizeof with, " with %s%s%s", set != NULL ? "this '" : "these mechanisms",
                 set != NULL ? set : "", set != NULL ? "'" : "");
    }
    node = node != NULL ? node : node_get(merged, key);
    const char *other = quoted_key(reason, key);
    node_error(node != NULL ? node : merged, why, "system '%s' cannot have %s '%s'%s: %s", name,
               node == NULL      ? "the default"
               : with[0] != '\0' ? "its"
                                 : "this",
               key, with, reason);
    return error_expect(why, "another '%s'%s%s%s%s", key, other != NULL ? " or '" : "",
                        other != NULL ? other : "", other != NULL ? "'" : "",
                        count > 0 ? ", or the system's own" : "");
}

struct mechanisms *system_load(struct files *files, const char *name, const struct node *at,
                               const struct node *overrides, struct system_info *info,
                               struct node **merged, struct error *why)
{
    char path[4096];
    if (!named_file(&named_system, name, at->file, at->line, path, sizeof path, why)) {
        return NULL;
    }
    const struct node *preset = files_tree(files, path, why);
    struct node *file = preset != NULL ? node_copy(preset, why) : NULL;
    struct mechanisms *out = file != NULL ? array_zeroed(1, sizeof *out, why) : NULL;
    bool good = out != NULL && system_check_keys(file, true, "system", why) &&
                system_check_keys(overrides, false, "mechanisms", why) &&
                read_info(file, name, info, why) && system_set_overrides(file, overrides, why) &&
                read_standards(out, why) && read_keys(file, out, why) &&
                system_check_sense(out, name, overrides, file, why);
    files_drop(files, preset);
    info->lossless = good ? mechanisms_lossless(out) : "";
    if (good && merged != NULL) {
        *merged = file;
    } else {
        node_destroy(file);
    }
    if (!good) {
        free(out);
    }
    return good ? out : NULL;
}

const char *system_cpu_part(const struct mechanisms *m)
{
    return m->manager == MANAGER_CPU             ? "manager: cpu"
           : m->manager == MANAGER_SPLIT         ? "manager: split"
           : m->sync == SYNC_CPU                 ? "sync: cpu"
           : m->barrier == BARRIER_LAYER         ? "barrier: layer"
           : m->barrier == BARRIER_PASS          ? "barrier: pass"
           : m->transfer == TRANSFER_GATHER_COPY ? "transfer: gather+copy"
           : m->transfer == TRANSFER_PAGEABLE    ? "transfer: pageable"
           : m->attention == ATTEND_HYBRID       ? "attention: hybrid"
           : m->attention == ATTEND_CPU          ? "attention: cpu"
                                                 : NULL;
}

enum system_class system_class_of(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    if (setup->drafts.count > 0) {
        return CLASS_DRAFTS;
    }
    if (mechanisms_use_disk(m)) {
        return CLASS_DISK;
    }
    if (!mechanisms_offload(m)) {
        return CLASS_BANDWIDTH_BOUND;
    }
    if (system_cpu_part(m) != NULL) {
        return CLASS_CPU_MANAGED;
    }
    bool caches = m->policy != &policy_none;
    return mechanisms_select(m) || caches ? CLASS_GPU_MANAGED : CLASS_BANDWIDTH_BOUND;
}

/* Is there a tier of prefixes below host memory that is written like this, or later? */
static bool has_below(const struct mechanisms *m, enum prefix_below least)
{
    bool has = false;
    for (int tier = 0; tier < TIER_COUNT; tier++) {
        has = has || m->prefix_below[tier] >= (int)least;
    }
    return has;
}

size_t mechanisms_rules(const struct mechanisms *m, struct mechanism_rule out[MECHANISM_RULES])
{
    bool offload = mechanisms_offload(m), graph = m->launch == LAUNCH_GRAPH;
    bool hybrid = m->attention == ATTEND_HYBRID, by_cpu = m->attention == ATTEND_CPU;
    bool apart = mechanisms_cpu_selects(m), searches = m->retrieval_on == RETRIEVAL_ON_CPU;
    bool caches = m->policy != &policy_none, has_budget = m->budget.value > 0 || m->budget.rest;
    bool whole_layers = offload && mechanisms_load_whole(m), selects = mechanisms_select(m);
    bool in_place = mechanisms_attend_in_place(m), near = m->selection_margin > 0;
    bool pressure = m->residency == RESIDENCY_PRESSURE, keys = m->keys == KEYS_HBM;
    bool heads = offload && m->prefetch == PREFETCH_WHOLE_HEAD;
    bool alternating = m->micro_batch == MICRO_BATCH_ALTERNATING;
    const struct mechanism_rule rules[] = {
#define RULE(broken, key, reason) {broken, #key, reason},
#include "decode/mechanisms.def"
    };
    static_assert(sizeof rules <= MECHANISM_RULES * sizeof *rules, "room for all rules");
    memcpy(out, rules, sizeof rules);
    return sizeof rules / sizeof *rules;
}

const char *mechanisms_contradiction(const struct mechanisms *m, const char **key)
{
    struct mechanism_rule rules[MECHANISM_RULES];
    for (const struct mechanism_key *row = mechanism_keys; row->name != NULL; row++) {
        if (!mechanism_bounded(row, m)) {
            *key = row->name;
            return row->rule;
        }
    }
    size_t count = mechanisms_rules(m, rules);
    for (size_t i = 0; i < count; i++) {
        if (rules[i].broken) {
            *key = rules[i].key;
            return rules[i].reason;
        }
    }
    return NULL;
}
