#include "cli/plan/plan_report.h"

#include "base/array.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/plan/plan_answer.h"
#include "cli/plan/plan_notes.h"
#include "cli/plan/shortfall.h"
#include "store/store_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { VALUE = 64 };

/* The columns that are the same in all rows. */
struct said {
    char name[17], goal[PLAN_GOAL], targets[TARGETS_TEXT], answer[PLAN_ANSWER];
};

/* ---- the question ---- */

static uint64_t add_text(const char *text, uint64_t hash)
{
    return XXH64(text, strlen(text) + 1, hash);
}

static const char *run_name(const struct quest *quest, uint32_t value)
{
    const struct cell *run = &quest->results[value].cells[COLUMN_RUN];
    return run->set ? run->text : NULL;
}

/* Add the runs that were tried, which depend on the files that the scenario names, and their draws.
 */
static uint64_t add_runs(const struct quest *quest, uint64_t hash)
{
    for (uint32_t value = 0; value < quest->search.count; value++) {
        const struct result *result = &quest->results[value];
        const char *run = run_name(quest, value);
        hash = run != NULL ? add_text(run, hash) : hash;
        hash = add_text(result->draws.count > 0 ? result->draws.ranges : "", hash);
        hash = XXH64(&result->draws.count, sizeof result->draws.count, hash);
    }
    return hash;
}

/* Add a candidate: its scenario, the values it may have, and its runs. */
static bool add_candidate(const struct quest *quest, uint64_t *hash, struct error *why)
{
    char *text = node_canonical(quest->candidate->scenario.root, why);
    if (text == NULL) {
        return false;
    }
    *hash = add_text(quest->candidate->left_out, add_text(text, *hash));
    for (uint32_t i = 0; i < quest->axis.count; i++) {
        *hash = add_text(quest->axis.values[i].text, *hash);
    }
    *hash = add_runs(quest, *hash);
    free(text);
    return true;
}

static bool say(const struct planning *planning, const struct targets *targets, struct said *out,
                struct error *why)
{
    bool good = true;
    plan_goal(planning, out->goal);
    plan_answer(planning, targets, out->answer);
    targets_text(targets, out->targets);
    uint64_t hash = add_text(out->targets, add_text(out->goal, add_text(spillway_program, 0)));
    for (uint32_t i = 0; good && i < planning->count; i++) {
        good = add_candidate(&planning->quests[i], &hash, why);
    }
    snprintf(out->name, sizeof out->name, "%016llx", (unsigned long long)hash);
    return good;
}

/* ---- candidates ---- */

/* A row, and the texts that it points to. */
struct room {
    char value[VALUE], message[SHORTFALL_TEXT], note[TARGETS_MOST * PLAN_NOTE];
};

static void note_near(const struct planning *planning, const struct targets *targets,
                      const struct quest *quest, uint32_t value, struct room *room)
{
    char name[PLAN_NAME], note[PLAN_NOTE];
    plan_name_quest(planning, quest, name);
    for (uint32_t i = 0; i < targets->count; i++) {
        if (plan_note_near(&targets->all[i], &quest->results[value], name, note)) {
            text_append(room->note, sizeof room->note, "%s%s", room->note[0] != '\0' ? "; " : "",
                        note);
        }
    }
}

static void note_draws(const struct targets *targets, const struct result *result,
                       struct room *room)
{
    if (result->draws.count > 0) {
        text_append(room->note, sizeof room->note, "%s%u of %u draws meet all targets",
                    room->note[0] != '\0' ? "; " : "", targets_count_met(targets, result),
                    result->draws.count);
    }
}

static void fill_tried(const struct planning *planning, const struct targets *targets,
                       const struct quest *quest, struct room *room, struct store_plan *out)
{
    bool met = quest->found != PLANNING_NONE;
    uint32_t value = met ? quest->found : quest->nearest;
    bool wins = planning->winner != PLANNING_NONE && quest == &planning->quests[planning->winner];
    out->verdict = wins ? "wins" : met ? "meets" : "misses";
    if (!met) {
        shortfall_describe(targets, planning->best,
                           &quest->results[value == PLANNING_NONE ? 0 : value], room->message);
        out->message = room->message;
    }
    if (value != PLANNING_NONE) {
        out->run = run_name(quest, value);
        out->value = quest_label(quest, planning->maximise, value, room->value, VALUE);
        note_near(planning, targets, quest, value, room);
        note_draws(targets, &quest->results[value], room);
        out->note = room->note[0] != '\0' ? room->note : NULL;
    }
}

