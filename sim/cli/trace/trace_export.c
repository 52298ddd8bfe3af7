/* `spillway trace export`: prints a decode trace as CSV. */
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "cli/trace/trace_argument.h"
#include "trace/csv/csv.h"

enum { OUTPUT };

static const struct command_option options[] = {
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

static bool trace_export_run(const struct arguments *arguments, struct error *why)
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
    .options = options,
    .run = trace_export_run,
};
