/* The curves of a report as rows of the database. */
#include "cli/curve/curve_report.h"
#include "store/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum {
#define FIELD(name, type, what) DATA_##name,
#include "tables/curves.def"
#undef FIELD
    COLUMNS
};

static const struct frame_column columns[COLUMNS] = {
#define FIELD(id, type, meaning) {.key = #id, .unit = UNIT_##type},
#include "tables/curves.def"
#undef FIELD
};

enum { POINT_CURVE, POINT_SIZE, POINT_MISSES, POINT_COLUMNS };

static const struct frame_column point_columns[POINT_COLUMNS] = {
    [POINT_CURVE] = {.key = "curve"},
    [POINT_SIZE] = {.key = "size", .unit = UNIT_WHOLE},
    [POINT_MISSES] = {.key = "misses", .unit = UNIT_WHOLE},
};

/* A curve, all that is known of it but its points. Numbers of -1 become null. */
struct stored {
    char name[17], source[17];
    int64_t unit_tokens;
    double selection;
    const char *order, *parameters;
    int64_t layer, head;
};

static uint64_t curve_store_hash_text(const char *text, uint64_t seed)
{
    return XXH64(text, strlen(text) + 1, seed);
}

/* All that has a part in the curve's figures identifies it. */
static void curve_store_write_name(const struct curve_report *report,
                                   const struct policy_kind *policy, struct stored *curve)
{
    const int64_t numbers[] = {report->blocks, curve->unit_tokens, report->warmup, curve->layer,
                               curve->head};
    uint64_t hash = XXH64(numbers, sizeof numbers, policy->content);
    hash = XXH64(&curve->selection, sizeof curve->selection, hash);
    hash = curve_store_hash_text(curve->source, curve_store_hash_text(curve->order, hash));
    hash = curve_store_hash_text(policy->name, curve_store_hash_text(curve->parameters, hash));
    snprintf(curve->name, sizeof curve->name, "%016" PRIx64, hash);
}

static void curve_store_put_whole(struct frame *frame, uint32_t column, int64_t number)
{
    frame_number(frame, column, number >= 0 ? (double)number : NAN);
}

static void curve_store_put_curve(const struct curve_report *report,
                                  const struct policy_curves *curves, const struct stored *curve,
                                  struct frame *frame)
{
    frame_row(frame);
    frame_text(frame, DATA_curve, curve->name);
    frame_text(frame, DATA_source, report->source);
    frame_text(frame, DATA_source_hash, curve->source);
    frame_number(frame, DATA_blocks, report->blocks);
    curve_store_put_whole(frame, DATA_unit_tokens, curve->unit_tokens);
    frame_number(frame, DATA_selection, curve->selection >= 0 ? curve->selection : NAN);
    frame_text(frame, DATA_step_order, curve->order);
    frame_number(frame, DATA_warmup, report->warmup);
    frame_text(frame, DATA_policy, curves->policy->name);
    frame_text(frame, DATA_policy_title, curve_report_title(report, curves));
    frame_text(frame, DATA_parameters, curve->parameters);
    curve_store_put_whole(frame, DATA_layer, curve->layer);
    curve_store_put_whole(frame, DATA_head, curve->head);
}

/* Put a curve, and its points: of a group, or of the sum if `layer` and `head` are -1. */
static void put_group(const struct curve_report *report, const struct policy_curves *curves,
                      const struct miss_curve *curve, uint32_t group, struct stored *stored,
                      struct frame *const frames[2])
{
    uint32_t knee = curve_report_knee(&curves->sizes, curve, group);
    curve_store_write_name(report, curves->policy, stored);
    curve_store_put_curve(report, curves, stored, frames[0]);
    frame_number(frames[0], DATA_accesses, (double)curve->accesses[group]);
    frame_number(frames[0], DATA_knee, knee > 0 ? (double)knee : NAN);
    for (uint32_t i = 0; i < curve->count; i++) {
        frame_row(frames[1]);
        frame_text(frames[1], POINT_CURVE, stored->name);
        frame_number(frames[1], POINT_SIZE, curves->sizes.size[i]);
        frame_number(frames[1], POINT_MISSES, (double)miss_curve_group(curve, group)[i]);
    }
}

/* The curve of all heads, and those of the groups if there are several. */
static void curve_store_put_policy(const struct curve_report *report,
                                   const struct policy_curves *curves,
                                   struct frame *const frames[2])
{
    char parameters[CURVE_PARAMETERS];
    struct stored stored = {
        .unit_tokens =
            report->trace != NULL ? (int64_t)trace_header(report->trace)->unit_tokens : -1,
        .selection = report->trace != NULL ? report->selection : -1,
        .order = report->order == POLICY_BATCH ? "batch" : "sequential",
        .parameters = parameters,
    };
    snprintf(stored.source, sizeof stored.source, "%016" PRIx64, report->hash);
    curve_report_parameters(curves, &parameter_json, parameters);
    for (uint32_t group = 0; report->group != MISS_WHOLE && group < curves->curve.groups; group++) {
        curve_report_place(report, group, &stored.layer, &stored.head);
        put_group(report, curves, &curves->curve, group, &stored, frames);
    }
    stored.layer = stored.head = -1;
    put_group(report, curves, &curves->whole, 0, &stored, frames);
}

/* A curve that is already stored is replaced with all its points, as it may have had other sizes. */
bool curve_report_store(const struct curve_report *report, struct store *store, struct error *why)
{
    struct frame *frames[] = {frame_create(columns, COLUMNS, why),
                              frame_create(point_columns, POINT_COLUMNS, why)};
    for (uint32_t p = 0; p < report->count; p++) {
        curve_store_put_policy(report, &report->policies[p], frames);
    }
    const struct store_frame stored[] = {
        {.table = "curves", .frame = frames[0], .is_nameless = true},
        {.table = "curve_points", .frame = frames[1], .is_nameless = true, .whole = "curve"},
    };
    bool ok = store_put_frames(store, stored, 2, why);
    frame_destroy(frames[0]);
    frame_destroy(frames[1]);
    return ok;
}
