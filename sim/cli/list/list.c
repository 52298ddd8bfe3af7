/* `spillway list`: the names that a scenario can use, with what one needs to choose. */

#include "cli/list/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/frame/arguments.h"
#include "core/text.h"
#include "predict/scenario/scenario_keys.h"
#include "server/workload.h"
#include "tables/frame.h"
#include "trace/generate/trace_profile.h"

static bool list_print(struct frame *frame, bool json, struct error *why)
{
    bool ok = frame != NULL &&
              (json ? frame_print_json(frame, stdout, why) : frame_print(frame, NULL, stdout, why));
    frame_destroy(frame);
    return ok;
}

/* Lists of what ships as files: a row for each file of a folder. */

/* Append the row of one file's name. `part`: what kind of file it is, of several. */
typedef bool (*name_row)(struct frame *frame, const char *name, const char *part,
                         struct error *why);

static bool add_names(struct frame *frame, const char *folder, const char *suffix, name_row row,
                      const char *part, struct error *why)
{
    char **names;
    size_t count;
    if (!find_names(folder, suffix, &names, &count, why)) {
        return false;
    }
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        ok = ok && row(frame, names[i], part, why);
        free(names[i]);
    }
    free(names);
    return ok;
}

/* ---- what lists hold ---- */

static const struct frame_column system_columns[] = {
    {.key = "system", .title = "system"},
    {.key = "available", .title = "runs in"},
    {.key = "lossless", .title = "lossless"},
    {.key = "good_for", .title = "good for", .drop = 1},
    {.key = "what", .title = "what it is", .wrap = true},
};

static bool add_system(struct frame *frame, const char *name, const char *part, struct error *why)
{
    (void)part;
    struct system_info info;
    struct node *at = node_parse(name, strlen(name), "--list", why);
    struct mechanisms *mechanisms =
        at != NULL ? system_load(NULL, name, at, NULL, &info, NULL, why) : NULL;
    node_destroy(at);
    const char *where = info.reference ? "to compare with, not to serve with" : info.where;
    bool ok = mechanisms != NULL;
    if (ok) {
        /* As recorded decodes say (traces/README.md, "Questions about something far back"): what drops KV keeps
         * as much attention mass as others while a text goes on, as in a chat, and less where a question goes
         * back. Of a policy that chooses what the CPU attends to, none was recorded. */
        bool chooses = mechanisms_offload(mechanisms) && mechanisms_policy(mechanisms)->chooses_own;
        bool lossy = strcmp(mechanisms_lossless(mechanisms), "lossy") == 0;
        const char *use = !lossy                        ? "all"
                          : !chooses                    ? "questions"
                          : mechanisms_drop(mechanisms) ? "chat"
                                                        : "-";
        frame_add(frame, (const char *[]){name, info.available, info.lossless, use}, 4);
        frame_textf(frame, 4, "%s (%s)%s%s", info.summary, info.paper, where[0] != '\0' ? "; " : "",
                    where);
    }
    free(mechanisms);
    return ok;
}

enum { LISTED_CONTEXT = 131072 };
enum { MODEL, ARCHITECTURE, LAYERS, HEADS, WEIGHTS, KV, TRAINED, MODEL_COLUMNS };

static const struct frame_column model_columns[MODEL_COLUMNS] = {
    [MODEL] = {.key = "model", .title = "model"},
    [ARCHITECTURE] = {.key = "architecture", .title = "architecture", .drop = 2},
    [LAYERS] = {.key = "layers", .title = "layers", .unit = UNIT_WHOLE, .drop = 1},
    [HEADS] = {.key = "kv_heads", .title = "KV heads", .unit = UNIT_WHOLE},
    [WEIGHTS] = {.key = "weights_bytes", .title = "weights", .unit = UNIT_BYTES},
    [KV] = {.key = "kv_bytes_of_128k", .title = "KV of 128K tokens", .unit = UNIT_BYTES},
    [TRAINED] = {.key = "trained_context", .title = "trained to", .unit = UNIT_WHOLE},
};

