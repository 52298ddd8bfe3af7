/* Lists of what the program has itself: a row for each of a table. */
#include "cli/list/lists.h"

#include "decode/mechanisms.h"
#include "policy/plugin.h"
#include "scenario/resolve_parallel.h"
#include "serve/routing.h"
#include "serve/server_engine.h"

#include <stdio.h>

/* ---- policies and mechanisms ---- */

static const struct table_column policy_columns[] = {
    {.title = "policy"},
    {.title = "parameters"},
    {.title = "what it does", .wrap = true},
};

static bool add_policies(struct table *table, struct error *why)
{
    for (size_t i = 0; policies[i] != NULL; i++) {
        char params[256] = "";
        const struct policy_param *param = policies[i]->params;
        for (size_t used = 0; param != NULL && param->name != NULL; param++) {
            used += (size_t)snprintf(params + used, sizeof params - used, "%s%s: %g",
                                     used > 0 ? ", " : "", param->name, param->value);
        }
        const char *texts[] = {policies[i]->name, params, policies[i]->summary};
        if (!table_add(table, texts, 3, why)) {
            return false;
        }
    }
    const char *own[] = {PLUGIN_PREFIX "PATH", "its own",
                         "your own policy: a shared library, as spillway_policy.h describes"};
    return table_add(table, own, 3, why);
}

const struct list list_policies = {"policies", LIST_COLUMNS(policy_columns), add_policies};

static const struct table_column mechanism_columns[] = {
    {.title = "mechanism"},
    {.title = "default"},
    {.title = "what it is", .wrap = true},
};

/* Keys of the scenario itself, not of its `mechanisms`. */
static bool add_parallel_keys(struct table *table, struct error *why)
{
    bool ok = true;
    for (const struct parallel_key *key = parallel_keys; ok && key->name != NULL; key++) {
        char what[512];
        snprintf(what, sizeof what, "key of the scenario: %s", key->costs);
        const char *texts[] = {key->name, key->standard, what};
        ok = table_add(table, texts, 3, why);
    }
    return ok;
}

static bool add_mechanisms(struct table *table, struct error *why)
{
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        char what[512];
        size_t used = (size_t)snprintf(what, sizeof what, "%s", key->summary);
        for (size_t i = 0; key->values != NULL && key->values[i] != NULL; i++) {
            used += (size_t)snprintf(what + used, sizeof what - used, "%s%s", i > 0 ? ", " : ": ",
                                     key->values[i]);
        }
        const char *texts[] = {key->name, key->standard, what};
        if (!table_add(table, texts, 3, why)) {
            return false;
        }
    }
    return add_parallel_keys(table, why);
}

const struct list list_mechanisms = {"mechanisms", LIST_COLUMNS(mechanism_columns), add_mechanisms};

/* ---- engines ---- */

static const struct table_column engine_columns[] = {
    {.title = "engine"},
    {.title = "what a server of it does", .wrap = true},
};

static bool add_engines(struct table *table, struct error *why)
{
    bool ok = true;
    for (int id = 0; ok && id < SERVER_ENGINE_COUNT; id++) {
        const char *texts[] = {server_engine_names[id], server_engines[id].summary};
        ok = table_add(table, texts, 2, why);
    }
    return ok;
}

const struct list list_engines = {"engines", LIST_COLUMNS(engine_columns), add_engines};

/* ---- routers ---- */

static const struct table_column router_columns[] = {
    {.title = "routing"},
    {.title = "as in"},
    {.title = "a request goes", .wrap = true},
};

static bool add_routers(struct table *table, struct error *why)
{
    bool ok = true;
    for (int id = 0; ok && id < ROUTINGS; id++) {
        const char *texts[] = {routing_names[id], routings[id].origin, routings[id].summary};
        ok = table_add(table, texts, 3, why);
    }
    return ok;
}

const struct list list_routers = {"routers", LIST_COLUMNS(router_columns), add_routers};
