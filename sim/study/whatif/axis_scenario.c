/* An axis and its scenario: the point it is read against, the sweep it makes, and what people call it. */
#include "study/whatif/axis.h"

#include "core/quote.h"
#include "core/text.h"
#include "predict/decode/run.h"

#include <stdlib.h>
#include <string.h>

bool planned_point(const struct scenario *scenario, uint32_t point, const struct run_context *runs,
                   struct planned *out, struct error *why)
{
    *out = (struct planned){.plan = {.batch = 0}};
    return scenario_point(scenario, point, &out->point, why) &&
           run_plan(&out->point.setup, runs, &out->plan, why);
}

/* The first value of an axis, in YAML; NULL if it has none. A context begins at 1K (walk_context()). */
static struct node *first_value(const struct axis_text *axis, const char *option, struct error *why)
{
    const char *equals = memchr(axis->text, '=', axis->length);
    if (equals == NULL) {
        bool context =
            axis->length == strlen("context") && memcmp(axis->text, "context", axis->length) == 0;
        return context ? node_parse("1K", strlen("1K"), option, why) : NULL;
    }
    const char *values = equals + 1;
    size_t size = axis->length - (size_t)(values - axis->text);
    const char *colon = values[0] != '[' ? memchr(values, ':', size) : NULL;
    struct node *all =
        node_parse(values, colon != NULL ? (size_t)(colon - values) : size, option, why);
    if (all == NULL || all->kind != NODE_LIST) {
        return all;
    }
    struct node *first = all->count > 0 ? node_copy(all->children[0], why) : NULL;
    node_destroy(all);
    return first;
}

/* Give a key that the scenario does not set the axis' first value, and mark the axis as open. */
static bool fill_key(struct scenario *scenario, const char *option, struct axis_text *axis)
{
    char key[128];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(axis->text, "=,"), axis->text);
    const struct scenario_key *row = scenario_key_find(key, strlen(key));
    bool plain = row != NULL && row->place != SCENARIO_ELSEWHERE;
    bool there = plain ? scenario_value(&scenario->values, key)->stated
                       : node_find(scenario->root, key) != NULL;
    struct node *value = there ? NULL : first_value(axis, option, ERROR_UNSEEN);
    if (value != NULL) {
        value->line = 0; /* an option has no line */
    }
    axis->open = value != NULL && node_put(scenario->root, key, value, ERROR_UNSEEN);
    node_destroy(value);
    return axis->open;
}

bool planned_own(const struct scenario *scenario, const char *option, struct axis_text *axes,
                 uint32_t count, const struct run_context *runs, struct planned *out,
                 struct error *why)
{
    bool any = false;
    if (planned_point(scenario, 0, runs, out, why)) {
        return true;
    }
    struct scenario filled;
    bool copied = scenario_copy(scenario, &filled, ERROR_UNSEEN);
    for (uint32_t i = 0; copied && i < count; i++) {
        any = fill_key(&filled, option, &axes[i]) || any;
    }
    if (any) {
        planned_release(out);
    }
    bool good = any && planned_point(&filled, 0, runs, out, why);
    scenario_release(&filled);
    return good;
}

void planned_release(struct planned *planned)
{
    plan_release(&planned->plan);
    point_release(&planned->point);
}

const char *axis_title(const struct axis *axis)
{
    if (strcmp(axis->key, AXIS_DRAFTS) == 0) {
        return "drafts";
    }
    const char *dot = strrchr(axis->key, '.');
    return dot != NULL ? dot + 1 : axis->key;
}

const char *axis_label(const struct axis *axis, uint32_t value, char *text, size_t size)
{
    if (axis->ranges) {
        return units_format(axis->values[value].number, axis->unit, text, size);
    }
    snprintf(text, size, "%s", axis->values[value].text);
    if (strcmp(axis->key, "mechanisms.policy") == 0) {
        /* Write a policy as tables name it; anything else stays. */
        struct node *node = node_parse(axis->values[value].text, strlen(axis->values[value].text),
                                       "", ERROR_UNSEEN);
        if (node != NULL) {
            policy_words(node, text, size);
        }
        node_destroy(node);
    }
    return text;
}

static void axis_write_value(const struct axis_value *value, FILE *out)
{
    if (value->is_map) {
        fputs(value->text, out);
        return;
    }
    fputc('"', out);
    quote_write(QUOTE_YAML_DOUBLE, value->text, out);
    fputc('"', out);
}

bool axis_sweep(const struct axis *axis, struct scenario *scenario, struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why);
    for (uint32_t i = 0; good && i < axis->count; i++) {
        fputs(i > 0 ? ", " : "[", file.out);
        axis_write_value(&axis->values[i], file.out);
        fputs(i + 1 == axis->count ? "]" : "", file.out);
    }
    char *list = text_close(&file, good, why);
    good = list != NULL && scenario_sweep(scenario, axis->key, list, why);
    free(list);
    return good;
}
