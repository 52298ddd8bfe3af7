/* The keys that a server's file states (--from) become overrides, as if they were typed before those of
 * --set; what the file leaves to the model is read from it. */
#include "cli/frame/question.h"

#include "cli/frame/message.h"
#include "core/array.h"
#include "model/sharding.h"
#include "predict/command/server_text.h"
#include "predict/scenario/engine_memory.h"
#include "predict/scenario/resolve.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "model=..." */
typedef char override_text[sizeof((struct stated_key *)0)->value + 64];

static bool is_said(const struct stated_keys *keys, enum stated_key_id id)
{
    return keys->all[id].value[0] != '\0';
}

/* Add what a server's file says to the overrides. Decode steps alone, which these ask for by two keys, know no
 * limits of a server. */
static bool lay_server(const char *file, const char *const *sets, uint32_t set_count,
                       override_text texts[STATED_MOST], const char **all, uint32_t *count,
                       struct stated_keys *keys, struct error *why)
{
    FILE *in = strcmp(file, "-") == 0 ? stdin : fopen(file, "r");
    if (in == NULL) {
        return error_set(why, file, 0, "cannot be opened: %s", strerror(errno));
    }
    bool ok = server_text_read(in, file, sets, set_count, keys, why);
    fclose(in);
    if (!ok) {
        return false;
    }
    bool steps = false;
    for (uint32_t i = 0; i < set_count; i++) {
        steps = steps || text_begins(sets[i], "context=") || text_begins(sets[i], "batch=");
    }
    for (int id = 0; id < STATED_MOST; id++) {
        const struct stated_key *key = &keys->all[id];
        bool fact = id >= STATED_WEIGHTS_OUTSIDE && id < STATED_FACTS;
        if (key->value[0] != '\0' && !fact) {
            const struct scenario_key *row = scenario_key_find(key->key, strlen(key->key));
            bool left_out = steps && row != NULL && row->serving && row->place == SCENARIO_WORKLOAD;
            snprintf(texts[id], sizeof texts[id], "%s=%s", key->key, key->value);
            char line[16] = "";
            if (key->line > 0) {
                snprintf(line, sizeof line, ":%d", key->line);
            }
            message_note("%s%s: %s (%s)%s", file, line, texts[id], key->said,
                         left_out ? ": not for decode steps alone" : "");
            all[*count] = texts[id];
            *count += !left_out;
        }
    }
    for (const struct server_unused *of = keys->unused; of->reason != NULL; of++) {
        message_note("%s: %s: %s", file, of->reason, of->names);
    }
    if (keys->starts > 1) {
        message_note("%s: a server starts %d times; the last one counts, from line %d", file,
                     keys->starts, keys->start_line);
    }
    return true;
}

/* A command that states no length serves the model's own; with auto, what the KV memory holds of it. */
static bool lay_length(const char *file, const struct stated_keys *keys, const struct model *model,
                       struct scenario *scenario, struct error *why)
{
    if (model->trained_context == 0) {
        return true;
    }
    if (keys->fits_length) {
        message_note(
            "%s: requests are as long as the KV memory holds, %u tokens at most (max_model_len)",
            file, model->trained_context);
        return true;
    }
    message_note("%s: request_tokens=%u (the model's own length)", file, model->trained_context);
    return scenario_values_set(&scenario->values, "request_tokens", model->trained_context, why);
}

/* Not all versions keep prefixes of models with states by default. Some versions never keep those of a model,
 * and some free no windows while KV events are told. */
