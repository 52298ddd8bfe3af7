/* The table of policies and their common code. A new policy is a file and a row of policies.def. */

#include "policy/policy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

const char *const policy_orders[] = {
    [POLICY_BATCH] = "batch", [POLICY_SEQUENTIAL] = "sequential", NULL};

#define POLICY(id) extern const struct policy_kind policy_##id;
#include "policy/policies.def"

const struct policy_kind *const policies[] = {
#define POLICY(id) &policy_##id,
#include "policy/policies.def"
    NULL,
};

enum { ROWS = sizeof policies / sizeof policies[0] - 1 };

const struct policy_kind *policy_find(const char *name, const char *file, int line,
                                      struct error *why)
{
    if (plugin_is_named(name)) {
        return plugin_find(name, file, line, why);
    }
    const char *names[ROWS + 2] = {[ROWS] = PLUGIN_PREFIX "PATH"};
    for (size_t i = 0; i < ROWS; i++) {
        names[i] = policies[i]->name;
    }
    int row = name_find(name, NAMES(names), "policy", file, line, why);
    if (row < 0) {
        /* The text may be several names, one with parameters, or OPT by its author's name. */
        if (strpbrk(name, ":=") != NULL) {
            error_expect(why, "parameters as in '{name: qsac, eta: 0.9}'");
            why->nearest[0] = '\0';
        } else if (strchr(name, ',') != NULL) {
            error_expect(why, "one policy; each of several takes an option of its own");
        } else if (name_same(name, "belady") || name_same(name, "min")) {
            error_nearest(why, policy_opt.name);
        }
    }
    return row < 0 ? NULL : row < ROWS ? policies[row] : plugin_find(name, file, line, why);
}

struct policy *policy_create(const struct policy_kind *kind, const double *given,
                             const struct policy_env *env, struct error *why)
{
    double values[POLICY_MOST_PARAMS];
    const struct policy_param *param = kind->params;
    for (size_t i = 0; param && param[i].name; i++) {
        assert(i < POLICY_MOST_PARAMS);
        values[i] = given ? given[i] : param[i].value;
        if (!(values[i] >= param[i].least && values[i] <= param[i].most)) {
            error_usage(why, NULL, 0, "parameter '%s' is %g, out of range for policy '%s'",
                        param[i].name, values[i], kind->name);
            error_expect(why, "%g ... %g", param[i].least, param[i].most);
            return NULL;
        }
    }
    if (env->capacity > env->blocks) {
        error_set(why, NULL, 0, "the cache has room for %u blocks, but there are only %u",
                  env->capacity, env->blocks);
        return NULL;
    }
    if (env->blocks >= 1u << 29) { /* a place in queues.h has 30 bits for twice as many */
        error_set(why, NULL, 0, "%u blocks are too many for a cache", env->blocks);
        return NULL;
    }
    if (kind->needs_queries && env->query_heads == 0) {
        error_set(why, NULL, 0, "policy '%s' compares queries, but the trace has no queries",
                  kind->name);
        error_expect(why, "a trace with queries");
        return NULL;
    }
    if (kind->needs_next_use && env->next_use == NULL) {
        error_set(why, NULL, 0, "policy '%s' needs to know the future", kind->name);
        return NULL;
    }
    struct policy *policy = array_zeroed(1, kind->size, why);
    if (policy == NULL) {
        return NULL;
    }
    *policy = (struct policy){.kind = kind, .order = env->order, .capacity = env->capacity};
    struct policy_env with = *env;
    with.values = values;
    policy->missed = arrays_add(&policy->arrays, env->blocks, sizeof *policy->missed, why);
    if ((kind->init != NULL && !kind->init(policy, &with, why)) || policy->arrays.failed) {
        policy_destroy(policy);
        return NULL;
    }
    return policy;
}

void policy_access(struct policy *policy, const struct demand *demand, struct outcome *outcome)
{
    *outcome = (struct outcome){0};
    policy->kind->access(policy, demand, outcome);
}

bool policy_check(const struct policy *policy, struct error *why)
{
    return policy->kind->check == NULL || policy->kind->check(policy, why);
}

void policy_destroy(struct policy *policy)
{
    if (policy == NULL) {
        return;
    }
    if (policy->kind->release != NULL) {
        policy->kind->release(policy);
    }
    arrays_release(&policy->arrays);
    free(policy);
}

/* A policy and its parameters as text, the same in a scenario and on the command line. */

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
        const struct policy_param *param = &params[i];
        const struct node *given = node_get(node, param->name);
        bool percent =
            given != NULL && given->kind == NODE_SCALAR && strchr(given->text, '%') != NULL;
        enum unit unit = percent && param->most <= 1 ? UNIT_SHARE : UNIT_COUNT; /* 80% is 0.8 */
        values[i] = param->value;
        if (!node_quantity(node, param->name, unit, &values[i], why)) {
            return false;
        }
        if (values[i] < param->least || values[i] > param->most) {
            node_key_error(node, param->name, why, "'%s' is out of range", param->name);
            return error_expect(why, "%g to %g", param->least, param->most);
        }
    }
    return node->kind != NODE_MAP || node_check_keys(node, NAMES(keys), "policy", why);
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
    if (!policy_read(node, &kind, values, ERROR_UNSEEN)) {
        return false;
    }
    snprintf(text, size, "%s", policy_title(kind));
    const struct policy_param *params = kind->params;
    for (size_t i = 0; params != NULL && params[i].name != NULL; i++) {
        if (i == 0 || values[i] != params[i].value) {
            text_append(text, size, ", %s %.15g", params[i].name, values[i]);
        }
    }
    return true;
}
