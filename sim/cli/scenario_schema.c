/* `spillway schema`: a JSON Schema of scenarios, for editors that check and complete YAML.
 *
 * It walks the tables that reading a scenario walks: keys of scenarios and mechanisms, policies
 * with their parameters, curves, the names of shipped files. What it rejects is never a valid
 * scenario; what it accepts may still be invalid, because only the program knows which keys go
 * together. It is Draft 7 of JSON Schema, which editors' YAML servers read.
 */
#include "cli/frame/command.h"
#include "core/error.h"
#include "core/find.h"
#include "core/units.h"
#include "decode/draft/draft_keys.h"
#include "decode/mechanisms.h"
#include "machine/profile.h"
#include "model/model.h"
#include "policy/plugin.h"
#include "predict/scenario/resolve_trace.h"
#include "predict/scenario/scenario_keys.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- of several ---- */

/* One or the other (stolen). */
static json_t *schema_either(json_t *one, json_t *other)
{
    json_t *all = one != NULL && other != NULL ? json_object_get(one, "anyOf") : NULL;
    if (all == NULL) {
        return json_pack("{s:[o, o]}", "anyOf", one, other);
    }
    if (json_array_append_new(all, other) != 0) {
        json_decref(one);
        return NULL;
    }
    return one;
}

/* A map of these (stolen) keys and no others. */
static json_t *schema_map(json_t *properties)
{
    return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
                     "additionalProperties", 0);
}

/* A list of one or more items (stolen). */
static json_t *schema_list(json_t *item)
{
    return json_pack("{s:s, s:i, s:o}", "type", "array", "minItems", 1, "items", item);
}

/* Draft 7 ignores keys beside a reference, so a reference is put into a list of its own. */
static json_t *schema_described(json_t *schema, const char *summary, const char *example)
{
    char text[512];
    bool refers = json_object_get(schema, "$ref") != NULL;
    json_t *all = refers ? json_pack("{s:[o]}", "allOf", schema) : schema;
    snprintf(text, sizeof text, "%s%s%s", summary, example != NULL ? "; e.g. " : "",
             example != NULL ? example : "");
    if (all != NULL && json_object_set_new(all, "description", json_string(text)) != 0) {
        json_decref(all);
        return NULL;
    }
    return all;
}

/* Add a key to a map of keys. If memory is short, or `schema` (stolen) is NULL, the map is freed
 * and NULL from then on. */
static void schema_put(json_t **properties, const char *key, json_t *schema)
{
    if (json_object_set_new(*properties, key, schema) != 0) {
        json_decref(*properties);
        *properties = NULL;
    }
}

/* ---- words ---- */

/* YAML 1.1 reads `yes` as true, YAML 1.2 as a text. */
static json_t *schema_switch(void)
{
    return json_pack("{s:[b, b, s, s, s, s, s, s]}", "enum", 1, 0, "yes", "no", "true", "false",
                     "on", "off");
}

static json_t *schema_enum(json_t *words)
{
    return json_pack("{s:o}", "enum", words);
}

/* One of a list that ends with NULL. */
static json_t *schema_words(const char *const *words)
{
    json_t *list = json_array();
    bool ok = list != NULL;
    for (; ok && *words != NULL; words++) {
        ok = json_array_append_new(list, json_string(*words)) == 0;
    }
    if (!ok) {
        json_decref(list);
        return NULL;
    }
    return schema_enum(list);
}

/* Any text in which the regular expression matches. */
static json_t *schema_pattern(const char *pattern)
{
    return json_pack("{s:s, s:s}", "type", "string", "pattern", pattern);
}

/* The name of a file in DATA/FOLDER that ends in .SUFFIX; for several folders, combine with
 * schema_either(). */
static json_t *schema_name(const char *folder, const char *suffix, struct error *why)
{
    char **names;
    size_t count;
    if (!find_names(folder, suffix, &names, &count, why)) {
        return NULL;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_string(names[i]));
        free(names[i]);
    }
    free(names);
    if (json_array_size(list) < count) {
        error_set(why, NULL, 0, "out of memory: no room for a schema");
        json_decref(list);
        return NULL;
    }
    return schema_enum(list);
}

