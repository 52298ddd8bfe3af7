/* The rows of a plan in the database: tables `plans` and `plan_points`. */
#ifndef CLI_PLAN_PLAN_STORED_H
#define CLI_PLAN_PLAN_STORED_H

#include "answer/frame.h"
#include "store/store.h"

/* Their columns. */
enum {
#define COLUMN(name, type, what) PLAN_##name,
#include "answer/plans.def"
#undef COLUMN
    PLAN_COLUMNS
};
enum {
#define COLUMN(name, type, what) POINT_##name,
#include "answer/plan_points.def"
#undef COLUMN
    POINT_COLUMNS
};

struct plan_frames {
    struct frame *plans, *points;
};

bool plan_frames_create(struct plan_frames *out, struct error *why);

/* Store both in one transaction, and free them. */
bool plan_frames_store(struct plan_frames *frames, struct store *store, struct error *why);

#endif
