/* Policies from outside: `plugin:PATH` is a shared library as described by spillway_policy.h.
 *
 * A plug-in is loaded once and stays for the life of the process. Loading refuses a file that does not fit
 * the header: no such symbol, another ABI, a function or a name that is missing, a parameter without a finite
 * range. Running refuses answers that do not agree with each other. A crash, exit() or an endless loop in the
 * user's code is the user's to debug: the process ends, or does not, as any other would. */
#pragma once

#include "policy/policy.h"

#define PLUGIN_PREFIX "plugin:"

bool plugin_is_named(const char *name);

/* As policy_find(), for a name that begins with PLUGIN_PREFIX. */
const struct policy_kind *plugin_find(const char *name, const char *file, int line,
                                      struct error *why);
