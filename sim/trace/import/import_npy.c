/* Top-k indices as inference servers return them for sparse attention: a numpy array of shape
 * (tokens, layers, k). A token is a step, a layer has one head, an index names a unit.
 *
 * -1 is padding, wherever it stands. So is 2^32 - 1 (or 2^64 - 1), which is -1 in an unsigned
 * array. A layer with only padding wants nothing in that step. */
#include "trace/format/bytes.h"
#include "trace/import/import_sink.h"
#include "trace/import/npy_header.h"

#include "base/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SHAPE = 3, ITEM_MOST = 8 };

/* The index, or -1 for padding. */
static int64_t load_index(const struct npy_type *type, const uint8_t *item)
{
    if (type->size == 8) {
        return (int64_t)load_u64(item); /* past 2^63 it is negative: then refused, or padding */
    }
    uint32_t bits = load_u32(item);
    return type->is_signed || bits == UINT32_MAX ? (int32_t)bits : (int64_t)bits;
}

/* The place of an item. */
struct place {
    uint64_t token, layer, number;
};

static bool take_index(struct import_sink *sink, const struct place *place, int64_t index,
                       struct error *why)
{
    if (index < -1 || index >= UINT32_MAX) {
        import_complain(sink, 0,
                        "token %" PRIu64 ", layer %" PRIu64 ", item %" PRIu64 ": index %" PRId64,
                        place->token, place->layer, place->number, index);
        return true;
    }
    const struct import_item item = {
        .layer = (uint32_t)place->layer, .unit = (uint32_t)index, .mass = NAN};
    return index == -1 || import_unit(sink, &item, why);
}

static bool take_row(struct import_sink *sink, struct import_bytes *bytes,
                     const struct npy_header *header, struct place place, struct error *why)
{
    uint8_t item[ITEM_MOST];
    size_t got;
    import_expect_row(sink, (uint32_t)place.layer, 0, 0);
    for (place.number = 0; place.number < header->shape[2]; place.number++) {
        if (!import_bytes_read(bytes, item, header->type->size, &got, why)) {
            return false;
        }
        if (got < header->type->size) {
            return error_set(why, sink->path, 0,
                             "the file ends within token %" PRIu64 ", layer %" PRIu64 " of %" PRIu64
                             " tokens, %" PRIu64 " layers",
                             place.token, place.layer, header->shape[0], header->shape[1]);
        }
        if (!take_index(sink, &place, load_index(header->type, item), why)) {
            return false;
        }
    }
    return true;
}

static bool take_array(struct import_sink *sink, struct import_bytes *bytes,
                       const struct npy_header *header, struct error *why)
{
    struct place place = {0};
    for (place.token = 0; place.token < header->shape[0]; place.token++) {
        if (!import_next_step(sink, why)) {
            return false;
        }
        for (place.layer = 0; place.layer < header->shape[1]; place.layer++) {
            if (!take_row(sink, bytes, header, place, why)) {
                return false;
            }
        }
    }
    uint8_t more;
    size_t got;
    return import_bytes_read(bytes, &more, 1, &got, why) &&
           (got == 0 || error_set(why, sink->path, 0, "the file continues after the array"));
}

static bool check_shape(const char *path, const struct npy_header *header, struct error *why)
{
    bool is_empty = false;
    for (size_t i = 0; i < header->dimensions; i++) {
        is_empty |= header->shape[i] == 0;
    }
    if (header->dimensions != SHAPE || is_empty) {
        error_set(why, path, 0, "the array has %zu dimensions%s", header->dimensions,
                  is_empty ? " and no items" : "");
        return error_expect(why, "three: (tokens, layers, k), none of them 0");
    }
    return header->shape[1] <= IMPORT_LAYERS_MOST ||
           error_set(why, path, 0, "the array has %" PRIu64 " layers", header->shape[1]) ||
           error_expect(why, "(tokens, layers, k) with at most %d layers", IMPORT_LAYERS_MOST);
}

static bool walk(struct import_sink *sink, struct error *why)
{
    struct npy_header header;
    struct import_bytes *bytes = array_zeroed(1, sizeof *bytes, why);
    if (bytes == NULL || !import_bytes_open(bytes, sink->path, why)) {
        free(bytes);
        return false;
    }
    bool ok = npy_header_read(bytes, &header, why) && check_shape(sink->path, &header, why) &&
              take_array(sink, bytes, &header, why);
    import_bytes_close(bytes);
    free(bytes);
    return ok;
}

const struct import_format import_npy = {
    .name = "npy",
    .summary = "indices shaped (tokens, layers, k), -1 where there are fewer",
    .suffixes = {".npy"},
    .reads = IMPORT_CONTEXT | IMPORT_UNIT_TOKENS | IMPORT_SHARE | IMPORT_MASS,
    .walk = walk,
};
