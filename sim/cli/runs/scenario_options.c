#include "cli/runs/scenario_options.h"

#include <stdio.h>

bool scenario_from_arguments(const struct arguments *arguments, int set, struct scenario *out,
                             struct error *why)
{
    uint32_t file_count, set_count;
    const char *const *files = arguments_operands(arguments, &file_count);
    const char *const *sets = arguments_all(arguments, set, &set_count);
    return scenario_load(files, file_count, sets, set_count, out, why);
}

void scenario_print_keys(FILE *out)
{
    fputs("keys of a scenario (a YAML map):\n", out);
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        fprintf(out, "  %-16s %s; e.g. %s\n", key->name, key->summary, key->example);
    }
}
