#include "cli/plan/plan_report.h"

#include "base/text.h"
#include "base/version.h"
#include "cli/plan/plan_stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { VALUE = 192, ANSWER = 512 };

/* Stored among the targets, as one that every run is judged by. */
static const char on_front[] = "on the front";

/* The columns that are the same in all rows. */
struct tradeoff_rows_said {
    char name[17], targets[TARGETS_TEXT], answer[ANSWER];
};

/* The name is a hash of the targets and of every run, which the question decides. */
static void tradeoff_rows_say(const struct tradeoff *tradeoff, const struct targets *targets,
                              struct tradeoff_rows_said *out)
{
    targets_text(targets, out->targets);
    uint64_t hash = XXH64(out->targets, strlen(out->targets), 0);
    hash = XXH64(spillway_program, strlen(spillway_program), hash);
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        for (uint32_t point = 0; point < tradeoff->studies[i].count; point++) {
            const struct cell *run = &tradeoff->studies[i].results[point].cells[COLUMN_RUN];
            hash = run->set ? XXH64(run->text, strlen(run->text), hash) : hash;
        }
    }
    snprintf(out->name, sizeof out->name, "%016llx", (unsigned long long)hash);
    if (tradeoff->run_count == 0) {
        snprintf(out->answer, sizeof out->answer, "No run fits in memory and meets the targets");
    } else if (tradeoff->serves) {
        snprintf(out->answer, sizeof out->answer,
                 "Of %u run%s that meet%s the targets, %u %s on the Pareto front: no other run has "
                 "more tokens/s a GPU, a shorter p99 of TTFT or a shorter TPOT without being worse "
                 "in another of these",
                 tradeoff->run_count, text_plural(tradeoff->run_count),
                 tradeoff->run_count == 1 ? "s" : "", tradeoff->front_count,
                 tradeoff->front_count == 1 ? "is" : "are");
    } else {
        snprintf(out->answer, sizeof out->answer,
                 "Of %u run%s that meet%s the targets, %u %s on the Pareto front: no other run has "
                 "more tokens/s, a shorter step, less HBM or more mass without being worse in "
                 "another of these",
                 tradeoff->run_count, text_plural(tradeoff->run_count),
                 tradeoff->run_count == 1 ? "s" : "", tradeoff->front_count,
                 tradeoff->front_count == 1 ? "is" : "are");
    }
}

/* The first run of a study on the front, which is its fastest; and how many there are. */
static const struct tradeoff_run *first_on_front(const struct tradeoff *tradeoff, uint32_t study,
                                                 uint32_t *count)
{
    const struct tradeoff_run *first = NULL;
    *count = 0;
    for (uint32_t i = 0; i < tradeoff->front_count; i++) {
        bool own = tradeoff->front[i].study == study;
        first = own && first == NULL ? &tradeoff->front[i] : first;
        *count += own ? 1 : 0;
    }
    return first;
}

/* "budget 46.4 %, batch 4" */
static void tradeoff_rows_label(const struct whatif *study, uint32_t point, char text[VALUE])
{
    text[0] = '\0';
    for (uint32_t i = 0; i < study->axis_count; i++) {
        char value[64];
        text_append(
            text, VALUE, "%s%s %s", i > 0 ? ", " : "", axis_title(&study->axes[i]),
            axis_label(&study->axes[i], whatif_value(study, i, point), value, sizeof value));
    }
}

/* ---- candidates ---- */

static void put_front(const struct tradeoff *tradeoff, uint32_t place, struct frame *frame)
{
    char text[VALUE];
    uint32_t count;
    const struct tradeoff_run *first = first_on_front(tradeoff, place, &count);
    snprintf(text, sizeof text, "%u on the front", count);
    frame_text(frame, PLAN_verdict, text);
    if (first != NULL) {
        tradeoff_rows_label(&tradeoff->studies[place], first->point, text);
        frame_text(frame, PLAN_value, text);
        frame_text(frame, PLAN_run, first->result->cells[COLUMN_RUN].text);
    }
}

