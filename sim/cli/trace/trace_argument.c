#include "cli/trace/trace_argument.h"

#include "core/named.h"
#include "predict/scenario/ensemble.h"

#include <string.h>
#include <unistd.h>

/* Is it a profile of a trace, by its name or its path? */
static bool is_profile(const char *name)
{
    char canonical[NAMED_SIZE];
    const char *dot = strrchr(name, '.');
    return named_canonical(&named_trace_profile, name, canonical) ||
           (dot != NULL && strcmp(dot, ".yaml") == 0 && access(name, F_OK) == 0);
}

struct trace *trace_named(const char *name, struct error *why)
{
    char path[4096];
    struct trace *trace = named_file(&named_trace, name, NULL, 0, path, sizeof path, why)
                              ? trace_open(path, why)
                              : NULL;
    if (trace == NULL && strcmp(name, ENSEMBLE_NAME) == 0) {
        error_usage(why, NULL, 0, "'ensemble' is several recordings, and this command reads one");
        error_expect(why, "one of them, such as %s, or another of 'spillway list traces'",
                     ensemble_families[0].recording);
        return NULL;
    }
    if (trace == NULL && is_profile(name)) {
        error_usage(why, NULL, 0, "'%.200s' is a profile, not a recording", name);
        error_expect(why,
                     "a recording (.swt), which 'spillway trace generate %.200s -o FILE.swt' "
                     "makes of it",
                     name);
        return NULL;
    }
    const char *dot = strrchr(name, '.');
    if (trace == NULL && dot != NULL && strcmp(dot, ".csv") == 0 && access(name, F_OK) == 0) {
        error_expect(why,
                     "a recording (.swt), which a script of traces/convert makes of this file");
    }
    return trace;
}

struct trace *trace_from_arguments(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    return trace_named(arguments_operands(arguments, &count)[0], why);
}