static bool add_model(struct frame *frame, const char *name, const char *part, struct error *why)
{
    (void)part;
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct model model;
    if (!model_load(NULL, name, &options, NULL, 0, &model, why)) {
        return false;
    }
    frame_row(frame);
    frame_text(frame, MODEL, name);
    frame_text(frame, ARCHITECTURE, model.architecture);
    frame_number(frame, LAYERS, model.layer_count);
    frame_number(frame, HEADS, model_kv_heads(&model));
    frame_number(frame, WEIGHTS, (double)model_weight_bytes(&model));
    frame_number(frame, KV, (double)model_kv_bytes(&model, LISTED_CONTEXT));
    frame_number(frame, TRAINED, model.trained_context > 0 ? (double)model.trained_context : NAN);
    model_release(&model);
    return true;
}

/* The curves in which machines differ most. */
static const enum curve_id listed_curves[] = {
    CURVE_GPU_HBM_CAPACITY, CURVE_GPU_HBM_BANDWIDTH,  CURVE_GPU_FLOPS_BF16,
    CURVE_LINK_IN,          CURVE_HOST_DRAM_CAPACITY, CURVE_HOST_CORES,
};
enum { LISTED_CURVES = sizeof listed_curves / sizeof listed_curves[0] };

static const struct frame_column hardware_columns[] = {
    {.key = "hardware", .title = "hardware"},
    {.key = "part", .title = "part"},
    {.key = "hbm_bytes", .title = "HBM", .unit = UNIT_BYTES},
    {.key = "hbm_bytes_per_s", .title = "HBM bandwidth", .unit = UNIT_BYTES_PER_S},
    {.key = "bf16_flop_per_s", .title = "bf16", .unit = UNIT_FLOP_PER_S},
    {.key = "link_bytes_per_s", .title = "link", .unit = UNIT_BYTES_PER_S},
    {.key = "host_bytes", .title = "host memory", .unit = UNIT_BYTES, .drop = 1},
    {.key = "cores", .title = "cores", .unit = UNIT_WHOLE, .drop = 2},
};

/* A machine, or a part for a scenario's `hardware: {PART: NAME}`; a GPU's row is the machine of its name. */
static bool add_profile(struct frame *frame, const char *name, const char *part, struct error *why)
{
    char text[128], path[4096];
    struct profile profile;
    bool whole = part[0] == '\0', gpu = strcmp(part, named_gpu.what) == 0;
    if ((whole || gpu) &&
        !find_path(whole ? named_gpu.folder : "hwprofiles", name, "yaml", path, sizeof path, why)) {
        return false;
    }
    bool both = (whole || gpu) && access(path, F_OK) == 0;
    if (gpu && both) {
        return true;
    }
    snprintf(text, sizeof text, whole ? "%s%s" : "{%s: %s}", part, name);
    struct node *node = node_parse(text, strlen(text), "--list", why);
    bool ok = node != NULL && profile_load(NULL, node, &profile, why);
    node_destroy(node);
    if (!ok) {
        return false;
    }
    frame_add(frame, (const char *[]){name, !whole ? part : both ? "all, gpu" : "all"}, 2);
    for (uint32_t i = 0; i < LISTED_CURVES; i++) {
        const struct curve *curve = &profile.curves[listed_curves[i]];
        if (curve->count > 0) {
            frame_number(frame, 2 + i, curve->value[curve->count - 1]);
        }
    }
    profile_release(&profile);
    return true;
}

static bool add_hardware(struct frame *frame, struct error *why)
{
    bool ok = add_names(frame, "hwprofiles", "yaml", add_profile, "", why);
    for (size_t i = 0; ok && named_parts[i] != NULL; i++) {
        ok = add_names(frame, named_parts[i]->folder, "yaml", add_profile, named_parts[i]->what,
                       why);
    }
    return ok;
}

