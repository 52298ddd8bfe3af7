/* Curves on their way out: as tables, as JSON, into the database. */
#ifndef CLI_CURVE_CURVE_REPORT_H
#define CLI_CURVE_CURVE_REPORT_H

#include "cli/curve/curve_sizes.h"
#include "store/store.h"
#include "study/sweep/miss_curve.h"

/* The curves of one policy. */
struct policy_curves {
    const struct policy_kind *policy;
    double values[POLICY_MOST_PARAMS];
    struct curve_sizes sizes;
    struct miss_curve curve; /* the groups of the report */
    struct miss_curve whole; /* their sum */
};

/* What was measured, and on what. */
struct curve_report {
    const char *source;               /* as the user named it */
    const struct trace_header *trace; /* NULL: the source is a stream of ids */
    uint64_t hash;                    /* of the source */
    uint32_t blocks;
    uint32_t warmup;
    double selection;
    enum policy_order order;
    enum miss_group group;
    struct policy_curves *policies; /* [count] */
    uint32_t count;
};

/* Layer and head of a group; -1: all. */
void curve_report_place(const struct curve_report *report, uint32_t group, int64_t *layer,
                        int64_t *head);

/* The size of the knee of a group, of a curve that was drawn at these sizes; 0 where it has none.
 */
uint32_t curve_report_knee(const struct curve_sizes *sizes, const struct miss_curve *curve,
                           uint32_t group);

/* How a list of parameters is written: before a name, between it and its value, between two. */
struct parameter_style {
    const char *quote, *equals, *comma;
};
extern const struct parameter_style parameter_words; /* eta 0.9, power 1 */
extern const struct parameter_style parameter_json;  /* "eta":0.9,"power":1 */

/* The parameters that differ from their defaults. */
#define CURVE_PARAMETERS 512 /* the longest name and value, for POLICY_MOST_PARAMS */
void curve_report_parameters(const struct policy_curves *curves,
                             const struct parameter_style *style, char text[CURVE_PARAMETERS]);

/* An object a size. */
bool curve_report_json(const struct curve_report *report, struct error *why);

/* One table of the whole, a column a policy; or a table a policy, a row a layer or head. */
bool curve_report_tables(const struct curve_report *report, struct error *why);

/* Into the database; see store_put_curves(). */
bool curve_report_store(const struct curve_report *report, struct store *store, struct error *why);

#endif
