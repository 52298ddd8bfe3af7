/* Runs are kept group by group, the fastest first, so a group is a part of the list. Groups are
 * small, so they are searched linearly. */
#include "cli/runs/families_verdict.h"

#include "base/array.h"
#include "base/text.h"
#include "cli/frame/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most pairs that a line names. */
enum { NAME = 128, ROOM = 2048, MOST_PAIRS = 4 };

struct racer {
    size_t group;
    char title[NAME], name[NAME];
    double rate; /* the answer's */
    struct result_family families[RESULT_MOST_FAMILIES];
    uint32_t family_count;
};

struct families_verdict {
    struct racer *racers; /* [count] owned */
    size_t count, capacity;
};

struct families_verdict *families_verdict_create(struct error *why)
{
    return array_zeroed(1, sizeof(struct families_verdict), why);
}

void families_verdict_destroy(struct families_verdict *verdict)
{
    if (verdict != NULL) {
        free(verdict->racers);
        free(verdict);
    }
}

/* Is the place of the racer behind a run of this group and rate? */
static bool follows(const struct racer *racer, size_t group, double rate)
{
    return racer->group != group ? racer->group > group : racer->rate < rate;
}

bool families_verdict_add(struct families_verdict *verdict, size_t group, const char *title,
                          const char *name, const struct result *result, struct error *why)
{
    const struct cell *rate = &result->cells[COLUMN_DECODE_RATE];
    if (!rate->set) {
        return true;
    }
    if (!array_reserve(&verdict->racers, &verdict->capacity, verdict->count + 1,
                       sizeof *verdict->racers, why)) {
        return false;
    }
    size_t place = verdict->count++;
    for (; place > 0 && follows(&verdict->racers[place - 1], group, rate->real); place--) {
        verdict->racers[place] = verdict->racers[place - 1];
    }
    struct racer *racer = &verdict->racers[place];
    *racer =
        (struct racer){.group = group, .rate = rate->real, .family_count = result->family_count};
    memcpy(racer->families, result->families, sizeof racer->families);
    snprintf(racer->title, NAME, "%s", title);
    snprintf(racer->name, NAME, "%s", name);
    return true;
}

/* ---- a group ---- */

/* The runs of a group, the fastest first, and a run that has all families. */
struct race {
    const struct racer *racers; /* [count] */
    size_t count;
    const struct racer *model;
};

static double rate_with(const struct racer *racer, uint32_t family)
{
    double rate =
        racer->family_count > 0 ? racer->families[family].values[RANGE_DECODE_RATE] : racer->rate;
    return isnan(rate) ? 0 : rate; /* it does not fit */
}

/* The group that begins at a place of the list. */
static struct race race_at(const struct families_verdict *verdict, size_t first)
{
    struct race race = {.racers = &verdict->racers[first]};
    while (first + race.count < verdict->count &&
           race.racers[race.count].group == race.racers[0].group) {
        const struct racer *racer = &race.racers[race.count++];
        race.model = race.model == NULL && racer->family_count > 0 ? racer : race.model;
    }
    return race;
}

/* The fastest run with a family; of equal ones the one that is faster over all. */
static size_t fastest_with(const struct race *race, uint32_t family)
{
    size_t fastest = 0;
    for (size_t i = 1; i < race->count; i++) {
        bool better =
            rate_with(&race->racers[i], family) > rate_with(&race->racers[fastest], family);
        fastest = better ? i : fastest;
    }
    return fastest;
}

/* "; the order of clo and litecache flips for 1 of 3 (gemma-3-270m)", if it does. */
static bool append_flip(const struct race *race, size_t place, char text[ROOM])
{
    const struct racer *better = &race->racers[place], *worse = &race->racers[place + 1];
    char names[ROOM] = "";
    uint32_t flips = 0, count = race->model->family_count;
    for (uint32_t f = 0; f < count; f++) {
        if (rate_with(better, f) < rate_with(worse, f)) {
            text_append(names, ROOM, "%s%s", flips++ > 0 ? ", " : "",
                        race->model->families[f].name);
        }
    }
    if (flips > 0) {
        text_append(text, ROOM,
                    "; the order of %s and %s flips for %" PRIu32 " of %" PRIu32 " (%.200s)",
                    better->name, worse->name, flips, count, names);
    }
    return flips > 0;
}

/* The families with which a run is the fastest, "x and y"; returns their number. */
static uint32_t list_won(const struct race *race, size_t racer, char text[ROOM])
{
    uint32_t won = 0;
    text[0] = '\0';
    for (uint32_t f = 0; f < race->model->family_count; f++) {
        if (fastest_with(race, f) == racer) {
            text_append(text, ROOM, "%s%s", won++ > 0 ? " and " : "",
                        race->model->families[f].name);
        }
    }
    return won;
}

/* "litecache is fastest for 2 of 3 families, h2o for qwen2.5-coder-0.5b". */
static void append_fastest(const struct race *race, char text[ROOM])
{
    char families[ROOM];
    text_append(text, ROOM, "%s is fastest for %" PRIu32 " of %" PRIu32 " families",
                race->racers[0].name, list_won(race, 0, families), race->model->family_count);
    for (size_t i = 1; i < race->count; i++) {
        if (list_won(race, i, families) > 0) {
            text_append(text, ROOM, ", %s for %s", race->racers[i].name, families);
        }
    }
}

static void print_race(const struct race *race, FILE *out)
{
    char text[ROOM] = "";
    uint32_t pairs = 0;
    const char *title = race->racers[0].title;
    text_append(text, ROOM, "%s%s", title, title[0] != '\0' ? ": " : "");
    append_fastest(race, text);
    for (size_t i = 0; i + 1 < race->count && pairs < MOST_PAIRS; i++) {
        pairs += append_flip(race, i, text);
    }
    table_line("", text, out);
}

void families_verdict_print(const struct families_verdict *verdict, FILE *out)
{
    for (size_t i = 0; i < verdict->count;) {
        struct race race = race_at(verdict, i);
        if (race.count > 1 && race.model != NULL) {
            print_race(&race, out);
        }
        i += race.count;
    }
}
