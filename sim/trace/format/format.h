/* The file format as reader, writer and CSV share it (traces/FORMAT.md): its constants, the header as a list
 * of numbered fields, the payload of a frame, and the rules for rows. Internal to this folder. */
#pragma once

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "trace/format/trace.h"

#define XXH_STATIC_LINKING_ONLY /* a hash state on the stack */
#include <stddef.h>
#include <xxhash.h>
#include <zstd.h>

enum {
    TRACE_VERSION = 1,
    TRACE_MAGIC = 8,       /* bytes of the magic at the start and of the one at the end of a file */
    HEADER_FIXED = 80,     /* bytes before the source text */
    HEADER_FIELDS_AT = 16, /* offset of the first field of header_fields[] */
    HASH_BYTES = 8,
    SOURCE_MOST = 65536,
    FRAME_HEADER = 36, /* bytes before the payload */
    FRAME_HASH_AT = FRAME_HEADER - HASH_BYTES,
    FOOTER = 3 * 8,         /* hash and offset of the index, magic */
    PAYLOAD_MOST = 1 << 27, /* bytes of a payload, as stored and as decompressed */
    CODEC_STORED = 0,
    CODEC_ZSTD = 1,
};

extern const uint8_t trace_magic[TRACE_MAGIC];
extern const uint8_t trace_end_magic[TRACE_MAGIC];

/* The numbers of the header, in file order, `layers` first and `flags` last. */
enum { HEADER_FIELDS = 15 };

struct header_field {
    const char *name;
    uint32_t least, most;
};
extern const struct header_field header_fields[HEADER_FIELDS];

void header_pack(const struct trace_header *header, uint32_t fields[HEADER_FIELDS]);

/* Check `fields` against their ranges and each other, then unpack them; `source` is not changed. */
bool header_unpack(const uint32_t fields[HEADER_FIELDS], const char *file,
                   struct trace_header *header, struct error *why);

/* The source must be a JSON object. */
bool header_check_source(const char *source, size_t size, const char *file, struct error *why);

/* The number of frames of a trace; UINT64_MAX if it does not fit. */
uint64_t trace_frames(const struct trace_header *header);

/* Set `frame` to the place and steps of frame `number` in file order. */
void frame_place(const struct trace_header *header, uint64_t number, struct trace_frame *frame);

/* The window in units: those before `first_unit` hold one of the first `sinks` tokens, those from `end_unit`
 * on one of the last `recent` tokens; first_unit <= end_unit. Clusters have no window: 0 and `units`. */
void trace_window(const struct trace_header *header, uint32_t sinks, uint32_t recent,
                  uint32_t *first_unit, uint32_t *end_unit);

/* The most units that a row can have. */
uint32_t trace_row_most(const struct trace_header *header);

/* Write the payload of a frame that passed trace_frame_check(). Fails if it is too large. */
bool payload_encode(const struct trace_header *header, struct trace_frame *frame, size_t *size,
                    struct error *why);

/* Convert the encoded payload (frame->raw) into the stored frame (frame->stored); and back into columns. */
bool frame_store(struct trace_frame *frame, size_t raw_bytes, ZSTD_CCtx *compressor, int level,
                 size_t *size, struct error *why);
bool frame_unstore(const struct trace_header *header, struct trace_frame *frame, size_t size,
                   struct error *why);

/* Fewest and most bytes that a payload of `steps` steps can have. */
void payload_bounds(const struct trace_header *header, uint32_t steps, uint64_t *least,
                    uint64_t *most);

/* Add to `why` which frame it is about. A byte offset of 0 is left out. Returns false. */
bool frame_blame(const struct trace_frame *frame, const char *file, uint64_t offset,
                 struct error *why);

/* The calls by which trace_read() and its variants use a generated trace. Internal to this folder. */

struct trace_generator;

/* Make a frame whose sequence, tile, layer and steps are set, or its queries. Fails if `stop` is raised. */
bool generator_read(const struct trace_generator *generator, const struct trace_header *header,
                    bool with_rows, const struct stop_flag *stop, struct trace_frame *frame,
                    struct error *why);

/* A hash of everything that decides the rows. */
uint64_t generator_hash(const struct trace_generator *generator);

void generator_destroy(struct trace_generator *generator); /* NULL is fine */

/* An open trace, shared by its users; a generated one has no file (generate.h). Internal to this folder. */

enum { INDEX_ENTRY = 8 };

/* Constant once it is open, except `stop`, `holders` and the choice of layers. */
struct trace {
    char *path;
    struct trace_generator *generator; /* NULL: a file; the fields below describe it */
    int fd;
    uint64_t size;
    struct trace_header header; /* of the file */
    struct trace_header shown;  /* the same with the chosen layers alone; shares its source */
    uint32_t *chosen;           /* [shown.layers] layers of the file, ascending; NULL: all */
    uint32_t *numbers;          /* [header.layers] layers of the model; NULL: those of the file */
    uint8_t *header_text;       /* the header as it stands in the file */
    uint32_t header_bytes;
    uint64_t frames;
    uint64_t index, index_hash;   /* offset, checksum */
    uint64_t *offsets;            /* [frames + 1] of frames; the last one is the index's */
    const struct stop_flag *stop; /* NULL: reading is never stopped */
    atomic_uint holders;          /* trace_hold() and the opening */
};

/* A trace of which only the name is known; trace_close() frees it. */
struct trace *trace_begin(const char *name, struct error *why);

/* Set up the choice of layers, once the header is read: all layers are shown. */
bool trace_layers_init(struct trace *trace, struct error *why);

/* Numbers in memory, at any address. */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "memory has the byte order of files");

static inline uint32_t load_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t load_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* The stores return the address after the written bytes, so that calls can be chained. */
static inline uint8_t *store_u32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

static inline uint8_t *store_u64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}