static bool lay_version(const char *file, const struct stated_keys *keys, bool prefixes,
                        const struct model *model, struct scenario *scenario, struct error *why)
{
    const struct stated_key *version = &keys->all[STATED_ENGINE];
    const struct stated_key *events = &keys->all[STATED_KV_EVENTS];
    struct server_engine engine;
    if (!server_engine_find(version->value, file, version->line, &engine, why)) {
        return false;
    }
    if (events->value[0] != '\0' && engine.events_keep_windows &&
        !scenario_states(scenario, "hybrid_kv")) {
        message_note("%s:%d: hybrid_kv=no (%s)", file, events->line, events->said);
        if (!scenario_values_set(&scenario->values, "hybrid_kv", 0, why)) {
            return false;
        }
    }
    bool forgets = model->linear.key_heads > 0 && !engine.caches_states && !keys->says_prefixes;
    for (uint32_t i = 0; i < engine.rule_count; i++) {
        const struct engine_rule *rule = &engine.rules[i];
        bool holds = engine_rule_names(rule, model);
        forgets = forgets || (rule->forgets && holds);
        for (size_t j = 0; holds && rule->divides != NULL && j < rule->divides->count; j++) {
            const char *number = strrchr(version->value, '-') + 1;
            if (strcmp(number, rule->divides->children[j]->text) == 0 &&
                scenario_stated(&scenario->values, "tensor_parallel", 1) > 1) {
                error_set(why, file, version->line, "in %s, %s", version->value, rule->name);
                return error_expect(why,
                                    "--dp-size N with --enable-dp-attention, or another version");
            }
        }
    }
    if (!forgets || !prefixes) {
        return true;
    }
    message_note("%s: mechanisms.prefix=none (%s keeps none of %s)", file, version->value,
                 keys->says_prefixes ? model->name : "models with states");
    return node_set(scenario->root, "mechanisms.prefix", "none", why);
}

/* Weights that lie on the host, of each GPU, are a share of the layers'. */
static bool lay_weights(const char *file, const struct stated_keys *keys, const struct model *model,
                        struct scenario *scenario, struct error *why)
{
    const struct stated_key *outside = &keys->all[STATED_WEIGHTS_OUTSIDE];
    double gpus = scenario_stated(&scenario->values, "tensor_parallel", 1) *
                  scenario_stated(&scenario->values, "pipeline_parallel", 1);
    double bytes, layers = 0;
    char share[32];
    if (!units_parse(outside->value, UNIT_BYTES, file, outside->line, outside->said, &bytes, why)) {
        return false;
    }
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        layers += (double)model_layer_weight_bytes(model, layer);
    }
    snprintf(share, sizeof share, "%.4g%%", 100 * fmax(0, 1 - bytes * gpus / layers));
    message_note("%s:%d: mechanisms.weights=%s (%s)", file, outside->line, share, outside->said);
    return node_set(scenario->root, "mechanisms.weights", share, why);
}

/* The bits of weights that a checkpoint's id or path calls quantised; 0: of some; -1: it calls them not so.
 * */
static int named_bits(const char *id)
{
    static const struct {
        const char *part;
        int bits;
    } parts[] = {{"int4", 4}, {"w4a16", 4}, {"4bit", 4}, {"fp4", 4},  {"int8", 8}, {"w8a8", 8},
                 {"8bit", 8}, {"fp8", 8},   {"awq", 4},  {"gptq", 0}, {"gguf", 0}, {"bnb", 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcasestr(id, parts[i].part) != NULL) {
            return parts[i].bits;
        }
    }
    return -1;
}

/* Stated weights count for the model, but for a quantised one the option only names its method: the types of
 * its config.json count. Some options name a method alone, which may have several types. */
