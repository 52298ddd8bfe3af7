/* A frame as an aligned table. Widths follow the cells. A table that would be too wide leaves out columns,
 * highest `drop` first, and where that does not do, the ranges of all figures in place of columns; a line
 * below says which. The last column then takes what is left of the line and is cut at a comma, or wrapped.
 * A reader who chooses columns gets these and no others, however wide the line. */
#include "core/array.h"
#include "core/name.h"
#include "core/quote.h"
#include "core/text.h"
#include "tables/frame.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { GAP = 2 };

/* Places are those of the columns that may be shown, left to right. */
struct table {
    const struct frame *frame;
    uint32_t columns[TABLE_MOST_COLUMNS]; /* [count] by place, of the frame */
    uint32_t count;
    bool wide;                       /* lines are as long as they need */
    bool plain;                      /* figures are shown without their ranges */
    bool chosen[TABLE_MOST_COLUMNS]; /* by place: asked for by name */
    bool shown[TABLE_MOST_COLUMNS];
    size_t width[TABLE_MOST_COLUMNS];
    char left_out[256]; /* "ranges, mass %": what a wider line would show */
    char **texts;       /* [row × columns of the frame] owned */
};

/* Characters of a line: those of the terminal on standard output, or as many as $COLUMNS says there. */
static size_t terminal_width(void)
{
    enum {
        LEAST = 40,
        MOST = 1000,
        FILE_WIDTH = 116
    }; /* in a file a row is whole before it is short */
    struct winsize size = {.ws_col = 0};
    const char *said = getenv("COLUMNS");
    if (!isatty(STDOUT_FILENO)) {
        return FILE_WIDTH;
    }
    long width = said != NULL ? strtol(said, NULL, 10) : 0;
    if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        width = size.ws_col;
    }
    return width <= 0 ? TABLE_WIDTH : width < LEAST ? LEAST : width > MOST ? MOST : (size_t)width;
}

/* Characters of a line on this terminal, at most TABLE_WIDTH. */
static size_t table_width(void)
{
    size_t width = terminal_width();
    return width < TABLE_WIDTH ? width : TABLE_WIDTH;
}

static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static size_t bytes_within(const char *text, size_t width)
{
    size_t bytes = 0;
    while (text[bytes] != '\0' && (((unsigned char)text[bytes] & 0xc0) == 0x80 || width-- > 0)) {
        bytes++;
    }
    return bytes;
}

/* The bytes of a text that are shown in `width` characters: all, or the items that fit. */
static size_t bytes_shown(const char *text, size_t width)
{
    size_t bytes = bytes_within(text, width);
    for (size_t i = bytes; text[bytes] != '\0' && i > 0; i--) {
        if (text[i] == ',') {
            return i;
        }
    }
    return bytes;
}

void table_wrap(const char *text, size_t indent, FILE *out)
{
    size_t line = table_width(), width = indent + 20 < line ? line - indent : 20;
    while (width_of(text) > width) {
        size_t bytes = bytes_within(text, width), blank = bytes;
        while (blank > 0 && text[blank] != ' ') {
            blank--;
        }
        bytes = blank > 0 ? blank : bytes;
        fprintf(out, "%.*s\n%*s", (int)bytes, text, (int)indent, "");
        text += bytes + (blank > 0);
    }
    fputs(text, out);
}

void table_command(const char *text, size_t indent, FILE *out)
{
    size_t line = table_width(), width = indent + 20 < line ? line - indent : 20;
    const char *from = text, *option = strstr(text, " --");
    for (const char *next; option != NULL; option = next) {
        next = strstr(option + 1, " --");
        if (strlen(from) > width && (next == NULL || next - from + 2 > (ptrdiff_t)width)) {
            fprintf(out, "%.*s \\\n%*s", (int)(option - from), from, (int)indent, "");
            from = option + 1;
        }
    }
    fputs(from, out);
}

void table_line(const char *label, const char *text, FILE *out)
{
    fputs(label, out);
    table_wrap(text, width_of(label), out);
    fputc('\n', out);
}

/* ---- which columns ---- */

static const struct frame_column *column_at(const struct table *table, uint32_t place)
{
    return &table->frame->columns[table->columns[place]];
}

static void show_column(struct table *table, uint32_t column, bool chosen)
{
    for (uint32_t place = 0; place < table->count; place++) {
        if (table->columns[place] == column) {
            return;
        }
    }
    assert(table->count < TABLE_MOST_COLUMNS);
    table->chosen[table->count] = chosen;
    table->columns[table->count++] = column;
}

