#include "cli/runs/replications.h"

#include "base/units.h"
#include "study/sweep/replication.h"

bool replications_read(const char *text, uint32_t *count, struct error *why)
{
    uint64_t draws;
    if (!units_parse_whole(text, UNIT_COUNT, REPLICATIONS_MOST, NULL, 0, "--replications", &draws,
                           why) ||
        draws < REPLICATIONS_LEAST) {
        error_usage(why, NULL, 0, "'--replications' is '%.40s'", text);
        return error_expect(why, "a number of draws from %d to %d", REPLICATIONS_LEAST,
                            REPLICATIONS_MOST);
    }
    *count = (uint32_t)draws;
    return true;
}