static bool lay_types(const char *file, const struct stated_keys *keys, struct scenario *scenario,
                      struct model *model, struct error *why)
{
    const struct stated_key *said = &keys->all[STATED_WEIGHTS_DTYPE];
    const struct stated_key *method = &keys->all[STATED_CHECKPOINT];
    struct node *types = (struct node *)node_get(scenario->root, "dtype");
    const struct node *type = node_get(types, "weights");
    const struct node *named = node_stated(scenario->root, "model");
    const char *typed = named->typed != NULL ? named->typed : named->text;
    /* --set model may say of what shape the checkpoint is. */
    const struct stated_key *id = &keys->all[STATED_MODEL];
    bool own = said->value[0] != '\0' && strcmp(typed, id->value) == 0;
    enum dtype stated;
    if (method->value[0] != '\0' && model->stored_bytes > 0 && (type == NULL || own)) {
        error_set(why, file, method->line,
                  "'%s': the config.json of '%s' states no quantized types", method->said,
                  model->name);
        return error_expect(why,
                            "--set dtype.weights=TYPE, or --set model=the checkpoint's folder");
    }
    int bits = named_bits(id->value);
    bool unlike = model->stored_bytes > 0
                      ? bits >= 0 && named_bits(typed) < 0
                      : bits > 0 && (int)(8 * dtype_bytes(model->weights, 1024) / 1024) != bits &&
                            (int)(8 * dtype_bytes(model->experts, 1024) / 1024) != bits;
    if (type == NULL && unlike) {
        error_set(why, file, id->line, "'%s' is quantised, and '%s' of --set is not so", id->value,
                  typed);
        return error_expect(why, "--set dtype.weights=TYPE, or a config.json of that checkpoint");
    }
    if (type == NULL || type->kind != NODE_SCALAR) {
        return true;
    }
    if (!dtype_find(type->text, type->file, type->line, &stated, why)) {
        return false;
    }
    if (model->stored_bytes > 0 || said->value[0] == '\0') {
        model->weights = model->experts = stated;
    } else if (stated != model->weights && stated != model->experts) {
        error_set(why, file, said->line, "'%s' is %s, but the weights of '%s' are %s", said->said,
                  said->value, model->name, dtype_name(model->weights));
        return error_expect(why, "the option that the model's config.json names, or none");
    } else {
        message_note("%s:%d: weights are in %s, as the model's config.json says", file, said->line,
                     dtype_name(model->weights));
        node_remove(types, "weights");
    }
    return true;
}

/* Ranks that divide attention alone share all FFNs; here they share experts; each has the others whole. */
static bool check_shared(const char *file, const struct stated_key *shared,
                         const struct model *model, struct error *why)
{
    uint32_t dense = 0;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        dense += !model->layers[layer].routed && model->layers[layer].ffn > 0;
    }
    if (!model_is_routed(model)) {
        error_set(why, file, shared->line,
                  "'%s': '%s' has no experts to share, and ranks that divide "
                  "its other layers are not modelled",
                  shared->said, model->name);
        return error_expect(why, "the command without it, or --set replicas=N for servers apart");
    }
    if (dense > 0) {
        message_note("%s:%d: each rank has the FFNs of %u dense layers whole, as with "
                     "--moe-dense-tp-size 1",
                     file, shared->line, dense);
    }
    return true;
}

static const char of_log[] =
    "its model, and with --set what it does not state of tensor_parallel, dtype.kv, dtype.weights "
    "and drafts; or --set kv_pool_tokens=N";

/* The class that a log names, and the type of weights or experts. */
static bool check_model(const char *file, const struct stated_key *all, const struct model *model,
                        struct error *why)
{
    const struct stated_key *class = &all[STATED_CLASS], *type = &all[STATED_QUANTIZED];
    bool same = strcmp(type->value, dtype_name(model->experts)) == 0 ||
                strcmp(type->value, dtype_name(model->weights)) == 0;
    if (class->value[0] != '\0' && strcmp(class->value, model->architecture) != 0) {
        error_set(why, file, class->line, "'%s' is a %s, but the log states %s", model->name,
                  model->architecture, class->value);
    } else if (type->value[0] != '\0' && !same) {
        error_set(why, file, type->line, "weights of '%s' are %s, but the log states %s",
                  model->name, dtype_name(model->weights), type->value);
    } else {
        return true;
    }
    return error_expect(why, "%s", of_log);
}

/* What a server's file leaves to the model that it names; refuses another one than its log's. */
static bool lay_command(const char *file, const struct stated_keys *keys, struct scenario *scenario,
                        struct error *why)
{
    const struct stated_key *all = keys->all;
    const struct node *name = node_stated(scenario->root, "model");
    bool length = (all[STATED_MODEL].typed || keys->fits_length) && scenario_serves(scenario) &&
                  !scenario_states(scenario, "request_tokens");
    bool prefixes = node_find(scenario->root, "mechanisms.prefix") == NULL;
    bool weights = is_said(keys, STATED_WEIGHTS_OUTSIDE) &&
                   node_find(scenario->root, "mechanisms.weights") == NULL;
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct model model;
    if (name == NULL || name->kind != NODE_SCALAR) {
        return true;
    }
    if (!model_load(NULL, name->text, &options, name->file, name->line, &model, why)) {
        return false;
    }
    bool good = lay_types(file, keys, scenario, &model, why) &&
                check_model(file, all, &model, why) &&
                (!is_said(keys, STATED_SHARED_RANKS) ||
                 check_shared(file, &all[STATED_SHARED_RANKS], &model, why)) &&
                (!is_said(keys, STATED_ENGINE) ||
                 lay_version(file, keys, prefixes, &model, scenario, why)) &&
                (!weights || lay_weights(file, keys, &model, scenario, why)) &&
                (!length || lay_length(file, keys, &model, scenario, why));
    model_release(&model);
    return good;
}

