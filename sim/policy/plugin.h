/* Policies from outside: `plugin:PATH` is a shared library as described by spillway_policy.h.
 *
 * A plug-in is loaded once and stays for the life of the process. Loading refuses a file that does
 * not fit the header: no such symbol, another ABI, a function or a name that is missing, a
 * parameter without a finite range. Running refuses answers that do not agree with each other
 * (plugin_policy.c). A crash, exit() or an endless loop in the user's code is the user's to
 * debug: the process ends, or does not, as any other would.
 */
#pragma once

#include "policy/policy.h"
#include "policy/spillway_policy.h"

#define PLUGIN_PREFIX "plugin:"

struct plugin {
    struct policy_kind kind; /* as a row of the table; its name is "plugin:PATH" */
    const struct spillway_policy *api;
    struct policy_param params[SPILLWAY_MOST_PARAMS + 1];
    void *library; /* of dlopen() */
    struct plugin *next;
    char name[]; /* owned text behind kind.name */
};

bool plugin_is_named(const char *name);

/* As policy_find(), for a name that begins with PLUGIN_PREFIX. */
const struct policy_kind *plugin_find(const char *name, const char *file, int line,
                                      struct error *why);

/* The functions of every plug-in's policy_kind: they call the plug-in and check its answers. */
extern const size_t plugin_size;
bool plugin_init(struct policy *policy, const double *values, const struct policy_env *env,
                 struct error *why);
void plugin_access(struct policy *policy, const struct demand *demand, struct outcome *outcome);
bool plugin_holds(const struct policy *policy, uint32_t block);
bool plugin_check(const struct policy *policy, struct error *why);
void plugin_release(struct policy *policy);
