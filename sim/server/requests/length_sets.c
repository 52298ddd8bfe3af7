/* The means are those of the pairs (tests/unit/server/test_synthetic.c). */
#include "server/requests/length_sets.h"

#include <stddef.h>

static const struct length_pair of_vllm[LENGTH_SET_PAIRS] = {
#include "server/requests/sharegpt_vllm.def"
};

static const struct length_pair of_sglang[LENGTH_SET_PAIRS] = {
#include "server/requests/sharegpt_sglang.def"
};

const char *const length_set_names[] = {"sharegpt", "sharegpt-sglang", NULL};

const struct length_set length_sets[] = {
    {111869.0 / LENGTH_SET_PAIRS, 102435.0 / LENGTH_SET_PAIRS, of_vllm},
    {161467.0 / LENGTH_SET_PAIRS, 102242.0 / LENGTH_SET_PAIRS, of_sglang},
};
