/* Every figure that a machine states, and the file in which it stands. */
#include "cli/list/lists.h"

#include "machine/profile.h"

#include <stdio.h>
#include <string.h>

enum { FIGURE, VALUE, FIRST, LAST, UNIT, BASIS, FROM, SOURCE, COLUMNS };

static const struct frame_column columns[COLUMNS] = {
    [FIGURE] = {.key = "figure", .title = "figure"},
    [VALUE] = {.title = "value", .unit = UNIT_COUNT},
    [FIRST] = {.key = "first", .unit = UNIT_COUNT},
    [LAST] = {.key = "last", .unit = UNIT_COUNT},
    [UNIT] = {.key = "unit"},
    [BASIS] = {.key = "basis", .title = "basis"},
    [FROM] = {.key = "stated_in", .title = "stated in"},
    [SOURCE] = {.key = "source", .title = "source", .wrap = true},
};

/* The value of a curve, or its first and its last: "0.1 … 90.0 %". */
static void put_values(const struct curve *curve, enum unit unit, struct frame *frame)
{
    char first[32], last[32];
    units_format(curve->value[0], unit, first, sizeof first);
    units_format(curve->value[curve->count - 1], unit, last, sizeof last);
    frame_textf(frame, VALUE, "%s%s%s", first, curve->count > 1 ? " … " : "",
                curve->count > 1 ? last : "");
    frame_number(frame, FIRST, curve->value[0]);
    frame_number(frame, LAST, curve->value[curve->count - 1]);
    frame_text(frame, UNIT, unit_name(unit));
}

static void list_machine_put_figure(const struct profile *profile, enum curve_id id,
                                    struct frame *frame)
{
    const struct curve *curve = &profile->curves[id];
    char from[96];
    profile_stated_in(profile, id, from, sizeof from);
    frame_row(frame);
    frame_text(frame, FIGURE, curve_kinds[id].name);
    put_values(curve, curve_kinds[id].unit, frame);
    frame_text(frame, BASIS, basis_name(curve->basis));
    frame_text(frame, FROM, from);
    frame_text(frame, SOURCE, curve->source);
}

bool list_machine(const char *name, bool json, struct error *why)
{
    struct profile profile;
    if (!profile_load_named(name, &profile, why)) {
        return false;
    }
    struct frame *frame = frame_create(columns, COLUMNS, why);
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        if (profile.curves[id].count > 0) {
            list_machine_put_figure(&profile, id, frame);
        }
    }
    profile_release(&profile);
    return list_print(frame, json, why);
}