static const struct frame_column trace_columns[] = {
    {.key = "trace", .title = "trace"},
    {.key = "basis", .title = "basis"},
    {.key = "model", .title = "model", .drop = 1},
    {.key = "context", .title = "context", .unit = UNIT_WHOLE},
    {.key = "steps", .title = "steps", .unit = UNIT_WHOLE},
    {.key = "source", .title = "from", .wrap = true},
};

static bool add_recording(struct frame *frame, const char *name, const char *part,
                          struct error *why)
{
    (void)part;
    char path[4096];
    struct trace_source source;
    struct trace *trace =
        find_path("traces", name, "swt", path, sizeof path, why) ? trace_open(path, why) : NULL;
    if (trace == NULL) {
        return false;
    }
    const struct trace_header *header = trace_header(trace);
    trace_source_read(header, &source);
    frame_add(
        frame,
        (const char *[]){name, basis_names[source.basis], source.model, NULL, NULL, source.text},
        6);
    frame_number(frame, 3, header->context);
    frame_number(frame, 4, header->steps);
    trace_close(trace);
    return true;
}

/* If a recording has the same name, that is meant; the profile is then listed with its suffix. */
static bool add_trace_profile(struct frame *frame, const char *name, const char *part,
                              struct error *why)
{
    (void)part;
    char path[4096], recording[4096];
    struct trace_profile profile;
    if (!find_path("traces", name, "swt", recording, sizeof recording, why) ||
        !find_path("traces", name, "yaml", path, sizeof path, why) ||
        !trace_profile_load(NULL, path, &profile, why)) {
        return false;
    }
    frame_row(frame);
    frame_textf(frame, 0, "%s%s", name, access(recording, F_OK) == 0 ? ".yaml" : "");
    frame_text(frame, 1, basis_names[profile.basis]);
    frame_text(frame, 2, profile.model);
    frame_number(frame, 3, profile.context);
    frame_text(frame, 4, "any");
    frame_text(frame, 5, profile.source);
    trace_profile_release(&profile);
    return true;
}

static bool add_traces(struct frame *frame, struct error *why)
{
    return add_names(frame, "traces", "swt", add_recording, NULL, why) &&
           add_names(frame, "traces", "yaml", add_trace_profile, NULL, why);
}

/* Lists of what the program has itself: a row for each of a table. */

static const struct frame_column policy_columns[] = {
    {.key = "policy", .title = "policy"},
    {.key = "parameters", .title = "parameters", .drop = 1},
    {.key = "what", .title = "what it does", .wrap = true},
};

static bool add_policies(struct frame *frame, struct error *why)
{
    (void)why;
    for (size_t i = 0; policies[i] != NULL; i++) {
        char params[256] = "";
        const struct policy_param *param = policies[i]->params;
        for (; param != NULL && param->name != NULL; param++) {
            text_append(params, sizeof params, "%s%s: %g", params[0] != '\0' ? ", " : "",
                        param->name, param->value);
        }
        frame_add(frame, (const char *[]){policies[i]->name, params, policies[i]->summary}, 3);
    }
    const char *own[] = {PLUGIN_PREFIX "PATH", "its own",
                         "your own policy: a shared library, as spillway_policy.h describes"};
    frame_add(frame, own, 3);
    return true;
}

static const struct frame_column mechanism_columns[] = {
    {.key = "mechanism", .title = "mechanism"},
    {.key = "default", .title = "default"},
    {.key = "what", .title = "what it is", .wrap = true},
};

static bool add_mechanisms(struct frame *frame, struct error *why)
{
    (void)why;
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        char what[512];
        text_copy(what, sizeof what, key->summary);
        for (size_t i = 0; key->values != NULL && key->values[i] != NULL; i++) {
            text_append(what, sizeof what, "%s%s", i > 0 ? ", " : ": ", key->values[i]);
        }
        frame_add(frame, (const char *[]){key->name, key->standard, what}, 3);
    }
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        if (key->place == SCENARIO_GPUS) { /* of the scenario itself, not of its `mechanisms` */
            const char *standard = key->words != NULL ? key->words[0] : key->positive ? "1" : "0";
            frame_add(frame, (const char *[]){key->name, standard}, 2);
            frame_textf(frame, 2, "key of the scenario: %s", key->summary);
        }
    }
    return true;
}

