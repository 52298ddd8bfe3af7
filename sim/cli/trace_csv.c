/* `spillway trace import` and `trace export`: decode traces from CSV and as CSV. */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/trace_argument.h"
#include "trace/csv.h"

enum { OUTPUT };

static const struct command_option import_options[] = {
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .required = true,
                .summary = "the trace to write (.swt)"},
    {.name = NULL},
};

static bool run_import(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    const char *path = arguments_operands(arguments, &count)[0];
    return trace_import_csv(path, arguments_text(arguments, OUTPUT), why);
}

const struct command command_trace_import = {
    .name = "trace import",
    .operands = "FILE.csv",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "make a decode trace of a CSV file",
    .example = "spillway trace export smollm2-135m -o trace.csv\n"
               "spillway trace import trace.csv -o trace.swt",
    .options = import_options,
    .run = run_import,
};

static const struct command_option export_options[] = {
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .summary = "the CSV file to write (default: standard output)"},
    {.name = NULL},
};

static bool export_to(const struct trace *trace, const char *path, struct error *why)
{
    struct output output;
    if (path == NULL) {
        return trace_export_csv(trace, stdout, why);
    }
    if (!output_open(path, &output, why)) {
        return false;
    }
    if (!trace_export_csv(trace, output.file, why)) {
        output_discard(&output);
        return false;
    }
    return output_commit(&output, why);
}

static bool run_export(const struct arguments *arguments, struct error *why)
{
    struct trace *trace = trace_from_arguments(arguments, why);
    bool ok = trace != NULL && export_to(trace, arguments_text(arguments, OUTPUT), why);
    trace_close(trace);
    return ok;
}

const struct command command_trace_export = {
    .name = "trace export",
    .operands = "TRACE",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "print a decode trace as CSV",
    .example = "spillway trace export smollm2-135m -o trace.csv",
    .options = export_options,
    .run = run_export,
};