/* The usual columns; or all; or those without a name, and then the chosen ones, which exist. */
static void choose_columns(struct table *table, const struct table_view *view)
{
    const struct frame *frame = table->frame;
    const char *rest = view != NULL ? view->columns : NULL, *item;
    size_t length;
    table->wide = rest != NULL || (view != NULL && view->wide);
    for (uint32_t i = 0; i < frame->column_count; i++) {
        const struct frame_column *column = &frame->columns[i];
        bool usual = rest != NULL ? column->name == NULL : table->wide || !column->extra;
        if (column->title != NULL && usual) {
            show_column(table, i, false);
        }
    }
    while (text_item(&rest, &item, &length)) {
        for (uint32_t i = 0; i < frame->column_count; i++) {
            const char *name = frame->columns[i].title != NULL ? frame->columns[i].name : NULL;
            if (name != NULL && strlen(name) == length && memcmp(name, item, length) == 0) {
                show_column(table, i, true);
                break;
            }
        }
    }
}

/* ---- what cells say ---- */

const char *frame_cell_words(const struct frame_column *column, const struct frame_cell *cell,
                             char text[FRAME_WORDS])
{
    char *number = text + (cell->mark != '\0');
    if (!cell->set || cell->text != NULL) {
        return cell->text;
    }
    text[0] = cell->mark;
    const char *written =
        cell->is_mean ? shown_mean(column->unit, cell->value, cell->high - cell->value, number)
                      : shown_value(column->unit, column->decimals, cell->value, cell->low,
                                    cell->high, number);
    return written != NULL ? text : NULL;
}

static void free_texts(struct table *table)
{
    size_t cells = (size_t)table->frame->row_count * table->frame->column_count;
    for (size_t i = 0; table->texts != NULL && i < cells; i++) {
        free(table->texts[i]);
    }
    free(table->texts);
    table->texts = NULL;
}

static const char *words_at(const struct table *table, uint32_t row, uint32_t place)
{
    const char *text =
        table->texts[(size_t)row * table->frame->column_count + table->columns[place]];
    return text != NULL ? text : column_at(table, place)->title[0] != '\0' ? "-" : "";
}

/* Write all cells. Their bytes shall not control a terminal. */
static bool write_texts(struct table *table, struct error *why)
{
    const struct frame *frame = table->frame;
    size_t cells = (size_t)frame->row_count * frame->column_count;
    table->texts = array_zeroed(cells + 1, sizeof *table->texts, why);
    bool good = table->texts != NULL;
    for (size_t i = 0; good && i < cells; i++) {
        char room[FRAME_WORDS];
        const struct frame_column *column = &frame->columns[i % frame->column_count];
        const struct frame_row *row = &frame->rows[i / frame->column_count];
        struct frame_cell cell = frame->cells[i];
        if (table->plain && !cell.is_mean) {
            cell.low = cell.high = NAN;
        }
        bool shows = row->reason == NULL || i % frame->column_count < row->reason_from;
        const char *words = shows ? frame_cell_words(column, &cell, room)
                            : i % frame->column_count == row->reason_from ? row->reason
                                                                          : NULL;
        table->texts[i] = words != NULL ? quote_text(QUOTE_LINE, words, why) : NULL;
        good = words == NULL || table->texts[i] != NULL;
    }
    return good;
}

/* The column whose text fills the rest of the row's line; NO_REST: none. */
enum { NO_REST = UINT32_MAX };

static uint32_t rest_column(const struct table *table, uint32_t row)
{
    const struct frame_row *at = &table->frame->rows[row];
    uint32_t last = table->count - 1;
    return at->reason != NULL             ? at->reason_from
           : column_at(table, last)->wrap ? table->columns[last]
                                          : NO_REST;
}

/* Does the row have a cell there, or does a text run over it? */
static bool has_cell(const struct table *table, uint32_t row, uint32_t place)
{
    uint32_t rest = rest_column(table, row), column = table->columns[place];
    return table->frame->rows[row].reason != NULL ? column < rest : column != rest;
}

/* ---- layout ---- */

static bool is_had(const struct table *table, uint32_t place)
{
    bool had = false;
    for (uint32_t row = 0; row < table->frame->row_count; row++) {
        size_t first = (size_t)row * table->frame->column_count;
        had = had || table->texts[first + table->columns[place]] != NULL;
    }
    return had;
}

/* Leave out the column that is the first to go; false if none may. */
static bool drop_one(struct table *table)
{
    int most = 0;
    uint32_t dropped = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->shown[i] && column_at(table, i)->drop > most) {
            most = column_at(table, i)->drop;
            dropped = i;
        }
    }
    if (most > 0) {
        table->shown[dropped] = false;
        name_list_add(table->left_out, sizeof table->left_out, column_at(table, dropped)->title);
    }
    return most > 0;
}

