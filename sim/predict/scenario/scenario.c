/* Files and overrides are laid over each other in the tree of a scenario, which is then read into its plain
 * values; the points are laid over both. Names become canonical ones (core/named.h), so that a run asked for
 * in two spellings is one. A misspelt name is reported at once, with its line and the nearest; contents of
 * files, and contradictions, are checked when their point is resolved. */
#include "predict/scenario/scenario.h"

#include "predict/scenario/resolve.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

/* Keys at which a scenario names a machine or a part, outer ones first. A name there is {extends: name}. */
static const struct machine_place {
    const char *path;
    const char *part; /* for profile_named(); NULL: a whole machine */
} machine_places[] = {
    {"hardware", NULL},
#define PART(id, name, ...) {"hardware." #name, #name},
#include "core/machine_parts.def"
    {NULL, NULL},
};

/* The place whose path is the first `length` characters of `path`; NULL if there is none. */
static const struct machine_place *machine_place_find(const char *path, size_t length)
{
    int place = name_index_of(path, length, NAMES(machine_places));
    return place >= 0 ? &machine_places[place] : NULL;
}

enum { PATH_SIZE = 4096 };

/* The place that `path` is, or whose map `path` is the `extends` of; NULL if there is none. */
static const struct machine_place *scenario_names_find_place(const char *path)
{
    static const char extends[] = ".extends";
    size_t length = strlen(path), behind = strlen(extends);
    bool inside = length > behind && strcmp(path + length - behind, extends) == 0;
    return machine_place_find(path, inside ? length - behind : length);
}

typedef bool scalar_visit(struct node *scalar, const char *path, struct error *why);

/* Visit the value of the key `path`, or all of a list or map of them. */
static bool visit_scalars(struct node *node, const char *path, scalar_visit *visit,
                          struct error *why)
{
    bool good = node->kind != NODE_SCALAR || visit(node, path, why);
    for (size_t i = 0; good && i < node->count; i++) {
        struct node *child = node->children[i];
        char inner[256];
        snprintf(inner, sizeof inner, "%s%s%s", path, child->key != NULL ? "." : "",
                 child->key != NULL ? child->key : "");
        good = visit_scalars(child, inner, visit, why);
    }
    return good;
}

static bool check_scalar(struct node *value, const char *path, struct error *why)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    const struct machine_place *place = scenario_names_find_place(path);
    char file[PATH_SIZE];
    return place != NULL ? profile_named(value, place->part, why)
           : key != NULL && key->shape == SCENARIO_NAME
               ? named_file(key->named, value->text, value->file, value->line, file, sizeof file,
                            why)
           : key != NULL && key->shape == SCENARIO_TRACE ? resolve_trace_named(value, why)
                                                         : true;
}

/* Write the canonical spelling of a value of the key `path` into `out`, if it has one. */
static bool scenario_names_find_spelling(const char *path, const char *text, char out[NAMED_SIZE])
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    const struct machine_place *place = scenario_names_find_place(path);
    int word = -1;
    if (place != NULL) {
        return profile_canonical(text, place->part, out);
    }
    if (key != NULL && strcmp(key->name, "workload") == 0) {
        return access(text, F_OK) != 0 && named_canonical(&named_workload, text, out);
    }
    switch (key != NULL ? key->shape : SCENARIO_TEXT) {
    case SCENARIO_NAME:
        return named_canonical(key->named, text, out);
    case SCENARIO_TRACE:
        return resolve_trace_canonical(text, out, NAMED_SIZE);
    case SCENARIO_ENGINE:
        return server_engine_canonical(text, out, NAMED_SIZE);
    case SCENARIO_WORD:
        word = name_match(text, key->words);
        return word >= 0 && snprintf(out, NAMED_SIZE, "%s", key->words[word]) > 0;
    default:
        return false;
    }
}

static bool spell_scalar(struct node *scalar, const char *path, struct error *why)
{
    char name[NAMED_SIZE];
    return !scenario_names_find_spelling(path, scalar->text, name) ||
           strcmp(scalar->text, name) == 0 || node_set_text(scalar, name, why);
}

bool scenario_spell_value(struct node *node, const char *path, struct error *why)
{
    return visit_scalars(node, path, spell_scalar, why);
}

