/* What a point asks for that is not computed, or that its machine does not have. */
#pragma once

#include "core/node.h"
#include "predict/scenario/point.h"

/* When the machine is known. */
bool resolve_check_machine(const struct node *root, const struct setup *setup, struct error *why);

/* When all is known; `merged` are the mechanisms of preset and user. */
bool resolve_check_point(const struct node *root, const struct node *merged,
                         const struct point *point, struct error *why);
