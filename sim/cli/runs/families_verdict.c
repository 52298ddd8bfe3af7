/* Groups are small, so runs are searched linearly. */
#include "cli/runs/families_verdict.h"

#include "base/array.h"
#include "cli/frame/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The most pairs that a line names. */
enum { NAME = 128, ROOM = 2048, MOST_PAIRS = 4, MOST_RUNS = 64 };

struct racer {
    size_t group;
    char title[NAME], name[NAME];
    double rate; /* the answer's */
    struct result_family families[RESULT_MOST_FAMILIES];
    uint32_t family_count;
};

struct families_verdict {
    struct racer *racers; /* [count] owned, as they came */
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
    struct racer *racer = &verdict->racers[verdict->count++];
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
    const struct racer *racers[MOST_RUNS];
    size_t count;
    const struct racer *model;
};

static double rate_with(const struct racer *racer, uint32_t family)
{
    double rate =
        racer->family_count > 0 ? racer->families[family].values[RANGE_DECODE_RATE] : racer->rate;
    return isnan(rate) ? 0 : rate; /* it does not fit */
}

static void collect(const struct families_verdict *verdict, size_t group, struct race *race)
{
    *race = (struct race){.count = 0};
    for (size_t i = 0; i < verdict->count && race->count < MOST_RUNS; i++) {
        const struct racer *racer = &verdict->racers[i];
        if (racer->group != group) {
            continue;
        }
        size_t place = race->count++;
        for (; place > 0 && race->racers[place - 1]->rate < racer->rate; place--) {
            race->racers[place] = race->racers[place - 1];
        }
        race->racers[place] = racer;
        race->model = race->model == NULL && racer->family_count > 0 ? racer : race->model;
    }
}

/* The fastest run with a family; of equal ones the one that is faster over all. */
static size_t fastest_with(const struct race *race, uint32_t family)
{
    size_t fastest = 0;
    for (size_t i = 1; i < race->count; i++) {
        bool better = rate_with(race->racers[i], family) > rate_with(race->racers[fastest], family);
        fastest = better ? i : fastest;
    }
    return fastest;
}

static void append(char text[ROOM], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char text[ROOM], const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + used, ROOM - used, format, list);
    va_end(list);
}

/* "; the order of clo and litecache flips for 1 of 3 (gemma-3-270m)", if it does. */
static bool append_flip(const struct race *race, size_t place, char text[ROOM])
{
    const struct racer *better = race->racers[place], *worse = race->racers[place + 1];
    char names[ROOM] = "";
    uint32_t flips = 0, count = race->model->family_count;
    for (uint32_t f = 0; f < count; f++) {
        if (rate_with(better, f) < rate_with(worse, f)) {
            append(names, "%s%s", flips++ > 0 ? ", " : "", race->model->families[f].name);
        }
    }
    if (flips > 0) {
        append(text, "; the order of %s and %s flips for %" PRIu32 " of %" PRIu32 " (%.200s)",
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
            append(text, "%s%s", won++ > 0 ? " and " : "", race->model->families[f].name);
        }
    }
    return won;
}

/* "litecache is fastest for 2 of 3 families, h2o for qwen2.5-coder-0.5b". */
static void append_fastest(const struct race *race, char text[ROOM])
{
    char families[ROOM];
    append(text, "%s is fastest for %" PRIu32 " of %" PRIu32 " families", race->racers[0]->name,
           list_won(race, 0, families), race->model->family_count);
    for (size_t i = 1; i < race->count; i++) {
        if (list_won(race, i, families) > 0) {
            append(text, ", %s for %s", race->racers[i]->name, families);
        }
    }
}

static void print_race(const struct race *race, FILE *out)
{
    char text[ROOM] = "";
    uint32_t pairs = 0;
    const char *title = race->racers[0]->title;
    append(text, "%s%s", title, title[0] != '\0' ? ": " : "");
    append_fastest(race, text);
    for (size_t i = 0; i + 1 < race->count && pairs < MOST_PAIRS; i++) {
        pairs += append_flip(race, i, text);
    }
    table_line("", text, out);
}

void families_verdict_print(const struct families_verdict *verdict, FILE *out)
{
    for (size_t i = 0; i < verdict->count; i++) {
        struct race race;
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++) {
            seen = verdict->racers[j].group == verdict->racers[i].group;
        }
        if (!seen) {
            collect(verdict, verdict->racers[i].group, &race);
            if (race.count > 1 && race.model != NULL) {
                print_race(&race, out);
            }
        }
    }
}
