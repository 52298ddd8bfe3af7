#include "cli/frame/jobs.h"

#include "base/units.h"

enum { MOST = 4096 };

bool jobs_read(const struct arguments *arguments, int option, uint32_t *jobs, struct error *why)
{
    const char *text = arguments_text(arguments, option);
    uint64_t count = 0;
    *jobs = 0;
    if (text == NULL) {
        return true;
    }
    if (!units_parse_whole(text, UNIT_COUNT, MOST, NULL, 0, "--jobs", &count, why)) {
        return false;
    }
    if (count == 0) {
        error_usage(why, NULL, 0, "'--jobs' is 0");
        return error_expect(why, "1 or more");
    }
    *jobs = (uint32_t)count;
    return true;
}