/* A path in place of a name. */
static json_t *schema_path(const char *suffix)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "/|\\.%s$", suffix);
    return schema_pattern(pattern);
}

/* ---- numbers ---- */

/* The names of the definitions. */
static const struct {
    const char *name;
    enum unit unit;
    bool whole;
} numbers[] = {
    {"whole", UNIT_COUNT, true},      {"number", UNIT_COUNT, false},
    {"share", UNIT_SHARE, false},     {"multiple", UNIT_TIMES, false},
    {"tokens", UNIT_TOKENS, true},    {"bytes", UNIT_BYTES, true},
    {"time", UNIT_NS, false},         {"bytes_per_s", UNIT_BYTES_PER_S, false},
    {"work", UNIT_FLOP_PER_S, false},
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

/* A bare number if the unit allows one, or a text with the unit. */
static json_t *define_number(enum unit unit, bool whole)
{
    char pattern[160];
    json_t *text = schema_pattern(unit_pattern(unit, pattern, sizeof pattern));
    if (!unit_is_bare(unit)) {
        return text;
    }
    json_t *bare = json_pack("{s:s, s:i}", "type", whole ? "integer" : "number", "minimum", 0);
    if (bare != NULL && unit == UNIT_SHARE) {
        json_object_set_new(bare, "maximum", json_integer(1));
    }
    return schema_either(bare, text);
}

/* The values that a number must not have, as a number and as a text, in any unit. */
static json_t *define_zero(void)
{
    json_t *bare = json_pack("{s:s, s:i}", "type", "number", "maximum", 0);
    return schema_either(bare, schema_pattern("^(0+\\.?0*|\\.0+)([eE][+-]?[0-9]+)?[^0-9.]*$"));
}

static json_t *define_over_all(void)
{
    json_t *bare = json_pack("{s:s, s:i}", "type", "number", "exclusiveMinimum", 1);
    return schema_either(bare, schema_pattern("^0*(?!100(\\.0*)?[^0-9.]*$)[1-9][0-9]{2,}"));
}

/* The `definitions` of a schema: one for each unit. */
static json_t *schema_definitions(void)
{
    json_t *all = json_object();
    schema_put(&all, "zero", define_zero());
    schema_put(&all, "over_all", define_over_all());
    for (int i = 0; i < NUMBERS; i++) {
        schema_put(&all, numbers[i].name, define_number(numbers[i].unit, numbers[i].whole));
    }
    return all;
}

/* A number of `unit`, by reference to its definition. */
static json_t *schema_number(enum unit unit, bool whole)
{
    char reference[64];
    int found = 0;
    for (int i = 0; i < NUMBERS; i++) {
        bool better = numbers[i].whole == whole || numbers[found].unit != unit;
        found = numbers[i].unit == unit && better ? i : found;
    }
    snprintf(reference, sizeof reference, "#/definitions/%s", numbers[found].name);
    return json_pack("{s:s}", "$ref", reference);
}

static json_t *schema_but(json_t *number, const char *definition)
{
    return json_pack("{s:[o, {s:{s:s}}]}", "allOf", number, "not", "$ref", definition);
}

/* `number` (stolen), but not 0; and `number` (stolen), but at most 100 %. */
static json_t *schema_positive(json_t *number)
{
    return schema_but(number, "#/definitions/zero");
}

static json_t *schema_at_most_all(json_t *number)
{
    return schema_but(number, "#/definitions/over_all");
}

/* ---- policies ---- */

static json_t *policy_names(void)
{
    json_t *names = json_array();
    for (size_t i = 0; policies[i] != NULL; i++) {
        json_array_append_new(names, json_string(policies[i]->name));
    }
    return json_pack("{s:o}", "enum", names);
}

/* A parameter that several policies have may have any value that one of them accepts. */
static json_t *policy_param(const char *name)
{
    const struct policy_param *found = NULL;
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; policies[i] != NULL; i++) {
        const struct policy_param *param = policies[i]->params;
        for (; param != NULL && param->name != NULL; param++) {
            if (strcmp(param->name, name) == 0) {
                found = param;
                least = fmin(least, param->least);
                most = fmax(most, param->most);
            }
        }
    }
    assert(found != NULL); /* the names are those of the policies */
    json_t *number =
        json_pack("{s:s, s:f, s:f}", "type", "number", "minimum", least, "maximum", most);
    return schema_described(schema_either(number, schema_number(UNIT_COUNT, false)), found->summary,
                            NULL);
}

