/* The binary traces of libCacheSim (github.com/1a1a11a/libCacheSim, "oracleGeneral"):
 *
 *   offset  size  field
 *        0   u32  time, seconds
 *        4   u64  id of the object
 *       12   u32  its size, bytes
 *       16   i64  number of the record of its next access; -1 or the largest value: none
 *
 * An object is a unit whatever its size; units are numbered in the order of their first access. The
 * last field is not needed (OPT looks ahead by itself), but it shows whether the file has this
 * format at all. */
#include "trace/format/bytes.h"
#include "trace/import/dense_ids.h"
#include "trace/import/import_stream.h"

#include <inttypes.h>

enum { RECORD = 24, ID_AT = 4, NEXT_AT = 16 };

static bool take_record(void *state, const uint8_t *record, uint64_t number, uint32_t *unit,
                        struct error *why)
{
    int64_t next = (int64_t)load_u64(record + NEXT_AT);
    if (next < -1 || (next >= 0 && (uint64_t)next <= number)) {
        return error_set(why, NULL, 0, "its next access is record %" PRId64 ", which is not later",
                         next);
    }
    return dense_ids_find(state, load_u64(record + ID_AT), unit, why);
}

static bool walk(struct import_sink *sink, struct error *why)
{
    struct dense_ids dense = {.places = 0};
    bool ok = import_stream(sink, RECORD, take_record, &dense, why);
    dense_ids_release(&dense);
    return ok;
}

const struct import_format import_oracle_general = {
    .name = "oracle-general",
    .summary = "libCacheSim's oracleGeneral, a plain stream",
    .suffixes = {".oracleGeneral", ".oracleGeneral.bin"},
    .reads = IMPORT_UNIT_TOKENS | IMPORT_PER_STEP,
    .repeats = true,
    .walk = walk,
};
