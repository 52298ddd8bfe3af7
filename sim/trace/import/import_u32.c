/* Little-endian 32-bit ids, one after the other: each id is a unit. Repeats within a step add up:
 * an id's mass is its share of the step's accesses.
 *
 * A refused id still counts in its step, so that the others keep their places. */
#include "base/regular.h"
#include "trace/format/bytes.h"
#include "trace/import/import_sink.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool take_id(struct import_sink *sink, uint32_t id, uint64_t number, struct error *why)
{
    uint32_t per_step = sink->options->per_step > 0 ? sink->options->per_step : 1;
    const struct import_item item = {.unit = id, .mass = NAN};
    if (number % per_step == 0 && !import_next_step(sink, why)) {
        return false;
    }
    if (id == UINT32_MAX) {
        import_complain(sink, 0, "record %" PRIu64 ": id %" PRIu32 " is too large", number, id);
        return true;
    }
    return import_unit(sink, &item, why);
}

static bool take_ids(struct import_sink *sink, FILE *file, struct error *why)
{
    uint8_t id[sizeof(uint32_t)];
    size_t got;
    for (uint64_t number = 0; (got = fread(id, 1, sizeof id, file)) > 0; number++) {
        if (got < sizeof id) {
            import_complain(sink, 0, "record %" PRIu64 ": the file ends after %zu of %zu bytes",
                            number, got, sizeof id);
        } else if (!take_id(sink, load_u32(id), number, why)) {
            return false;
        }
    }
    return !ferror(file) || error_set(why, sink->path, 0, "cannot read: %s", strerror(errno));
}

static bool import_u32_walk(struct import_sink *sink, struct error *why)
{
    FILE *file = regular_open(sink->path, why);
    bool ok = file != NULL && take_ids(sink, file, why);
    if (file != NULL) {
        fclose(file);
    }
    return ok;
}

const struct import_format import_u32 = {
    .name = "u32",
    .summary = "little-endian 32-bit ids, a plain stream",
    .suffix = ".u32",
    .reads = IMPORT_UNIT_TOKENS | IMPORT_PER_STEP,
    .repeats = true,
    .walk = import_u32_walk,
};
