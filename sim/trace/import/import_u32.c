/* Little-endian 32-bit ids, one after the other: each id is a unit. Repeats within a step add up:
 * an id's mass is its share of the step's accesses. */
#include "trace/format/bytes.h"
#include "trace/import/import_stream.h"

static bool take_id(void *state, const uint8_t *record, uint64_t number, uint32_t *unit,
                    struct error *why)
{
    (void)state;
    (void)number;
    *unit = load_u32(record);
    return *unit < UINT32_MAX || error_set(why, NULL, 0, "id %u is too large", *unit);
}

static bool walk(struct import_sink *sink, struct error *why)
{
    return import_stream(sink, sizeof(uint32_t), take_id, NULL, why);
}

const struct import_format import_u32 = {
    .name = "u32",
    .summary = "little-endian 32-bit ids, a plain stream",
    .suffixes = {".u32"},
    .reads = IMPORT_UNIT_TOKENS | IMPORT_PER_STEP,
    .repeats = true,
    .walk = walk,
};
