#include "cli/trace/trace_argument.h"

#include "base/named.h"
#include "trace/import/import.h"

#include <unistd.h>

struct trace *trace_from_arguments(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    char path[4096];
    const char *name = arguments_operands(arguments, &count)[0];
    struct trace *trace = named_file(&named_trace, name, NULL, 0, path, sizeof path, why)
                              ? trace_open(path, why)
                              : NULL;
    struct error unused;
    if (trace == NULL && access(name, F_OK) == 0 &&
        import_format_of(name, false, &unused) != NULL) {
        error_expect(why,
                     "a recording (.swt), which 'spillway trace import %.200s -o FILE.swt' "
                     "makes of this file",
                     name);
    }
    return trace;
}
