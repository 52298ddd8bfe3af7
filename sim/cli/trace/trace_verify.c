/* `spillway trace verify`: checks that a decode trace is complete and undamaged. */
#include "core/units.h"
#include "core/text.h"
#include "cli/frame/command.h"
#include "cli/trace/trace_argument.h"
#include "trace/format/verify.h"

#include <inttypes.h>

static bool trace_verify_run(const struct arguments *arguments, struct error *why)
{
    struct trace_summary summary;
    char bytes[32];
    struct trace *trace = trace_from_arguments(arguments, why);
    bool ok = trace != NULL && trace_verify(trace, 0, &summary, why);
    if (ok) {
        printf("%s is whole: %s, %" PRIu64 " frame%s, %" PRIu64 " row%s, %" PRIu64 " unit%s\n",
               trace_path(trace),
               units_format((double)summary.bytes, UNIT_BYTES, bytes, sizeof bytes), summary.frames,
               text_plural(summary.frames), summary.rows, text_plural(summary.rows), summary.units,
               text_plural(summary.units));
    }
    trace_close(trace);
    return ok;
}

static const struct command_option options[] = {{.name = NULL}};

const struct command command_trace_verify = {
    .name = "trace verify",
    .operands = "TRACE",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "read a whole decode trace and check every byte",
    .example = "spillway trace verify smollm2-135m",
    .options = options,
    .run = trace_verify_run,
};
