/* Lists of what the program has itself: a row for each of a table. */
#include "cli/list/lists.h"

#include "core/text.h"
#include "decode/mechanisms.h"
#include "policy/plugin.h"
#include "predict/scenario/resolve_parallel.h"
#include "server/routing.h"
#include "server/server_engine.h"

#include <string.h>

/* ---- policies and mechanisms ---- */

static const struct frame_column policy_columns[] = {
    {.key = "policy", .title = "policy"},
    {.key = "parameters", .title = "parameters"},
    {.key = "what", .title = "what it does", .wrap = true},
};

static bool add_policies(struct frame *frame, struct error *why)
{
    (void)why;
    for (size_t i = 0; policies[i] != NULL; i++) {
        char params[256] = "";
        const struct policy_param *param = policies[i]->params;
        for (; param != NULL && param->name != NULL; param++) {
            text_append(params, sizeof params, "%s%s: %g", params[0] != '\0' ? ", " : "",
                        param->name, param->value);
        }
        frame_add(frame, (const char *[]){policies[i]->name, params, policies[i]->summary}, 3);
    }
    const char *own[] = {PLUGIN_PREFIX "PATH", "its own",
                         "your own policy: a shared library, as spillway_policy.h describes"};
    frame_add(frame, own, 3);
    return true;
}

const struct list list_policies = {"policies", LIST_COLUMNS(policy_columns), add_policies};

static const struct frame_column mechanism_columns[] = {
    {.key = "mechanism", .title = "mechanism"},
    {.key = "default", .title = "default"},
    {.key = "what", .title = "what it is", .wrap = true},
};

/* Keys of the scenario itself, not of its `mechanisms`. */
static void add_parallel_keys(struct frame *frame)
{
    for (const struct parallel_key *key = parallel_keys; key->name != NULL; key++) {
        frame_add(frame, (const char *[]){key->name, key->standard}, 2);
        frame_textf(frame, 2, "key of the scenario: %s", key->costs);
    }
}

static bool add_mechanisms(struct frame *frame, struct error *why)
{
    (void)why;
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        char what[512];
        text_copy(what, sizeof what, key->summary);
        for (size_t i = 0; key->values != NULL && key->values[i] != NULL; i++) {
            text_append(what, sizeof what, "%s%s", i > 0 ? ", " : ": ", key->values[i]);
        }
        frame_add(frame, (const char *[]){key->name, key->standard, what}, 3);
    }
    add_parallel_keys(frame);
    return true;
}

const struct list list_mechanisms = {"mechanisms", LIST_COLUMNS(mechanism_columns), add_mechanisms};

/* ---- columns ---- */

static const struct frame_column column_columns[] = {
    {.key = "column", .title = "column"},
    {.key = "short", .title = "or"},
    {.key = "unit"},
    {.key = "data", .unit = UNIT_FLAG}, /* do rows of data have it? */
    {.key = "what", .title = "what it is", .wrap = true},
};

static bool list_words_add_columns(struct frame *frame, struct error *why)
{
    (void)why;
    for (const struct column *const *at = column_rows; *at != NULL; at++) {
        const char *unit = unit_name((*at)->unit);
        frame_add(frame, (const char *[]){(*at)->name, (*at)->label, unit, NULL, (*at)->what}, 5);
        frame_number(frame, 3, (*at)->read == NULL);
    }
    return true;
}

const struct list list_columns = {"columns", LIST_COLUMNS(column_columns), list_words_add_columns};

/* ---- engines ---- */

static const struct frame_column engine_columns[] = {
    {.key = "engine", .title = "engine"},
    {.key = "what", .title = "what a server of it does", .wrap = true},
};

static bool add_engines(struct frame *frame, struct error *why)
{
    static const char none[] = "KV takes what weights and a step's tensors leave";
    const char *const *names = server_engine_names(why);
    bool good = names != NULL;
    for (; good && *names != NULL; names++) {
        struct server_engine engine;
        good = server_engine_find(*names, NULL, 0, &engine, why);
        if (good) {
            frame_add(frame,
                      (const char *[]){engine.name, engine.row != NULL ? engine.summary : none}, 2);
        }
    }
    return good;
}

const struct list list_engines = {"engines", LIST_COLUMNS(engine_columns), add_engines};

/* ---- routers ---- */

static const struct frame_column router_columns[] = {
    {.key = "routing", .title = "routing"},
    {.key = "origin", .title = "as in"},
    {.key = "what", .title = "a request goes", .wrap = true},
};

static bool add_routers(struct frame *frame, struct error *why)
{
    (void)why;
    for (int id = 0; id < ROUTINGS; id++) {
        frame_add(frame,
                  (const char *[]){routing_names[id], routings[id].origin, routings[id].summary},
                  3);
    }
    return true;
}

const struct list list_routers = {"routers", LIST_COLUMNS(router_columns), add_routers};
