#include "cli/runs/layout.h"

#include "base/text.h"
#include "cli/runs/sweep_keys.h"

#include <string.h>

/* In the order in which they are named. */
static const struct {
    const char *key, *prefix;
} parts[] = {
    {"tensor_parallel", "tp"}, {"pipeline_parallel", "pp"}, {"data_parallel", "dp"},
    {"expert_parallel", "ep"}, {"replicas", "x"},
};
enum { PARTS = sizeof parts / sizeof parts[0], VALUE = 32 };

bool layout_has_key(const char *key)
{
    bool has = false;
    for (size_t i = 0; i < PARTS; i++) {
        has = has || strcmp(parts[i].key, key) == 0;
    }
    return has;
}

/* The value of a key at a point, or "". */
static void layout_find_value(const struct scenario *scenario, const char *key, uint32_t point,
                              char value[VALUE])
{
    const struct node *sweep = scenario->sweep, *said = node_said(scenario->root, key);
    text_copy(value, VALUE, said != NULL && said->kind == NODE_SCALAR ? said->text : "");
    for (uint32_t i = 0; sweep != NULL && i < sweep->count; i++) {
        if (strcmp(sweep->children[i]->key, key) == 0) {
            sweep_point_value(sweep, i, point, value, VALUE);
        }
    }
}

void layout_name(const struct scenario *scenario, uint32_t point, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < PARTS; i++) {
        char value[VALUE];
        layout_find_value(scenario, parts[i].key, point, value);
        if (value[0] != '\0' && strcmp(value, "1") != 0) {
            text_append(text, size, "%s%s%s", text[0] != '\0' ? " " : "", parts[i].prefix, value);
        }
    }
    text_append(text, size, "%s", text[0] == '\0' ? "1 GPU" : "");
}
