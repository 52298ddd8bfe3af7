#include "cli/runs/runs_shared.h"

#include "tables/table.h"
#include "core/name.h"
#include "core/text.h"

#include <inttypes.h>
#include <string.h>

enum { LINE = 1024 };

static const char *const shared_columns[SHARED_COUNT] = {"model",   "gpus",  "hardware",
                                                         "context", "steps", "warmup"};

/* Note whether a run agrees with those before it. If machines differ only in their parts, as a40
 * and a40+pcie5-x16, `text` is cut to the GPU that they share. */
static bool agrees(const struct column *column, const char *before, char *text)
{
    size_t gpu = strcspn(text, "+");
    if (before[0] == '\0' || strcmp(before, text) == 0) {
        return true;
    }
    if (column != COLUMN(hardware) || strcspn(before, "+") != gpu ||
        strncmp(before, text, gpu) != 0) {
        return false;
    }
    text[gpu] = '\0';
    return true;
}

void runs_shared_add(struct runs_shared *shared, const struct result *result)
{
    shared->families = shared->families || result->family_count > 0;
    for (int i = 0; i < SHARED_COUNT; i++) {
        const struct column *column = column_find(shared_columns[i]);
        const struct cell *cell = result_cell(result, column);
        char text[RUNS_SHARED_TEXT];
        if (!cell->set) {
            continue;
        }
        if (column->unit == UNIT_TEXT) {
            snprintf(text, sizeof text, "%s", cell->text);
        } else {
            snprintf(text, sizeof text, "%" PRId64, cell->integer);
        }
        shared->varies[i] = shared->varies[i] || !agrees(column, shared->text[i], text);
        memcpy(shared->text[i], text, sizeof text);
    }
}

/* "" if runs differ in it, or have none. */
static const char *shared_text(const struct runs_shared *shared, enum runs_shared_id which)
{
    return shared->varies[which] ? "" : shared->text[which];
}

/* Append a number and what it counts, after `join` unless it is the first. */
static void append_number(const struct runs_shared *shared, enum runs_shared_id which,
                          const char *join, const char *one, const char *many, char line[LINE])
{
    const char *number = shared_text(shared, which);
    if (number[0] != '\0') {
        text_append(line, LINE, "%s%s %s", line[0] != '\0' ? join : "", number,
                    strcmp(number, "1") == 0 ? one : many);
    }
}

/* "llama-3.1-8b"; a name of other weights of the same shape stands before it. */
static void append_model(const struct runs_shared *shared, const struct node *asked,
                         char line[LINE])
{
    const struct node *model = node_get(asked, "model");
    const char *name = shared_text(shared, SHARED_MODEL);
    const char *typed = model != NULL && model->typed != NULL ? model->typed : name;
    bool same = name_holds(typed, name);
    text_append(line, LINE, "%s%s%s%s", same ? "" : typed, same ? "" : ", of the shape of ", name,
                same ? "" : ",");
}

/* "on a40", "on 4 x h100-sxm"; of several machines "on 4 GPUs". */
static void append_machine(const struct runs_shared *shared, char line[LINE])
{
    const char *gpus = shared_text(shared, SHARED_GPUS),
               *name = shared_text(shared, SHARED_HARDWARE);
    bool several = gpus[0] != '\0' && strcmp(gpus, "1") != 0;
    if (several || name[0] != '\0') {
        text_append(line, LINE, "%son %s%s%s", line[0] != '\0' ? " " : "", several ? gpus : "",
                    several ? name[0] != '\0' ? " x " : " GPUs" : "", name);
    }
}

static bool is_number(const struct node *asked, const char *key)
{
    const struct node *value = node_get(asked, key);
    return value != NULL && value->kind == NODE_SCALAR && value->text[0] >= '0' &&
           value->text[0] <= '9';
}

void runs_shared_print(const struct runs_shared *shared, const struct node *asked, FILE *out)
{
    char line[LINE] = "";
    append_model(shared, asked, line);
    append_machine(shared, line);
    append_number(shared, SHARED_CONTEXT, ", ", "token a sequence", "tokens a sequence", line);
    append_number(shared, SHARED_STEPS, "; ", "step", "steps", line);
    append_number(shared, SHARED_WARMUP, " after ", "of warm-up", "of warm-up", line);
    bool same = is_number(asked, "steps") && is_number(asked, "warmup");
    if (shared->families && !same && shared_text(shared, SHARED_STEPS)[0] != '\0') {
        text_append(line, LINE, " in the middle family"); /* recordings differ in length */
    }
    if (line[0] != '\0') {
        table_line("", line, out);
    }
}