static const struct frame_column column_columns[] = {
    {.key = "column", .title = "column"},
    {.key = "short", .title = "or"},
    {.key = "unit"},
    {.key = "data", .unit = UNIT_FLAG}, /* do rows of data have it? */
    {.key = "what", .title = "what it is", .wrap = true},
};

static bool add_result_columns(struct frame *frame, struct error *why)
{
    (void)why;
    for (const struct column *const *at = column_rows; *at != NULL; at++) {
        const char *unit = unit_kinds[(*at)->unit].name;
        frame_add(frame, (const char *[]){(*at)->name, (*at)->label, unit, NULL, (*at)->what}, 5);
        frame_number(frame, 3, (*at)->read == NULL);
    }
    return true;
}

static const struct frame_column engine_columns[] = {
    {.key = "engine", .title = "engine"},
    {.key = "what", .title = "what a server of it does", .wrap = true},
};

static bool add_engines(struct frame *frame, struct error *why)
{
    static const char none[] = "KV takes what weights and a step's tensors leave";
    const char *const *names = server_engine_names(why);
    bool good = names != NULL;
    for (; good && *names != NULL; names++) {
        struct server_engine engine;
        good = server_engine_find(*names, NULL, 0, &engine, why);
        if (good) {
            frame_add(frame,
                      (const char *[]){engine.name, engine.row != NULL ? engine.summary : none}, 2);
        }
    }
    return good;
}

static const struct frame_column router_columns[] = {
    {.key = "routing", .title = "routing"},
    {.key = "origin", .title = "as in"},
    {.key = "what", .title = "a request goes", .wrap = true},
};

static bool add_routers(struct frame *frame, struct error *why)
{
    (void)why;
    for (int id = 0; id < ROUTINGS; id++) {
        frame_add(frame,
                  (const char *[]){routing_names[id], routings[id].origin, routings[id].summary},
                  3);
    }
    return true;
}

/* Every figure that a machine states, and the file in which it stands. */

enum { FIGURE, VALUE, FIRST, LAST, UNIT, BASIS, FROM, SOURCE, SAID, COLUMNS };

static const struct frame_column columns[COLUMNS] = {
    [FIGURE] = {.key = "figure", .title = "figure"},
    [VALUE] = {.title = "value", .unit = UNIT_COUNT},
    [FIRST] = {.key = "first", .unit = UNIT_COUNT},
    [LAST] = {.key = "last", .unit = UNIT_COUNT},
    [UNIT] = {.key = "unit"},
    [BASIS] = {.key = "basis"},
    [FROM] = {.key = "stated_in"},
    [SOURCE] = {.key = "source"},
    [SAID] = {.title = "basis, stated in, source", .wrap = true},
};

static bool list_machine(const char *name, bool json, struct error *why)
{
    struct profile profile;
    if (!profile_load_named(name, &profile, why)) {
        return false;
    }
    struct frame *frame = frame_create(columns, COLUMNS, why);
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        if (profile.curves[id].count > 0) {
            /* The value of a curve, or its first and its last: "0.1 … 90.0 %", and what is said of it. */
            const struct curve *curve = &profile.curves[id];
            const double *value = curve->value;
            enum unit unit = curve_kinds[id].unit;
            char from[96], first[32], last[32];
            units_format(value[0], unit, first, sizeof first);
            units_format(value[curve->count - 1], unit, last, sizeof last);
            profile_stated_in(&profile, id, from, sizeof from);
            frame_row(frame);
            frame_text(frame, FIGURE, curve_kinds[id].name);
            frame_textf(frame, VALUE, "%s%s%s", first, curve->count > 1 ? " … " : "",
                        curve->count > 1 ? last : "");
            frame_number(frame, FIRST, value[0]);
            frame_number(frame, LAST, value[curve->count - 1]);
            frame_text(frame, UNIT, unit_kinds[unit].name);
            frame_text(frame, BASIS, basis_names[curve->basis]);
            frame_text(frame, FROM, from);
            frame_text(frame, SOURCE, curve->source);
            frame_textf(frame, SAID, "%s, %s: %s", basis_names[curve->basis], from, curve->source);
        }
    }
    profile_release(&profile);
    return list_print(frame, json, why);
}

