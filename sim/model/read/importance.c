/* X.heads.tsv: lines that start with # state the source. Then comes a line for each layer, with a
 * number from 0 to 1 for each KV head, separated by blanks or tabs. */
#include "model/read/importance.h"

#include "core/array.h"
#include "core/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The state of reading. */
struct importance_table {
    const char *path;
    FILE *file;
    char *line; /* getline's */
    size_t line_capacity;
    int line_number;
    uint32_t layers; /* read so far */
};

static bool wrong_shape(const struct importance_table *table, const struct model *model,
                        struct error *why)
{
    error_input(why, table->path, table->line_number,
                "this line does not have one number for each KV head of a layer");
    return error_expect(why, "%u lines of %u numbers from 0 to 1", model->layer_count,
                        model->kv_heads);
}

static void keep_source(const char *comment, struct model *model)
{
    if (model->importance_source[0] == '\0') {
        comment += strspn(comment, "# \t");
        snprintf(model->importance_source, sizeof model->importance_source, "%.*s",
                 (int)strcspn(comment, "\r\n"), comment);
    }
}

static bool importance_read_layer(struct importance_table *table, struct model *model,
                                  struct error *why)
{
    if (table->layers == model->layer_count) {
        return wrong_shape(table, model, why);
    }
    float *row = &model->importance[(size_t)table->layers++ * model->kv_heads];
    const char *at = table->line;
    for (uint32_t head = 0; head < model->kv_heads; head++) {
        char *end;
        row[head] = strtof(at, &end);
        if (end == at || !(row[head] >= 0 && row[head] <= 1)) {
            return wrong_shape(table, model, why);
        }
        at = end;
    }
    at += strspn(at, " \t\r\n");
    return *at == '\0' || wrong_shape(table, model, why);
}

static bool importance_read_lines(struct importance_table *table, struct model *model,
                                  struct error *why)
{
    ssize_t length;
    while ((length = getline(&table->line, &table->line_capacity, table->file)) >= 0) {
        table->line_number++;
        if (strlen(table->line) != (size_t)length) {
            return error_input(why, table->path, table->line_number, "a zero byte");
        }
        const char *start = table->line + strspn(table->line, " \t\r\n");
        if (*start == '#') {
            keep_source(start, model);
        } else if (*start != '\0' && !importance_read_layer(table, model, why)) {
            return false;
        }
    }
    if (ferror(table->file)) {
        return error_set(why, table->path, 0, "cannot be read: %s", strerror(errno));
    }
    return table->layers == model->layer_count || wrong_shape(table, model, why);
}

bool importance_read(struct files *files, const char *path, struct model *model, struct error *why)
{
    struct importance_table table = {.path = path};
    size_t size;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return true;
    }
    char *text = files_text(files, path, &size, why);
    if (text == NULL) {
        return false;
    }
    table.file = fmemopen(text, size, "r");
    model->importance =
        array_zeroed((size_t)model->layer_count * model->kv_heads, sizeof *model->importance, why);
    bool fine = table.file != NULL || error_set(why, path, 0, "out of memory");
    fine = fine && model->importance != NULL && importance_read_lines(&table, model, why);
    if (table.file != NULL) {
        fclose(table.file);
    }
    free(table.line);
    free(text);
    return fine;
}
