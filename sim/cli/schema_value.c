#include "cli/schema_value.h"

#include "core/find.h"

#include <stdio.h>
#include <stdlib.h>

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

json_t *schema_definitions(void)
{
    json_t *all = json_object();
    schema_put(&all, "zero", define_zero());
    schema_put(&all, "over_all", define_over_all());
    for (int i = 0; i < NUMBERS; i++) {
        schema_put(&all, numbers[i].name, define_number(numbers[i].unit, numbers[i].whole));
    }
    return all;
}

json_t *schema_number(enum unit unit, bool whole)
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

json_t *schema_positive(json_t *number)
{
    return schema_but(number, "#/definitions/zero");
}

json_t *schema_at_most_all(json_t *number)
{
    return schema_but(number, "#/definitions/over_all");
}

/* ---- words ---- */

/* YAML 1.1 reads `yes` as true, YAML 1.2 as a text. */
json_t *schema_switch(void)
{
    return json_pack("{s:[b, b, s, s, s, s, s, s]}", "enum", 1, 0, "yes", "no", "true", "false",
                     "on", "off");
}

static json_t *schema_enum(json_t *words)
{
    return json_pack("{s:o}", "enum", words);
}

json_t *schema_words(const char *const *words)
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

json_t *schema_pattern(const char *pattern)
{
    return json_pack("{s:s, s:s}", "type", "string", "pattern", pattern);
}

json_t *schema_name(const char *folder, const char *suffix, struct error *why)
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

json_t *schema_path(const char *suffix)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "/|\\.%s$", suffix);
    return schema_pattern(pattern);
}

/* ---- of several ---- */

json_t *schema_either(json_t *one, json_t *other)
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

json_t *schema_map(json_t *properties)
{
    return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
                     "additionalProperties", 0);
}

json_t *schema_list(json_t *item)
{
    return json_pack("{s:s, s:i, s:o}", "type", "array", "minItems", 1, "items", item);
}

/* Draft 7 ignores keys beside a reference, so a reference is put into a list of its own. */
json_t *schema_described(json_t *schema, const char *summary, const char *example)
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

void schema_put(json_t **properties, const char *key, json_t *schema)
{
    if (json_object_set_new(*properties, key, schema) != 0) {
        json_decref(*properties);
        *properties = NULL;
    }
}
