/* What `spillway list` can list: a table for each kind of name, and the figures of one machine or
 * model. */
#pragma once

#include "tables/frame.h"

/* A kind of name. */
struct list {
    const char *name; /* as the command calls it */
    const struct frame_column *columns;
    uint32_t column_count;
    bool (*add)(struct frame *frame, struct error *why); /* all its rows */
};
#define LIST_COLUMNS(columns) columns, sizeof columns / sizeof columns[0]

extern const struct list list_systems, list_models, list_hardware, list_traces; /* files */
extern const struct list list_policies, list_mechanisms, list_engines, list_routers,
    list_columns; /* words */

/* Print and destroy a frame, which may be NULL. */
bool list_print(struct frame *frame, bool json, struct error *why);

/* Print every figure that the machine `name` states, with its basis and source. */
bool list_machine(const char *name, bool json, struct error *why);

/* Print the row of one model, by any of its names or its path. */
bool list_model(const char *name, bool json, struct error *why);

/* Print the page of one model, as text or as a JSON object. `sets`: "KEY=VALUE" overrides. */
bool list_model_page(const char *name, const char *const *sets, uint32_t set_count, bool json,
                     struct error *why);