/* Does the override say what the file leaves open: of what shape the checkpoint in a folder is, or of which
 * type one is whose name or option calls it quantised? */
static bool fills(const struct stated_keys *keys, const char *override)
{
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    const char *id = keys->all[STATED_MODEL].value;
    struct model model;
    if (text_begins(override, "dtype.weights=")) {
        return is_said(keys, STATED_CHECKPOINT) || named_bits(id) >= 0;
    }
    bool names = text_begins(override, "model=");
    if (names && model_load(NULL, id, &options, NULL, 0, &model, ERROR_UNSEEN)) {
        model_release(&model);
        return false;
    }
    return names;
}

static size_t word_length(const char *override)
{
    return strcspn(override, ".=");
}

/* Does an override say what the file states, or what a file that states all leaves at its default? */
static bool replaces(const char *override, const struct stated_keys *keys)
{
    static const char parts[] =
        "|tensor_parallel|data_parallel|expert_parallel|pipeline_parallel|dtype|drafts|";
    size_t length = word_length(override);
    char word[64];
    bool stated = keys->whole;
    for (int id = 0; id < STATED_MOST; id++) {
        const struct stated_key *key = &keys->all[id];
        stated = stated || (key->value[0] != '\0' && strncmp(key->key, override, length) == 0);
    }
    snprintf(word, sizeof word, "|%.*s|", (int)length, override);
    return text_begins(override, "sweep") || text_begins(override, "kv_pool") ||
           (stated && strstr(parts, word) != NULL);
}

static const double GIB = 1 << 30;

/* vLLM counts what it allocates for a model: in logs at hand 0.07 GiB and 0.6 % more than its weights,
 * padding and tables of positions. SGLang counts by how much free memory shrinks, with what CUDA takes: up to
 * 0.47 GiB more. An encoder may be divided among GPUs; and a log may count one, or layers in another type, of
 * which no config.json is read: up to 8 % more. Such a difference is told, because steps read what is
 * computed here. A larger one is of another model, unless --set states the `type` of a quantised one, which
 * may not be that of all layers. */
static bool check_loaded(const char *file, const struct stated_keys *keys,
                         const struct point *point, bool type, struct error *why)
{
    const struct stated_key *loaded = &keys->all[STATED_LOADED];
    const struct model *model = &point->setup.model;
    double own = engine_loaded_bytes(point), stated = GIB * strtod(loaded->value, NULL);
    double buffers = (point->engine.memory == ENGINE_MEASURED ? 0.1 : 0.5) * GIB;
    double shared = 2.0 * (double)model->extras.encoders * (1 - 1.0 / model->tensor_parallel);
    double more = stated - own, small = 0.01 * own + buffers;
    if (!type && fabs(more) > 0.1 * own + 0.5 * GIB) {
        return error_set(why, file, loaded->line,
                         "'%s' has %.2f GiB of weights on a GPU, but the log states %s",
                         model->name, own / GIB, loaded->value);
    }
    bool pool = is_said(keys, STATED_KV_TOKENS) || is_said(keys, STATED_KV_BLOCKS) ||
                is_said(keys, STATED_KV_BYTES);
    if (more > small || more < -small - shared) {
        message_note("%s:%d: a GPU has %.2f GiB of weights, %.2f %s than '%s' has here: steps read "
                     "the model's, and the %s",
                     file, loaded->line, stated / GIB, fabs(more) / GIB, more > 0 ? "more" : "less",
                     model->name,
                     pool       ? "KV pool is the log's"
                     : more > 0 ? "computed KV pool is too large by so much"
                                : "computed KV pool is too small by so much");
    }
    return true;
}

