/* Files of fixed-size records, each an access: the common part of the formats of cache simulators.
 * Internal to this folder. */
#ifndef TRACE_IMPORT_IMPORT_STREAM_H
#define TRACE_IMPORT_IMPORT_STREAM_H

#include "trace/import/import_sink.h"

enum { STREAM_RECORD_MOST = 64 };

/* Hand record after record of `size` bytes to `take`, which gives the unit. A record that `take`
 * rejects (false, `why` filled) is a complaint, and so is a cut one at the end. `per_step` records
 * make a step. */
typedef bool (*stream_take)(void *state, const uint8_t *record, uint64_t number, uint32_t *unit,
                            struct error *why);
bool import_stream(struct import_sink *sink, size_t size, stream_take take, void *state,
                   struct error *why);

#endif
