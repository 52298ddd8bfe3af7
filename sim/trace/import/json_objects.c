/* Bytes go from the block into the text, up to the brace that closes the object. A string that
 * follows `long_key` and a colon goes to its taker instead. */
#include "trace/import/json_objects.h"

#include "base/array.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECT_MOST = 1 << 28, END = -1 };

/* ---- bytes ---------------------------------------------------------------------------- */

/* Make the block non-empty; at the end of the file it stays empty. */
static bool fill(struct json_objects *objects, struct error *why)
{
    objects->at = 0;
    return import_bytes_read(&objects->bytes, objects->block, IMPORT_BLOCK, &objects->end, why);
}

bool json_objects_open(struct json_objects *objects, const char *path, const char *long_key,
                       const struct json_long *taker, struct error *why)
{
    if (!import_bytes_open(&objects->bytes, path, why)) {
        return false;
    }
    if (!fill(objects, why)) {
        import_bytes_close(&objects->bytes);
        return false;
    }
    objects->at = text_mark((const char *)objects->block, objects->end);
    objects->path = path;
    objects->long_key = long_key;
    objects->taker = taker;
    objects->size = objects->room = 0;
    objects->text = NULL;
    objects->line = 1;
    objects->longs = 0;
    objects->in_array = objects->had_object = false;
    return true;
}

void json_objects_close(struct json_objects *objects)
{
    free(objects->text);
    import_bytes_close(&objects->bytes);
}

/* The next byte, or END. */
static bool next_byte(struct json_objects *objects, int *byte, struct error *why)
{
    if (objects->at == objects->end && !fill(objects, why)) {
        return false;
    }
    *byte = objects->at < objects->end ? objects->block[objects->at++] : END;
    objects->line += *byte == '\n';
    return true;
}

static bool keep(struct json_objects *objects, int byte, struct error *why)
{
    if (objects->size == OBJECT_MOST) {
        return error_set(why, objects->path, objects->first_line,
                         "the object that begins here has more than %d MiB besides '%s'",
                         OBJECT_MOST >> 20, objects->long_key);
    }
    if (!array_reserve(&objects->text, &objects->room, objects->size + 1, 1, why)) {
        return false;
    }
    objects->text[objects->size++] = (char)byte;
    return true;
}

/* The next byte of an object, which cannot be the end of the file. */
static bool inner_byte(struct json_objects *objects, int *byte, struct error *why)
{
    return next_byte(objects, byte, why) &&
           (*byte != END || error_set(why, objects->path, objects->first_line,
                                      "the file ends within the object that begins here"));
}

/* ---- strings -------------------------------------------------------------------------- */

/* The rest of a string whose opening quote was read. */
static bool take_short(struct json_objects *objects, struct error *why)
{
    int byte = 0;
    bool escaped = false;
    objects->last_string = objects->size;
    while (byte != '"' || escaped) {
        escaped = byte == '\\' && !escaped;
        if (!inner_byte(objects, &byte, why) || !keep(objects, byte, why)) {
            return false;
        }
    }
    return true;
}

static bool hand_over(struct json_objects *objects, const char *at, size_t size, struct error *why)
{
    return size == 0 || objects->taker == NULL ||
           objects->taker->piece(objects->taker->state, at, size, why);
}

/* Hand over what the block holds up to a character that is not plain. */
static bool take_run(struct json_objects *objects, uint64_t *size, struct error *why)
{
    const uint8_t *from = objects->block + objects->at;
    size_t left = objects->end - objects->at, plain = 0;
    while (plain < left && from[plain] != '"' && from[plain] != '\\' && from[plain] >= ' ') {
        plain++;
    }
    objects->at += plain;
    *size += plain;
    return hand_over(objects, (const char *)from, plain, why);
}

/* Hand over up to the closing quote, and count. An escaped slash is the one escape that such a
 * string may have. */
