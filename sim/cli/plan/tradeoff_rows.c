#include "cli/plan/plan_report.h"

#include "base/array.h"
#include "base/text.h"
#include "base/version.h"
#include "store/store_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { VALUE = 192, ANSWER = 512 };

/* Stored among the targets, as one that every run is judged by. */
static const char on_front[] = "on the front";

/* The columns that are the same in all rows. */
struct said {
    char name[17], targets[TARGETS_TEXT], answer[ANSWER];
};

/* The name is a hash of the targets and of every run, which the question decides. */
static void say(const struct tradeoff *tradeoff, const struct targets *targets, struct said *out)
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
static void label(const struct whatif *study, uint32_t point, char text[VALUE])
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

struct room {
    char value[VALUE], verdict[48];
};

static void fill(const struct tradeoff *tradeoff, const struct said *said, uint32_t place,
                 struct room *room, struct store_plan *out)
{
    const struct candidate *candidate = &tradeoff->candidates[place];
    uint32_t count;
    const struct tradeoff_run *first = first_on_front(tradeoff, place, &count);
    *out = (struct store_plan){.plan = said->name,
                               .place = place,
                               .goal = "Pareto front",
                               .targets = said->targets,
                               .answer = said->answer,
                               .system = candidate->system,
                               .hardware = candidate->machine,
                               .tried = tradeoff->studies[place].count,
                               .count = tradeoff->studies[place].count};
    bool left_out = candidate->left_out[0] != '\0';
    if (left_out || tradeoff->why[place].found[0] != '\0') {
        out->verdict = left_out ? "left out" : "refused";
        out->message = left_out ? candidate->left_out : tradeoff->why[place].found;
        return;
    }
    snprintf(room->verdict, sizeof room->verdict, "%u on the front", count);
    out->verdict = room->verdict;
    if (first != NULL) {
        label(&tradeoff->studies[place], first->point, room->value);
        out->value = room->value;
        out->run = first->result->cells[COLUMN_RUN].text;
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

struct point_room {
    char value[VALUE], figures[TARGETS_MOST][TARGET_TEXT];
};

static uint32_t fill_point(const struct tradeoff *tradeoff, const struct targets *targets,
                           const struct store_plan_point *same, struct point_room *room,
                           struct store_plan_point *out)
{
    uint32_t study = (uint32_t)same->place, point = (uint32_t)same->liked;
    const struct result *result = &tradeoff->studies[study].results[point];
    const struct cell *run = &result->cells[COLUMN_RUN];
    label(&tradeoff->studies[study], point, room->value);
    for (uint32_t i = 0; i <= targets->count; i++) {
        out[i] = *same;
        out[i].value = room->value;
        out[i].run = run->set ? run->text : NULL;
        out[i].target = i < targets->count ? targets->all[i].text : on_front;
        out[i].figure = i < targets->count
                            ? target_format(&targets->all[i], result, room->figures[i])
                        : is_on_front(tradeoff, study, point) ? "yes"
                                                              : "no";
        out[i].met = i == targets->count || target_shortfall(&targets->all[i], result) == 0;
    }
    return targets->count + 1;
}

/* The runs of a candidate; returns their number. */
static uint32_t fill_points(const struct tradeoff *tradeoff, const struct targets *targets,
                            const char *name, uint32_t study, struct point_room *rooms,
                            struct store_plan_point *rows)
{
    uint32_t count = 0;
    for (uint32_t point = 0; point < tradeoff->studies[study].count; point++) {
        const struct store_plan_point same = {.plan = name, .place = study, .liked = point};
        count += fill_point(tradeoff, targets, &same, &rooms[point], &rows[count]);
    }
    return count;
}

static uint32_t count_runs(const struct tradeoff *tradeoff)
{
    uint32_t runs = 0;
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        runs += tradeoff->studies[i].count;
    }
    return runs;
}

/* ---- all of it ---- */

static bool put(const struct tradeoff *tradeoff, const struct targets *targets,
                const struct said *said, struct store *store, struct error *why)
{
    uint32_t runs = count_runs(tradeoff), run = 0, count = 0;
    struct room *rooms = array_zeroed(tradeoff->count, sizeof *rooms, why);
    struct store_plan *rows = array_zeroed(tradeoff->count, sizeof *rows, why);
    struct point_room *point_rooms = array_zeroed(runs, sizeof *point_rooms, why);
    struct store_plan_point *points =
        array_zeroed((size_t)runs * (targets->count + 1), sizeof *points, why);
    bool good = rooms != NULL && rows != NULL && point_rooms != NULL && points != NULL;
    for (uint32_t i = 0; good && i < tradeoff->count; i++) {
        fill(tradeoff, said, i, &rooms[i], &rows[i]);
        count += fill_points(tradeoff, targets, said->name, i, &point_rooms[run], &points[count]);
        run += tradeoff->studies[i].count;
    }
    good = good && store_put_plan(store, rows, tradeoff->count, points, count, why);
    free(rooms);
    free(rows);
    free(point_rooms);
    free(points);
    return good;
}

bool tradeoff_store(const struct tradeoff *tradeoff, const struct targets *targets,
                    struct store *store, struct error *why)
{
    struct said said;
    if (targets->count == 0) {
        return true;
    }
    say(tradeoff, targets, &said);
    return put(tradeoff, targets, &said, store, why);
}