/* A name, or a map of a name and parameters; as an override of a preset, the map may omit the name.
 */
static json_t *policy_schema(void)
{
    static const char plugin[] = "^" PLUGIN_PREFIX;
    json_t *keys = json_object();
    schema_put(&keys, "name", policy_names());
    for (size_t i = 0; policies[i] != NULL; i++) {
        const struct policy_param *param = policies[i]->params;
        for (; param != NULL && param->name != NULL; param++) {
            schema_put(&keys, param->name, policy_param(param->name));
        }
    }
    json_t *own = json_pack("{s:s, s:{s:o}, s:[s]}", "type", "object", "properties", "name",
                            schema_pattern(plugin), "required", "name");
    json_t *named = schema_either(policy_names(), schema_pattern(plugin));
    return schema_either(schema_either(named, schema_map(keys)), own);
}

/* ---- mechanisms ---- */

static json_t *mechanism_schema(const struct mechanism_key *key)
{
    static const char *const rest[] = {"rest", NULL};
    switch (key->type) {
    case MECHANISM_CHOICE:
        return schema_words(key->values);
    case MECHANISM_SWITCH:
        return schema_switch();
    case MECHANISM_WHOLE:
    case MECHANISM_REAL:
        return schema_number(key->unit, key->type == MECHANISM_WHOLE);
    case MECHANISM_EXTENT:
        return schema_either(schema_number(UNIT_SHARE, false), schema_number(UNIT_TOKENS, true));
    case MECHANISM_BUDGET:
        return schema_either(
            schema_either(
                schema_either(schema_number(UNIT_SHARE, false), schema_number(UNIT_TOKENS, true)),
                schema_either(schema_number(UNIT_BYTES, true), schema_number(UNIT_TIMES, false))),
            schema_words(rest));
    case MECHANISM_POLICY:
        return policy_schema();
    }
    return NULL;
}

static json_t *mechanisms_schema(void)
{
    json_t *keys = json_object();
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        char summary[400];
        snprintf(summary, sizeof summary, "%s; default %s", key->summary, key->standard);
        schema_put(&keys, key->name, schema_described(mechanism_schema(key), summary, NULL));
    }
    return schema_map(keys);
}

/* ---- machines ---- */

/* A value, or a map of a value with its basis and source; profile.h has the rules. */
static json_t *curve_schema(const struct curve_kind *kind)
{
    json_t *basis = schema_words(basis_names);
    json_t *keys =
        json_pack("{s:o, s:o, s:o, s:{s:s}, s:{s:s}}", "value", schema_number(kind->unit, false),
                  "points", json_pack("{s:s, s:i}", "type", "array", "minItems", 2), "basis", basis,
                  "source", "type", "string", "range", "type", "array");
    return schema_described(schema_either(schema_number(kind->unit, false), schema_map(keys)),
                            kind->what, unit_example(kind->unit));
}

static json_t *profile_name(const char *folder, struct error *why)
{
    json_t *machines = schema_either(schema_name("hwprofiles", "yaml", why), schema_path("yaml"));
    return folder == NULL ? machines : schema_either(machines, schema_name(folder, "yaml", why));
}

static json_t *part_schema(const struct named_kind *part, struct error *why)
{
    json_t *keys = json_object();
    size_t length = strlen(part->what);
    schema_put(&keys, "extends", profile_name(part->folder, why));
    if (part == &named_gpu) {
        schema_put(&keys, "compute_capability",
                   schema_described(schema_number(UNIT_COUNT, false),
                                    "its architecture, as nvidia-smi prints it", "8.9"));
    }
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        const char *name = curve_kinds[i].name;
        if (strncmp(name, part->what, length) == 0 && name[length] == '.') {
            schema_put(&keys, name + length + 1, curve_schema(&curve_kinds[i]));
        }
    }
    return schema_either(profile_name(part->folder, why), schema_map(keys));
}

