/* The sizes of caches, from the option --sizes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/trace/trace_argument.h"
#include "core/error.h"
#include "store/store.h"
#include "study/sweep/miss_curve.h"
#include "tables/frame.h"

struct curve_sizes {
    uint32_t *size; /* owned */
    size_t count, capacity;
    bool in_blocks; /* the list has blocks only, and not shares */
};

void curve_sizes_release(struct curve_sizes *sizes);

/* Append the sizes in a list: blocks, as 512, or shares of `blocks`, as 30%; a share above 0 is at
 * least one block. NULL: some shares that show a curve. */
bool curve_sizes_read(const char *list, uint32_t blocks, struct curve_sizes *sizes,
                      struct error *why);

/* Append every size from 1 to `blocks`. */
bool curve_sizes_all(uint32_t blocks, struct curve_sizes *sizes, struct error *why);

/* Leave out sizes below `least`. */
void curve_sizes_keep(struct curve_sizes *sizes, uint32_t least);

/* Output of curves: as tables, as JSON, into a database. */

/* The curves of one policy. */
struct policy_curves {
    const struct policy_kind *policy;
    double values[POLICY_MOST_PARAMS];
    struct curve_sizes sizes;
    struct miss_curve curve; /* the groups of the report */
    struct miss_curve whole; /* their sum */
};

/* The curves, and their source. */
struct curve_report {
    const char *source;             /* as the user named it */
    const struct trace *trace;      /* NULL: the source is a stream of ids */
    char chosen[LAYER_CHOICE_TEXT]; /* the layers of the trace, unless all count */
    uint64_t hash;                  /* of the source */
    uint32_t blocks;
    uint32_t warmup;
    double selection;
    enum policy_order order;
    enum miss_group group;
    struct policy_curves *policies; /* [count] */
    uint32_t count;
};

/* Write the parameters, "eta 0.9, power 1" or {"eta":0.9,"power":1}: the first, as QSAC's eta, and others that differ
 * from their defaults. */
#define CURVE_PARAMETERS 512 /* the longest name and value, for POLICY_MOST_PARAMS */
void curve_report_parameters(const struct policy_curves *curves, bool json,
                             char text[CURVE_PARAMETERS]);

/* The size at a group's knee, of a curve at the report's sizes; 0 if it has none, as a flat one. */
uint32_t curve_report_knee(const struct curve_sizes *sizes, const struct miss_curve *curve,
                           uint32_t group);

/* Print one JSON object per size. */
bool curve_report_json(const struct curve_report *report, struct error *why);

/* Print one table for all heads, with a column per policy; or a table per policy, with a row per
 * layer or head. */
bool curve_report_tables(const struct curve_report *report, struct error *why);

/* Store the curves in tables `curves` and `curve_points`. */
bool curve_report_store(const struct curve_report *report, struct store *store, struct error *why);