static bool scenario_spell_names(struct node *map, struct error *why)
{
    bool good = true;
    for (size_t i = 0; good && i < map->count; i++) {
        struct node *child = map->children[i];
        bool sweep = strcmp(child->key, "sweep") == 0;
        for (size_t j = 0; good && sweep && j < child->count; j++) {
            good = child->kind != NODE_MAP ||
                   scenario_spell_value(child->children[j], child->children[j]->key, why);
        }
        good = good && (sweep || scenario_spell_value(child, child->key, why));
    }
    return good;
}

static bool scenario_check_names(const struct node *sweep, struct error *why)
{
    bool good = true;
    for (size_t i = 0; sweep != NULL && good && i < sweep->count; i++) {
        const struct node *list = sweep->children[i];
        for (size_t j = 0; good && j < list->count; j++) {
            good = visit_scalars(list->children[j], list->key, check_scalar, why);
        }
    }
    return good;
}

/* The value in `said` that a swept one replaces: of two maps one inside them. What is said inside of a
 * machine applies beside a swept name. */
static const struct node *said_twice(const struct node *said, const struct node *swept,
                                     bool machine)
{
    const struct node *found = NULL;
    if (said->kind != NODE_MAP || swept->kind != NODE_MAP) {
        bool beside = said->kind == NODE_MAP && machine && node_get(said, "extends") == NULL;
        return beside ? NULL : said;
    }
    for (size_t i = 0; found == NULL && i < said->count; i++) {
        const struct node *other = node_stated(swept, said->children[i]->key);
        bool both = other != NULL && said->children[i]->kind != NODE_NULL;
        found = both ? said_twice(said->children[i], other, machine) : NULL;
    }
    return found;
}

/* The value of a layer that all values of a swept key would replace; NULL if there is none. */
static const struct node *find_swept(const struct node *layer, const struct node *list,
                                     bool *inside)
{
    bool itself = strcmp(list->key, "sweep") == 0; /* an error that is reported elsewhere */
    bool machine = machine_place_find(list->key, strlen(list->key)) != NULL;
    const struct node *said = itself ? NULL : node_find(layer, list->key), *found = said;
    bool map = said != NULL && said->kind == NODE_MAP;
    const struct node *name = map && machine ? node_get(said, "extends") : NULL;
    for (size_t i = 0; map && name == NULL && found != NULL && i < list->count; i++) {
        found = said_twice(said, list->children[i], machine);
    }
    *inside = map && name == NULL && found != NULL && found != said;
    return name != NULL ? name : found;
}

static bool say_twice(const struct node *list, const struct node *said, bool own, bool inside,
                      struct error *why)
{
    char line[32] = "", its[96] = "";
    if (own && said->line > 0) {
        snprintf(line, sizeof line, " in line %d", said->line);
    }
    if (inside) {
        snprintf(its, sizeof its, "its '%.64s' ", said->key);
    }
    node_error(own ? list : said, why, "'%.128s' is swept, and %sset as well%s", list->key, its,
               line);
    return error_expect(why, "either '%.100s' or 'sweep.%.100s'%s", list->key, list->key,
                        own ? " here; --set of one of them would replace the other in a file"
                            : ", or a key that the swept maps leave out");
}

/* Hold what `layer` sets against the sweep of `root`. In one layer, nothing is both set and swept, but an
 * empty value among the swept ones stands for what is set. A key that a later layer sets is swept no longer;
 * inside of maps, which go on being swept, nobody would notice that they replace it, so that is refused. */
static bool settle_sweep(struct node *root, const struct node *layer, struct error *why)
{
    struct node *sweep = (struct node *)node_get(root, "sweep");
    bool own = root == layer, inside;
    if (sweep == NULL || sweep->kind != NODE_MAP) {
        return true;
    }
    for (size_t i = sweep->count; i-- > 0;) {
        const struct node *list = sweep->children[i], *said = find_swept(layer, list, &inside);
        bool empty = false;
        for (size_t j = 0; j < list->count; j++) {
            empty = empty || list->children[j]->kind == NODE_NULL;
        }
        bool swept_anew = !own && node_get(node_get(layer, "sweep"), list->key) != NULL;
        if (said == NULL || (own && (said->kind == NODE_NULL || empty)) || (inside && swept_anew)) {
            continue;
        }
        if (own || inside) {
            return say_twice(list, said, own, inside, why);
        }
        node_remove(sweep, list->key);
    }
    if (sweep->count == 0) {
        node_remove(root, "sweep");
    }
    return true;
}

#define POLICY "mechanisms.policy"

