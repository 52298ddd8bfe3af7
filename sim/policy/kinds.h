/* The rows of the table of policies: one a file. */
#ifndef POLICY_KINDS_H
#define POLICY_KINDS_H

#include "policy/policy.h"

extern const struct policy_kind policy_none, policy_lru, policy_fifo, policy_qsac;

#endif
