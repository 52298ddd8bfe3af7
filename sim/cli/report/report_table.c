#include "cli/report/report_table.h"

#include "core/array.h"
#include "cli/frame/drawing.h"
#include "cli/report/plot_statement.h"
#include "predict/result/shown.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static bool report_table_copy_text(const char *text, char **out, struct error *why)
{
    *out = text != NULL ? strdup(text) : NULL;
    return text == NULL || *out != NULL ||
           error_set(why, NULL, 0, "out of memory: no room for a table");
}

static bool add_column(struct report_table *table, const char *name, struct error *why)
{
    if (table->columns == REPORT_MOST_COLUMNS) {
        return error_set(why, NULL, 0, "a table has more than %d columns", REPORT_MOST_COLUMNS);
    }
    return report_table_copy_text(name, &table->names[table->columns++], why);
}

static bool add_columns(struct report_table *table, uint32_t count, const char *const *names,
                        struct error *why)
{
    bool ok = true;
    for (uint32_t i = table->columns; ok && i < count; i++) {
        ok = add_column(table, names[i], why);
    }
    return ok;
}

static bool report_table_add_row(struct report_table *table, uint32_t count,
                                 const char *const *values, struct error *why)
{
    if (!array_reserve(&table->rows, &table->capacity, table->count + 1, sizeof *table->rows,
                       why)) {
        return false;
    }
    struct report_row *row = &table->rows[table->count++];
    *row = (struct report_row){.texts = {NULL}};
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = report_table_copy_text(values[i], &row->texts[i], why);
    }
    return ok;
}

/* Index of a column; `columns` if there is none. */
static uint32_t report_table_find_column(const struct report_table *table, const char *name)
{
    uint32_t i = 0;
    while (i < table->columns && strcmp(table->names[i], name) != 0) {
        i++;
    }
    return i;
}

/* Is there a last row, and does it begin with these `count` texts? */
static bool says_last_row(const struct report_table *table, uint32_t count,
                          const char *const *values)
{
    for (uint32_t i = 0; i < count && table->count > 0; i++) {
        const char *text = table->rows[table->count - 1].texts[i];
        if (text == NULL || values[i] == NULL ? text != values[i] : strcmp(text, values[i]) != 0) {
            return false;
        }
    }
    return table->count > 0;
}

static bool report_table_read_row(uint32_t count, const char *const *names,
                                  const char *const *values, void *context, struct error *why)
{
    struct report_table *table = context;
    return add_columns(table, count, names, why) && report_table_add_row(table, count, values, why);
}

static bool read_pivoted(uint32_t count, const char *const *names, const char *const *values,
                         void *context, struct error *why)
{
    struct report_table *table = context;
    uint32_t plain = count - 2;
    const char *name = values[plain] != NULL ? values[plain] : "";
    if (!add_columns(table, plain, names, why)) {
        return false;
    }
    uint32_t column = report_table_find_column(table, name);
    if ((column == table->columns && !add_column(table, name, why)) ||
        (!says_last_row(table, plain, values) &&
         !report_table_add_row(table, plain, values, why))) {
        return false;
    }
    char **cell = &table->rows[table->count - 1].texts[column];
    free(*cell);
    return report_table_copy_text(values[plain + 1], cell, why);
}

bool report_table_read(struct store *store, const char *const *begin, const char *name, bool pivot,
                       struct report_table *out, struct error *why)
{
    char end[64];
    snprintf(end, sizeof end, "report/%s", name);
    const struct plot_statement statement = {.begin = begin, .end = end};
    *out = (struct report_table){.columns = 0};
    char *text = plot_statement_text(&statement, why);
    bool ok = text != NULL &&
              store_query(store, text, pivot ? read_pivoted : report_table_read_row, out, why);
    free(text);
    if (!ok) {
        report_table_release(out);
    }
    return ok;
}

void report_table_release(struct report_table *table)
{
    for (uint32_t i = 0; i < table->columns; i++) {
        free(table->names[i]);
    }
    for (size_t row = 0; row < table->count; row++) {
        for (uint32_t i = 0; i < REPORT_MOST_COLUMNS; i++) {
            free(table->rows[row].texts[i]);
        }
    }
    free(table->rows);
    *table = (struct report_table){.columns = 0};
}

const char *report_table_text(const struct report_table *table, size_t row, const char *column)
{
    uint32_t at = report_table_find_column(table, column);
    const char *text = at < table->columns ? table->rows[row].texts[at] : NULL;
    return text != NULL ? text : "";
}

/* ---- writing ---- */

enum report_table_content { CONTENT_NONE, CONTENT_NUMBERS, CONTENT_TEXTS };

static enum report_table_content content_of(const char *text)
{
    char *end;
    if (text == NULL || *text == '\0') {
        return CONTENT_NONE;
    }
    (void)strtod(text, &end);
    bool number = strspn(text, "+-.0123456789e") == strlen(text) && *end == '\0';
    return number ? CONTENT_NUMBERS : CONTENT_TEXTS;
}

static enum report_table_content content_of_column(const struct report_table *table,
                                                   uint32_t column, size_t rows)
{
    enum report_table_content all = CONTENT_NONE;
    for (size_t i = 0; i < rows; i++) {
        enum report_table_content one = content_of(table->rows[i].texts[column]);
        all = one > all ? one : all;
    }
    return all;
}

/* Three digits, for a number that has a fraction and more digits. */
static void report_table_write_number(const char *text, FILE *out)
{
    char three[SHOWN_TEXT];
    range_single(strtod(text, NULL), three, sizeof three);
    fputs(strpbrk(text, ".e") != NULL && strlen(three) < strlen(text) ? three : text, out);
}

/* Longer texts keep some width if a page is narrow. */
enum { LONG = 20 };

/* A row, or the head. */
static void write_cells(const struct report_table *table, char *const *texts,
                        const enum report_table_content *contents, const char *tag, FILE *out)
{
    fputs("<tr>", out);
    for (uint32_t i = 0; i < table->columns; i++) {
        if (contents[i] == CONTENT_NONE) {
            continue;
        }
        bool is_long = texts[i] != NULL && strlen(texts[i]) > LONG;
        fprintf(out, "<%s%s>", tag,
                contents[i] == CONTENT_NUMBERS ? " class=\"number\""
                : is_long                      ? " class=\"long\""
                                               : "");
        if (content_of(texts[i]) == CONTENT_NUMBERS && contents[i] == CONTENT_NUMBERS) {
            report_table_write_number(texts[i], out);
        } else {
            html_text(texts[i] != NULL ? texts[i] : "", out);
        }
        fprintf(out, "</%.2s>", tag);
    }
    fputs("</tr>\n", out);
}

void report_table_write(const struct report_table *table, const char *caption, size_t most,
                        FILE *out)
{
    size_t rows = table->count < most ? table->count : most;
    enum report_table_content contents[REPORT_MOST_COLUMNS];
    for (uint32_t i = 0; i < table->columns; i++) {
        contents[i] = content_of_column(table, i, rows);
    }
    html_print(out,
               "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n"
               "<table><caption>%s</caption>\n<thead>",
               caption, caption);
    write_cells(table, table->names, contents, "th scope=\"col\"", out);
    fputs("</thead>\n<tbody>\n", out);
    for (size_t row = 0; row < rows; row++) {
        write_cells(table, table->rows[row].texts, contents, "td", out);
    }
    fputs("</tbody></table></div>\n", out);
    if (rows < table->count) {
        fprintf(out,
                "<p class=\"shortened\">%zu of %zu rows are shown; the database has the "
                "others.</p>\n",
                rows, table->count);
    }
}