/* Turn a name where a map is allowed into {extends: name}, so that overrides can reach inside. */
static bool open_name(struct node *root, const char *path, const struct node *name,
                      struct error *why)
{
    if (name == NULL || name->kind != NODE_SCALAR) {
        return true;
    }
    struct node *map = node_parse("{extends: x}", 12, name->file, why);
    bool good =
        map != NULL && node_put(map, "extends", name, why) && node_put(root, path, map, why);
    node_destroy(map);
    return good;
}

static bool open_hardware(struct node *root, struct error *why)
{
    bool good = true;
    for (const struct machine_place *at = machine_places; good && at->path != NULL; at++) {
        good = open_name(root, at->path, node_find(root, at->path), why);
    }
    return good;
}

/* Lay `map`, whose names are open, over `root`. */
static bool lay_opened(struct node *root, const struct node *map, struct error *why)
{
    return policy_open(root, POLICY, map, why) && node_merge(root, map, why);
}

static bool prepare(struct node *map, struct error *why)
{
    return scenario_check_keys(map, why) && open_hardware(map, why) &&
           scenario_spell_names(map, why);
}

static bool scenario_set_map(struct node *root, struct node *map, struct error *why)
{
    return prepare(map, why) && lay_opened(root, map, why);
}

/* Requests lie beside the file that names them, or where the program was started. */
static bool place_requests(struct node *scalar, const char *path, struct error *why)
{
    char beside[PATH_SIZE];
    struct stat info;
    (void)path;
    return !named_from(scalar->text, scalar->file, beside, sizeof beside) ||
           stat(beside, &info) != 0 || !S_ISREG(info.st_mode) || node_set_text(scalar, beside, why);
}

static bool scenario_set_file(struct node *root, const char *path, struct error *why)
{
    struct node *file = node_load(path, why);
    if (file == NULL) {
        return access(path, F_OK) == 0
                   ? false
                   : error_expect(why, "a file of YAML, or a key as --set %.100s",
                                  strchr(path, '=') != NULL ? path : "KEY=VALUE");
    }
    bool good = file->kind == NODE_MAP;
    if (!good) {
        error_set(why, path, 1, "not a scenario");
        error_expect(why, "a map with 'model', 'hardware', 'system' and 'context'");
    }
    const struct node *const requests[] = {node_get(file, "workload"),
                                           node_get(node_get(file, "sweep"), "workload")};
    for (int i = 0; good && i < 2; i++) {
        good = requests[i] == NULL ||
               visit_scalars((struct node *)requests[i], "workload", place_requests, why);
    }
    good = good && prepare(file, why) && settle_sweep(file, file, why) &&
           settle_sweep(root, file, why) && lay_opened(root, file, why);
    node_destroy(file);
    return good;
}

static bool scenario_set_swept(struct node *root, const char *path, const char *values,
                               struct error *why)
{
    size_t size = strlen(path) + strlen(values) + sizeof "{\"\": }";
    char *text = array_zeroed(size, 1, why);
    if (text == NULL) {
        return false;
    }
    snprintf(text, size, "{\"%s\": %s}", path, values);
    struct node *map = node_map("--set", why);
    bool good = map != NULL && node_set(map, "sweep", text, why) && node_merge(root, map, why);
    node_destroy(map);
    free(text);
    return good;
}

/* A map is laid over a map key by key, as one of a file would be, and so are a policy's name and
 * its parameters. Any other value replaces what is there. */
static bool lay_said(struct node *root, const char *path, const char *text, struct error *why)
{
    const struct node *there = node_find(root, path);
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    /* Parts of a machine's figure, or of contexts, only apply together. */
    bool whole = (key != NULL && key->shape == SCENARIO_CONTEXTS) ||
                 node_get(there, "value") != NULL || node_get(there, "points") != NULL;
    bool is_map = there != NULL && there->kind == NODE_MAP && !whole;
    bool inside = strncmp(path, POLICY ".", strlen(POLICY ".")) == 0;
    if (!is_map && !inside) {
        return node_set(root, path, text, why);
    }
    struct node *map = node_map("--set", why);
    bool good = map != NULL && node_set(map, path, text, why) &&
                policy_open(map, POLICY, root, why); /* parameters may be set before the name */
    if (good) {
        good = inside || node_find(map, path)->kind == NODE_MAP
                   ? open_hardware(map, why) && lay_opened(root, map, why)
                   : node_set(root, path, text, why);
    }
    node_destroy(map);
    return good;
}

static bool scenario_check_override(const char *override, struct error *why)
{
    const char *equals = strchr(override, '=');
    if (equals != NULL && equals != override) {
        return true;
    }
    error_usage(why, "--set", 0, "invalid override '%.200s'", override);
    return error_expect(why, "KEY=VALUE, such as batch=8 or mechanisms.sync=gpu");
}

