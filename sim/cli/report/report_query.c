#include "cli/report/report_query.h"

#include "core/files.h"
#include "core/named.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- text ---- */

char *plot_file(const char *folder, const char *name, const char *kind, size_t *size,
                struct error *why)
{
    char path[4096];
    return find_path(folder, name, kind, path, sizeof path, why) ? files_text(NULL, path, size, why)
                                                                 : NULL;
}

bool plot_copy_file(const char *folder, const char *name, const char *kind, FILE *out,
                    struct error *why)
{
    size_t size;
    char *text = plot_file(folder, name, kind, &size, why);
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
        fputs(text[i] == '\''   ? "''"
              : text[i] == '\n' ? "' || char(10) || '" /* no line begins within a string */
                                : (char[]){text[i], '\0'},
              out);
    }
    fputc('\'', out);
}

/* All files, one behind the other. */
static bool append_files(const struct plot_statement *statement, FILE *out, struct error *why)
{
    /* A row for each KEY=VALUE, after a SELECT without rows: the statement needs at least one SELECT. */
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
    for (const char *file = statement->begin; *file != '\0'; file += strspn(file, " ")) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(file, " "), file);
        file += strlen(name);
        if (strcmp(name, "cells") == 0) {
            fputs(", cell(id, place, key, what, value) AS (", out);
            for (uint32_t i = 0; i < column_count; i++) {
                const struct column *column = column_rows[i];
                fprintf(out, "%sSELECT id, %u, '%s', ", i > 0 ? " UNION ALL " : "", i,
                        column->name);
                append_quoted(column->what, strlen(column->what), out);
                fprintf(out, ", %s FROM ok\n", column->name);
            }
            fputs(")\n", out);
        } else if (!plot_copy_file("plots", name, "sql", out, why)) {
            return false;
        }
    }
    return statement->select != NULL ? fputs(statement->select, out) >= 0
                                     : plot_copy_file("plots", statement->end, "sql", out, why);
}

/* Make each table of the WITH a table of the connection, under its name and a hash of all text up to
 * its end, on which alone its rows depend: if an earlier statement made it, it is there already. A
 * view gives it its name. SQLite would compile a table of a WITH anew wherever it is named, and
 * these are nested: that took nearly all the time of a report. */
static void append_tables(const char *text, FILE *out)
{
    XXH64_hash_t hash = 0;
    const char *next;
    fputs("PRAGMA query_only = 0;\n", out);
    for (; strncmp(text, "SELECT", 6) != 0; text = next) {
        const char *table = text + strspn(text, ", ");
        /* Indented lines do not begin or end a table; nor do comments, and the SELECT behind the last. */
        next = text;
        do {
            next += strcspn(next, "\n");
            next += strspn(next, "\n");
        } while (*next == ' ' || *next == ')');
        if (*table == '-') {
            continue;
        }
        const char *end = memrchr(table, ')', (size_t)(next - table));
        int length = (int)(end + 1 - table), name = (int)strcspn(table, " (");
        hash = XXH64(table, (size_t)length, hash);
        fprintf(out,
                "CREATE TEMP TABLE IF NOT EXISTS %.*s_%016" PRIx64
                " AS WITH %.*s\nSELECT * FROM %.*s;\n"
                "DROP VIEW IF EXISTS temp.%.*s;\n"
                "CREATE TEMP VIEW %.*s AS SELECT * FROM temp.%.*s_%016" PRIx64 ";\n",
                name, table, (uint64_t)hash, length, table, name, table, name, table, name, table,
                name, table, (uint64_t)hash);
    }
    fprintf(out, "PRAGMA query_only = 1;\n%s", text);
}

bool plot_query(const struct plot_statement *statement, struct store *store, store_row row,
                void *context, struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why) && append_files(statement, file.out, why);
    char *files = text_close(&file, good, why);
    good = files != NULL && text_open(&file, why);
    if (good) {
        append_tables(files, file.out);
    }
    free(files);
    char *text = good ? text_close(&file, true, why) : NULL;
    good = text != NULL && store_query(store, text, row, context, why);
    free(text);
    return good;
}

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
    struct plot_statement check = *statement;
    check.select = unmatched;
    return statement->only_count == 0 || plot_query(&check, store, refuse_item, NULL, why);
}

/* ---- reading the result of a report's query ---- */

/* A database's texts may be no UTF-8. */
static bool report_add_cell(struct report_table *table, json_t *row, const char *name,
                            const char *text)
{
    if (json_object_get(table->columns, name) == NULL) {
        json_object_set_new_nocheck(table->columns, name, json_null());
    }
    json_t *value = text != NULL ? json_string_nocheck(text) : json_null();
    return json_object_set_new_nocheck(row, name, value) == 0;
}

