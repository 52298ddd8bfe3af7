#include "cli/report/report_query.h"

#include "cli/frame/drawing.h"
#include "core/array.h"
#include "core/files.h"
#include "core/named.h"
#include "core/text.h"
#include "predict/result/result.h"
#include "predict/result/shown.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- text ---- */

bool plot_copy_file(const char *folder, const char *name, const char *kind, FILE *out,
                    struct error *why)
{
    char path[4096];
    size_t size;
    char *text = find_path(folder, name, kind, path, sizeof path, why)
                     ? files_text(NULL, path, &size, why)
                     : NULL;
    if (text != NULL) {
        fwrite(text, 1, size, out);
    }
    free(text);
    return text != NULL;
}

/* Write a text as an SQL string. */
static void append_quoted(const char *text, size_t length, FILE *out)
{
    fputc('\'', out);
    for (size_t i = 0; i < length; i++) {
        fputs(text[i] == '\'' ? "''" : (char[]){text[i], '\0'}, out);
    }
    fputc('\'', out);
}

/* A row for each KEY=VALUE, after a SELECT without rows: the statement needs at least one SELECT. */
static void append_only(const struct plot_statement *statement, FILE *out)
{
    fputs("only(key, value) AS (SELECT '', '' WHERE 0", out);
    for (uint32_t i = 0; i < statement->only_count; i++) {
        const char *text = statement->only[i];
        size_t length = strcspn(text, "=");
        fputs(" UNION SELECT ", out);
        append_quoted(text, length, out);
        fputs(", ", out);
        append_quoted(text + length + 1, strlen(text + length + 1), out);
    }
    fputs(")\n", out);
}

/* The cells of all columns. */
static void append_cells(FILE *out)
{
    fputs(", cell(id, place, key, what, value) AS (", out);
    for (uint32_t i = 0; i < column_count; i++) {
        const struct column *column = column_rows[i];
        fprintf(out, "%sSELECT id, %u, '%s', ", i > 0 ? " UNION ALL " : "", i, column->name);
        append_quoted(column->what, strlen(column->what), out);
        fprintf(out, ", %s FROM ok\n", column->name);
    }
    fputs(")\n", out);
}

/* All files, one behind the other. If `end` is not NULL, it replaces the last file. */
static bool append_files(const struct plot_statement *statement, const char *end, FILE *out,
                         struct error *why)
{
    append_only(statement, out);
    for (const char *const *file = statement->begin; *file != NULL; file++) {
        if (strcmp(*file, PLOT_CELLS) == 0) {
            append_cells(out);
        } else if (!plot_copy_file("plots", *file, "sql", out, why)) {
            return false;
        }
    }
    return end != NULL ? fputs(end, out) >= 0
                       : plot_copy_file("plots", statement->end, "sql", out, why);
}

/* ---- tables ---- */

/* The length of a string, a quoted name or a comment; 0 if none begins here. */
static size_t quoted_length(const char *text)
{
    if (strncmp(text, "--", 2) == 0) {
        return strcspn(text, "\n");
    }
    if (*text != '\'' && *text != '"') {
        return 0;
    }
    const char *end = strchr(text + 1, *text);
    return end != NULL ? (size_t)(end + 1 - text) : strlen(text);
}

/* What is next in a WITH: a table, or the SELECT behind the last one. */
static const char *next_table(const char *text)
{
    for (;;) {
        text += strspn(text, " ,\n");
        if (strncmp(text, "--", 2) != 0) {
            return text;
        }
        text += strcspn(text, "\n");
    }
}

/* The length of "NAME(COLUMN, ...) AS (SELECT ...)": the parenthesis that follows AS ends it. */
static size_t table_length(const char *text)
{
    bool body = false;
    const char *at = text;
    for (int depth = 0; *at != '\0';) {
        size_t quoted = quoted_length(at);
        depth += quoted > 0 ? 0 : (*at == '(') - (*at == ')');
        body = body || (depth == 0 && strncmp(at, " AS ", 4) == 0);
        bool ends = body && depth == 0 && *at == ')';
        at += quoted > 0 ? quoted : 1;
        if (ends) {
            break;
        }
    }
    return (size_t)(at - text);
}

