/* Reading a system: its preset file with the scenario's overrides, every key checked. */

#include "decode/system.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/files.h"
#include "core/name.h"
#include "core/named.h"
#include "core/text.h"
#include "decode/replay/replay.h"
#include "policy/policy.h"

/* Keys of a preset file that are not mechanisms, and the values that one of them may have. */
static const char *const info_keys[] = {"summary",   "paper",  "available", "baseline",
                                        "command",   "engine", "where",     "connector",
                                        "reference", "also",   NULL};
static const char *const available_values[] = {"vllm", "sglang", "code", "paper", NULL};

#define MOST_KEYS 128

/* A word. An empty value could mean the preset's word or the default, so it is refused. */
static bool read_choice(const struct node *map, const struct mechanism_key *key, int *out,
                        struct error *why)
{
    if (node_stated(map, key->name) == NULL) {
        node_key_error(map, key->name, why, "'%s' is empty", key->name);
        return name_expect("", key->values, why);
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
        bool yes = false;
        bool good = node_bool(map, key->name, &yes, why);
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
    const char *texts[] = {"", "", "paper", "",  "",
                           "", "", "",      "no"}; /* in the order of info_keys */
    int index;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!node_text(file, info_keys[i], &texts[i], why)) {
            return false;
        }
    }
    if (strlen(texts[4]) >= sizeof out->command) {
        return node_key_error(file, "command", why, "'command' has more than %zu bytes",
                              sizeof out->command - 1);
    }
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->summary, sizeof out->summary, "%s", texts[0]);
    snprintf(out->paper, sizeof out->paper, "%s", texts[1]);
    snprintf(out->available, sizeof out->available, "%s", texts[2]);
    snprintf(out->baseline, sizeof out->baseline, "%s", texts[3]);
    snprintf(out->command, sizeof out->command, "%s", texts[4]);
    snprintf(out->engine, sizeof out->engine, "%s", texts[5]);
    snprintf(out->where, sizeof out->where, "%s", texts[6]);
    snprintf(out->connector, sizeof out->connector, "%s", texts[7]);
    out->reference = false; /* unless the file says yes */
    return node_word(file, "available", available_values, &index, why) &&
           node_bool(file, "reference", &out->reference, why);
}

/* Refuse unknown keys in a preset (which has description keys, too) or in overrides. */
static bool system_check_keys(const struct node *map, bool preset, const char *where,
                              struct error *why)
{
    const char *keys[MOST_KEYS];
    size_t count = 0;
    for (size_t i = 0; preset && info_keys[i] != NULL; i++) {
        keys[count++] = info_keys[i];
    }
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        assert(count + 1 < MOST_KEYS);
        keys[count++] = key->name;
    }
    keys[count] = NULL;
    if (!preset && node_get(map, "page_size") != NULL) {
        node_key_error(map, "page_size", why, "unknown key 'page_size' in %s", where);
        error_nearest(why, "retrieval_tokens");
        return error_expect(why, "retrieval_tokens, the tokens of a page");
    }
    return node_check_keys(map, keys, where, why) || error_rest(why, "spillway list mechanisms");
}

/* Add the choices of this key with which nothing contradicts, "manager: gpu or split". Returns
 * their number. */
static int list_fitting(const struct mechanisms *mechanisms, const char *name, char *text,
                        size_t size)
{
    const struct mechanism_key *key = mechanism_keys;
    while (strcmp(key->name, name) != 0) {
        key++;
    }
    int fit = 0;
    for (int i = 0; key->type == MECHANISM_CHOICE && key->values[i] != NULL; i++) {
        struct mechanisms other = *mechanisms;
        const char *unused;
        memcpy((char *)&other + key->offset, &i, sizeof i);
        if (mechanisms_contradiction(&other, &unused) == NULL) {
            text_append(text, size, fit++ > 0 ? " or %s" : "%s", key->values[i]);
        }
    }
    return fit;
}

