/* A policy and its parameters as text, the same in a scenario and on the command line. */
#include "policy/policy.h"

#include "core/text.h"
#include "policy/kinds.h"
#include "policy/qsac.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static bool read_param(const struct node *policy, const struct policy_param *param, double *value,
                       struct error *why)
{
    *value = param->value;
    const struct node *given = node_get(policy, param->name);
    bool percent = given != NULL && given->kind == NODE_SCALAR && strchr(given->text, '%') != NULL;
    enum unit unit = percent && param->most <= 1 ? UNIT_SHARE : UNIT_COUNT; /* 80% is 0.8 */
    if (!node_quantity(policy, param->name, unit, value, why)) {
        return false;
    }
    if (*value < param->least || *value > param->most) {
        node_key_error(policy, param->name, why, "'%s' is out of range", param->name);
        return error_expect(why, "%g to %g", param->least, param->most);
    }
    return true;
}

bool policy_read(const struct node *node, const struct policy_kind **kind, double *values,
                 struct error *why)
{
    const char *keys[POLICY_MOST_PARAMS + 2] = {"name"};
    const char *name = node->kind == NODE_SCALAR ? node->text : NULL;
    if (node->kind == NODE_MAP && !node_text(node, "name", &name, why)) {
        return false;
    }
    if (name == NULL) {
        return node_error(node, why, "'policy' must be a name or a map with 'name'");
    }
    *kind = policy_find(name, node->file, node->line, why);
    if (*kind == NULL) {
        return false;
    }
    const struct policy_param *params = (*kind)->params;
    for (size_t i = 0; params != NULL && params[i].name != NULL; i++) {
        assert(i < POLICY_MOST_PARAMS);
        keys[i + 1] = params[i].name;
        if (!read_param(node, &params[i], &values[i], why)) {
            return false;
        }
    }
    return node->kind != NODE_MAP || node_check_keys(node, keys, "policy", why);
}

bool policy_open(struct node *root, const char *path, const struct node *over, struct error *why)
{
    const struct node *word = node_find(root, path), *beside = node_find(over, path);
    if (word == NULL || word->kind != NODE_SCALAR || beside == NULL || beside->kind != NODE_MAP ||
        node_get(beside, "name") != NULL) {
        return true;
    }
    struct node *map = node_map(word->file, why);
    bool good = map != NULL && node_put(map, "name", word, why) && node_put(root, path, map, why);
    node_destroy(map);
    return good;
}

bool policy_words(const struct node *node, char *text, size_t size)
{
    const struct policy_kind *kind;
    double values[POLICY_MOST_PARAMS];
    struct error unseen;
    if (!policy_read(node, &kind, values, &unseen)) {
        return false;
    }
    snprintf(text, size, "%s", policy_title(kind));
    const struct policy_param *params = kind->params;
    bool chosen = kind == &policy_qsac && qsac_reuse(values) > 0; /* eta is: it has no value yet */
    for (size_t i = 0; params != NULL && params[i].name != NULL; i++) {
        if ((i == 0 && !chosen) || values[i] != params[i].value) {
            text_append(text, size, ", %s %.15g", params[i].name, values[i]);
        }
    }
    return true;
}