static bool take_pieces(struct json_objects *objects, uint64_t *size, struct error *why)
{
    int byte;
    while (take_run(objects, size, why) && inner_byte(objects, &byte, why)) {
        if (byte == '"') {
            return true;
        }
        bool is_escaped = byte == '\\';
        if (is_escaped && !inner_byte(objects, &byte, why)) {
            return false;
        }
        if (byte < ' ' || (is_escaped && byte != '/')) {
            return error_set(why, objects->path, objects->line,
                             "'%s' holds a character that is not of base64", objects->long_key);
        }
        char plain = (char)byte;
        *size += 1;
        if (!hand_over(objects, &plain, 1, why)) {
            return false;
        }
    }
    return false;
}

static bool take_long(struct json_objects *objects, struct error *why)
{
    const struct json_long *taker = objects->taker;
    uint64_t number = objects->longs++, size = 0;
    char mark[64];
    if ((taker != NULL && !taker->begin(taker->state, number, why)) ||
        !take_pieces(objects, &size, why) || (taker != NULL && !taker->end(taker->state, why))) {
        return false;
    }
    int length = snprintf(mark, sizeof mark, "%" PRIu64 ":%" PRIu64 "\"", number, size);
    for (int i = 0; i < length; i++) {
        if (!keep(objects, mark[i], why)) {
            return false;
        }
    }
    return true;
}

/* ---- objects -------------------------------------------------------------------------- */

static bool is_space(int byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Does the text's last string, just before a colon, name the long strings? */
static bool named_long(const struct json_objects *objects)
{
    size_t length = strlen(objects->long_key);
    size_t start = objects->last_string;
    return start + length < objects->size && objects->text[start + length] == '"' &&
           memcmp(objects->text + start, objects->long_key, length) == 0;
}

/* One byte of the object outside strings, or a whole string. `*is_value` tells whether a colon came
 * before, with a name that is of long strings. */
static bool take_part(struct json_objects *objects, bool *is_value, struct error *why)
{
    int byte;
    if (!inner_byte(objects, &byte, why) || !keep(objects, byte, why)) {
        return false;
    }
    if (byte == '"') {
        bool is_long = *is_value;
        *is_value = false;
        return is_long ? take_long(objects, why) : take_short(objects, why);
    }
    objects->depth += byte == '{' || byte == '[';
    objects->depth -= byte == '}' || byte == ']';
    if (!is_space(byte)) {
        *is_value = byte == ':' && named_long(objects);
    }
    return true;
}

static bool take_object(struct json_objects *objects, struct error *why)
{
    bool is_value = false;
    objects->first_line = objects->line;
    objects->size = objects->last_string = 0;
    objects->depth = 1;
    if (!keep(objects, '{', why)) {
        return false;
    }
    while (objects->depth > 0) {
        if (!take_part(objects, &is_value, why)) {
            return false;
        }
    }
    objects->had_object = true;
    return true;
}

static bool misplaced(const struct json_objects *objects, int byte, struct error *why)
{
    if (byte == END) {
        error_set(why, objects->path, objects->line, "the file ends within an array");
    } else if (byte < 0x80) {
        error_set(why, objects->path, objects->line, "'%c' between two objects", byte);
    } else { /* perhaps no character */
        error_set(why, objects->path, objects->line, "the byte 0x%02x between two objects",
                  (unsigned)byte);
    }
    return error_expect(why, "JSON objects, one a line or in an array");
}

/* Does the byte lead from one object of an array to the next, or into or out of an array? */
static bool separates(struct json_objects *objects, int byte)
{
    bool opens = byte == '[' && !objects->in_array;
    bool closes = byte == ']' && objects->in_array;
    bool divides = byte == ',' && objects->in_array && objects->had_object;
    objects->in_array = opens || (objects->in_array && !closes);
    objects->had_object = objects->had_object && !opens && !divides;
    return opens || closes || divides || is_space(byte);
}

bool json_objects_next(struct json_objects *objects, bool *more, struct error *why)
{
    int byte;
    do {
        if (!next_byte(objects, &byte, why)) {
            return false;
        }
        *more = byte == '{' && !(objects->in_array && objects->had_object);
        if (*more) {
            return take_object(objects, why);
        }
    } while (separates(objects, byte));
    return (byte == END && !objects->in_array) || misplaced(objects, byte, why);
}
