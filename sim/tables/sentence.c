/* Sentences of a frame's row, written from its other values. */
#include "tables/sentence.h"

#include "core/text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SENTENCE = 4096 };

/* What is written so far, and the row that gives the values. */
struct sentence {
    const struct frame *frame;
    uint32_t row;
    char *text; /* [SENTENCE] */
};

static bool write_words(const struct sentence *sentence, const char **at, const char *ends);

/* The value of a name, which there is, and its column. */
static const struct frame_cell *sentence_value(const struct sentence *sentence, const char *name,
                                               size_t length, const struct frame_column **column)
{
    const struct frame *frame = sentence->frame;
    for (uint32_t i = 0; i < frame->column_count; i++) {
        *column = &frame->columns[i];
        const char *own = (*column)->key != NULL ? (*column)->key : (*column)->name;
        if (own != NULL && strlen(own) == length && memcmp(own, name, length) == 0) {
            return &frame->cells[(size_t)sentence->row * frame->column_count + i];
        }
    }
    assert(!"a sentence names a value that its frame does not have");
    return NULL;
}

/* ---- values ---- */

static const char *write_two_digits(double value, char text[SHOWN_TEXT])
{
    return shown_value(UNIT_ROUGH, 0, value, NAN, NAN, text);
}

static void sentence_rough(const struct sentence *sentence, enum unit unit,
                           const struct frame_cell *cell)
{
    bool share = unit == UNIT_PERCENT || unit == UNIT_CHANGE;
    double scale = share ? 100 : 1;
    const char *sign = share ? " %" : "";
    char value[SHOWN_TEXT], low[SHOWN_TEXT], high[SHOWN_TEXT];
    text_append(sentence->text, SENTENCE, "%s%s", write_two_digits(scale * cell->value, value),
                sign);
    if (cell->low < cell->high) {
        text_append(sentence->text, SENTENCE, " (%s to %s%s)",
                    write_two_digits(scale * cell->low, low),
                    write_two_digits(scale * cell->high, high), sign);
    }
}

/* `*at` is at the "{". */
static bool sentence_write_value(const struct sentence *sentence, const char **at)
{
    const char *name = *at + 1, *mark = name + strcspn(name, "~?}");
    const struct frame_column *column;
    const struct frame_cell *cell = sentence_value(sentence, name, (size_t)(mark - name), &column);
    char room[SHOWN_TEXT];
    *at = strchr(name, '}') + 1;
    if (!cell->set) {
        return false;
    }
    if (*mark == '?') {
        text_append_choice(sentence->text, SENTENCE, cell->value == 1, mark + 1);
    } else if (*mark == '~') {
        sentence_rough(sentence, column->unit, cell);
    } else {
        const char *value = cell->text != NULL ? cell->text
                                               : shown_value(column->unit, column->decimals,
                                                             cell->value, NAN, NAN, room);
        text_append(sentence->text, SENTENCE, "%s", value != NULL ? value : "0");
    }
    return true;
}

/* ---- parts ---- */

/* `*at` is at the "[". */
static void write_first(const struct sentence *sentence, const char **at)
{
    bool said = false;
    do {
        size_t before = strlen(sentence->text);
        ++*at;
        bool all = write_words(sentence, at, "|]");
        sentence->text[said || !all ? before : strlen(sentence->text)] = '\0';
        said = said || all;
    } while (**at == '|');
    ++*at;
}

/* `*at` is at the "<". Says it anything? */
static bool write_list(const struct sentence *sentence, const char **at)
{
    const char *name = *at + 1, *mark = name + strcspn(name, ":;");
    const struct frame_column *column;
    const struct frame *rows = sentence_value(sentence, name, (size_t)(mark - name), &column)->rows;
    bool any = false;
    for (uint32_t row = 0; rows != NULL && row < rows->row_count; row++) {
        const struct sentence inner = {rows, row, sentence->text};
        const char *words = mark + 1;
        size_t before = strlen(sentence->text);
        text_append(sentence->text, SENTENCE, "%s", !any ? "" : *mark == ';' ? "; " : ", ");
        size_t from = strlen(sentence->text);
        bool said = write_words(&inner, &words, ">") && strlen(sentence->text) > from;
        sentence->text[said ? strlen(sentence->text) : before] = '\0';
        any = any || said;
    }
    *at = mark + strcspn(mark, ">") + 1;
    return any;
}

/* Write up to one of `ends`, where `*at` is then. Are all values there? */
static bool write_words(const struct sentence *sentence, const char **at, const char *ends)
{
    bool all = true;
    while (**at != '\0' && strchr(ends, **at) == NULL) {
        if (**at == '{') {
            all = sentence_write_value(sentence, at) && all;
        } else if (**at == '<') {
            all = write_list(sentence, at) && all;
        } else if (**at == '[') {
            write_first(sentence, at);
        } else {
            size_t plain = 1 + strcspn(*at + 1, "{<[|]>");
            text_append(sentence->text, SENTENCE, "%.*s", (int)plain, *at);
            *at += plain;
        }
    }
    return all;
}

void frame_say(struct frame *frame)
{
    char text[SENTENCE];
    for (uint32_t i = 0; frame != NULL && !frame->is_short && i < frame->column_count; i++) {
        const char *at = frame->columns[i].words;
        const struct sentence sentence = {frame, frame->row, text};
        text[0] = '\0';
        if (at != NULL && write_words(&sentence, &at, "") && text[0] != '\0') {
            frame_text(frame, i, text);
        }
    }
}
