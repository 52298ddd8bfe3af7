/* What all runs of a table have in common. It is said once, above the table: "llama-3-8b on a40,
 * 131072 tokens a sequence; 38 steps after 38 of warm-up". Of several families of recordings the steps
 * are those of the middle one, as are all figures without a range. */
#pragma once

#include "core/node.h"
#include "predict/result/result.h"

#include <stdio.h>

enum { RUNS_SHARED_TEXT = 128 };

enum runs_shared_id {
    SHARED_MODEL,
    SHARED_GPUS,
    SHARED_HARDWARE,
    SHARED_CONTEXT,
    SHARED_STEPS,
    SHARED_WARMUP,
    SHARED_COUNT
};

/* Zeroed before the first run. */
struct runs_shared {
    bool varies[SHARED_COUNT];
    bool families;                             /* some run has several families of recordings */
    char text[SHARED_COUNT][RUNS_SHARED_TEXT]; /* "" until a run has one */
};

/* Take note of a run. */
void runs_shared_add(struct runs_shared *shared, const struct result *result);

/* Print the line; nothing if runs share nothing. `asked` is the scenario, which may call the model
 * by the name of other weights of the same shape. */
void runs_shared_print(const struct runs_shared *shared, const struct node *asked, FILE *out);
