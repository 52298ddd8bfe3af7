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

/* The text of the file, or the head of a new one, with one more line at its end. */
static char *with_row(const char *path, const char *row, struct error *why)
{
    struct text_file file;
    size_t size;
    char *before =
        access(path, F_OK) == 0 ? node_file(path, &size, why) : text_duplicate(head, why);
    if (before == NULL || strstr(before, row) != NULL) {
        return before;
    }
    bool good = text_open(&file, why);
    if (good) {
        size_t length = strlen(before);
        bool ended = length == 0 || before[length - 1] == '\n';
        fprintf(file.out, "%s%s  - %s\n", before, ended ? "" : "\n", row);
    }
    free(before);
    return text_close(&file, good, why);
}

/* A row that does not lie in a list of rows is no YAML, or another key's. */
static bool check_rows(const char *path, const char *text, struct error *why)
{
    struct error unread;
    struct node *file = node_parse(text, strlen(text), path, &unread);
    const struct node *rows = node_get(file, "rows");
    bool good = rows != NULL && rows->kind == NODE_LIST && file->children[file->count - 1] == rows;
    node_destroy(file);
    if (!good) {
        error_set(why, path, 0, "does not end with a list of rows");
        error_expect(why, "a new file, or one as in scenarios/measured");
    }
    return good;
}

bool compare_row_add(const char *path, const struct result *result, const struct measured *measured,
                     struct error *why)
{
    struct output output;
    char *row = row_text(result, measured, why);
    char *text = row != NULL ? with_row(path, row, why) : NULL;
    bool good = text != NULL && check_rows(path, text, why) && output_open(path, &output, why);
    if (good) {
        fputs(text, output.file);
        good = output_commit(&output, why);
    }
    free(text);
    free(row);
    return good;
}
