#include "cli/compare_row.h"

#include "cli/frame/output.h"
#include "core/node.h"
#include "core/text.h"
#include "predict/scenario/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] = "paper: our own servers\nfigure: measured\nscenario: {}\nrows:\n";

/* ---- the shortest scenario ---- */

/* Is `text` the canonical scenario of this one? */
static bool is_same(const struct node *root, const char *text)
{
    struct scenario scenario;
    struct point point;
    struct error unread;
    bool same = scenario_init(&scenario, &unread) && scenario_set(&scenario, root, &unread) &&
                scenario_point(&scenario, 0, &point, &unread);
    if (same) {
        same = strcmp(point.scenario, text) == 0;
        point_release(&point);
    }
    scenario_release(&scenario);
    return same;
}

/* Leave out each key of `map`, which lies in `root` and has so many levels of maps, that the scenario
 * says without it, too. */
static bool shorten(struct node *root, struct node *map, int levels, const char *text,
                    struct error *why)
{
    for (size_t i = map->count; i > 0; i--) {
        struct node *child = map->children[i - 1];
        struct node *kept = node_copy(child, why);
        char key[128];
        if (kept == NULL) {
            return false;
        }
        snprintf(key, sizeof key, "%s", child->key);
        node_remove(map, key);
        bool needed = !is_same(root, text);
        bool good = !needed || node_put(map, key, kept, why);
        node_destroy(kept);
        if (!good || (needed && levels > 0 && map->children[map->count - 1]->kind == NODE_MAP &&
                      !shorten(root, map->children[map->count - 1], levels - 1, text, why))) {
            return false;
        }
    }
    return true;
}

/* ---- the row ---- */

static bool put_served(struct node *row, const struct measured *measured, struct error *why)
{
    char path[64];
    bool good = true;
    for (int i = 0; good && i < MEASURED_FIGURES; i++) {
        double value = measured->value[i];
        if (measured_figures[i].key != NULL && value > 0) {
            snprintf(path, sizeof path, "served.%s", measured_figures[i].column);
            good = node_setf(row, path, why, "%.6g%s", value, i == MEASURED_RATE ? "" : "ms");
        }
    }
    return good && (node_get(row, "served") != NULL ||
                    error_set(why, NULL, 0, "no mean TTFT, TPOT or rate was measured"));
}

/* The row as text on one line, which the caller frees. */
static char *row_text(const struct result *result, const struct measured *measured,
                      struct error *why)
{
    const struct cell *cells = result->cells;
    struct node *row = node_map("row", why);
    struct node *said =
        node_parse(result->scenario, strlen(result->scenario), "the run's scenario", why);
    char *text = NULL;
    if (said != NULL) {
        node_remove(said, "sweep"); /* it is empty, and a single run may not have it */
    }
    if (row != NULL && said != NULL && said->kind == NODE_MAP &&
        shorten(said, said, 2, result->scenario, why) &&
        node_setf(row, "what", why, "\"%s on %s\"", cells[COLUMN(model)->index].text,
                  cells[COLUMN(hardware)->index].text) &&
        node_put(row, "set", said, why) && put_served(row, measured, why)) {
        text = node_canonical(row, why);
    }
    node_destroy(said);
    node_destroy(row);
    return text;
}

/* Do rows end the file, so that one behind them is one more? Else the text may be no YAML, on a line that
 * the user's file does not have. */
static bool takes_row(const char *path, const char *text, size_t before, struct error *why)
{
    struct error unread;
    struct node *file = node_parse(text, strlen(text), path, &unread);
    const struct node *rows = node_get(file, "rows");
    bool good = rows != NULL && rows->kind == NODE_LIST && rows->count == before + 1;
    if (!good) {
        error_set(why, path, 0, "does not end with a list of rows");
        error_expect(why, "a new file, or one as in scenarios/measured");
    }
    node_destroy(file);
    return good;
}

/* Is the row among those of the list? NULL has none. */
static bool has_equal_row(const struct node *list, const char *row, bool *has, struct error *why)
{
    *has = false;
    for (size_t i = 0; list != NULL && !*has && i < list->count; i++) {
        char *text = node_canonical(list->children[i], why);
        if (text == NULL) {
            return false;
        }
        *has = strcmp(text, row) == 0;
        free(text);
    }
    return true;
}

/* The text of the file, or the head of a new one, which the caller frees; the number of its rows; and
 * whether this row is one of them. */
static char *read_file_of_rows(const char *path, const char *row, size_t *rows, bool *has,
                               struct error *why)
{
    size_t size = 0;
    *rows = 0;
    *has = false;
    if (access(path, F_OK) != 0) {
        return text_duplicate(head, why);
    }
    char *text = node_file(path, &size, why);
    struct node *file = text != NULL ? node_parse(text, size, path, why) : NULL;
    const struct node *list = node_get(file, "rows");
    *rows = list != NULL ? list->count : 0;
    if (file == NULL || !has_equal_row(list, row, has, why)) {
        free(text);
        text = NULL;
    }
    node_destroy(file);
    return text;
}

/* The file with one more row. */
static char *with_row(const char *before, const char *row, struct error *why)
{
    struct text_file file;
    size_t length = strlen(before);
    bool good = text_open(&file, why);
    if (good) {
        bool ended = length == 0 || before[length - 1] == '\n';
        fprintf(file.out, "%s%s  - %s\n", before, ended ? "" : "\n", row);
    }
    return text_close(&file, good, why);
}

static bool replace_file(const char *path, const char *text, struct error *why)
{
    struct output output;
    if (!output_open(path, &output, why)) {
        return false;
    }
    fputs(text, output.file);
    return output_commit(&output, why);
}

bool compare_row_add(const char *path, const struct result *result, const struct measured *measured,
                     struct error *why)
{
    size_t rows;
    bool has = false;
    char *row = row_text(result, measured, why);
    char *before = row != NULL ? read_file_of_rows(path, row, &rows, &has, why) : NULL;
    char *after = before != NULL && !has ? with_row(before, row, why) : NULL;
    bool good = has || (after != NULL && takes_row(path, after, rows, why) &&
                        replace_file(path, after, why));
    free(after);
    free(before);
    free(row);
    return good;
}
