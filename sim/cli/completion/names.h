/* The names that can be offered: files that ship, words of the program, keys of scenarios with their
 * values. They are those of the tables that reading a scenario walks. Where the data is missing,
 * fewer are offered. */
#pragma once

#include "cli/completion/offer.h"

/* Offer all names of one kind. */
typedef void names_source(const struct offer *offer);

names_source names_models, names_machines, names_systems, names_traces, names_trace_profiles,
    names_workloads, names_policies, names_dtypes;

/* KEY=VALUE of a scenario: keys, and behind the "=" the values that the key can have, also in a list
 * ("sweep.system=[vllm,retro"). */
names_source names_settings;

/* Keys and mechanisms that can be an axis; behind a "=" as above. */
names_source names_axes;