static json_t *machine_schema(struct error *why)
{
    json_t *keys = json_object();
    schema_put(&keys, "extends", profile_name(NULL, why));
    schema_put(&keys, profile_price_key,
               schema_described(schema_number(UNIT_COUNT, false),
                                "dollars an hour for one GPU with its share of the machine",
                                "2.5"));
    schema_put(&keys, profile_gpus_key,
               schema_described(schema_number(UNIT_COUNT, true), "GPUs of the machine", "2"));
    for (size_t i = 0; named_parts[i] != NULL; i++) {
        schema_put(&keys, named_parts[i]->what, part_schema(named_parts[i], why));
    }
    return schema_either(profile_name(NULL, why), schema_map(keys));
}

/* ---- other keys ---- */

static json_t *trace_schema(struct error *why)
{
    json_t *names =
        schema_either(schema_name("traces", "swt", why), schema_name("traces", "yaml", why));
    json_t *paths = schema_either(schema_path("swt"), schema_path("yaml"));
    json_t *others =
        schema_either(schema_pattern("^assumed:hit="), schema_pattern("^" ENSEMBLE_NAME "$"));
    return schema_either(schema_either(names, others), paths);
}

/* A list of contexts, or a map of them to sequences or shares. */
static json_t *contexts_schema(void)
{
    char tokens[160];
    json_t *counts =
        schema_either(schema_number(UNIT_COUNT, true), schema_number(UNIT_SHARE, false));
    json_t *map = json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties",
                            unit_pattern(UNIT_TOKENS, tokens, sizeof tokens), counts,
                            "additionalProperties", 0);
    return schema_either(schema_list(schema_number(UNIT_TOKENS, true)), map);
}

static json_t *dtypes_schema(void)
{
    const char *names[DTYPE_COUNT + 1] = {NULL};
    for (int i = 0; i < DTYPE_COUNT; i++) {
        names[i] = dtype_name((enum dtype)i);
    }
    return schema_map(
        json_pack("{s:o, s:o}", "weights", schema_words(names), "kv", schema_words(names)));
}

static json_t *objectives_schema(void)
{
    return schema_map(json_pack("{s:o, s:o}", "ttft_ms", schema_number(UNIT_COUNT, false),
                                "tpot_ms", schema_number(UNIT_COUNT, false)));
}

/* A rate, or a share by position. */
static json_t *acceptance_schema(void)
{
    return schema_either(schema_at_most_all(schema_number(UNIT_SHARE, false)),
                         schema_list(schema_at_most_all(schema_number(UNIT_SHARE, false))));
}

static json_t *draft_schema(const struct draft_key *key)
{
    if (key->words != NULL) {
        return schema_words(key->words);
    }
    return strcmp(key->name, "count") == 0        ? schema_number(UNIT_COUNT, true)
           : strcmp(key->name, "acceptance") == 0 ? acceptance_schema()
                                                  : json_pack("{s:s}", "type", "string");
}

static json_t *drafts_schema(void)
{
    static const char *const none[] = {"none", NULL};
    json_t *keys = json_object();
    for (const struct draft_key *key = draft_keys; key->name != NULL; key++) {
        schema_put(&keys, key->name,
                   schema_described(draft_schema(key), key->summary, key->example));
    }
    return schema_either(schema_words(none), schema_map(keys));
}

