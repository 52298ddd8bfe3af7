#include "tables/table.h"

#include "core/array.h"
#include "core/quote.h"
#include "core/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { GAP = 2 };

struct table_row {
    uint32_t cells;
    char *texts[TABLE_MOST_COLUMNS]; /* owned */
};

struct table {
    uint32_t columns;
    bool had[TABLE_MOST_COLUMNS]; /* a text in any row */
    struct table_column column[TABLE_MOST_COLUMNS];
    uint32_t order[TABLE_MOST_COLUMNS]; /* [shown] the columns that may be shown, left to right */
    uint32_t shown;
    bool wide;              /* lines are as long as they need */
    struct table_row *rows; /* the first one holds the titles */
    size_t count, capacity;
};

/* Which columns are shown, and how wide. */
struct layout {
    size_t width[TABLE_MOST_COLUMNS];
    bool shown[TABLE_MOST_COLUMNS];
};

/* Characters of a line: those of the terminal on standard output, or as many as $COLUMNS says there. */
static size_t table_width(void)
{
    enum { LEAST = 40, MOST = 1000 };
    struct winsize size = {.ws_col = 0};
    const char *said = getenv("COLUMNS");
    if (!isatty(STDOUT_FILENO)) {
        return TABLE_WIDTH;
    }
    long width = said != NULL ? strtol(said, NULL, 10) : 0;
    if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        width = size.ws_col;
    }
    return width <= 0 ? TABLE_WIDTH : width < LEAST ? LEAST : width > MOST ? MOST : (size_t)width;
}

/* Characters, not bytes, of UTF-8. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

struct table *table_create(const struct table_column *columns, uint32_t count, struct error *why)
{
    assert(count > 0 && count <= TABLE_MOST_COLUMNS);
    const char *titles[TABLE_MOST_COLUMNS];
    struct table *table = array_zeroed(1, sizeof *table, why);
    if (table == NULL) {
        return NULL;
    }
    table->columns = count;
    for (uint32_t i = 0; i < count; i++) {
        table->column[i] = columns[i];
        titles[i] = columns[i].title;
        table->order[table->shown] = i;
        table->shown += !columns[i].extra;
    }
    if (!table_add(table, titles, count, why)) {
        table_destroy(table);
        return NULL;
    }
    memset(table->had, 0, sizeof table->had); /* titles do not count */
    return table;
}

static void row_release(struct table_row *row)
{
    for (uint32_t i = 0; i < row->cells; i++) {
        free(row->texts[i]);
    }
}

void table_destroy(struct table *table)
{
    if (table != NULL) {
        for (size_t i = 0; i < table->count; i++) {
            row_release(&table->rows[i]);
        }
        free(table->rows);
        free(table);
    }
}

bool table_add(struct table *table, const char *const *texts, uint32_t cells, struct error *why)
{
    assert(cells > 0 && cells <= table->columns);
    struct table_row row = {.cells = 0};
    if (!array_reserve(&table->rows, &table->capacity, table->count + 1, sizeof *table->rows,
                       why)) {
        return false;
    }
    for (; row.cells < cells; row.cells++) {
        const char *text = texts[row.cells];
        const char *none = *table->column[row.cells].title != '\0' ? "-" : "";
        row.texts[row.cells] = quote_text(QUOTE_LINE, text != NULL ? text : none, why);
        if (row.texts[row.cells] == NULL) {
            row_release(&row);
            return false;
        }
    }
    for (uint32_t i = 0; i < cells; i++) {
        table->had[i] = table->had[i] || texts[i] != NULL;
    }
    table->rows[table->count++] = row;
    return true;
}

/* ---- choice ---- */

/* The column of a name; `count` if there is none. */
static uint32_t table_find_column(const struct table_column *columns, uint32_t count,
                                  const char *name, size_t length)
{
    uint32_t i = 0;
    while (i < count && (columns[i].name == NULL || strlen(columns[i].name) != length ||
                         memcmp(columns[i].name, name, length) != 0)) {
        i++;
    }
    return i;
}

void table_choose(struct table *table, const struct table_view *view)
{
    const char *rest = view->columns, *item;
    size_t length;
    if (!view->wide && rest == NULL) {
        return;
    }
    table->wide = true;
    table->shown = 0;
    for (uint32_t i = 0; i < table->columns; i++) {
        bool wanted = rest == NULL || table->column[i].name == NULL;
        table->order[table->shown] = i;
        table->shown += wanted;
        table->column[i].drop = 0;
    }
    while (rest != NULL && text_item(&rest, &item, &length)) {
        uint32_t place = table_find_column(table->column, table->columns, item, length);
        bool skip = place == table->columns; /* or it is shown already */
        for (uint32_t i = 0; i < table->shown && !skip; i++) {
            skip = table->order[i] == place;
        }
        if (!skip) {
            table->column[place].optional = false;
            table->order[table->shown++] = place;
        }
    }
}

/* ---- layout ---- */

/* Does the last text of a row fill the rest of the line? */
static bool runs_over(const struct table *table, const struct table_row *row)
{
    return row->cells < table->columns ||
           (table->column[row->cells - 1].wrap && table->order[table->shown - 1] == row->cells - 1);
}

