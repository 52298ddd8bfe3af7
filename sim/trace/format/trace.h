/* Decode traces: the units that each KV head of a model wanted, step by step. A trace is read by frames (a
 * layer of a tile of steps; see traces/FORMAT.md), and shared between threads: trace_read() uses positioned
 * reads and only the caller's frame. */
#pragma once

#include "core/error.h"

#include <stdint.h>

struct stop_flag;

enum trace_unit_kind { TRACE_POSITIONS = 0, TRACE_CLUSTERS = 1 };

/* The header, field for field as in FORMAT.md. */
struct trace_header {
    uint32_t layers, kv_heads, query_heads, head_dim;
    uint32_t context; /* tokens of the prefix */
    enum trace_unit_kind unit_kind;
    uint32_t unit_tokens, units;
    uint32_t sinks, recent; /* tokens, in every row */
    uint32_t keep;
    uint32_t sequences, steps, steps_per_tile;
    bool has_queries, has_approximate;
    char *source; /* a JSON object, owned by the trace (reading) or the caller (writing) */
};

/* Rows of one kind in a frame: row r = head * steps + step spans
 * [start[r], start[r+1]) of `units` (ascending) and `mass` (codes). */
struct trace_rows {
    uint32_t *start;
    uint32_t *units;
    uint8_t *mass;
    size_t start_capacity, units_capacity, mass_capacity;
};

/* A decoded frame, zeroed at first. The caller owns it and reuses it from read to read. */
struct trace_frame {
    uint32_t sequence, tile, layer;
    uint32_t first_step, steps;
    struct trace_rows rows;
    struct trace_rows approximate; /* only with has_approximate */
    float *born, *tail;            /* one per row */
    float *scale;  /* one per (query head, step), query-head-major; with has_queries */
    int8_t *query; /* head_dim values for each of these */
    size_t born_capacity, tail_capacity, scale_capacity, query_capacity;
    uint8_t *stored, *raw; /* scratch of the reader and writer */
    size_t stored_capacity, raw_capacity;
};

void trace_frame_release(struct trace_frame *frame);

/* Make room in a frame that is to be filled: for the columns of frame->steps steps, and for `units` units of
 * rows. The contents so far are kept. */
bool trace_frame_reserve(const struct trace_header *header, struct trace_frame *frame,
                         struct error *why);
bool trace_rows_reserve(struct trace_rows *rows, size_t units, struct error *why);

/* Is the frame one of the trace, with ascending rows within the header's limits, the window in every row,
 * masses from 0 to 1? Reader and writer check every frame. `why` names head and step. */
bool trace_frame_check(const struct trace_header *header, const struct trace_frame *frame,
                       struct error *why);

/* trace_mass: the attention mass of a code, 2^(-code/10). trace_mass_code(): the code nearest to a mass. */
extern const float trace_mass[256];
uint8_t trace_mass_code(double mass);

/* The number of tiles of a trace, and of steps in a tile. */
uint32_t trace_tiles(const struct trace_header *header);
uint32_t trace_tile_steps(const struct trace_header *header, uint32_t tile);

/* Reading. */
struct trace;
struct trace *trace_open(const char *path, struct error *why);

/* A trace is open until trace_close() was called once for its opening and once for each
 * trace_hold(), which returns its argument. NULL is fine for both. */
struct trace *trace_hold(struct trace *trace);
void trace_close(struct trace *trace);
uint32_t trace_holders(const struct trace *trace); /* how many calls of trace_close() are due */

/* The header of the file; after trace_choose_layers(), with the number of chosen layers. */
const struct trace_header *trace_header(const struct trace *trace);
const char *trace_path(const struct trace *trace);
uint64_t trace_bytes(const struct trace *trace); /* size of the file; 0: generated, no file */

/* The number that layer `layer` of the trace has in the model. A recording of some layers lists
 * them in its source; in any other trace the two numbers are equal. */
uint32_t trace_model_layer(const struct trace *trace, uint32_t layer);

/* The layer of the trace that is layer `number` of the model; false: the trace does not have it. */
bool trace_find_layer(const struct trace *trace, uint32_t number, uint32_t *layer);

/* Show only the `count` layers in `layers`, ascending numbers of layers of the trace: from now on
 * it has no others, and its hash is another one. Call it before threads read. */
bool trace_choose_layers(struct trace *trace, const uint32_t *layers, uint32_t count,
                         struct error *why);

/* Make reading fail with "interrupted" once `stop` is raised, in a generated trace even between the
 * heads of one frame; this ends a long replay early. Call it before threads read; `stop` must
 * outlive all reading. NULL, as at first: never stop. */
void trace_stop_when(struct trace *trace, const struct stop_flag *stop);
const struct stop_flag *trace_stop(const struct trace *trace);

/* XXH64 of the header and of all frame checksums in order: two traces with equal hashes hold the
 * same rows. Cheap: reads no payload. For a generated trace (trace/generate/generate.h) it covers
 * everything that decides its rows. */
bool trace_hash(const struct trace *trace, uint64_t *hash, struct error *why);

/* Decode the frame and check everything that FORMAT.md says. Safe from several threads, each with its own. */
bool trace_read(const struct trace *trace, uint32_t sequence, uint32_t tile, uint32_t layer,
                struct trace_frame *frame, struct error *why);

/* The same; without rows, for who uses only queries, a generated trace makes none: they are undefined. */
bool trace_read_frame(const struct trace *trace, uint32_t sequence, uint32_t tile, uint32_t layer,
                      bool with_rows, struct trace_frame *frame, struct error *why);

/* Verify a trace: read every frame once, and count its contents. */
struct trace_summary {
    uint64_t bytes; /* of the file */
    uint64_t frames;
    uint64_t rows;  /* one per (sequence, step, layer, KV head) */
    uint64_t units; /* in all rows */
};

/* Read all frames. Of several broken ones the error names the first of the lowest layer. */
bool trace_verify(const struct trace *trace, uint32_t threads, struct trace_summary *summary,
                  struct error *why);

/* Writing. Put frames in file order (sequences slowest, then tiles, then layers), each with its
 * sequence, tile, layer, first_step and steps set; then close. The file appears under its name only
 * when it is whole (core/unfinished.h): trace_writer_close() makes it durable and publishes it,
 * trace_writer_discard() drops it. Both free the writer, also when
 * closing fails; after a failed put only discard makes sense. `header` is copied. */
struct trace_writer;
struct trace_writer *trace_writer_open(const char *path, const struct trace_header *header,
                                       struct error *why);
bool trace_writer_put(struct trace_writer *writer, struct trace_frame *frame, struct error *why);
bool trace_writer_close(struct trace_writer *writer, struct error *why);
void trace_writer_discard(struct trace_writer *writer);
