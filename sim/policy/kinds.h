/* The rows of the table of policies: one in each file. */
#ifndef POLICY_KINDS_H
#define POLICY_KINDS_H

#include "policy/policy.h"

extern const struct policy_kind policy_none, policy_lru, policy_fifo, policy_lfu, policy_clock,
    policy_arc, policy_lecar, policy_s3fifo, policy_sieve, policy_opt, policy_opt_bypass,
    policy_qsac, policy_window_maw, policy_heavy_hitter, policy_prefix;

#endif
