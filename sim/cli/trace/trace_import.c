/* `spillway trace import`: converts recordings of other tools to decode traces. */
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "trace/import/import.h"

#include "base/units.h"

#include <inttypes.h>
#include <string.h>

enum { OUTPUT, FORMAT, COLUMNS, CONTEXT, UNIT_SIZE, PER_STEP, SHARE, MASS, OPTIONS };

static const struct command_option options[] = {
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .required = true,
                .summary = "the trace to write (.swt)"},
    [FORMAT] = {.name = "--format",
                .argument = "NAME",
                .summary = "csv or u32 (default: by the file's suffix)"},
    [COLUMNS] = {.name = "--columns",
                 .argument = "MAPPING",
                 .summary = "columns of a CSV table, by name or number: "
                            "step=A,layer=B,head=C,unit=D,mass=E"},
    [CONTEXT] = {.name = "--context",
                 .argument = "TOKENS",
                 .summary = "tokens in the prefix; units beyond it were added while decoding "
                            "(default: all are in it)"},
    [UNIT_SIZE] = {.name = "--unit-tokens",
                   .argument = "TOKENS",
                   .summary = "tokens in a unit (default: 1)"},
    [PER_STEP] = {.name = "--per-step",
                  .argument = "COUNT",
                  .summary = "accesses of a plain stream that form a step (default: 1)"},
    [SHARE] = {.name = "--share",
               .argument = "COUNT",
               .summary = "layers of the model that share a layer of the file (default: 1)"},
    [MASS] = {.name = "--mass",
              .argument = "RULE",
              .summary = "attention to assume if the file has none: equal or rank (default: "
                         "equal)",
              .values = import_masses},
    [OPTIONS] = {.name = NULL},
};

/* The key of the format that an option sets; 0: an option for every format. */
static const unsigned keys[OPTIONS] = {
    [COLUMNS] = IMPORT_COLUMNS,   [CONTEXT] = IMPORT_CONTEXT, [UNIT_SIZE] = IMPORT_UNIT_TOKENS,
    [PER_STEP] = IMPORT_PER_STEP, [SHARE] = IMPORT_SHARE,     [MASS] = IMPORT_MASS,
};

static bool trace_import_check_options(const struct arguments *arguments,
                                       const struct import_format *format, struct error *why)
{
    for (int i = 0; i < OPTIONS; i++) {
        if (arguments_given(arguments, i) && (keys[i] & ~format->reads) != 0) {
            return error_usage(why, NULL, 0, "%s does not apply to %s, %s", options[i].name,
                               format->name, format->summary);
        }
    }
    return true;
}

static bool trace_import_read_number(const struct arguments *arguments, int option, uint32_t *out,
                                     struct error *why)
{
    const char *text = arguments_text(arguments, option), *name = options[option].name;
    uint64_t value = 0;
    enum unit unit = option == CONTEXT || option == UNIT_SIZE ? UNIT_TOKENS : UNIT_COUNT;
    if (text == NULL) {
        return true;
    }
    if (!units_parse_whole(text, unit, UINT32_MAX, NULL, 0, name, &value, why)) {
        return false;
    }
    *out = (uint32_t)value;
    return value > 0 || error_usage(why, NULL, 0, "%s is 0", name) ||
           error_expect(why, "at least 1");
}

static bool trace_import_read_options(const struct arguments *arguments, struct import_options *out,
                                      struct error *why)
{
    const char *mass = arguments_text(arguments, MASS);
    *out = (struct import_options){.columns = arguments_text(arguments, COLUMNS)};
    while (mass != NULL && strcmp(import_masses[out->mass], mass) != 0) {
        out->mass++;
    }
    return trace_import_read_number(arguments, CONTEXT, &out->context, why) &&
           trace_import_read_number(arguments, UNIT_SIZE, &out->unit_tokens, why) &&
           trace_import_read_number(arguments, PER_STEP, &out->per_step, why) &&
           trace_import_read_number(arguments, SHARE, &out->share, why);
}

static void print_complaints(const struct complaints *complaints)
{
    char text[2048];
    uint32_t shown = complaints_shown(complaints);
    for (uint32_t i = 0; i < shown; i++) {
        error_format(&complaints->shown[i], text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    if (complaints->count > shown && shown > 0) {
        fprintf(stderr, "... and %" PRIu64 " more\n", complaints->count - shown);
    }
}

static void print_unread(const char *path, const struct import_report *report)
{
    if (report->unread[0] != '\0') {
        fprintf(stderr, "%s: not in --columns, so not read: %s\n", path, report->unread);
    }
}

static bool trace_import_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    struct import_options read;
    struct import_report report = {.unread = ""};
    const char *path = arguments_operands(arguments, &count)[0];
    const char *name = arguments_text(arguments, FORMAT);
    const struct import_format *format =
        name != NULL ? import_format_named(name, why) : import_format_of(path, why);
    bool ok = format != NULL && trace_import_check_options(arguments, format, why) &&
              trace_import_read_options(arguments, &read, why) &&
              trace_import(format, path, arguments_text(arguments, OUTPUT), &read, &report, why);
    print_complaints(&report.complaints);
    print_unread(path, &report);
    return ok;
}

static void print_formats(FILE *out)
{
    fputs("formats:\n", out);
    for (size_t i = 0; import_formats[i] != NULL; i++) {
        fprintf(out, "  %-22s %s\n", import_formats[i]->name, import_formats[i]->summary);
    }
    fputs("\nA plain stream is one head of one layer, with one id per step. Scripts in\n"
          "traces/convert/ read the text of 'trace export', numpy arrays of indices, responses of\n"
          "SGLang with its indexer's top-k, and libCacheSim's oracleGeneral.\n",
          out);
}

const struct command command_trace_import = {
    .name = "trace import",
    .operands = "FILE",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "convert another tool's recording to a decode trace",
    .example = "printf 'page\\n4\\n2\\n4\\n' >pages.csv\n"
               "spillway trace import pages.csv --columns unit=page -o pages.swt",
    .options = options,
    .more = print_formats,
    .run = trace_import_run,
};
