/* Policies from outside: `plugin:PATH` is a shared library as described by spillway_policy.h.
 *
 * A plug-in is loaded once and stays for the life of the process. Loading refuses a file that does
 * not fit the header: no such symbol, another ABI, a function or a name that is missing, a
 * parameter without a finite range. Running refuses answers that do not agree with each other
 * (plugin_policy.c). A crash or an endless loop in the user's code is the user's to debug. If the
 * code ends the program, by a crash or by exit(), the program says so (cli/frame/foreign.h).
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

/* The plug-in "plugin:PATH" in whose code this thread is; NULL outside of all. Whoever calls such
 * code enters before and leaves after; plugin_enter() returns what plugin_leave() restores. */
const char *plugin_inside(void);
const char *plugin_enter(const char *name);
void plugin_leave(const char *outer);

bool plugin_is_named(const char *name);

/* As policy_find(), for a name that begins with PLUGIN_PREFIX. */
const struct policy_kind *plugin_find(const char *name, const char *file, int line,
                                      struct error *why);

/* The functions of every plug-in's policy_kind: they call the plug-in and check its answers. */
struct policy *plugin_create(const double *values, const struct policy_env *env, struct error *why);
void plugin_access(struct policy *policy, const struct demand *demand, struct outcome *outcome);
bool plugin_holds(const struct policy *policy, uint32_t block);
bool plugin_check(const struct policy *policy, struct error *why);
void plugin_destroy(struct policy *policy);