/* Latents may be kept in a type of the kernel's, and stages may differ. Drafts take layers of the pool. */
static bool check_kv(const char *file, const struct stated_key *all, const struct point *point,
                     double bytes, struct error *why)
{
    const struct model *model = &point->setup.model;
    bool stages = model->parallel.pipeline > 1;
    double need = engine_logged_kv(point);
    double slack = model->kv_lora == 0 && !stages ? 0.015 : 0.15;
    bool less = !stages && point->setup.drafts.count == 0 && all[STATED_KV_BLOCKS].line == 0;
    return !(need > (1 + slack) * bytes + 0.02 * GIB ||
             (less && bytes > (1 + slack) * need + 0.02 * GIB)) ||
           error_set(why, file, all[STATED_KV_MEMORY].line,
                     "%s tokens of '%s' take %.2f GiB of KV on a GPU, but the log states %s",
                     all[STATED_KV_TOKENS].value, model->name, need / GIB,
                     all[STATED_KV_MEMORY].value);
}

/* Refuse a log whose bytes of weights or KV are not those of the model that it is read as: another one is
 * named, or a setting is missing. A scenario that is no point has a fault that its command tells. */
static bool check_log(const char *file, const struct stated_keys *keys, const char *const *sets,
                      uint32_t set_count, const struct scenario *scenario, struct error *why)
{
    const struct stated_key *all = keys->all, *memory = &all[STATED_KV_MEMORY];
    bool loaded =
        strtod(all[STATED_LOADED].value, NULL) > 0 && !is_said(keys, STATED_WEIGHTS_OUTSIDE);
    bool pool = memory->value[0] != '\0' && strtod(all[STATED_KV_TOKENS].value, NULL) > 0;
    bool type = false, good = loaded || pool;
    double bytes = 0;
    struct point point;
    for (uint32_t i = 0; good && i < set_count; i++) {
        bool open = fills(keys, sets[i]);
        type = type || (open && sets[i][0] == 'd');
        good = open || !replaces(sets[i], keys);
    }
    if (!good || !scenario_point(scenario, 0, &point, ERROR_UNSEEN)) {
        return true;
    }
    loaded = loaded && point.setup.drafts.count == 0;
    good = (!pool || units_parse(memory->value, UNIT_BYTES, file, memory->line, memory->said,
                                 &bytes, why)) &&
           (!loaded || check_loaded(file, keys, &point, type, why)) &&
           (!pool || check_kv(file, all, &point, bytes, why));
    point_release(&point);
    return good || error_expect(why, "%s", of_log);
}

/* Undo in `setting` what an override says in place of the file. */
static bool undo(struct scenario *setting, const char *override, const struct stated_keys *keys,
                 const override_text texts[STATED_MOST], struct error *why)
{
    bool config = text_begins(override, "model.");
    const char *text = config ? "config." : override, *const *key = scenario_pool_keys;
    size_t length = word_length(text);
    struct node *map = node_map("--from", why);
    while (*key != NULL && (word_length(*key) != length || strncmp(*key, text, length) != 0)) {
        key++;
    }
    /* No file states the machine, and not each the version, or a step's tokens: --set adds it. */
    const struct stated_key *most = &keys->all[STATED_BATCHED_TOKENS];
    bool open = most->line > 0 && most->value[0] == '\0';
    bool adds = *key == NULL || strcmp(*key, "hardware") == 0 || fills(keys, override) ||
                (strcmp(*key, "engine") == 0 && keys->all[STATED_ENGINE].line == 0) ||
                (strcmp(*key, most->key) == 0 && open);
    /* Metrics with blocks of a pool state its type, which may be the model's. */
    bool good = map != NULL,
         stated = texts[STATED_KV_BLOCKS][0] != '\0' && text_begins(text, "dtype.kv=");
    for (int id = 0; good && !adds && id < STATED_MOST; id++) {
        if (strncmp(texts[id], text, length) == 0 && word_length(texts[id]) == length) {
            stated = true;
            good = node_set(map, keys->all[id].key, strchr(texts[id], '=') + 1, why);
        }
    }
    if (good && !adds && (stated || keys->whole)) {
        const struct scenario_key *row = scenario_key_find(text, length);
        if (row->place != SCENARIO_ELSEWHERE) {
            scenario_values_remove(&setting->values, row->name);
        } else {
            node_remove(setting->root, row->name);
        }
        good = scenario_set(setting, map, why);
    }
    node_destroy(map);
    return good;
}

