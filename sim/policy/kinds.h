/* The rows of the table of policies: one in each file. */
#pragma once

#include "policy/policy.h"

#define POLICY(id) extern const struct policy_kind policy_##id;
#include "policy/policies.def"
#undef POLICY