/* Several values of a key with one are a sweep. Others may have commas: a workload, hit ratio, map, list. */
static bool scenario_check_single(const char *path, const char *text, struct error *why)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    bool many = key != NULL && key->shape == SCENARIO_CONTEXTS;
    if (many || strchr(text, ',') == NULL || text[strcspn(text, "[]{}:=/\"'")] != '\0') {
        return true;
    }
    bool swept = strncmp(path, "sweep.", strlen("sweep.")) == 0;
    error_usage(why, "--set", 0, "'%.100s' takes %s, not '%.100s'", path,
                swept ? "a list in brackets" : "one value", text);
    return error_expect(why, "--set '%s%.100s=[%.100s]' for a run with each", swept ? "" : "sweep.",
                        path, text);
}

const char *scenario_config_prefix(const char *override, int *length)
{
    int model = (int)strlen("model.");
    if (*length <= model || strncmp(override, "model.", (size_t)model) != 0) {
        return "";
    }
    *length -= model;
    return "config.";
}

static bool lay_override(struct node *root, const char *override, struct error *why)
{
    const char *equals = strchr(override, '=');
    char path[256];
    int length = (int)(equals - override);
    if ((size_t)length >= sizeof path) {
        return error_usage(why, "--set", 0, "the key of '%.100s' is too long", override);
    }
    const char *prefix = scenario_config_prefix(override, &length);
    snprintf(path, sizeof path, "%s%.*s", prefix, length, equals - length);
    bool swept = strncmp(path, "sweep.", strlen("sweep.")) == 0;
    return scenario_check_single(path, equals + 1, why) &&
           ((swept ? scenario_set_swept(root, path + strlen("sweep."), equals + 1, why)
                   : lay_said(root, path, equals + 1, why)) ||
            (strncmp(why->found, "not YAML", strlen("not YAML")) == 0 &&
             error_expect(why, "a value of '%.100s' in YAML, such as 128K, [8K, 16K] or {a: b}",
                          path))) &&
           prepare(root, why);
}

/* ---- a scenario ---- */

#define MOST_POINTS 1000000u

static bool scenario_count_points(struct scenario *scenario, struct error *why)
{
    uint64_t points = 1;
    if (scenario->sweep != NULL && scenario->sweep->kind != NODE_MAP) {
        node_error(scenario->sweep, why, "'sweep' must be a map");
        return error_expect(why, "keys with lists, such as context: [32768, 131072]");
    }
    for (size_t i = 0; scenario->sweep != NULL && i < scenario->sweep->count; i++) {
        const struct node *list = scenario->sweep->children[i];
        if (strcmp(list->key, "sweep") == 0 || strncmp(list->key, "sweep.", 6) == 0) {
            return node_error(list, why, "a sweep cannot be swept");
        }
        if (list->kind != NODE_LIST || list->count == 0) {
            node_error(list, why, "'%s' in 'sweep' must be a list", list->key);
            return error_expect(why, "at least one value in [ ]");
        }
        points *= list->count;
        if (points > MOST_POINTS) {
            return node_error(list, why, "the sweep has more than %u points", MOST_POINTS);
        }
    }
    scenario->points = (uint32_t)points;
    return true;
}

bool scenario_load(const char *const *files, uint32_t file_count, const char *const *overrides,
                   uint32_t override_count, struct scenario *out, struct error *why)
{
    *out = (struct scenario){0};
    if (file_count + override_count == 0) {
        error_usage(why, NULL, 0, "no scenario");
        return error_expect(why, "a file, or --set model=... hardware=... system=... context=...");
    }
    out->root = node_map(file_count > 0 ? files[0] : "--set", why);
    out->sources = sources_create(why);
    bool good = out->root != NULL && out->sources != NULL;
    for (uint32_t i = 0; good && i < override_count; i++) {
        good = scenario_check_override(overrides[i], why);
    }
    for (uint32_t i = 0; good && i < file_count; i++) {
        good = scenario_set_file(out->root, files[i], why);
    }
    /* Overrides are gathered first and then laid one by one, because one of them may also replace a map. */
    struct node *layer = node_map("--set", why);
    good = good && layer != NULL;
    for (uint32_t i = 0; good && i < override_count; i++) {
        good = lay_override(layer, overrides[i], why);
    }
    good = good && settle_sweep(layer, layer, why) && settle_sweep(out->root, layer, why);
    for (uint32_t i = 0; good && i < override_count; i++) {
        good = lay_override(out->root, overrides[i], why);
    }
    node_destroy(layer);
    if (good) {
        const struct node *sweep = node_stated(out->root, "sweep");
        out->sweep = sweep != NULL ? node_copy(sweep, why) : NULL;
        good = (sweep == NULL || out->sweep != NULL) && scenario_count_points(out, why) &&
               scenario_check_names(out->sweep, why) &&
               scenario_values_take(&out->values, out->root, why);
    }
    if (!good) {
        scenario_release(out);
    }
    return good;
}