/* A pool that the server itself says, and not its user, holds for what the file says of it; --set
 * adds what a file that is not whole leaves open. */
static bool lay_pool(const struct stated_keys *keys, override_text texts[STATED_MOST],
                     const char *const *sets, uint32_t set_count, struct scenario *scenario,
                     struct error *why)
{
    bool states = false, good;
    struct scenario setting;
    for (int id = STATED_KV_TOKENS; id <= STATED_KV_BYTES; id++) {
        states = states || (texts[id][0] != '\0' && !keys->all[id].typed);
    }
    for (uint32_t i = 0; i < set_count; i++) {
        states = states && !text_begins(sets[i], "kv_pool");
    }
    if (!states) {
        return true;
    }
    if (is_said(keys, STATED_WEIGHTS_DTYPE) && node_find(scenario->root, "dtype.weights") == NULL) {
        texts[STATED_WEIGHTS_DTYPE][0] = '\0'; /* the model's own */
    }
    good = scenario_copy(scenario, &setting, why);
    if (good) {
        node_remove(setting.root, "sweep");
    }
    for (uint32_t i = 0; good && i < set_count; i++) {
        good = undo(&setting, sets[i], keys, texts, why);
    }
    good = good && scenario_pool_holds(scenario, &setting, why);
    scenario_release(&setting);
    return good;
}

/* Forget what the log says of types, or of its model, where the override says another: a model in place of
 * one that is known, or a pool in place of the log's memory. */
static void forget_replaced(struct stated_keys *keys, const char *override)
{
    struct stated_key *all = keys->all;
    bool model =
        text_begins(override, "model=") && is_said(keys, STATED_MODEL) && !fills(keys, override);
    if (model || text_begins(override, "kv_pool")) {
        all[STATED_CLASS].value[0] = all[STATED_QUANTIZED].value[0] = '\0';
        all[STATED_LOADED].value[0] = all[STATED_KV_MEMORY].value[0] = '\0';
    }
    if (text_begins(override, "dtype")) {
        all[STATED_QUANTIZED].value[0] = '\0';
    }
    if (text_begins(override, "dtype.weights=")) {
        all[STATED_WEIGHTS_DTYPE].value[0] = '\0';
    }
}

bool scenario_from_arguments(const struct arguments *arguments, struct scenario *out,
                             struct error *why)
{
    override_text texts[STATED_MOST] = {""};
    const char *server = arguments_shared(arguments, "--from");
    uint32_t file_count, set_count, count = 0;
    const char *const *files = arguments_operands(arguments, &file_count);
    const char *const *sets =
        arguments_all(arguments, arguments_number(arguments, "--set"), &set_count);
    const char **all = array_zeroed(STATED_MOST + set_count, sizeof *all, why);
    struct stated_keys keys = {.starts = 0};
    bool ok = all != NULL && (server == NULL ||
                              lay_server(server, sets, set_count, texts, all, &count, &keys, why));
    for (uint32_t i = 0; ok && i < set_count; i++) {
        all[count++] = sets[i];
        forget_replaced(&keys, sets[i]);
    }
    ok = ok && scenario_load(files, file_count, all, count, out, why);
    free(all);
    if (ok && server != NULL &&
        !(lay_command(server, &keys, out, why) &&
          check_log(server, &keys, sets, set_count, out, why) &&
          lay_pool(&keys, texts, sets, set_count, out, why))) {
        scenario_release(out);
        ok = false;
    }
    if (ok) {
        scenario_replace_keys(arguments, out);
    }
    return ok;
}
