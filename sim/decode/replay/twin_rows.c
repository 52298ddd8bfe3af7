/* The file is JSON, which node.h reads because every JSON text is YAML. */
#include "decode/replay/twin_rows.h"

#include "base/array.h"
#include "base/node.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void twin_rows_release(struct twin_rows *rows)
{
    free(rows->row);
    *rows = (struct twin_rows){.row = NULL};
}

bool twin_rows_add(struct twin_rows *rows, const struct twin_row *row, struct error *why)
{
    if (!array_reserve(&rows->row, &rows->capacity, rows->count + 1, sizeof *rows->row, why)) {
        return false;
    }
    rows->row[rows->count++] = *row;
    return true;
}

/* The child `key` of `map`, a list of `count` items (0: any number). */
static const struct node *twin_rows_read_list(const struct node *map, const char *key, size_t count,
                                              struct error *why)
{
    const struct node *list = node_get(map, key);
    if (list == NULL || list->kind != NODE_LIST || (count > 0 && list->count != count)) {
        node_error(list != NULL ? list : map, why,
                   "'%s' is missing, or of the wrong length or type", key);
        if (count > 0) {
            error_expect(why, "a list of %zu", count);
        }
        return NULL;
    }
    return list;
}

static bool twin_rows_check_figures(const struct node *root, struct error *why)
{
    const struct node *names = twin_rows_read_list(root, "figures", LIKENESS_FIGURES, why);
    for (uint32_t f = 0; names != NULL && f < LIKENESS_FIGURES; f++) {
        const struct node *name = names->children[f];
        if (name->kind != NODE_SCALAR || strcmp(name->text, likeness_figures[f].name) != 0) {
            node_error(name, why, "figure %u is another one", f + 1);
            return error_expect(why, "%s", likeness_figures[f].name);
        }
    }
    return names != NULL;
}

static bool twin_rows_read_values(const struct node *map, const char *key,
                                  double values[LIKENESS_FIGURES], struct error *why)
{
    const struct node *list = twin_rows_read_list(map, key, LIKENESS_FIGURES, why);
    for (uint32_t f = 0; list != NULL && f < LIKENESS_FIGURES; f++) {
        const struct node *item = list->children[f];
        if (item->kind != NODE_SCALAR) {
            return node_error(item, why, "a value of '%s' is not a share", key);
        }
        if (!units_parse(item->text, UNIT_SHARE, item->file, item->line, key, &values[f], why)) {
            return false;
        }
    }
    return list != NULL;
}

static bool read_name(const struct node *map, const char *key, char *out, size_t size,
                      struct error *why)
{
    const char *text = "";
    if (!node_text(map, key, &text, why)) {
        return false;
    }
    text_copy(out, size, text);
    return text[0] != '\0' || node_error(map, why, "a recording has no '%s'", key);
}

static bool twin_rows_read_tokens(const struct node *map, const char *key, uint32_t *out,
                                  struct error *why)
{
    uint64_t tokens = 0;
    if (!node_whole(map, key, UNIT_TOKENS, UINT32_MAX, &tokens, why)) {
        return false;
    }
    *out = (uint32_t)tokens;
    return tokens > 0 || node_error(map, why, "a recording has no '%s'", key);
}

static bool twin_row_read(const struct node *map, struct twin_row *row, struct error *why)
{
    static const char *const keys[] = {"model",     "text", "context", "fitted",
                                       "recording", "twin", NULL};
    *row = (struct twin_row){.context = 0};
    if (map->kind != NODE_MAP) {
        return node_error(map, why, "a recording is not a map");
    }
    return node_check_keys(map, keys, "recordings", why) &&
           read_name(map, "model", row->model, sizeof row->model, why) &&
           read_name(map, "text", row->text, sizeof row->text, why) &&
           twin_rows_read_tokens(map, "context", &row->context, why) &&
           twin_rows_read_tokens(map, "fitted", &row->fitted, why) &&
           twin_rows_read_values(map, "recording", row->was, why) &&
           twin_rows_read_values(map, "twin", row->is, why);
}

static bool twin_rows_read_all(const struct node *root, struct twin_rows *rows, struct error *why)
{
    static const char *const keys[] = {"figures", "recordings", NULL};
    if (root->kind != NODE_MAP) {
        return node_error(root, why, "not a map");
    }
    const struct node *list = NULL;
    bool ok = node_check_keys(root, keys, "the rows of twins", why) &&
              twin_rows_check_figures(root, why) &&
              (list = twin_rows_read_list(root, "recordings", 0, why)) != NULL;
    for (size_t i = 0; ok && i < list->count; i++) {
        struct twin_row row;
        ok = twin_row_read(list->children[i], &row, why) && twin_rows_add(rows, &row, why);
    }
    return ok;
}

static bool twin_rows_take_tree(struct node *root, struct twin_rows *rows, struct error *why)
{
    *rows = (struct twin_rows){.row = NULL};
    bool ok = root != NULL && twin_rows_read_all(root, rows, why);
    node_destroy(root);
    return ok;
}

bool twin_rows_parse(const char *text, size_t size, const char *name, struct twin_rows *rows,
                     struct error *why)
{
    return twin_rows_take_tree(node_parse(text, size, name, why), rows, why);
}

bool twin_rows_load(const char *path, struct twin_rows *rows, struct error *why)
{
    return twin_rows_take_tree(node_load(path, why), rows, why);
}