/* Leave out columns until the last one fits on the line, and give it what is left. Does it fit? */
static bool fit_line(struct table *table)
{
    enum { LEAST = 22, LEAST_WRAPPED = 20 }; /* of the last one, which is cut or wrapped */
    uint32_t last = table->count - 1;
    size_t before, least, line = terminal_width();
    do {
        while (last > 0 && !table->shown[last]) {
            last--;
        }
        size_t title = width_of(column_at(table, last)->title); /* is not cut */
        least = table->width[last] < LEAST ? table->width[last] : LEAST;
        least = column_at(table, last)->wrap && is_had(table, last) ? LEAST_WRAPPED : least;
        least = least < title ? title : least;
        before = 0;
        for (uint32_t i = 0; i < last; i++) {
            before += table->shown[i] ? table->width[i] + GAP : 0;
        }
    } while (before + least > line && drop_one(table));
    size_t left = before + least > line ? least : line - before;
    table->width[last] = table->width[last] < left ? table->width[last] : left;
    return before + least <= line;
}

static bool has_ranges(const struct table *table)
{
    const struct frame *frame = table->frame;
    bool has = false;
    for (uint32_t i = 0; i < frame->row_count * table->count; i++) {
        uint32_t place = i % table->count;
        const struct frame_cell *cell =
            &frame->cells[i / table->count * frame->column_count + table->columns[place]];
        has = has || (table->shown[place] && !cell->is_mean && cell->low < cell->high);
    }
    return has;
}

static bool lay_out(struct table *table, struct error *why)
{
    free_texts(table);
    text_copy(table->left_out, sizeof table->left_out, table->plain ? "ranges" : "");
    if (!write_texts(table, why)) {
        return false;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        const struct frame_column *column = column_at(table, i);
        bool wraps = column->wrap && i == table->count - 1;
        table->shown[i] = !column->optional || table->chosen[i] || is_had(table, i);
        table->width[i] = wraps ? 0 : width_of(column->title);
        for (uint32_t row = 0; row < table->frame->row_count; row++) {
            size_t width = has_cell(table, row, i) ? width_of(words_at(table, row, i)) : 0;
            table->width[i] = width > table->width[i] ? width : table->width[i];
        }
    }
    if (table->wide || fit_line(table) || table->plain || !has_ranges(table)) {
        return true;
    }
    table->plain = true;
    return lay_out(table, why);
}

/* `pending` is the white space before the next text, so that a line does not end in blanks. */
static void print_cell(const char *text, bool right, size_t width, size_t *pending, FILE *out)
{
    size_t wide = width_of(text);
    size_t shown = wide > width ? bytes_shown(text, width) : strlen(text);
    size_t blank = wide < width ? width - wide : 0;
    if (shown == 0) {
        *pending += width + GAP;
        return;
    }
    fprintf(out, "%*s%.*s", (int)(*pending + (right ? blank : 0)), "", (int)shown, text);
    *pending = (right ? 0 : blank) + GAP;
}

static void print_head(const struct table *table, FILE *out)
{
    size_t pending = 0;
    bool titled = false;
    for (uint32_t i = 0; i < table->count; i++) {
        titled = titled || column_at(table, i)->title[0] != '\0';
    }
    for (uint32_t i = 0; titled && i < table->count; i++) {
        if (table->shown[i]) {
            const char *title = column_at(table, i)->title;
            size_t width = table->width[i] > 0 ? table->width[i] : width_of(title);
            print_cell(title, column_at(table, i)->unit != UNIT_TEXT, width, &pending, out);
        }
    }
    fputs(titled ? "\n" : "", out);
}

static void print_row(const struct table *table, uint32_t row, FILE *out)
{
    size_t pending = 0, indent = 0;
    uint32_t rest = rest_column(table, row);
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->shown[i] && has_cell(table, row, i)) {
            print_cell(words_at(table, row, i), column_at(table, i)->unit != UNIT_TEXT,
                       table->width[i], &pending, out);
            indent += table->width[i] + GAP;
        }
    }
    if (rest != NO_REST) {
        const char *text = table->texts[(size_t)row * table->frame->column_count + rest];
        bool blank = text != NULL && text[0] == '\0';
        fprintf(out, "%*s", blank ? 0 : (int)pending, "");
        table_wrap(text != NULL ? text : "-", indent, out);
    }
    fputc('\n', out);
}

bool frame_print(const struct frame *frame, const struct table_view *view, FILE *out,
                 struct error *why)
{
    struct table table = {.frame = frame};
    if (!frame_ok(frame, why)) {
        return false;
    }
    choose_columns(&table, view);
    bool good = lay_out(&table, why);
    if (good) {
        print_head(&table, out);
    }
    for (uint32_t row = 0; good && row < frame->row_count; row++) {
        print_row(&table, row, out);
    }
    /* A file has its usual columns without a word. */
    if (good && (table.plain || isatty(STDOUT_FILENO)) && table.left_out[0] != '\0') {
        text_append(table.left_out, sizeof table.left_out, ": a wider line shows them)");
        table_line("(no room for ", table.left_out, out);
    }
    free_texts(&table);
    return good;
}
