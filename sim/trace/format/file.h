/* An open trace, shared by the files that open it and that read its frames. A generated trace has
 * no file (generate.h). Internal to this folder. */
#pragma once

#include "trace/format/format.h"
#include "trace/format/generator.h"
#include "trace/format/memo.h"

#include <stdatomic.h>

enum { INDEX_ENTRY = 8 };

/* Constant once it is open, except `stop`, `memo`, `holders` and the choice of layers. */
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
    const struct stop_flag *stop; /* NULL: reading is never stopped */
    struct memo *memo;            /* frames that were made; NULL: none is kept */
    atomic_uint holders;          /* trace_hold() and the opening */
};

/* Read exactly `size` bytes at `offset` of a file. */
bool trace_read_at(const struct trace *trace, void *into, size_t size, uint64_t offset,
                   struct error *why);

/* Call `each` for all entries of the index, in order and in chunks: `count` entries from number
 * `first` on. */
typedef bool (*index_visit)(const struct trace *trace, const uint8_t *entries, uint64_t first,
                            size_t count, void *context, struct error *why);
bool trace_walk_index(const struct trace *trace, index_visit each, void *context,
                      struct error *why);

/* Set up what layers.c needs, once the header is read: all layers are shown. */
bool trace_layers_init(struct trace *trace, struct error *why);