/* Of a query with `pivot`, a row like the last in all but its last two columns is a cell of that one. */
static bool report_table_read_row(uint32_t count, const char *const *names,
                                  const char *const *values, void *context, struct error *why)
{
    struct report_table *table = context;
    uint32_t plain = table->pivot ? count - 2 : count;
    size_t rows = json_array_size(table->rows);
    json_t *row = json_object(), *last = rows > 0 ? json_array_get(table->rows, rows - 1) : NULL;
    bool same = table->pivot && last != NULL, good = row != NULL;
    for (uint32_t i = 0; i < plain; i++) {
        good = good && report_add_cell(table, row, names[i], values[i]);
        same = same && json_equal(json_object_get(row, names[i]), json_object_get(last, names[i]));
    }
    if (same) {
        json_decref(row);
        row = last;
    } else {
        good = json_array_append_new(table->rows, row) == 0 && good;
    }
    if (good && table->pivot) {
        const char *name = values[plain] != NULL ? values[plain] : "";
        good = report_add_cell(table, row, name, values[plain + 1]);
    }
    return good || error_set(why, NULL, 0, "out of memory: no room for a table");
}

bool report_table_read(struct store *store, const char *begin, const char *name, bool pivot,
                       struct report_table *out, struct error *why)
{
    char end[64];
    snprintf(end, sizeof end, "report/%s", name);
    const struct plot_statement statement = {.begin = begin, .end = end};
    *out = (struct report_table){json_object(), json_array(), pivot};
    bool ok = plot_query(&statement, store, report_table_read_row, out, why);
    if (!ok) {
        report_table_release(out);
    }
    return ok;
}

void report_table_release(struct report_table *table)
{
    json_decref(table->columns);
    json_decref(table->rows);
    *table = (struct report_table){.rows = NULL};
}

size_t report_table_rows(const struct report_table *table)
{
    return json_array_size(table->rows);
}

const char *report_table_text(const struct report_table *table, size_t row, const char *column)
{
    const char *text = json_string_value(json_object_get(json_array_get(table->rows, row), column));
    return text != NULL ? text : "";
}

/* ---- writing ---- */

void html_text(const char *text, FILE *out)
{
    static const char special[] = "&<>\"'";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (; *text != '\0'; text++) {
        const char *at = strchr(special, *text);
        if (at != NULL) {
            fputs(names[at - special], out);
        } else {
            fputc((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text, out);
        }
    }
}

void html_print(FILE *out, const char *format, ...)
{
    va_list texts;
    va_start(texts, format);
    for (const char *text; (text = strstr(format, "%s")) != NULL; format = text + 2) {
        fwrite(format, 1, (size_t)(text - format), out);
        html_text(va_arg(texts, const char *), out);
    }
    va_end(texts);
    fputs(format, out);
}

enum report_table_content { CONTENT_NONE, CONTENT_NUMBERS, CONTENT_TEXTS };

static enum report_table_content content_of(const char *text)
{
    char *end;
    if (*text == '\0') {
        return CONTENT_NONE;
    }
    (void)strtod(text, &end);
    bool number = strspn(text, "+-.0123456789e") == strlen(text) && *end == '\0';
    return number ? CONTENT_NUMBERS : CONTENT_TEXTS;
}

/* Longer texts keep some width if a page is narrow. */
enum { LONG = 20 };

static void write_cell(const char *tag, const char *text, enum report_table_content column,
                       FILE *out)
{
    char three[SHOWN_TEXT]; /* digits, of a number that has a fraction and more digits */
    const char *class = column == CONTENT_NUMBERS ? " class=\"number\"" : "";
    if (column == CONTENT_TEXTS && strlen(text) > LONG) {
        class = " class=\"long\"";
    }
    if (column == CONTENT_NUMBERS && content_of(text) == CONTENT_NUMBERS &&
        strpbrk(text, ".e") != NULL) {
        range_single(strtod(text, NULL), three, sizeof three);
        text = strlen(three) < strlen(text) ? three : text;
    }
    fprintf(out, "<%s%s>", tag, class);
    html_text(text, out);
    fprintf(out, "</%.2s>", tag);
}

/* The columns with a value in the first `rows` rows, each with its content. */
static json_t *columns_had(const struct report_table *table, size_t rows)
{
    json_t *had = json_object();
    const char *name;
    json_t *unused;
    json_object_foreach(table->columns, name, unused)
    {
        enum report_table_content all = CONTENT_NONE;
        for (size_t row = 0; row < rows; row++) {
            enum report_table_content one = content_of(report_table_text(table, row, name));
            all = one > all ? one : all;
        }
        if (all != CONTENT_NONE) {
            json_object_set_new_nocheck(had, name, json_integer(all));
        }
    }
    return had;
}

void report_table_write(const struct report_table *table, const char *caption, size_t most,
                        FILE *out)
{
    size_t all = report_table_rows(table), rows = all < most ? all : most;
    json_t *columns = columns_had(table, rows);
    html_print(out,
               "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n"
               "<table><caption>%s</caption>\n<thead>",
               caption, caption);
    for (size_t at = 0; at <= rows; at++) {
        const char *name; /* the head is the row before the first */
        json_t *content;
        fputs("<tr>", out);
        json_object_foreach(columns, name, content)
        {
            write_cell(at == 0 ? "th scope=\"col\"" : "td",
                       at == 0 ? name : report_table_text(table, at - 1, name),
                       (enum report_table_content)json_integer_value(content), out);
        }
        fputs("</tr>\n", out);
        fputs(at == 0 ? "</thead>\n<tbody>\n" : "", out);
    }
    fputs("</tbody></table></div>\n", out);
    if (rows < all) {
        fprintf(out,
                "<p class=\"shortened\">%zu of %zu rows are shown; the database has the "
                "others.</p>\n",
                rows, all);
    }
    json_decref(columns);
}
