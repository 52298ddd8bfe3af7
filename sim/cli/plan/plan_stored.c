#include "cli/plan/plan_stored.h"

#include "store/store_frame.h"

#define COLUMN(name, type, meaning) {.key = #name, .unit = ANSWER_##type},
static const struct frame_column plan_columns[PLAN_COLUMNS] = {
#include "answer/plans.def"
};
static const struct frame_column point_columns[POINT_COLUMNS] = {
#include "answer/plan_points.def"
};
#undef COLUMN

bool plan_frames_create(struct plan_frames *out, struct error *why)
{
    out->plans = frame_create(plan_columns, PLAN_COLUMNS, why);
    out->points = frame_create(point_columns, POINT_COLUMNS, why);
    if (out->plans == NULL || out->points == NULL) {
        frame_destroy(out->plans);
        frame_destroy(out->points);
        return false;
    }
    return true;
}

bool plan_frames_store(struct plan_frames *frames, struct store *store, struct error *why)
{
    const struct store_frame tables[] = {{.table = "plans", .frame = frames->plans},
                                         {.table = "plan_points", .frame = frames->points}};
    bool good = store_put_frames(store, tables, 2, why);
    frame_destroy(frames->plans);
    frame_destroy(frames->points);
    return good;
}
