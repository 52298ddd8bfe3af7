/* The page of one model, which `spillway list model` prints. */
#pragma once

#include "core/error.h"

#include <stdint.h>

/* Print the page of one model, as text or as a JSON object. `sets`: "KEY=VALUE" overrides. */
bool list_model_page(const char *name, const char *const *sets, uint32_t set_count, bool json,
                     struct error *why);
