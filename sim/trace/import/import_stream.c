/* A refused record still counts in its step, so that the others keep their places. */
#include "trace/import/import_stream.h"

#include "base/array.h"
#include "trace/import/import_bytes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static bool take_record(struct import_sink *sink, const uint8_t *record, uint64_t number,
                        stream_take take, void *state, struct error *why)
{
    struct error fault;
    struct import_item item = {.mass = NAN};
    uint32_t per_step = sink->options->per_step > 0 ? sink->options->per_step : 1;
    if (number % per_step == 0 && !import_next_step(sink, why)) {
        return false;
    }
    if (!take(state, record, number, &item.unit, &fault)) {
        import_complain(sink, 0, "record %" PRIu64 ": %s", number, fault.found);
        return true;
    }
    return import_unit(sink, &item, why);
}

static bool take_records(struct import_sink *sink, struct import_bytes *bytes, size_t size,
                         stream_take take, void *state, struct error *why)
{
    uint8_t record[STREAM_RECORD_MOST];
    size_t got = 0;
    for (uint64_t number = 0;; number++) {
        if (!import_bytes_read(bytes, record, size, &got, why)) {
            return false;
        }
        if (got < size) {
            if (got > 0) {
                import_complain(sink, 0, "record %" PRIu64 ": the file ends after %zu of %zu bytes",
                                number, got, size);
            }
            return true;
        }
        if (!take_record(sink, record, number, take, state, why)) {
            return false;
        }
    }
}

bool import_stream(struct import_sink *sink, size_t size, stream_take take, void *state,
                   struct error *why)
{
    struct import_bytes *bytes = array_zeroed(1, sizeof *bytes, why);
    if (bytes == NULL || !import_bytes_open(bytes, sink->path, why)) {
        free(bytes);
        return false;
    }
    bool ok = take_records(sink, bytes, size, take, state, why);
    import_bytes_close(bytes);
    free(bytes);
    return ok;
}
