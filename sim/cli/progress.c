#include "cli/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE = 256 };

void progress_show(const char *format, ...)
{
    char line[LINE];
    va_list arguments;
    if (!isatty(STDERR_FILENO)) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\r%s\033[K", line);
}

void progress_clear(void)
{
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
    }
}

void progress_runs(uint32_t done, uint32_t points, void *context)
{
    (void)context;
    if (done < points) {
        progress_show("%u of %u runs", done, points);
    } else {
        progress_clear();
    }
}