/* Make each table of the WITH a table of the connection, under its name and a hash of all text up to
 * its end, on which alone its rows depend: if an earlier statement made it, it is there already. A
 * view gives it its name. SQLite would compile a table of a WITH anew wherever it is named, and
 * these are nested: that took nearly all the time of a report. */
static void append_tables(const char *text, FILE *out)
{
    const char *table = next_table(text);
    XXH64_hash_t hash = 0;
    fputs("PRAGMA query_only = 0;\n", out);
    while (*table != '\0' && strncmp(table, "SELECT", 6) != 0) {
        int length = (int)table_length(table), name = (int)strcspn(table, " (");
        hash = XXH64(table, (size_t)length, hash);
        fprintf(out,
                "CREATE TEMP TABLE IF NOT EXISTS %.*s_%016" PRIx64
                " AS WITH %.*s\nSELECT * FROM %.*s;\n"
                "DROP VIEW IF EXISTS temp.%.*s;\n"
                "CREATE TEMP VIEW %.*s AS SELECT * FROM temp.%.*s_%016" PRIx64 ";\n",
                name, table, (uint64_t)hash, length, table, name, table, name, table, name, table,
                name, table, (uint64_t)hash);
        table = next_table(table + length);
    }
    fprintf(out, "PRAGMA query_only = 1;\n%s", table);
}

/* ---- the statement ---- */

/* The text with this SELECT in place of the last file, if it is not NULL. */
static char *plot_statement_ending(const struct plot_statement *statement, const char *end,
                                   struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why) && append_files(statement, end, file.out, why);
    char *files = text_close(&file, good, why);
    good = files != NULL && text_open(&file, why);
    if (good) {
        append_tables(files, file.out);
    }
    free(files);
    return good ? text_close(&file, true, why) : NULL;
}

char *plot_statement_text(const struct plot_statement *statement, struct error *why)
{
    return plot_statement_ending(statement, NULL, why);
}

/* ---- a key or a value that nothing has is an error, never a selection of nothing ---- */

/* What nothing has, and the values of its key. */
static const char unmatched[] =
    "SELECT key, value, (SELECT group_concat(value, ', ') FROM (SELECT DISTINCT value FROM keyed "
    "WHERE keyed.key = only.key)) AS known FROM only WHERE NOT EXISTS (SELECT 1 FROM keyed "
    "WHERE keyed.key = only.key AND alike(keyed.value, only.value))";

static bool refuse_item(uint32_t count, const char *const *names, const char *const *values,
                        void *context, struct error *why)
{
    const char *key = values[0], *item = values[1], *known = values[2];
    (void)count;
    (void)names;
    (void)context;
    if (known == NULL) {
        error_usage(why, NULL, 0, "--only: nothing in the database has a key '%s'", key);
        return error_expect(why, "a key of its scenarios, or for curves source, policy, selection, "
                                 "order or a parameter");
    }
    error_usage(why, NULL, 0, "--only: nothing that can be drawn has '%s' as its '%s'", item, key);
    return error_expect(why, "%s", known);
}

bool plot_only_check(const struct plot_statement *statement, struct store *store, struct error *why)
{
    for (uint32_t i = 0; i < statement->only_count; i++) {
        if (strchr(statement->only[i], '=') == NULL) {
            error_usage(why, NULL, 0, "--only: '%s' has no '='", statement->only[i]);
            return error_expect(why, "KEY=VALUE");
        }
    }
    if (statement->only_count == 0) {
        return true;
    }
    char *text = plot_statement_ending(statement, unmatched, why);
    bool good = text != NULL && store_query(store, text, refuse_item, NULL, why);
    free(text);
    return good;
}

/* ---- reading the result of a report's query ---- */

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
        const char *text = texts[i] != NULL ? texts[i] : "";
        char three[SHOWN_TEXT]; /* digits, of a number that has a fraction and more digits */
        if (content_of(text) == CONTENT_NUMBERS && contents[i] == CONTENT_NUMBERS &&
            strpbrk(text, ".e") != NULL) {
            range_single(strtod(text, NULL), three, sizeof three);
            text = strlen(three) < strlen(text) ? three : text;
        }
        html_text(text, out);
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
