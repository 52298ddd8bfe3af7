#include "core/text.h"

#include "core/array.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

size_t text_mark(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

void text_copy(char *out, size_t size, const char *text)
{
    out[0] = '\0';
    text_append(out, size, "%s", text);
}

void text_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text + used, size - used, format, list);
    va_end(list);
    if (length < 0) {
        text[used] = '\0';
    } else if ((size_t)length >= size - used) {
        error_drop_partial(text, size - 1);
    }
}

const char *text_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

void text_append_value(char *text, size_t size, const char *noun, const char *value)
{
    size_t length = strlen(noun);
    bool plural = length > 1 && noun[length - 1] == 's' && strpbrk(noun, "._") == NULL;
    if (plural) {
        length -= strcmp(value, "1") == 0;
        text_append(text, size, "%s %.*s", value, (int)length, noun);
    } else {
        text_append(text, size, "%s %s of %s", strchr("aeio", noun[0]) != NULL ? "an" : "a", noun,
                    value);
    }
}

char *text_duplicate(const char *text, struct error *why)
{
    size_t size = strlen(text) + 1;
    char *copy = array_zeroed(size, 1, why);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

uint32_t text_character(const char **at)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)(*at)++;
    size_t more = *byte < 0x80 ? 0 : *byte < 0xe0 ? 1 : *byte < 0xf0 ? 2 : 3;
    uint32_t character = more == 0 ? *byte : *byte & (0x3fu >> more);
    bool good = *byte < 0x80 || (*byte >= 0xc0 && *byte < 0xf8);
    for (size_t i = 1; good && i <= more; i++) {
        good = (byte[i] & 0xc0) == 0x80;
        character = character << 6 | (byte[i] & 0x3fu);
    }
    good = good && character >= least[more] && character <= 0x10ffff &&
           (character < 0xd800 || character > 0xdfff);
    *at += good ? more : 0;
    return good ? character : 0xfffd;
}

bool text_item(const char **rest, const char **item, size_t *length)
{
    const char *list = *rest;
    if (list == NULL) {
        return false;
    }
    size_t bytes = 0; /* before the first comma that separates */
    int depth = 0;
    char quote = '\0';
    for (; list[bytes] != '\0' && (list[bytes] != ',' || depth > 0 || quote != '\0'); bytes++) {
        char at = list[bytes];
        if (quote != '\0' || at == '"' || at == '\'') {
            quote = quote == '\0' ? at : at == quote ? '\0' : quote;
        } else {
            depth += (at == '[' || at == '{') - (at == ']' || at == '}');
        }
    }
    *rest = list[bytes] == ',' ? list + bytes + 1 : NULL;
    *item = list + strspn(list, " ");
    bytes -= *item < list + bytes ? (size_t)(*item - list) : bytes;
    while (bytes > 0 && (*item)[bytes - 1] == ' ') {
        bytes--;
    }
    *length = bytes;
    return true;
}

bool text_open(struct text_file *file, struct error *why)
{
    *file = (struct text_file){.text = NULL};
    file->out = open_memstream(&file->text, &file->size);
    return file->out != NULL || error_set(why, NULL, 0, "out of memory: no room for a text");
}

char *text_close(struct text_file *file, bool good, struct error *why)
{
    if (file->out == NULL) {
        return NULL;
    }
    bool whole = fclose(file->out) == 0;
    if (good && whole) {
        return file->text;
    }
    free(file->text);
    return good ? (error_set(why, NULL, 0, "out of memory: no room for a text"), NULL) : NULL;
}
