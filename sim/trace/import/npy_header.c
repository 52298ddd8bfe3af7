/* A parser for just the dictionaries that numpy writes: three keys in any order, whose values are a
 * text, True or False, and a tuple of whole numbers. */
#include "trace/import/npy_header.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 6, TEXT_MOST = 65535 };

static const struct npy_type types[] = {
    {"<i4", 4, true}, {"<i8", 8, true}, {"<u4", 4, false}, {"<u8", 8, false}};

struct parser {
    const char *at, *path;
    struct npy_header *header;
    unsigned seen; /* bits of keys[] */
    struct error *why;
};

static bool broken(const struct parser *parser, const char *expected)
{
    error_set(parser->why, parser->path, 0, "the array's header is invalid at '%.20s'", parser->at);
    return error_expect(parser->why, "%s", expected);
}

static void skip_blanks(struct parser *parser)
{
    parser->at += strspn(parser->at, " \n");
}

/* Skip `mark` if it comes next. */
static bool take(struct parser *parser, const char *mark)
{
    skip_blanks(parser);
    size_t length = strlen(mark);
    if (strncmp(parser->at, mark, length) != 0) {
        return false;
    }
    parser->at += length;
    return true;
}

/* A text in quotes of either kind, without escapes. */
static bool take_text(struct parser *parser, char *text, size_t size)
{
    skip_blanks(parser);
    char quote = *parser->at;
    if (quote != '\'' && quote != '"') {
        return broken(parser, "a text in quotes");
    }
    size_t length = strcspn(parser->at + 1, quote == '\'' ? "'" : "\"");
    if (parser->at[1 + length] != quote || length >= size) {
        return broken(parser, "a short text in quotes");
    }
    memcpy(text, parser->at + 1, length);
    text[length] = '\0';
    parser->at += length + 2;
    return true;
}

static bool take_type(struct parser *parser)
{
    char text[16];
    if (!take_text(parser, text, sizeof text)) {
        return false;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(text, types[i].name) == 0) {
            parser->header->type = &types[i];
            return true;
        }
    }
    error_set(parser->why, parser->path, 0, "the array has type '%s'", text);
    return error_expect(parser->why, "little-endian indices: <i4, <i8, <u4 or <u8");
}

static bool take_order(struct parser *parser)
{
    if (take(parser, "True")) {
        error_set(parser->why, parser->path, 0, "the array is in Fortran order");
        return error_expect(parser->why, "C order: numpy.ascontiguousarray() gives it");
    }
    return take(parser, "False") || broken(parser, "True or False");
}

static bool take_length(struct parser *parser)
{
    struct npy_header *header = parser->header;
    uint64_t value = 0;
    const char *start = parser->at;
    for (; *parser->at >= '0' && *parser->at <= '9' && value <= UINT32_MAX; parser->at++) {
        value = 10 * value + (uint64_t)(*parser->at - '0');
    }
    if (parser->at == start || value > UINT32_MAX || header->dimensions == NPY_DIMENSIONS_MOST) {
        return broken(parser, "at most 8 lengths below 2^32");
    }
    header->shape[header->dimensions++] = value;
    return true;
}

static bool take_shape(struct parser *parser)
{
    parser->header->dimensions = 0;
    if (!take(parser, "(")) {
        return broken(parser, "a tuple");
    }
    while (!take(parser, ")")) {
        if (!take_length(parser)) {
            return false;
        }
        skip_blanks(parser);
        if (!take(parser, ",") && *parser->at != ')') {
            return broken(parser, "a comma or the tuple's end");
        }
        skip_blanks(parser);
    }
    return true;
}

static const struct {
    const char *name;
    bool (*take)(struct parser *parser);
} keys[] = {{"descr", take_type}, {"fortran_order", take_order}, {"shape", take_shape}};

enum { KEYS = sizeof keys / sizeof *keys };

static bool take_entry(struct parser *parser)
{
    char name[32];
    if (!take_text(parser, name, sizeof name)) {
        return false;
    }
    for (unsigned i = 0; i < KEYS; i++) {
        if (strcmp(name, keys[i].name) == 0) {
            parser->seen |= 1u << i;
            return take(parser, ":") ? keys[i].take(parser) : broken(parser, "a colon");
        }
    }
    return error_set(parser->why, parser->path, 0, "the array's header says '%s'", name) ||
           error_expect(parser->why, "descr, fortran_order and shape");
}

bool npy_header_parse(const char *text, const char *path, struct npy_header *header,
                      struct error *why)
{
    struct parser parser = {text, path, header, 0, why};
    if (!take(&parser, "{")) {
        return broken(&parser, "a dictionary");
    }
    while (!take(&parser, "}")) {
        if (!take_entry(&parser)) {
            return false;
        }
        skip_blanks(&parser);
        if (!take(&parser, ",") && *parser.at != '}') {
            return broken(&parser, "a comma or the dictionary's end");
        }
    }
    skip_blanks(&parser);
    if (*parser.at != '\0') {
        return broken(&parser, "nothing behind the dictionary");
    }
    return parser.seen == (1u << KEYS) - 1 ||
           error_set(why, path, 0, "the array's header lacks descr, fortran_order or shape");
}

/* Read exactly `size` bytes of the header. */
static bool read_part(struct import_bytes *bytes, void *into, size_t size, struct error *why)
{
    size_t got;
    return import_bytes_read(bytes, into, size, &got, why) &&
           (got == size || error_set(why, bytes->path, 0, "the array's header is cut short"));
}

/* Read magic, version, and the size of the text, in two bytes or four. */
static bool read_preamble(struct import_bytes *bytes, uint32_t *size, struct error *why)
{
    uint8_t fixed[MAGIC + 2], length[4] = {0};
    if (!read_part(bytes, fixed, sizeof fixed, why)) {
        return false;
    }
    if (memcmp(fixed, "\x93NUMPY", MAGIC) != 0) {
        return error_set(why, bytes->path, 0, "not a numpy array (.npy)");
    }
    if (fixed[MAGIC] < 1 || fixed[MAGIC] > 2 || fixed[MAGIC + 1] != 0) {
        error_set(why, bytes->path, 0, "version %u.%u", fixed[MAGIC], fixed[MAGIC + 1]);
        return error_expect(why, "1.0 or 2.0");
    }
    if (!read_part(bytes, length, fixed[MAGIC] == 1 ? 2 : 4, why)) {
        return false;
    }
    *size = length[0] | (uint32_t)length[1] << 8 | (uint32_t)length[2] << 16 |
            (uint32_t)length[3] << 24;
    return *size <= TEXT_MOST ||
           error_set(why, bytes->path, 0, "the array's header has %" PRIu32 " bytes", *size);
}

bool npy_header_read(struct import_bytes *bytes, struct npy_header *header, struct error *why)
{
    uint32_t size = 0;
    if (!read_preamble(bytes, &size, why)) {
        return false;
    }
    char *text = array_zeroed((size_t)size + 1, 1, why);
    bool ok = text != NULL && read_part(bytes, text, size, why) &&
              (strlen(text) == size ||
               error_set(why, bytes->path, 0, "a zero byte in the array's header")) &&
              npy_header_parse(text, bytes->path, header, why);
    free(text);
    return ok;
}
