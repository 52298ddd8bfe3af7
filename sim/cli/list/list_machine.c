/* Every figure that a machine states, and the file in which it stands. */
#include "cli/list/lists.h"

#include "hardware/profile.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 32 };

static const struct table_column figure_columns[] = {
    {.title = "figure"},    {.title = "value", .right = true}, {.title = "basis"},
    {.title = "stated in"}, {.title = "source", .wrap = true},
};
enum { FIGURE_COLUMNS = sizeof figure_columns / sizeof *figure_columns };

/* The value of a curve, or its first and its last: "0.1 … 90.0 %". */
static void write_values(const struct curve *curve, enum unit unit, char *text, size_t size)
{
    char last[TEXT];
    units_format(curve->value[0], unit, text, size);
    if (curve->count > 1) {
        size_t used = strlen(text);
        units_format(curve->value[curve->count - 1], unit, last, sizeof last);
        snprintf(text + used, size - used, " … %s", last);
    }
}

bool list_machine(const char *name, struct error *why)
{
    struct profile profile;
    struct table *table = NULL;
    if (!profile_load_named(name, &profile, why)) {
        return false;
    }
    table = table_create(figure_columns, FIGURE_COLUMNS, why);
    bool ok = table != NULL;
    for (enum curve_id id = 0; ok && id < CURVE_COUNT; id++) {
        const struct curve *curve = &profile.curves[id];
        char values[3 * TEXT], from[96];
        if (curve->count > 0) {
            write_values(curve, curve_kinds[id].unit, values, sizeof values);
            profile_stated_in(&profile, id, from, sizeof from);
            const char *const texts[] = {curve_kinds[id].name, values, basis_name(curve->basis),
                                         from, curve->source};
            ok = table_add(table, texts, FIGURE_COLUMNS, why);
        }
    }
    if (ok) {
        table_print(table, stdout);
    }
    table_destroy(table);
    profile_release(&profile);
    return ok;
}