static void table_measure(const struct table *table, struct layout *layout)
{
    *layout = (struct layout){.shown = {false}};
    for (uint32_t i = 0; i < table->shown; i++) {
        uint32_t column = table->order[i];
        layout->shown[column] = table->had[column] || !table->column[column].optional;
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct table_row *row = &table->rows[i];
        uint32_t fixed = row->cells - runs_over(table, row);
        for (uint32_t c = 0; c < fixed; c++) {
            size_t width = width_of(row->texts[c]);
            layout->width[c] = width > layout->width[c] ? width : layout->width[c];
        }
    }
}

static uint32_t last_shown(const struct table *table, const struct layout *layout)
{
    uint32_t last = table->shown - 1;
    while (last > 0 && !layout->shown[table->order[last]]) {
        last--;
    }
    return table->order[last];
}

/* The width of the shown columns before a column, with the gap behind each. */
static size_t width_before(const struct table *table, const struct layout *layout, uint32_t end)
{
    size_t width = 0;
    for (uint32_t i = 0; i < table->shown && table->order[i] != end; i++) {
        uint32_t column = table->order[i];
        width += layout->shown[column] ? layout->width[column] + GAP : 0;
    }
    return width;
}

/* The least width of a column that ends the line: cut or wrapped. Its title is not cut. */
static size_t least_width(const struct table *table, const struct layout *layout, uint32_t column)
{
    enum { LEAST = 22, LEAST_WRAPPED = 20 };
    size_t title = width_of(table->rows[0].texts[column]);
    size_t least = layout->width[column] < LEAST ? layout->width[column] : LEAST;
    least = table->column[column].wrap && table->had[column] ? LEAST_WRAPPED : least;
    return least < title ? title : least;
}

/* Leave out the column that is the first to go; false if none may. */
static bool drop_one(const struct table *table, struct layout *layout)
{
    int most = 0;
    uint32_t dropped = 0;
    for (uint32_t i = 0; i < table->columns; i++) {
        if (layout->shown[i] && table->column[i].drop > most) {
            most = table->column[i].drop;
            dropped = i;
        }
    }
    layout->shown[dropped] = layout->shown[dropped] && most == 0;
    return most > 0;
}

/* Leave out columns until the last one fits on the line, and give it what is left. */
static void fit_line(const struct table *table, struct layout *layout)
{
    uint32_t last;
    size_t before, least, line = table_width();
    do {
        last = last_shown(table, layout);
        before = width_before(table, layout, last);
        least = least_width(table, layout, last);
    } while (before + least > line && drop_one(table, layout));
    size_t left = before + least > line ? least : line - before;
    layout->width[last] = layout->width[last] < left ? layout->width[last] : left;
}

/* ---- printing ---- */

/* The bytes of `text` that fill at most `width` characters. */
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
    if (text[bytes] == '\0' || text[bytes] == ',') {
        return bytes;
    }
    for (size_t i = bytes; i > 0; i--) {
        if (text[i] == ',') {
            return i;
        }
    }
    return bytes;
}

/* `pending` is the white space before the next text, so that a line does not end in blanks. */
static void table_print_cell(const char *text, const struct table_column *column, size_t width,
                             size_t *pending, FILE *out)
{
    size_t wide = width_of(text);
    size_t shown = wide > width ? bytes_shown(text, width) : strlen(text);
    size_t blank = wide < width ? width - wide : 0;
    if (shown == 0) {
        *pending += width + GAP;
        return;
    }
    fprintf(out, "%*s%.*s", (int)(*pending + (column->right ? blank : 0)), "", (int)shown, text);
    *pending = (column->right ? 0 : blank) + GAP;
}

void table_wrap(const char *text, size_t indent, FILE *out)
{
    size_t line = table_width() < TABLE_WIDTH ? table_width() : TABLE_WIDTH;
    size_t width = indent + 20 < line ? line - indent : 20;
    while (width_of(text) > width) {
        size_t bytes = bytes_within(text, width);
        size_t blank = bytes;
        while (blank > 0 && text[blank] != ' ') {
            blank--;
        }
        bytes = blank > 0 ? blank : bytes;
        fprintf(out, "%.*s\n%*s", (int)bytes, text, (int)indent, "");
        text += bytes + (blank > 0);
    }
    fputs(text, out);
}

void table_line(const char *label, const char *text, FILE *out)
{
    fputs(label, out);
    table_wrap(text, width_of(label), out);
    fputc('\n', out);
}

static void table_print_row(const struct table *table, const struct layout *layout,
                            const struct table_row *row, FILE *out)
{
    size_t pending = 0, width = 0;
    bool over = runs_over(table, row);
    uint32_t cells = row->cells - over;
    for (uint32_t i = 0; i < table->shown && (!over || table->order[i] < cells); i++) {
        uint32_t column = table->order[i];
        if (layout->shown[column]) {
            table_print_cell(row->texts[column], &table->column[column], layout->width[column],
                             &pending, out);
            width += layout->width[column] + GAP;
        }
    }
    if (over) {
        fprintf(out, "%*s", (int)pending, "");
        table_wrap(row->texts[cells], width, out);
    }
    fputc('\n', out);
}

static bool has_titles(const struct table *table)
{
    bool titles = false;
    for (uint32_t i = 0; i < table->columns; i++) {
        titles = titles || table->rows[0].texts[i][0] != '\0';
    }
    return titles;
}

void table_print(const struct table *table, FILE *out)
{
    struct layout layout;
    table_measure(table, &layout);
    if (!table->wide) {
        fit_line(table, &layout);
    }
    for (size_t i = has_titles(table) ? 0 : 1; i < table->count; i++) {
        table_print_row(table, &layout, &table->rows[i], out);
    }
}
