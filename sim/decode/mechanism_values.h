/* The values of mechanisms. Files that include this are rebuilt for each new one; others ask mechanisms.h. */
#pragma once

#include "decode/mechanisms.h"
#include "policy/policy.h"

enum kv_copy { COPY_ASYNCHRONOUS, COPY_SYNCHRONOUS };

struct mechanisms {
    double policy_values[POLICY_MOST_PARAMS];
    /* By tier below host memory: is there one; and requests that held a block before it is written, 0: 1. */
    int prefix_below[TIER_COUNT];
    uint64_t prefix_below_asked[TIER_COUNT];
#define WORD(id, word) id,
#define POLICY_KEY(member, ...) const struct policy_kind *member;
#define BUDGET(member, ...) struct amount member;
#define EXTENT(member, ...) struct amount member;
#define CHOICE(member, group, standard, what, words) enum member { words } member;
#define CHOICE_OF(member, ...) int member;
#define SWITCH(member, ...) int member;
#define WHOLE(member, ...) uint64_t member;
#define REAL(member, ...) double member;
#define CHOICE_AT(...)
#define WHOLE_AT(...)
#include "decode/mechanisms.def"
};
