#include "cli/runs/note_span.h"

#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char dash[] = "–";

struct span {
    uint64_t low, high;
};

/* Read the number at `text` as a digit begins it. */
static bool read_number(const char *text, uint64_t *out, const char **end)
{
    char *after = NULL;
    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    *out = strtoull(text, &after, 10);
    *end = after;
    return true;
}

/* Read a word of `length` bytes: "164", or "164–611". */
static bool read_span(const char *word, size_t length, struct span *out)
{
    const char *end;
    if (!read_number(word, &out->low, &end)) {
        return false;
    }
    out->high = out->low;
    if (strncmp(end, dash, strlen(dash)) == 0 &&
        !read_number(end + strlen(dash), &out->high, &end)) {
        return false;
    }
    return end == word + length;
}

/* Append the numbers of both words, or the word if they are equal. */
static bool append_word(const char *a, size_t a_length, const char *b, size_t b_length, char *out)
{
    struct span x, y;
    if (a_length == b_length && memcmp(a, b, a_length) == 0) {
        text_append(out, NOTE_SPAN, "%.*s", (int)a_length, a);
        return true;
    }
    if (!read_span(a, a_length, &x) || !read_span(b, b_length, &y)) {
        return false;
    }
    text_append(out, NOTE_SPAN, "%" PRIu64 "%s%" PRIu64, x.low < y.low ? x.low : y.low, dash,
                x.high > y.high ? x.high : y.high);
    return true;
}

bool note_span(const char *a, const char *b, char out[NOTE_SPAN])
{
    enum { WORD_MOST = 48 }; /* more than two numbers have */
    out[0] = '\0';
    while (*a != '\0' && *b != '\0') {
        size_t a_length = strcspn(a, " "), b_length = strcspn(b, " ");
        if (strlen(out) + a_length + WORD_MOST > NOTE_SPAN ||
            !append_word(a, a_length, b, b_length, out)) {
            return false;
        }
        a += a_length;
        b += b_length;
        if (*a == ' ' && *b == ' ') {
            text_append(out, NOTE_SPAN, " ");
            a++;
            b++;
        }
    }
    return *a == *b;
}
