/* An axis of a what-if study: a key of a scenario, and the values that it walks.
 *
 *     KEY                the usual range of it, about what the scenario says
 *     KEY=FROM:TO        from one to the other in equal ratios, from 0 in equal steps
 *     KEY=[A, B, C]      these, which need not be numbers
 *
 * KEY is a key of the scenario, a mechanism (with or without `mechanisms.`), or a figure of the
 * machine, as hardware.link.h2d; `link` is short for hardware.link. Usual ranges:
 *
 *     budget     from no cache to all of the KV; without another axis also a GiB more than now
 *     batch      from 1 to as many as fit
 *     context    from an eighth of the scenario's to twice that
 *     link       PCIe 3 to 6 with 16 lanes, and NVLink-C2C
 *     tensor_parallel   1, 2, 4 and 8 GPUs
 *     rate       from an eighth of the rate at which requests come to 64 times that
 *     host_memory       where only the machine says it, from a 64th to all of what the workload's
 *                       prefixes take, or the machine has
 *     kv_pool_tokens    of a server where only memory says it, from a quarter to all of what fits
 *     others     from a quarter to four times what the scenario or the machine says
 *
 * The scenario's own value is always part of a usual range, as the scenario writes it.
 */
#ifndef STUDY_WHATIF_AXIS_H
#define STUDY_WHATIF_AXIS_H

#include "base/units.h"
#include "decode/plan/plan.h"
#include "run/context.h"
#include "scenario/scenario.h"

#define AXIS_MOST_VALUES 256

struct axis_value {
    double number; /* in the axis' unit; its place where values are no numbers */
    char *text;    /* as a scenario writes it, owned */
    bool is_map;   /* or list, in YAML; else a scalar, which may need quotes */
    bool own;      /* what the scenario says */
    bool more;     /* of a budget: a GiB more than that */
};

struct axis {
    char key[128];      /* a path in a scenario: "mechanisms.budget" */
    const char *option; /* that messages blame: "--over" */
    bool numeric;
    bool ranges; /* its values are a range's */
    enum unit unit;
    struct axis_value *values; /* numbers ascend, owned */
    uint32_t count;
};

/* What usual ranges are about. */
struct axis_base {
    const char *option; /* where the axis was said */
    const struct scenario *scenario; /* one point */
    const struct point *point;       /* which is this */
    const struct run_context *runs;
    const struct plan *plan;
    uint32_t most_batch; /* that fits somewhere along the other axis */
    bool alone;          /* there is no other */
    uint32_t points;     /* of a range; 0: as many as are usual */
};

/* Read the axis that text[0, length) says; the caller releases it, on failure too. One of fewer
 * than two values is an error. */
bool axis_read(const char *text, size_t length, const struct axis_base *base, struct axis *axis,
               struct error *why);
void axis_release(struct axis *axis);

/* Why a budget is no axis of this system; NULL where it has a cache to size. */
const char *axis_no_budget(const struct setup *setup);

/* The key's last word. */
const char *axis_title(const struct axis *axis);

/* A value as a person reads it: "30.0 %", "pcie5-x16". */
const char *axis_label(const struct axis *axis, uint32_t value, char *text, size_t size);

/* Have the scenario sweep it. */
bool axis_sweep(const struct axis *axis, struct scenario *scenario, struct error *why);

#endif