static void fill(const struct planning *planning, const struct targets *targets,
                 const struct said *said, uint32_t place, struct room *room, struct store_plan *out)
{
    const struct quest *quest = &planning->quests[place];
    const struct candidate *candidate = quest->candidate;
    *out = (struct store_plan){.plan = said->name,
                               .place = place,
                               .goal = said->goal,
                               .targets = said->targets,
                               .answer = said->answer,
                               .system = candidate->system,
                               .hardware = candidate->machine,
                               .tried = quest->search.tried,
                               .count = quest->search.count};
    if (candidate->left_out[0] != '\0' || quest->cannot) {
        bool left_out = candidate->left_out[0] != '\0';
        out->verdict = left_out ? "left out" : "refused";
        out->message = left_out ? candidate->left_out : quest->why.found;
        return;
    }
    fill_tried(planning, targets, quest, room, out);
}

/* ---- values ---- */

struct point_room {
    char value[VALUE], figure[TARGET_TEXT];
};

static void fill_point(const struct quest *quest, bool maximise, uint32_t value,
                       const struct target *target, struct point_room *room,
                       struct store_plan_point *out)
{
    const struct result *result = &quest->results[value];
    out->liked = value;
    out->target = target->text;
    out->value = quest_label(quest, maximise, value, room->value, VALUE);
    out->run = run_name(quest, value);
    out->figure = target_format(target, result, room->figure);
    out->met = target_shortfall(target, result) == 0;
}

/* The values of a candidate, with the verdict of each target; returns their number. */
static uint32_t fill_points(const struct planning *planning, const struct targets *targets,
                            const char *name, uint32_t place, struct point_room *rooms,
                            struct store_plan_point *rows)
{
    const struct quest *quest = &planning->quests[place];
    uint32_t count = 0;
    for (uint32_t value = 0; value < quest->search.count; value++) {
        for (uint32_t i = 0; !isnan(quest->search.shortfall[value]) && i < targets->count; i++) {
            rows[count] = (struct store_plan_point){.plan = name, .place = place};
            fill_point(quest, planning->maximise, value, &targets->all[i], &rooms[count],
                       &rows[count]);
            count++;
        }
    }
    return count;
}

static uint32_t count_tried(const struct planning *planning)
{
    uint32_t tried = 0;
    for (uint32_t i = 0; i < planning->count; i++) {
        tried += planning->quests[i].search.tried;
    }
    return tried;
}

/* ---- all of it ---- */

static bool put(const struct planning *planning, const struct targets *targets,
                const struct said *said, struct store *store, struct error *why)
{
    uint32_t most = count_tried(planning) * targets->count, count = 0;
    struct room *rooms = array_zeroed(planning->count, sizeof *rooms, why);
    struct store_plan *rows = array_zeroed(planning->count, sizeof *rows, why);
    struct point_room *point_rooms = array_zeroed(most, sizeof *point_rooms, why);
    struct store_plan_point *points = array_zeroed(most, sizeof *points, why);
    bool good = rooms != NULL && rows != NULL && point_rooms != NULL && points != NULL;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        fill(planning, targets, said, i, &rooms[i], &rows[i]);
        count += fill_points(planning, targets, said->name, i, &point_rooms[count], &points[count]);
    }
    good = good && store_put_plan(store, rows, planning->count, points, count, why);
    free(rooms);
    free(rows);
    free(point_rooms);
    free(points);
    return good;
}

bool plan_store(const struct planning *planning, const struct targets *targets, struct store *store,
                struct error *why)
{
    struct said said;
    return say(planning, targets, &said, why) && put(planning, targets, &said, store, why);
}
