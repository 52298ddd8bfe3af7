#include "cli/runs/scenario_options.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { SHORTHAND = 128 };

/* Append the overrides of the shorthands that are given, written into `room`. */
static uint32_t add_shorthands(const struct arguments *arguments,
                               const struct scenario_shorthand *shorthands, uint32_t count,
                               const char **overrides, uint32_t used, char room[][SHORTHAND])
{
    for (uint32_t i = 0; i < count; i++) {
        int option = shorthands[i].option;
        if (arguments_given(arguments, option)) {
            const char *override = shorthands[i].override;
            bool takes = override[strlen(override) - 1] == '=';
            snprintf(room[i], SHORTHAND, "%s%s", override,
                     takes ? arguments_text(arguments, option) : "");
            overrides[used++] = room[i];
        }
    }
    return used;
}

/* Have what is wrong with the shorthands' values blame them, and not the override they stand for. */
static bool blame_shorthands(const struct arguments *arguments,
                             const struct scenario_shorthand *shorthands, uint32_t count,
                             struct scenario *scenario, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < count; i++) {
        char key[SHORTHAND];
        const char *override = shorthands[i].override;
        if (arguments_given(arguments, shorthands[i].option)) {
            snprintf(key, sizeof key, "%.*s", (int)strcspn(override, "="), override);
            struct node *value = node_copy(node_find(scenario->root, key), why);
            if (value != NULL) {
                value->file = arguments->command->options[shorthands[i].option].name;
            }
            good = value != NULL && node_put(scenario->root, key, value, why);
            node_destroy(value);
        }
    }
    return good;
}

bool scenario_from_shorthands(const struct arguments *arguments, int set,
                              const struct scenario_shorthand *shorthands, uint32_t count,
                              struct scenario *out, struct error *why)
{
    uint32_t file_count, set_count;
    const char *const *files = arguments_operands(arguments, &file_count);
    const char *const *sets = arguments_all(arguments, set, &set_count);
    const char **overrides = array_zeroed(set_count + count, sizeof *overrides, why);
    char(*room)[SHORTHAND] = array_zeroed(count, sizeof *room, why);
    bool ok = overrides != NULL && room != NULL;
    if (ok) {
        memcpy(overrides, sets, set_count * sizeof *sets);
        uint32_t used = add_shorthands(arguments, shorthands, count, overrides, set_count, room);
        ok = scenario_load(files, file_count, overrides, used, out, why);
        if (ok && !blame_shorthands(arguments, shorthands, count, out, why)) {
            scenario_release(out);
            ok = false;
        }
    }
    free(overrides);
    free(room);
    return ok;
}

bool scenario_from_arguments(const struct arguments *arguments, int set, struct scenario *out,
                             struct error *why)
{
    return scenario_from_shorthands(arguments, set, NULL, 0, out, why);
}

void scenario_print_keys(FILE *out)
{
    fputs("keys of a scenario, which is a YAML map of them:\n", out);
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        fprintf(out, "  %-16s %s; e.g. %s\n", key->name, key->summary, key->example);
    }
}
