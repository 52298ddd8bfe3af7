/* Terms are looked up by name once, when a file is read. */
#include "study/papers/formula.h"

#include "base/name.h"
#include "decode/time/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LAYERS "layers"

static bool formula_is_number(enum column column)
{
    enum column_type type = column_kinds[column].type;
    return type == COLUMN_TYPE_INTEGER || type == COLUMN_TYPE_REAL || type == COLUMN_TYPE_US ||
           type == COLUMN_TYPE_MS;
}

static bool unknown_term(const struct node *node, const char *text, struct error *why)
{
    const char *names[COLUMN_COUNT + 2];
    size_t count = 0;
    for (int column = 0; column < COLUMN_COUNT; column++) {
        if (formula_is_number((enum column)column)) {
            names[count++] = column_kinds[column].name;
        }
    }
    names[count++] = LAYERS;
    names[count] = NULL;
    node_error(node, why, "'%.80s' is not a figure of a result", text);
    return name_expect(text, names, why);
}

static bool find_part(const struct node *node, const char *name, struct error *why)
{
    const char *names[PART_COUNT + 1] = {NULL};
    for (int i = 0; i < PART_COUNT; i++) {
        if (strcmp(pipeline_part_names[i], name) == 0) {
            return true;
        }
        names[i] = pipeline_part_names[i];
    }
    node_error(node, why, "unknown part '%.60s' of a step", name);
    return name_expect(name, names, why);
}

static bool read_term(const struct node *node, struct formula_term *out, struct error *why)
{
    static const struct {
        const char *prefix;
        enum column column;
    } groups[] = {{"parts.", COLUMN_PARTS}, {"stalls.", COLUMN_STALLS}};
    if (node->kind != NODE_SCALAR) {
        node_error(node, why, "not a figure of a result");
        return error_expect(why, "a column such as layer_us, or a list of them");
    }
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        size_t length = strlen(groups[i].prefix);
        if (strncmp(node->text, groups[i].prefix, length) == 0) {
            out->column = groups[i].column;
            snprintf(out->item, sizeof out->item, "%s", node->text + length);
            return find_part(node, node->text + length, why);
        }
    }
    out->column = COLUMN_COUNT;
    for (int column = 0; column < COLUMN_COUNT; column++) {
        if (formula_is_number((enum column)column) &&
            strcmp(column_kinds[column].name, node->text) == 0) {
            out->column = (enum column)column;
        }
    }
    return out->column != COLUMN_COUNT || strcmp(node->text, LAYERS) == 0 ||
           unknown_term(node, node->text, why);
}

struct formula formula_of_column(enum column column)
{
    return (struct formula){.terms = {{.column = column}}, .count = 1};
}

bool formula_read(const struct node *node, struct formula *out, struct error *why)
{
    *out = (struct formula){.count = 0};
    if (node == NULL) {
        return true;
    }
    if (node->kind != NODE_LIST) {
        out->count = 1;
        return read_term(node, &out->terms[0], why);
    }
    if (node->count == 0 || node->count > FORMULA_MOST_TERMS) {
        return node_error(node, why, "a sum needs 1 to %d figures", FORMULA_MOST_TERMS);
    }
    for (; out->count < node->count; out->count++) {
        if (!read_term(node->children[out->count], &out->terms[out->count], why)) {
            return false;
        }
    }
    return true;
}

static double item_ns(const struct formula_term *term, const struct result *result)
{
    uint32_t count;
    const struct result_item *items = result_items(result, term->column, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(items[i].name, term->item) == 0) {
            return (double)items[i].ns;
        }
    }
    return NAN;
}

static double term_value(const struct formula_term *term, const struct result *result)
{
    if (term->column == COLUMN_COUNT) {
        return result->layer_count > 0 ? (double)result->layer_count : NAN;
    }
    if (term->column == COLUMN_PARTS || term->column == COLUMN_STALLS) {
        return item_ns(term, result);
    }
    const struct cell *cell = &result->cells[term->column];
    if (!cell->set) {
        return NAN;
    }
    return column_kinds[term->column].type == COLUMN_TYPE_REAL ? cell->real : (double)cell->integer;
}

double formula_value(const struct formula *formula, const struct result *result)
{
    double sum = 0;
    for (uint32_t i = 0; i < formula->count; i++) {
        sum += term_value(&formula->terms[i], result);
    }
    return formula->count > 0 ? sum : 1;
}

int formula_speed(const struct formula *formula)
{
    static const struct {
        enum column column;
        int speed;
    } whole[] = {
        {COLUMN_STEP, 1},         {COLUMN_LAYER, 1},      {COLUMN_TPOT, 1},
        {COLUMN_DECODE_RATE, -1}, {COLUMN_USER_RATE, -1}, {COLUMN_GPU_RATE, -1},
        {COLUMN_E2E_RATE, -1},
    };
    for (size_t i = 0; formula->count == 1 && i < sizeof whole / sizeof whole[0]; i++) {
        if (formula->terms[0].column == whole[i].column) {
            return whole[i].speed;
        }
    }
    return 0;
}