/* A kind of name: a table with a row for each. */
#define COLUMNS_OF(columns) columns, sizeof columns / sizeof columns[0]
static const struct list {
    const char *name;
    const struct frame_column *columns;
    uint32_t column_count;
    bool (*add)(struct frame *frame, struct error *why); /* all its rows; NULL: one a file */
    const char *folder, *suffix;
    name_row row;
} lists[] = {
    {"systems", COLUMNS_OF(system_columns), NULL, "scenarios/systems", "yaml", add_system},
    {"models", COLUMNS_OF(model_columns), NULL, "models", "json", add_model},
    {"hardware", COLUMNS_OF(hardware_columns), add_hardware, NULL, NULL, NULL},
    {"policies", COLUMNS_OF(policy_columns), add_policies, NULL, NULL, NULL},
    {"mechanisms", COLUMNS_OF(mechanism_columns), add_mechanisms, NULL, NULL, NULL},
    {"traces", COLUMNS_OF(trace_columns), add_traces, NULL, NULL, NULL},
    {"engines", COLUMNS_OF(engine_columns), add_engines, NULL, NULL, NULL},
    {"routers", COLUMNS_OF(router_columns), add_routers, NULL, NULL, NULL},
    {"columns", COLUMNS_OF(column_columns), add_result_columns, NULL, NULL, NULL},
    {.name = "model"}, /* before a name, the page of one model */
    {.name = NULL},
};

enum { SET, JSON };
static const struct command_option options[] = {
    [SET] = {"--set", "KEY=VALUE",
             "model: a key as in a scenario, such as tensor_parallel or dtype.kv; engine, "
             "kv_pool; or model.KEY for a key of config.json",
             .repeats = true},
    [JSON] = {"--json", NULL, "print one JSON object per name"},
    {.name = NULL},
};

static bool list_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count, set_count;
    const char *const *operands = arguments_operands(arguments, &count);
    const char *const *sets = arguments_all(arguments, SET, &set_count);
    const char *kind = strcmp(operands[0], "model") == 0 ? "models" : operands[0];
    bool json = arguments_given(arguments, JSON), one = count > 1;
    size_t index = 0;
    if (one && strcmp(kind, "models") == 0) {
        return list_model_page(operands[1], sets, set_count, json, why);
    }
    bool unread = one && strcmp(kind, "hardware") != 0;
    if (unread || set_count > 0) {
        error_usage(why, NULL, 0, "'list %s' takes no '%s'", kind, unread ? operands[1] : "--set");
        return error_expect(why, "list %s, list hardware NAME, or list model NAME --set KEY=VALUE",
                            kind);
    }
    if (one) {
        return list_machine(operands[1], json, why);
    }
    while (strcmp(lists[index].name, kind) != 0) {
        index++;
    }
    const struct list *list = &lists[index];
    struct frame *frame = frame_create(list->columns, list->column_count, why);
    if (frame == NULL ||
        !(list->add != NULL ? list->add(frame, why)
                            : add_names(frame, list->folder, list->suffix, list->row, NULL, why))) {
        frame_destroy(frame);
        return false;
    }
    return list_print(frame, json, why);
}

const struct command command_list = {
    .name = "list",
    .operands = "[NAME]",
    .kinds = {lists, sizeof *lists},
    .summary = "list the names that a scenario can use, or the figures of one machine or model",
    .example = "spillway list hardware h100-sxm\n"
               "spillway list model qwen3.5-27b --set engine=vllm-0.27 --set kv_pool=20GiB",
    .options = options,
    .run = list_run,
};
