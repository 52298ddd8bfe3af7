/* `spillway plot`: a picture of runs, ablations or miss curves in a database. */
#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "cli/frame/question.h"
#include "cli/report/picture.h"
#include "cli/report/plot_draw.h"

#include <string.h>

enum { OUTPUT, ONLY, MEASURED };
static bool plot_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    const char *const *operands = arguments_operands(arguments, &count);
    struct plot_asked asked = {
        .kind = operands[0],
        .database = operands[1],
        .measured = arguments_text(arguments, MEASURED),
        .path = arguments_text(arguments, OUTPUT),
    };
    char note[DATABASE_NOTE] = "";
    asked.only = arguments_all(arguments, ONLY, &asked.only_count);
    if (asked.measured != NULL && strcmp(asked.kind, "requests") != 0) {
        error_usage(why, NULL, 0, "'--measured' applies to 'requests', not to '%s'", asked.kind);
        return error_expect(why, "spillway plot requests");
    }
    bool ok = plot_draw(&asked, note, why);
    database_print_note(note);
    return ok;
}

static const char *plot_kind_name(size_t index)
{
    return picture_kinds[index].name;
}

static void print_kinds(FILE *out)
{
    fputs("kinds:\n", out);
    for (const struct picture_kind *kind = picture_kinds; kind->name != NULL; kind++) {
        fprintf(out, "  %-9s %s\n", kind->name, kind->summary);
    }
}

static const struct command_option options[] = {
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .required = true,
                .summary = "the picture to write; its suffix (.svg, .png or .pdf) sets the format"},
    [ONLY] = {.name = "--only",
              .argument = "KEY=VALUE,...",
              .repeats = true,
              .summary = "draw only runs or curves with one of these values of the key; several "
                         "keys must all match"},
    [MEASURED] = {.name = "--measured",
                  .argument = "FILE",
                  .summary = "for 'requests': also draw a server's measured requests, from a "
                             "benchmark that kept each one, or one JSON line per request"},
    {.name = NULL},
};

const struct command command_plot = {
    .name = "plot",
    .operands = "DB",
    .least_operands = 2,
    .most_operands = 2,
    .kind = plot_kind_name,
    .summary = "draw a picture of the runs, ablations or miss curves in a database",
    .example = "spillway plot latency results.db -o latency.svg",
    .options = options,
    .more = print_kinds,
    .run = plot_run,
};
