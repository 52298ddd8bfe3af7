#include "cli/runs/fastest.h"

#include "base/array.h"
#include "base/text.h"
#include "answer/table.h"
#include "result/tie.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The most lines, and the most pairs that a line names. */
enum { ROOM = 2048, NAME = 128, MOST_LINES = 8, MOST_PAIRS = 4 };

struct ranked {
    size_t group;
    char title[NAME], name[NAME];
    double rate;
    struct tie_figure figure;
};

/* By group, then by rate, then as they were added. */
struct fastest {
    struct ranked *runs; /* [count] owned */
    size_t count, capacity;
};

struct fastest *fastest_create(struct error *why)
{
    return array_zeroed(1, sizeof(struct fastest), why);
}

void fastest_destroy(struct fastest *fastest)
{
    if (fastest != NULL) {
        free(fastest->runs);
        free(fastest);
    }
}

static bool ranks_before(const struct ranked *a, const struct ranked *b)
{
    return a->group != b->group ? a->group < b->group : a->rate > b->rate;
}

/* Groups are small: the place is searched from the end. */
static bool fastest_insert(struct fastest *fastest, const struct ranked *run, struct error *why)
{
    if (!array_reserve(&fastest->runs, &fastest->capacity, fastest->count + 1,
                       sizeof *fastest->runs, why)) {
        return false;
    }
    size_t place = fastest->count++;
    for (; place > 0 && ranks_before(run, &fastest->runs[place - 1]); place--) {
        fastest->runs[place] = fastest->runs[place - 1];
    }
    fastest->runs[place] = *run;
    return true;
}

bool fastest_add(struct fastest *fastest, size_t group, const char *title, const char *name,
                 const struct result *result, struct error *why)
{
    const struct cell *rate = &result->cells[COLUMN_DECODE_RATE];
    if (!rate->set) {
        return true;
    }
    struct ranked run = {.group = group, .rate = rate->real};
    text_copy(run.title, NAME, title);
    text_copy(run.name, NAME, name);
    tie_figure(result, COLUMN_DECODE_RATE, &run.figure);
    return fastest_insert(fastest, &run, why);
}

/* ---- a group ---- */

/* The runs of a group, the fastest first. */
struct race {
    const struct ranked *runs; /* [count] */
    size_t count;
    const struct tie_figure *model; /* has all families; NULL: no run has any */
    bool ties;                      /* with the fastest */
};

static const struct tie_figure *fastest_figure_of(const struct race *race, size_t place)
{
    return &race->runs[place].figure;
}

static struct race race_at(const struct fastest *fastest, size_t first)
{
    struct race race = {.runs = &fastest->runs[first]};
    while (first + race.count < fastest->count && race.runs[race.count].group == race.runs->group) {
        race.count++;
    }
    for (size_t i = 0; i < race.count; i++) {
        const struct tie_figure *figure = fastest_figure_of(&race, i);
        race.model = race.model == NULL && figure->family_count > 0 ? figure : race.model;
        race.ties =
            race.ties || (i > 0 && figures_tie(fastest_figure_of(&race, 0), figure) != TIE_NONE);
    }
    return race;
}

/* The families with which the run at `place` is not behind the one at `before`: "x, y". A run that
 * does not fit with a family is behind. Returns their number. */
static uint32_t list_ahead(const struct race *race, size_t before, size_t place, char text[ROOM])
{
    const struct tie_figure *better = fastest_figure_of(race, before),
                            *worse = fastest_figure_of(race, place);
    uint32_t count = 0;
    text[0] = '\0';
    for (uint32_t f = 0; race->model != NULL && f < race->model->family_count; f++) {
        double rate = tie_figure_with(better, f), other = tie_figure_with(worse, f);
        if (!isnan(other) && !(rate > other)) {
            text_append(text, ROOM, "%s%s", count++ > 0 ? ", " : "", race->model->names[f]);
        }
    }
    return count;
}