void scenario_release(struct scenario *scenario)
{
    node_destroy(scenario->root);
    node_destroy(scenario->sweep);
    for (uint32_t i = 0; scenario->cases != NULL && i < scenario->points; i++) {
        node_destroy(scenario->cases[i].root);
    }
    free(scenario->cases);
    sources_release(scenario->sources);
    *scenario = (struct scenario){0};
}

bool scenario_copy(const struct scenario *from, struct scenario *out, struct error *why)
{
    *out = (struct scenario){.root = node_copy(from->root, why),
                             .values = from->values,
                             .points = 1,
                             .sources = sources_hold(from->sources)};
    return out->root != NULL;
}

static bool lay_map(struct node *root, const struct node *map, struct error *why)
{
    struct node *copy = node_copy(map, why);
    bool good = copy != NULL && scenario_set_map(root, copy, why);
    node_destroy(copy);
    return good;
}

bool scenario_init(struct scenario *out, struct error *why)
{
    *out = (struct scenario){.root = node_map("scenario", why), .points = 1};
    return out->root != NULL;
}

bool scenario_set(struct scenario *scenario, const struct node *map, struct error *why)
{
    bool good = lay_map(scenario->root, map, why);
    const struct node *sweep = node_get(scenario->root, "sweep");
    if (good && sweep != NULL) {
        good = node_error(sweep, why, "a single run cannot be swept");
    }
    return good && scenario_values_take(&scenario->values, scenario->root, why);
}

bool scenario_sweep(struct scenario *scenario, const char *key, const char *values,
                    struct error *why)
{
    struct node *root = node_map("--set", why);
    bool good = root != NULL && scenario_set_swept(root, key, values, why) &&
                scenario_spell_names(root, why);
    const struct node *sweep = node_get(root, "sweep");
    if (good && scenario->sweep == NULL) {
        good = (scenario->sweep = node_copy(sweep, why)) != NULL;
    } else if (good) {
        good = node_merge(scenario->sweep, sweep, why);
    }
    node_destroy(root);
    return good && scenario_count_points(scenario, why) &&
           scenario_check_names(scenario->sweep, why);
}

bool scenario_add_case(struct scenario *scenario, const struct node *map,
                       const struct scenario_values *values, struct error *why)
{
    uint32_t count = scenario->cases == NULL ? 0 : scenario->points;
    struct node *copy = node_copy(map, why);
    if (copy == NULL || !array_reserve(&scenario->cases, &scenario->case_capacity, count + 1,
                                       sizeof *scenario->cases, why)) {
        node_destroy(copy);
        return false;
    }
    scenario->cases[count] = (struct scenario_case){.root = copy};
    if (values != NULL) {
        scenario->cases[count].values = *values;
    }
    scenario->points = count + 1;
    return true;
}

bool scenario_states(const struct scenario *scenario, const char *key)
{
    const struct scenario_key *row = scenario_key_find(key, strlen(key));
    return row->place != SCENARIO_ELSEWHERE ? scenario_value(&scenario->values, key)->stated
                                            : node_stated(scenario->root, key) != NULL;
}

char *scenario_canonical(const struct scenario *scenario, struct error *why)
{
    struct node *all = scenario_keys_tree(&scenario->values, scenario->root, why);
    char *text = all != NULL ? node_canonical(all, why) : NULL;
    node_destroy(all);
    return text;
}

bool scenario_error(const struct scenario *scenario, const char *key, struct error *why,
                    const char *format, ...)
{
    char text[sizeof why->found];
    const struct scenario_key *row = scenario_key_find(key, strlen(key));
    bool plain = row->place != SCENARIO_ELSEWHERE;
    const struct scenario_value *value = plain ? scenario_value(&scenario->values, key) : NULL;
    struct node at = {.key = (char *)key};
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (value == NULL || !(value->stated || value->empty)) {
        return node_key_error(scenario->root, key, why, "%s", text);
    }
    at.file = value->file;
    at.line = value->line;
    return node_error(&at, why, "%s", text);
}

