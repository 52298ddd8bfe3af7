/* A short list of faults and a long count. */
#include "trace/csv/complaints.h"

#include <assert.h>
#include <inttypes.h>

void complaints_add(struct complaints *complaints, const struct error *fault)
{
    if (complaints->count < COMPLAINTS_SHOWN) {
        complaints->shown[complaints->count] = *fault;
    }
    complaints->count++;
}

bool complaints_fail(const struct complaints *complaints, const char *path, struct error *why)
{
    assert(complaints->count > 0);
    if (complaints->count == 1) {
        *why = complaints->shown[0];
        return false;
    }
    return error_set(why, path, 0, "%" PRIu64 " faults; nothing was read", complaints->count);
}

uint32_t complaints_shown(const struct complaints *complaints)
{
    if (complaints->count < 2) {
        return 0;
    }
    return complaints->count < COMPLAINTS_SHOWN ? (uint32_t)complaints->count : COMPLAINTS_SHOWN;
}