/* What could be written instead. `set` is the override that the message names. */
static bool system_expect(const struct mechanisms *mechanisms, const char *key, const char *set,
                          struct error *why)
{
    char text[256] = "";
    if (list_fitting(mechanisms, key, text, sizeof text) > 0) {
        return error_expect(why, "%s: %s", key, text);
    }
    if (set != NULL && strcmp(set, key) != 0) {
        return error_expect(why, "another '%s', or another '%s' with it", set, key);
    }
    return error_expect(why, "another '%s', or the system's own", key);
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

/* Do the preset with all overrides but this one contradict themselves for the same reason? Only
 * errors that the caller has reported before can make it fail, so they are not. */
static bool system_same_without(const struct node *preset, const struct node *overrides,
                                const char *left_out, const char *reason)
{
    struct error ignored;
    struct mechanisms without = {.policy = NULL};
    const char *key;
    struct node *file = node_copy(preset, &ignored), *others = node_copy(overrides, &ignored);
    if (others != NULL) {
        node_remove(others, left_out);
    }
    bool good = file != NULL && others != NULL && system_set_overrides(file, others, &ignored) &&
                read_standards(&without, &ignored) && read_keys(file, &without, &ignored);
    bool same = good && mechanisms_contradiction(&without, &key) == reason;
    node_destroy(file);
    node_destroy(others);
    return same;
}

/* The override without which there is no such contradiction; the first one if that takes several;
 * NULL if there is none. */
static const struct node *system_culprit(const struct node *preset, const struct node *overrides,
                                         const char *reason)
{
    size_t count = overrides != NULL ? overrides->count : 0;
    for (size_t i = 0; count > 1 && i < count; i++) {
        if (!system_same_without(preset, overrides, overrides->children[i]->key, reason)) {
            return overrides->children[i];
        }
    }
    return count > 0 ? overrides->children[0] : NULL;
}

/* A contradiction is reported at its key if that is overridden; else at the override that causes
 * it, because presets by themselves are consistent; else in the preset. */
static bool system_check_sense(const struct mechanisms *mechanisms, const char *name,
                               const struct node *preset, const struct node *overrides,
                               const struct node *merged, struct error *why)
{
    const char *key = NULL;
    const char *reason = mechanisms_contradiction(mechanisms, &key);
    if (reason == NULL) {
        return true;
    }
    const struct node *node = node_get(overrides, key);
    const char *set = node != NULL ? key : NULL;
    if (node == NULL) {
        node = system_culprit(preset, overrides, reason);
        set = node != NULL ? node->key : NULL;
    }
    if (node == NULL) {
        node = node_get(merged, key);
    }
    bool other = set != NULL && set != key;
    node_error(node != NULL ? node : merged, why, "system '%s' cannot have %s '%s'%s%s%s: %s", name,
               other ? "its" : "this", key, other ? " with this '" : "", other ? set : "",
               other ? "'" : "", reason);
    return system_expect(mechanisms, key, set, why);
}

bool system_load(struct files *files, const char *name, const struct node *at,
                 const struct node *overrides, struct mechanisms *out, struct system_info *info,
                 struct node **merged, struct error *why)
{
    char path[4096];
    memset(out, 0, sizeof *out);
    if (!named_file(&named_system, name, at->file, at->line, path, sizeof path, why)) {
        return false;
    }
    const struct node *preset = files_tree(files, path, why);
    struct node *file = preset != NULL ? node_copy(preset, why) : NULL;
    if (file == NULL) {
        files_drop(files, preset);
        return false;
    }
    bool good = system_check_keys(file, true, "system", why) &&
                system_check_keys(overrides, false, "mechanisms", why) &&
                read_info(file, name, info, why) && system_set_overrides(file, overrides, why) &&
                read_standards(out, why) && read_keys(file, out, why) &&
                system_check_sense(out, name, preset, overrides, file, why);
    files_drop(files, preset);
    info->lossless = good ? mechanisms_lossless(out) : "";
    if (good && merged != NULL) {
        *merged = file;
    } else {
        node_destroy(file);
    }
    return good;
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
    const struct mechanisms *m = &setup->mechanisms;
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

/* The rules of several mechanisms together; a row is a rule. Those of one number are in its own
 * row. */

/* Is there a tier of prefixes below host memory that is written like this, or later? */
static bool has_below(const struct mechanisms *m, enum prefix_below least)
{
    bool has = false;
    for (int tier = 0; tier < TIER_COUNT; tier++) {
        has = has || m->prefix_below[tier] >= (int)least;
    }
    return has;
}

/* What such a tier asks for. */
#define BELOW_RULES(tier, name)                                                                    \
    {m->prefix == PREFIX_NONE && m->prefix_below[tier] != PREFIX_BELOW_NONE, "prefix_" name,       \
     "a tier needs one above it: prefix gpu or two-tier"},                                         \
    {                                                                                              \
        offload && m->prefix_below[tier] != PREFIX_BELOW_NONE, "prefix_" name,                     \
            "only a system that keeps KV in HBM writes prefixes to a " name                        \
    }

size_t mechanisms_rules(const struct mechanisms *m, struct mechanism_rule out[MECHANISM_RULES])
{
    bool offload = mechanisms_offload(m);
    bool graph = m->launch == LAUNCH_GRAPH;
    bool hybrid = m->attention == ATTEND_HYBRID;
    bool by_cpu = m->attention == ATTEND_CPU;
    bool caches = m->policy != &policy_none;
    bool has_budget = m->budget.value > 0 || m->budget.rest;
    bool whole_layers = offload && mechanisms_load_whole(m);
    bool selects = mechanisms_select(m);
    bool in_place = mechanisms_attend_in_place(m);
    bool near = m->selection_margin > 0;
    bool pressure = m->residency == RESIDENCY_PRESSURE;
    bool heads = offload && m->prefetch == PREFETCH_WHOLE_HEAD;
    bool alternating = m->micro_batch == MICRO_BATCH_ALTERNATING;
    const struct mechanism_rule rules[] = {
        {m->selection.value <= 0, "selection", "a head must attend to at least one token"},
        {m->cluster_centroids > 0 && m->cluster_iterations_most < m->cluster_iterations,
         "cluster_iterations_most", "at least cluster_iterations"},
        {m->merge && m->hit_ctas == 0 && m->transfer != TRANSFER_SM_ZERO_COPY, "hit_ctas",
         "only the CTAs of 'transfer: sm-zero-copy' can copy hits, too"},
        {m->merge && m->hit_ctas == 0 && m->transfer_ctas == 1, "hit_ctas",
         "a kernel that copies hits and misses needs at least two 'transfer_ctas'"},
        {m->selection.unit != UNIT_TOKENS && m->selection.value + m->estimation > 1, "estimation",
         "selection and estimation together are at most 100%"},
        {near && m->retrieval == RETRIEVAL_NONE, "selection_margin",
         "a margin compares scores, which need a 'retrieval'"},
        {near && m->retrieval == RETRIEVAL_NATIVE, "selection_margin",
         "the model's own indexer selects a fixed number of tokens"},
        {near && (m->retrieval == RETRIEVAL_CLUSTERS || m->estimation > 0), "selection_margin",
         "clusters and 'estimation' select a fixed number of entries"},
        {near && m->resident_heads != RESIDENT_NONE, "selection_margin",
         "a margin needs 'resident_heads: none': selections of resident heads are not counted"},
        {near && m->policy->needs_queries, "selection_margin",
         "sets that later queries reuse have a fixed size"},
        {selects && !near && m->retrieval == RETRIEVAL_NONE, "selection",
         "a selection needs a 'retrieval'"},
        {!offload && caches, "policy", "nothing is offloaded, so nothing is cached"},
        {!offload && has_budget, "budget", "nothing is offloaded, so nothing is cached"},
        {offload && !caches && has_budget && m->representation == REPRESENTATION_KV, "budget",
         "a budget needs a policy"},
        {offload && !caches && m->manager != MANAGER_GPU, "manager",
         "a cache to manage needs a policy"},
        {offload && !caches && m->merge && m->representation == REPRESENTATION_KV, "merge",
         "a merge needs a policy that admits misses"},
        {m->resident_heads == RESIDENT_DIFFICULTY && !m->policy->needs_queries, "resident_heads",
         "reuse difficulty needs query labels: policy qsac"},
        {pressure && !offload, "residency", "all KV stays in HBM, under pressure, too"},
        {pressure && m->budget.rest, "budget",
         "with 'residency: pressure' KV takes the rest of HBM, and the cache cannot"},
        {pressure && (whole_layers || m->full_layers > 0), "residency",
         "layers that are loaded whole stay on the host"},
        {pressure && m->manager != MANAGER_GPU, "manager",
         "with 'residency: pressure' the GPU looks up where KV lies"},
        {pressure && m->merge, "merge", "KV that stays in HBM is not merged with a cache"},
        {pressure && m->block_span != BLOCK_UNIT, "block_span",
         "with 'residency: pressure' single tokens are loaded"},
        {pressure && m->policy->needs_queries, "policy",
         "query labels fetch whole sets, whatever HBM holds of them"},
        {pressure && (hybrid || mechanisms_drop(m)), "residency",
         "what leaves the cache is attended to by the CPU, or deleted"},
        {offload && selects &&
             (m->transfer == TRANSFER_COPY_ENGINE || m->transfer == TRANSFER_PAGEABLE),
         "transfer", "a copy engine moves contiguous KV, and a selection is scattered"},
        {graph && offload && m->sync == SYNC_CPU, "launch",
         "a CUDA graph cannot contain a synchronisation with the CPU"},
        {graph && offload && m->transfer == TRANSFER_GATHER_COPY, "launch",
         "a CUDA graph cannot contain a gather by the launch thread"},
        {graph && m->barrier != BARRIER_NONE, "launch",
         "a CUDA graph cannot contain a barrier of the launch thread"},
        {graph && (offload && m->transfer == TRANSFER_PAGEABLE), "launch",
         "a CUDA graph cannot contain a copy by the launch thread"},
        {offload && m->manager != MANAGER_GPU && m->policy->needs_queries, "manager",
         "query labels live on the GPU: the CPU cannot manage them"},
        {offload && m->manager == MANAGER_SPLIT && m->sync != SYNC_CPU, "manager",
         "the launch thread updates what it has waited for: sync cpu"},
        {m->sync_copies > 1 && m->sync_copies > m->syncs, "sync_copies",
         "each copy ends with a synchronisation: at most 'syncs'"},
        {offload && mechanisms_drop(m) && !has_budget, "budget",
         "the system attends to cached tokens only, so it needs a budget"},
        {offload && m->policy->chooses_own && (m->retrieval != RETRIEVAL_NONE || selects),
         "retrieval", "the policy chooses what is attended to, so nothing is retrieved"},
        {offload && m->block_span != BLOCK_UNIT && caches && m->policy->holds == NULL, "block_span",
         "the policy does not admit and evict blocks one by one"},
        {offload && m->block_span != BLOCK_UNIT && !caches, "block_span",
         "caching blocks needs a policy"},
        {offload && m->block_span != BLOCK_UNIT && m->prefetch != PREFETCH_NONE, "block_span",
         "a prefetch asks for units, not for blocks"},
        {m->block_candidates > 0 && m->block_span == BLOCK_UNIT, "block_candidates",
         "with 'block_span: unit' all wanted units are touched"},
        {m->disk_kv > 0 && !offload, "disk_kv", "all KV stays in HBM"},
        {m->transfer == TRANSFER_IN_PLACE && !offload, "transfer", "all KV stays in HBM"},
        {m->disk_kv > 0 && offload && mechanisms_drop(m), "disk_kv",
         "what leaves the cache is deleted, so nothing lies outside HBM"},
        {m->disk_kv > 0 && hybrid, "disk_kv", "the CPU attends to what host memory holds"},
        {m->disk_kv > 0 && pressure, "disk_kv",
         "with 'residency: pressure' KV that has no room goes to host memory"},
        {m->disk_kv > 0 && !whole_layers && !mechanisms_need_cpu(m), "disk_kv",
         "the GPU fetches by itself, and only the CPU reads a disk"},
        {m->disk_kv > 0 && m->prefix != PREFIX_NONE, "disk_kv",
         "a server's prefix cache lies in HBM and in host memory"},
        {m->disk_weights > 0 && m->weights >= 1, "disk_weights", "all weights stay in HBM"},
        {m->weights_spread && m->micro_batch == MICRO_BATCH_WHOLE, "weights_spread",
         "spreading weights needs micro-batches"},
        {(m->micro_batch == MICRO_BATCH_ZIG_ZAG) != (m->micro_batch_sequences > 0),
         "micro_batch_sequences", "zig-zag blocks, and only these, need a number of sequences"},
        {(m->micro_batch == MICRO_BATCH_BALANCED) != (m->micro_batch_tokens > 0),
         "micro_batch_tokens", "balanced micro-batches, and only these, need a number of tokens"},
        {heads && (by_cpu || m->representation != REPRESENTATION_KV || m->halves), "prefetch",
         "K and V of a head are loaded for the GPU's attention: only 'prefetch: whole-layer' serves "
         "attention on the CPU, activations and halves"},
        {heads && m->micro_batch != MICRO_BATCH_WHOLE, "micro_batch",
         "a head of the whole batch is loaded at a time"},
        {heads && m->disk_kv > 0, "disk_kv", "a drive's KV is read a layer ahead"},
        {alternating && !by_cpu, "micro_batch",
         "halves of a batch alternate between GPU and CPU: 'attention: cpu'"},
        {alternating && m->halves, "halves",
         "halves of a batch alternate, and not halves of a layer"},
        {alternating && m->weights < 1, "weights",
         "halves of a batch pass different layers at a time, so all weights stay in HBM"},
        {alternating && m->barrier != BARRIER_NONE, "barrier",
         "the GPU goes on with one half of a batch while the CPU attends for the other"},
        {alternating && (m->disk_kv > 0 || m->transfer == TRANSFER_PAGEABLE), "micro_batch",
         "halves of a batch alternate where the CPU reads KV in place"},
        {m->micro_batch == MICRO_BATCH_BALANCED && !whole_layers, "micro_batch",
         "balanced micro-batches need 'prefetch: whole-layer'"},
        {m->representation != REPRESENTATION_KV && !whole_layers, "representation",
         "recomputing K and V needs 'prefetch: whole-layer'"},
        {m->representation != REPRESENTATION_KV && m->resident_heads != RESIDENT_NONE,
         "resident_heads", "K and V are recomputed for all heads of a layer"},
        {m->representation != REPRESENTATION_KV && caches, "policy",
         "HBM holds activations, so no KV is cached"},
        {m->representation == REPRESENTATION_TOKENS && has_budget, "budget",
         "token ids need no memory, so there is nothing to keep in HBM"},
        {m->balance && m->representation != REPRESENTATION_HYBRID &&
             m->representation != REPRESENTATION_BOTH,
         "balance", "only 'representation: hybrid' or both has a share to choose"},
        {m->representation_share > 0 && (m->balance || m->representation == REPRESENTATION_KV ||
                                         m->representation == REPRESENTATION_ACT),
         "representation_share",
         "only 'representation: tokens', or hybrid or both without 'balance', uses this share"},
        {m->representation == REPRESENTATION_BOTH && has_budget, "budget",
         "K and V of all tokens are on the host, and no activations are in HBM"},
        {offload && m->micro_batch != MICRO_BATCH_WHOLE && !whole_layers, "micro_batch",
         "a batch fetches its selection at once: micro-batches need 'prefetch: whole-layer'"},
        {offload && m->halves && !whole_layers, "halves",
         "a layer fetches its selection at once: halves need 'prefetch: whole-layer'"},
        {whole_layers && selects, "prefetch",
         "whole layers are loaded without a query, so nothing is selected"},
        {whole_layers && caches && !m->policy->by_position, "policy",
         "whole layers are cached by position: policy prefix"},
        {whole_layers && m->merge && m->representation == REPRESENTATION_KV, "merge",
         "whole layers are not merged with a cache"},
        {whole_layers && m->full_layers > 0, "full_layers", "all layers are loaded whole"},
        {whole_layers && m->sync == SYNC_CPU, "sync",
         "whole layers are loaded without a query: only a barrier synchronises"},
        {whole_layers && m->manager != MANAGER_GPU, "manager",
         "whole layers are loaded without a query, so nothing is looked up"},
        {by_cpu && !whole_layers, "attention",
         "the CPU attends to whole layers: 'prefetch: whole-layer'"},
        {by_cpu && (caches || m->representation != REPRESENTATION_KV), "attention",
         "the CPU attends to K and V of all tokens, so nothing is cached or recomputed"},
        {by_cpu && m->repeat_kv, "repeat_kv", "the CPU reads KV once for all query heads"},
        {by_cpu && graph, "launch", "a CUDA graph cannot contain attention on the CPU"},
        {hybrid && !m->policy->names_for_cpu, "attention",
         "the CPU attends to entries that a policy keeps for it: policy window-maw"},
        {!hybrid && m->policy->names_for_cpu, "policy",
         "this policy keeps entries for the CPU: attention hybrid"},
        {hybrid && m->budget.value == 0, "budget",
         "the budget is the GPU's window and must be above 0"},
        {hybrid && m->manager != MANAGER_GPU, "manager",
         "the GPU manages its window: the CPU has no cache to manage"},
        {hybrid && m->merge, "merge", "nothing is fetched, so there is nothing to merge"},
        {hybrid && m->prefetch != PREFETCH_NONE, "prefetch",
         "the CPU attends with the layer's own query, so nothing can be prefetched"},
        {in_place && (m->prefetch != PREFETCH_NONE || m->full_layers > 0), "transfer",
         "attention in place loads with the layer's own query, so nothing can be prefetched"},
        {in_place && m->merge, "transfer", "attention in place copies nothing into a buffer"},
        {in_place && m->block_span != BLOCK_UNIT, "transfer",
         "attention in place loads tokens, not blocks"},
        {in_place && hybrid, "transfer", "the CPU attends to what lies on the host"},
        {in_place && m->transfer_stream == TRANSFER_STREAM_MAIN, "transfer_stream",
         "attention in place has no transfer of its own"},
        {in_place && m->repeat_kv, "repeat_kv", "attention in place copies nothing"},
        {m->retrieval_stream && (!offload || m->resident_heads != RESIDENT_NONE),
         "retrieval_stream", "heads that stay in HBM keep their index there"},
        {m->retrieval_stream && (m->retrieval == RETRIEVAL_NONE || m->retrieval_in_place),
         "retrieval_stream", "there is no index to copy"},
        {m->cluster_centroids > 0 && !(m->retrieval == RETRIEVAL_PQ && m->retrieval_stream),
         "cluster_centroids",
         "only 'retrieval: pq' with 'retrieval_stream: yes' trains on the host"},
        {offload && m->transfer_stream == TRANSFER_STREAM_MAIN && m->transfer == TRANSFER_CPU_STORE,
         "transfer_stream", "the CPU's stores run on no stream"},
        {whole_layers && m->transfer_stream == TRANSFER_STREAM_MAIN, "transfer_stream",
         "whole layers are loaded while others compute"},
        {m->prefix_pins && m->prefix_eviction != PREFIX_EVICTION_NONE &&
             m->prefix_eviction != PREFIX_EVICTION_LRU,
         "prefix_pins",
         "only 'prefix_eviction: lru' or none can keep a block that is being copied"},
        {m->prefix_unit % m->prefix_block != 0, "prefix_unit",
         "a unit is a multiple of 'prefix_block'"},
        {has_below(m, PREFIX_BELOW_EVICT) && m->prefix_eviction != PREFIX_EVICTION_LRU &&
             mechanisms_host_prefixes(m),
         "prefix_eviction", "only lru says which blocks it evicts to the tier below"},
        BELOW_RULES(TIER_DISK, "disk"),
        BELOW_RULES(TIER_POOL, "pool"),
        {offload && m->prefix_cheaper, "prefix_cheaper",
         "only a system that keeps KV in HBM computes a prefix again"},
        {m->prefix == PREFIX_GPU && m->preemption == PREEMPTION_SWAP &&
             has_below(m, PREFIX_BELOW_ARRIVE),
         "preemption", "preempted requests are copied to host memory, not to a tier below it"},
        {offload && m->preemption == PREEMPTION_SWAP, "preemption",
         "KV is on the host already, so it cannot be swapped out"},
        {mechanisms_host_prefixes(m) && m->preemption == PREEMPTION_SWAP, "preemption",
         "the prefix cache uses all host memory, so there is no room to swap"},
        {offload && (m->prefix == PREFIX_GPU || m->prefix == PREFIX_HOST), "prefix",
         "KV of ended requests is on the host, not in HBM: prefix two-tier"},
        {offload && m->prefix != PREFIX_NONE &&
             (m->representation != REPRESENTATION_KV || mechanisms_drop(m)),
         "prefix", "not all KV of a prompt is kept, so other requests cannot use it"},
        {offload && m->prefetch == PREFETCH_NEXT_LAYER && m->merge, "merge",
         "an execution buffer is filled in its own layer: it cannot be prefetched"},
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