/* A sweep: each key has a list of its possible values; parts of maps are named by their paths. */
static json_t *sweep_schema(void)
{
    json_t *keys = json_object();
    char path[128];
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        if (key->shape != SCENARIO_SWEEP) {
            snprintf(path, sizeof path, "#/properties/%s", key->name);
            schema_put(&keys, key->name, schema_list(json_pack("{s:s}", "$ref", path)));
        }
    }
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        char name[64];
        snprintf(name, sizeof name, "mechanisms.%s", key->name);
        snprintf(path, sizeof path, "#/properties/mechanisms/properties/%s", key->name);
        schema_put(&keys, name, schema_list(json_pack("{s:s}", "$ref", path)));
    }
    json_t *list = json_pack("{s:s, s:i}", "type", "array", "minItems", 1);
    return json_pack("{s:[s, s], s:o, s:{s:o}, s:b}", "type", "object", "null", "properties", keys,
                     "patternProperties", "^(hardware|mechanisms\\.policy|dtype|slo|drafts)\\.",
                     list, "additionalProperties", 0);
}

/* A known version, another one of the same program, or a file. */
static json_t *engine_schema(struct error *why)
{
    const char *const *names = server_engine_names(why);
    json_t *known = names != NULL ? schema_words(names) : NULL;
    return schema_either(schema_either(known, schema_pattern("^[a-z-]+-[0-9]+(\\.[0-9]+)+$")),
                         schema_pattern("\\.yaml(-[0-9]+(\\.[0-9]+)+)?$"));
}

/* ---- all ---- */

/* A number in the range that its reader accepts. */
static json_t *bounded_number(const struct scenario_key *key)
{
    json_t *number = schema_number(key->unit, key->shape == SCENARIO_WHOLE);
    number = key->positive ? schema_positive(number) : number;
    return key->most == 1 ? schema_at_most_all(number) : number;
}

static json_t *with_words(json_t *schema, const struct scenario_key *key)
{
    return key->words != NULL ? schema_either(schema, schema_words(key->words)) : schema;
}

static json_t *key_schema(const struct scenario_key *key, struct error *why)
{
    switch (key->shape) {
    case SCENARIO_TEXT:
        return json_pack("{s:s}", "type", "string");
    case SCENARIO_NAME:
        return schema_either(schema_name(key->named->folder, key->named->suffix, why),
                             schema_path(key->named->suffix));
    case SCENARIO_NUMBER:
    case SCENARIO_WHOLE:
        return with_words(bounded_number(key), key);
    case SCENARIO_SWITCH:
        return schema_switch();
    case SCENARIO_WORD:
        return schema_words(key->words);
    case SCENARIO_ENGINE:
        return engine_schema(why);
    case SCENARIO_CONFIG:
        return json_pack("{s:s}", "type", "object");
    case SCENARIO_MACHINE:
        return machine_schema(why);
    case SCENARIO_TRACE:
        return trace_schema(why);
    case SCENARIO_CONTEXTS:
        return contexts_schema();
    case SCENARIO_DTYPES:
        return dtypes_schema();
    case SCENARIO_OBJECTIVES:
        return objectives_schema();
    case SCENARIO_DRAFTS:
        return drafts_schema();
    case SCENARIO_MECHANISMS:
        return mechanisms_schema();
    case SCENARIO_SWEEP:
        return sweep_schema();
    }
    return NULL;
}

static json_t *scenario_schema(struct error *why)
{
    json_t *keys = json_object();
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        schema_put(&keys, key->name,
                   schema_described(key_schema(key, why), key->summary, key->example));
    }
    return json_pack("{s:s, s:s, s:o, s:s, s:o, s:b}", "$schema",
                     "http://json-schema.org/draft-07/schema#", "title", "Spillway scenario",
                     "definitions", schema_definitions(), "type", "object", "properties", keys,
                     "additionalProperties", 0);
}

static bool schema_run(const struct arguments *arguments, struct error *why)
{
    (void)arguments;
    error_set(why, NULL, 0, "out of memory: no room for a schema");
    json_t *schema = scenario_schema(why);
    char *text = json_dumps(schema, JSON_INDENT(1));
    json_decref(schema);
    if (text != NULL) {
        puts(text);
    }
    free(text);
    return text != NULL;
}

static const struct command_option options[] = {{.name = NULL}};

const struct command command_schema = {
    .name = "schema",
    .operands = "",
    .summary = "print a JSON Schema of scenarios, which lets editors check and complete them",
    .example = "spillway schema >scenario.schema.json",
    .options = options,
    .run = schema_run,
};
