#include "cli/trace/trace_argument.h"

#include "base/named.h"

struct trace *trace_from_arguments(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    char path[4096];
    const char *name = arguments_operands(arguments, &count)[0];
    return named_file(&named_trace, name, NULL, 0, path, sizeof path, why) ? trace_open(path, why)
                                                                           : NULL;
}