/* "a lies in b's error band" for the first run and the one at `place`. */
static void append_in_band(const struct race *race, size_t place, char text[ROOM])
{
    bool first = fastest_figure_of(race, 0)->has_band;
    text_append(text, ROOM, ", %s (%s lies in %s's error band)", race->runs[place].name,
                race->runs[first ? place : 0].name, race->runs[first ? 0 : place].name);
}

/* ", clo (at most 2 % apart), h2o (ahead for 1 of 3 families: gemma-3-270m)" */
static void fastest_append_ties(const struct race *race, char text[ROOM])
{
    char names[ROOM];
    for (size_t i = 1; i < race->count; i++) {
        enum tie tie = figures_tie(fastest_figure_of(race, 0), fastest_figure_of(race, i));
        uint32_t ahead = tie == TIE_FAMILIES ? list_ahead(race, 0, i, names) : 0;
        if (ahead > 0) {
            text_append(text, ROOM, ", %s (ahead for %" PRIu32 " of %" PRIu32 " families: %.200s)",
                        race->runs[i].name, ahead, race->model->family_count, names);
        } else if (tie == TIE_IN_BAND) {
            append_in_band(race, i, text);
        } else if (tie != TIE_NONE) {
            text_append(text, ROOM, ", %s (%s)", race->runs[i].name, tie_reason(tie));
        }
    }
}

/* The number of families with which no run is ahead of the first. */
static uint32_t count_won(const struct race *race)
{
    uint32_t won = 0;
    for (uint32_t f = 0; f < race->model->family_count; f++) {
        double rate = tie_figure_with(fastest_figure_of(race, 0), f);
        bool ahead = !isnan(rate);
        for (size_t i = 1; i < race->count; i++) {
            ahead = ahead && !(tie_figure_with(fastest_figure_of(race, i), f) > rate);
        }
        won += ahead;
    }
    return won;
}

static void append_fastest(const struct race *race, char text[ROOM])
{
    if (race->ties) {
        text_append(text, ROOM, "tied for fastest: %s", race->runs[0].name);
        fastest_append_ties(race, text);
    } else {
        text_append(text, ROOM, "%s is fastest for %" PRIu32 " of %" PRIu32 " families",
                    race->runs[0].name, count_won(race), race->model->family_count);
    }
}

/* "; the order of clo and litecache flips for 1 of 3 (gemma-3-270m)", if it does. */
static bool append_flip(const struct race *race, size_t place, char text[ROOM])
{
    char names[ROOM];
    uint32_t flips = list_ahead(race, place, place + 1, names);
    if (flips > 0) {
        text_append(text, ROOM,
                    "; the order of %s and %s flips for %" PRIu32 " of %" PRIu32 " (%.200s)",
                    race->runs[place].name, race->runs[place + 1].name, flips,
                    race->model->family_count, names);
    }
    return flips > 0;
}

/* Ties with the first run are named already. */
static void print_race(const struct race *race, FILE *out)
{
    char text[ROOM] = "";
    uint32_t pairs = 0;
    const char *title = race->runs[0].title;
    text_append(text, ROOM, "%s%s", title, title[0] != '\0' ? ": " : "");
    append_fastest(race, text);
    for (size_t i = 1; i + 1 < race->count && pairs < MOST_PAIRS; i++) {
        pairs += append_flip(race, i, text);
    }
    table_line("", text, out);
}

void fastest_print(const struct fastest *fastest, FILE *out)
{
    size_t lines = 0;
    for (size_t i = 0; i < fastest->count;) {
        struct race race = race_at(fastest, i);
        if (race.count > 1 && (race.model != NULL || race.ties) && lines++ < MOST_LINES) {
            print_race(&race, out);
        }
        i += race.count;
    }
    if (lines > MOST_LINES) {
        fprintf(out, "and %zu more settings, in which runs are ranked by the table's tok/s\n",
                lines - MOST_LINES);
    }
}
