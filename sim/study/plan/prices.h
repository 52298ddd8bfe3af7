/* Prices of the machines of a plan, as they are typed: "a40=0.44,h100-sxm=2.49", in dollars an hour
 * of a GPU with its share of the machine. */
#pragma once

#include "predict/scenario/scenario.h"

/* Set the price of `machine`, one of the plan's, in its scenario, if it has one. `prices` was
 * checked, or is NULL. */
bool prices_set(const char *prices, const char *machine, struct scenario *scenario,
                struct error *why);

/* Fails if the text is no list of prices, or prices a machine that is not one of `machines`, or one
 * twice. */
bool prices_check(const char *prices, char *const *machines, size_t count, struct error *why);
