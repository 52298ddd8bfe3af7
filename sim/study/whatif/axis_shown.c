/* An axis for people, and as a sweep of its scenario. */
#include "study/whatif/axis.h"

#include "core/quote.h"
#include "core/text.h"
#include "policy/policy.h"
#include "predict/scenario/scenario_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *axis_title(const struct axis *axis)
{
    if (strcmp(axis->key, AXIS_DRAFTS) == 0) {
        return "drafts";
    }
    const char *dot = strrchr(axis->key, '.');
    return dot != NULL ? dot + 1 : axis->key;
}

/* Write a policy as tables name it; anything else stays. */
static void name_policy(const char *value, char *text, size_t size)
{
    struct error unseen;
    struct node *node = node_parse(value, strlen(value), "", &unseen);
    if (node != NULL) {
        policy_words(node, text, size);
    }
    node_destroy(node);
}

const char *axis_label(const struct axis *axis, uint32_t value, char *text, size_t size)
{
    if (axis->ranges) {
        return units_format(axis->values[value].number, axis->unit, text, size);
    }
    snprintf(text, size, "%s", axis->values[value].text);
    if (strcmp(axis->key, "mechanisms.policy") == 0) {
        name_policy(axis->values[value].text, text, size);
    }
    return text;
}

static void axis_write_value(const struct axis_value *value, FILE *out)
{
    if (value->is_map) {
        fputs(value->text, out);
        return;
    }
    fputc('"', out);
    quote_write(QUOTE_YAML_DOUBLE, value->text, out);
    fputc('"', out);
}

bool axis_sweep(const struct axis *axis, struct scenario *scenario, struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why);
    for (uint32_t i = 0; good && i < axis->count; i++) {
        fputs(i > 0 ? ", " : "[", file.out);
        axis_write_value(&axis->values[i], file.out);
        fputs(i + 1 == axis->count ? "]" : "", file.out);
    }
    char *list = text_close(&file, good, why);
    good = list != NULL && scenario_sweep(scenario, axis->key, list, why);
    free(list);
    return good;
}
