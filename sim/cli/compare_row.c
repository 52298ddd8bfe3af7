#include "cli/compare_row.h"

#include "core/node.h"
#include "predict/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

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
        struct node *kept = node_copy(map->children[i - 1], why);
        if (kept == NULL) {
            return false;
        }
        node_remove(map, kept->key);
        bool needed = !is_same(root, text);
        bool good = !needed || node_put(map, kept->key, kept, why);
        node_destroy(kept);
        struct node *child = needed && good ? map->children[map->count - 1] : NULL;
        if (!good || (child != NULL && levels > 0 && child->kind == NODE_MAP &&
                      !shorten(root, child, levels - 1, text, why))) {
            return false;
        }
    }
    return true;
}

static bool put_served(struct node *row, const struct measured *measured, struct error *why)
{
    char path[64];
    bool good = true;
    for (int i = 0; good && i < MEASURED_FIGURES; i++) {
        if (measured_figures[i].key != NULL && measured->value[i] > 0) {
            snprintf(path, sizeof path, "served.%s", measured_figures[i].column);
            good = node_setf(row, path, why, "%.6g%s", measured->value[i],
                             i == MEASURED_RATE ? "" : "ms");
        }
    }
    return good && (node_get(row, "served") != NULL ||
                    error_set(why, NULL, 0, "no mean TTFT, TPOT or rate was measured"));
}

bool compare_row_print(const struct result *result, const struct measured *measured,
                       struct error *why)
{
    const struct cell *cells = result->cells;
    struct node *row = node_map("row", why);
    struct node *set =
        node_parse(result->scenario, strlen(result->scenario), "the run's scenario", why);
    char *text = NULL;
    if (row != NULL && set != NULL) {
        node_remove(set, "sweep"); /* it is empty, and a single run may not have it */
        text = shorten(set, set, 2, result->scenario, why) &&
                       node_setf(row, "what", why, "\"%s on %s\"", cells[COLUMN(model)->index].text,
                                 cells[COLUMN(hardware)->index].text) &&
                       node_put(row, "set", set, why) && put_served(row, measured, why)
                   ? node_canonical(row, why)
                   : NULL;
    }
    if (text != NULL) {
        printf("  - %s\n", text);
    }
    free(text);
    node_destroy(set);
    node_destroy(row);
    return text != NULL;
}
