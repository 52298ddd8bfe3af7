/* An axis of a what-if study: a key of a scenario, and the values that it takes.
 *
 *     KEY                its usual range (walk_usual() in axis.c), which contains the scenario's value
 *     KEY=FROM:TO        from one to the other in equal ratios; in equal steps if FROM is 0
 *     KEY=[A, B, C]      these values, which need not be numbers
 *
 * KEY is a key of the scenario, a mechanism (with or without `mechanisms.`), or a figure of the
 * machine such as hardware.link.h2d; `link` is short for hardware.link. */
#pragma once

#include "core/units.h"
#include "decode/plan/memory_plan.h"
#include "predict/decode/context.h"
#include "predict/scenario/scenario.h"

#define AXIS_MOST_VALUES 1024

/* Points of a range that is searched, and the most that is shown. */
#define AXIS_FINE 254

/* The axis of drafts, by its key. */
#define AXIS_DRAFTS "drafts.count"

struct axis_value {
    double number; /* in the axis' unit; the position in the list if values are not numbers */
    char *text;    /* as a scenario writes it, owned */
    bool is_map;   /* `text` is a YAML map or list; else a scalar, which may need quotes */
    bool own;      /* the scenario's own value */
};

struct axis {
    char key[128];      /* a path in a scenario: "mechanisms.budget" */
    const char *option; /* the option that messages name: "--over" */
    bool numeric;
    bool ranges; /* the values come from a range */
    enum unit unit;
    struct axis_value *values; /* [count], numbers ascend; owned */
    uint32_t count;
};

/* A resolved and planned point of a scenario; axes are read against it. */
struct planned {
    struct point point;
    struct plan plan;
};

/* Plan point `point`. The caller releases `out`, also after a failure. */
bool planned_point(const struct scenario *scenario, uint32_t point, const struct run_context *runs,
                   struct planned *out, struct error *why);

/* An axis as it was typed: "context=4K:128K". */
struct axis_text {
    const char *text;
    size_t length;
    bool open; /* out: the scenario does not set the key */
};

/* Plan the scenario's own point. If it cannot be, and the scenario leaves an axis' key open, that axis' first
 * value is used, and the axis is marked `open`. The caller releases `out`, also after a failure. */
bool planned_own(const struct scenario *scenario, const char *option, struct axis_text *axes,
                 uint32_t count, const struct run_context *runs, struct planned *out,
                 struct error *why);
void planned_release(struct planned *planned);

/* What an axis is read against. */
struct axis_base {
    const char *option;              /* the option that gave the axis */
    const struct scenario *scenario; /* one point */
    const struct point *point;       /* that point, resolved */
    const struct run_context *runs;
    const struct plan *plan;
    uint32_t most_batch; /* largest batch that fits somewhere along the other axis */
    uint32_t points;     /* of a range; 0: the usual number */
};

/* Read the axis, of two values at least, in text[0, length). The caller releases it, also after a failure. */
bool axis_read(const char *text, size_t length, const struct axis_base *base, struct axis *axis,
               struct error *why);
void axis_release(struct axis *axis);

/* Why the system has no cache to size, so that a budget is no axis; NULL if it has one. */
const char *axis_no_budget(const struct setup *setup);

/* The key's last word. */
const char *axis_title(const struct axis *axis);

/* A value as a person reads it: "30.0 %", "pcie5-x16". */
const char *axis_label(const struct axis *axis, uint32_t value, char *text, size_t size);

/* Make the scenario sweep the axis. */
bool axis_sweep(const struct axis *axis, struct scenario *scenario, struct error *why);
