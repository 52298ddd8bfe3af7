/* Policies from outside: `plugin:PATH` is a shared library as described by spillway_policy.h.
 *
 * A plug-in is loaded once and stays for the life of the process. Before that, a child process
 * loads it and tries it: if the plug-in crashes, hangs or exits there, the error names it.
 */
#ifndef POLICY_PLUGIN_H
#define POLICY_PLUGIN_H

#include "policy/policy.h"
#include "policy/spillway_policy.h"

#define PLUGIN_PREFIX "plugin:"

struct plugin {
    struct policy_kind kind; /* as a row of the table; its name is "plugin:PATH" */
    const struct spillway_policy *api;
    struct policy_param params[SPILLWAY_MOST_PARAMS + 1];
    char summary[256]; /* the plug-in's own name and summary */
    void *library;     /* of dlopen() */
    struct plugin *next;
    char name[]; /* owned text behind kind.name */
};

bool plugin_is_named(const char *name);

/* As policy_find(), for a name that begins with PLUGIN_PREFIX. */
const struct policy_kind *plugin_find(const char *name, const char *file, int line,
                                      struct error *why);

/* Load it without a trial in a child process. NULL on failure. */
struct plugin *plugin_load(const char *name, const char *file, int line, struct error *why);
void plugin_unload(struct plugin *plugin); /* NULL is fine */

/* The name of the plug-in that this thread is calling, or NULL. A signal handler may call this. */
const char *plugin_asked(void);

/* Load it in a child process and try it on small demands. */
bool plugin_try(const char *name, const char *file, int line, struct error *why);

/* The functions of every plug-in's policy_kind: they call the plug-in and check its answers. */
struct policy *plugin_create(const double *values, const struct policy_env *env, struct error *why);
void plugin_access(struct policy *policy, const struct demand *demand, struct outcome *outcome);
bool plugin_holds(const struct policy *policy, uint32_t block);
bool plugin_check(const struct policy *policy, struct error *why);
void plugin_destroy(struct policy *policy);

#endif