static void tradeoff_rows_put_candidate(const struct tradeoff *tradeoff,
                                        const struct tradeoff_rows_said *said, uint32_t place,
                                        struct frame *frame)
{
    const struct candidate *candidate = &tradeoff->candidates[place];
    bool left_out = candidate->left_out[0] != '\0';
    frame_row(frame);
    frame_text(frame, PLAN_plan, said->name);
    frame_number(frame, PLAN_place, place);
    frame_text(frame, PLAN_goal, "Pareto front");
    frame_text(frame, PLAN_targets, said->targets);
    frame_text(frame, PLAN_answer, said->answer);
    frame_text(frame, PLAN_system, candidate->system);
    frame_text(frame, PLAN_hardware, candidate->machine);
    frame_number(frame, PLAN_tried, tradeoff->studies[place].count);
    frame_number(frame, PLAN_count, tradeoff->studies[place].count);
    if (left_out || tradeoff->why[place].found[0] != '\0') {
        frame_text(frame, PLAN_verdict, left_out ? "left out" : "refused");
        frame_text(frame, PLAN_message,
                   left_out ? candidate->left_out : tradeoff->why[place].found);
    } else {
        put_front(tradeoff, place, frame);
    }
}

/* ---- runs ---- */

static bool is_on_front(const struct tradeoff *tradeoff, uint32_t study, uint32_t point)
{
    bool found = false;
    for (uint32_t i = 0; i < tradeoff->front_count; i++) {
        found = found || (tradeoff->front[i].study == study && tradeoff->front[i].point == point);
    }
    return found;
}

static void put_target(const struct target *target, const struct result *result,
                       struct frame *frame)
{
    char figure[TARGET_TEXT];
    frame_text(frame, POINT_target, target->text);
    frame_text(frame, POINT_figure, target_format(target, result, figure));
    frame_number(frame, POINT_met, target_shortfall(target, result) == 0);
}

/* The runs of a candidate, with the verdict of each target, and whether they are on the front. */
static void tradeoff_rows_put_points(const struct tradeoff *tradeoff, const struct targets *targets,
                                     const char *name, uint32_t study, struct frame *frame)
{
    for (uint32_t point = 0; point < tradeoff->studies[study].count; point++) {
        const struct result *result = &tradeoff->studies[study].results[point];
        const struct cell *run = &result->cells[COLUMN_RUN];
        char value[VALUE];
        tradeoff_rows_label(&tradeoff->studies[study], point, value);
        for (uint32_t i = 0; i <= targets->count; i++) {
            frame_row(frame);
            frame_text(frame, POINT_plan, name);
            frame_number(frame, POINT_place, study);
            frame_number(frame, POINT_liked, point);
            frame_text(frame, POINT_value, value);
            frame_text(frame, POINT_run, run->set ? run->text : NULL);
            if (i < targets->count) {
                put_target(&targets->all[i], result, frame);
                continue;
            }
            frame_text(frame, POINT_target, on_front);
            frame_text(frame, POINT_figure, is_on_front(tradeoff, study, point) ? "yes" : "no");
            frame_number(frame, POINT_met, 1);
        }
    }
}

bool tradeoff_store(const struct tradeoff *tradeoff, const struct targets *targets,
                    struct store *store, struct error *why)
{
    struct tradeoff_rows_said said;
    struct plan_frames frames;
    if (targets->count == 0) {
        return true;
    }
    tradeoff_rows_say(tradeoff, targets, &said);
    if (!plan_frames_create(&frames, why)) {
        return false;
    }
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        tradeoff_rows_put_candidate(tradeoff, &said, i, frames.plans);
        tradeoff_rows_put_points(tradeoff, targets, said.name, i, frames.points);
    }
    return plan_frames_store(&frames, store, why);
}