bool scenario_serves(const struct scenario *scenario)
{
    static const char *const keys[] = {"workload", "rate", "clients", "arrivals"};
    bool serves = false;
    for (int i = 0; i < 4; i++) {
        serves = serves || scenario_states(scenario, keys[i]) ||
                 node_get(scenario->sweep, keys[i]) != NULL;
    }
    return serves;
}

/* ---- a pool of KV that a server's file states ---- */

static const char *const pool_sizes[] = {"kv_pool_tokens", "kv_pool_blocks", "kv_pool"};
/* clang-format off */
const char *const scenario_pool_keys[] = {
    "model", "config", "hardware", "engine", "compile", "graph_sequences", "tensor_parallel", "data_parallel",
    "expert_parallel", "pipeline_parallel", "decode_context_parallel", "dtype", "drafts", "hbm_usable",
    "hbm_reserve", "hybrid_kv", "window_ratio", "state_ratio", "batched_tokens", "mechanisms.weights", NULL};
/* clang-format on */

bool scenario_pool_holds(struct scenario *scenario, const struct scenario *setting,
                         struct error *why)
{
    struct node *tree = scenario_keys_tree(&setting->values, setting->root, why);
    sources_pool(scenario->sources)->setting = tree;
    for (int i = 0; i < 3; i++) {
        sources_pool(scenario->sources)->size +=
            scenario_stated(&setting->values, pool_sizes[i], 0);
    }
    return tree != NULL;
}

static bool values_agree(const struct node *a, const struct node *b)
{
    const struct node *one = a != NULL ? a : b;
    if (a == NULL || b == NULL) { /* 1 and none need not be stated */
        return one == NULL || (one->kind == NODE_SCALAR &&
                               (strcmp(one->text, "1") == 0 || strcmp(one->text, "none") == 0));
    }
    char *of_a = node_canonical(a, ERROR_UNSEEN), *of_b = node_canonical(b, ERROR_UNSEEN);
    bool same = of_a != NULL && of_b != NULL && strcmp(of_a, of_b) == 0;
    free(of_a);
    free(of_b);
    return same;
}

/* Compute the pool if the file that states it does so for another setting. */
static bool settle_pool(struct scenario *point, struct error *why)
{
    struct sources_pool *pool = sources_pool(point->sources);
    if (pool->setting == NULL) {
        return true;
    }
    struct node *all = scenario_keys_tree(&point->values, point->root, why);
    bool files = all != NULL, holds = true;
    for (int i = 0; files && i < 3; i++) {
        files = values_agree(node_get(all, pool_sizes[i]), node_get(pool->setting, pool_sizes[i]));
    }
    for (const char *const *key = scenario_pool_keys; files && *key != NULL; key++) {
        holds = holds && values_agree(node_find(all, *key), node_find(pool->setting, *key));
    }
    for (int i = 0; !holds && i < 3; i++) {
        scenario_values_remove(&point->values, pool_sizes[i]);
        atomic_store(&pool->computed, true);
    }
    node_destroy(all);
    return all != NULL;
}

bool scenario_point(const struct scenario *scenario, uint32_t index, struct point *out,
                    struct error *why)
{
    struct scenario point = {.values = scenario->values, .points = 1};
    uint32_t stride = scenario->points;
    point.sources =
        scenario->sources != NULL ? sources_hold(scenario->sources) : sources_create(why);
    point.root = node_copy(scenario->root, why);
    bool good = point.root != NULL && point.sources != NULL;
    /* The case, or the values of the point, the last key fastest, are laid as a file of them would be. */
    if (good && scenario->cases != NULL) {
        scenario_values_lay(&point.values, &scenario->cases[index].values);
        good = lay_map(point.root, scenario->cases[index].root, why);
    }
    for (size_t i = 0; good && scenario->sweep != NULL && i < scenario->sweep->count; i++) {
        const struct node *list = scenario->sweep->children[i];
        stride /= (uint32_t)list->count;
        const struct node *value = list->children[index / stride % list->count];
        struct node *map = node_map(value->file, why);
        good = map != NULL && node_put(map, list->key, value, why) &&
               scenario_set_map(point.root, map, why);
        node_destroy(map);
    }
    good = good && scenario_values_take(&point.values, point.root, why) &&
           settle_pool(&point, why) && requests_set_context(&point, why) &&
           resolve_point(&point, out, why);
    scenario_release(&point);
    return good;
}
