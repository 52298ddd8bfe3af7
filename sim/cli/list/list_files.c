/* Lists of what ships as files: a row for each file of a folder. */
#include "cli/list/lists.h"

#include "base/find.h"
#include "base/units.h"
#include "decode/mechanisms.h"
#include "hardware/profile.h"
#include "model/model.h"
#include "trace/generate/profile.h"
#include "trace/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 32 };

/* Append the row of one file's name. */
typedef bool (*name_row)(struct table *table, const char *name, struct error *why);

static bool add_names(struct table *table, const char *folder, const char *suffix, name_row row,
                      struct error *why)
{
    char **names;
    size_t count;
    if (!find_names(folder, suffix, &names, &count, why)) {
        return false;
    }
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        ok = ok && row(table, names[i], why);
        free(names[i]);
    }
    free(names);
    return ok;
}

/* ---- systems ---- */

static const struct table_column system_columns[] = {
    {.title = "system"},
    {.title = "available"},
    {.title = "lossless"},
    {.title = "what it is", .wrap = true},
};

static bool add_system(struct table *table, const char *name, struct error *why)
{
    struct mechanisms mechanisms;
    struct system_info info;
    struct node *at = node_parse(name, strlen(name), "--list", why);
    bool ok = at != NULL && system_load(NULL, name, at, NULL, &mechanisms, &info, NULL, why);
    node_destroy(at);
    const char *where = info.reference ? "to compare with, not to serve with" : info.where;
    char what[sizeof info.summary + sizeof info.paper + sizeof info.where + 8];
    snprintf(what, sizeof what, "%s (%s)%s%s", info.summary, info.paper,
             where[0] != '\0' ? "; " : "", where);
    const char *texts[] = {name, info.available, info.lossless, what};
    return ok && table_add(table, texts, 4, why);
}

static bool add_systems(struct table *table, struct error *why)
{
    return add_names(table, "scenarios/systems", "yaml", add_system, why);
}

const struct list list_systems = {"systems", LIST_COLUMNS(system_columns), add_systems};

/* ---- models ---- */

enum { LISTED_CONTEXT = 131072 };

static const struct table_column model_columns[] = {
    {.title = "model"},
    {.title = "architecture"},
    {.title = "layers", .right = true},
    {.title = "KV heads", .right = true},
    {.title = "weights", .right = true},
    {.title = "KV of 128K tokens", .right = true},
    {.title = "trained to", .right = true},
};

static bool add_model(struct table *table, const char *name, struct error *why)
{
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct model model;
    char layers[TEXT], heads[TEXT], weights[TEXT], kv[TEXT], trained[TEXT] = "-";
    if (!model_load(NULL, name, &options, NULL, 0, &model, why)) {
        return false;
    }
    snprintf(layers, sizeof layers, "%" PRIu32, model.layer_count);
    snprintf(heads, sizeof heads, "%" PRIu32, model_kv_heads(&model));
    units_format((double)model_weight_bytes(&model), UNIT_BYTES, weights, sizeof weights);
    units_format((double)model_kv_bytes(&model, LISTED_CONTEXT), UNIT_BYTES, kv, sizeof kv);
    if (model.trained_context > 0) {
        snprintf(trained, sizeof trained, "%" PRIu32, model.trained_context);
    }
    const char *texts[] = {name, model.architecture, layers, heads, weights, kv, trained};
    bool ok = table_add(table, texts, 7, why);
    model_release(&model);
    return ok;
}

static bool add_models(struct table *table, struct error *why)
{
    return add_names(table, "models", "json", add_model, why);
}

bool list_model(const char *name, struct error *why)
{
    struct table *table =
        table_create(model_columns, sizeof model_columns / sizeof *model_columns, why);
    bool ok = table != NULL && add_model(table, name, why);
    if (ok) {
        table_print(table, stdout);
    }
    table_destroy(table);
    return ok;
}

const struct list list_models = {"models", LIST_COLUMNS(model_columns), add_models};

/* ---- hardware ---- */

/* The curves in which machines differ most. */
static const enum curve_id listed_curves[] = {
    CURVE_GPU_HBM_CAPACITY, CURVE_GPU_HBM_BANDWIDTH,  CURVE_GPU_FLOPS_BF16,
    CURVE_LINK_H2D,         CURVE_HOST_DRAM_CAPACITY, CURVE_HOST_CORES,
};
enum { LISTED_CURVES = sizeof listed_curves / sizeof listed_curves[0] };

static const struct table_column hardware_columns[] = {
    {.title = "hardware"},
    {.title = "part"},
    {.title = "HBM", .right = true},
    {.title = "HBM bandwidth", .right = true},
    {.title = "bf16", .right = true},
    {.title = "link", .right = true},
    {.title = "host memory", .right = true},
    {.title = "cores", .right = true},
};

/* A machine, or a part for a scenario's `hardware: {PART: NAME}`. */
static bool add_profile(struct table *table, const char *name, const char *part, struct error *why)
{
    char text[128], values[LISTED_CURVES][TEXT];
    struct profile profile;
    snprintf(text, sizeof text, part[0] != '\0' ? "{%s: %s}" : "%s%s", part, name);
    struct node *node = node_parse(text, strlen(text), "--list", why);
    bool ok = node != NULL && profile_load(NULL, node, &profile, why);
    node_destroy(node);
    if (!ok) {
        return false;
    }
    const char *texts[2 + LISTED_CURVES] = {name, part[0] != '\0' ? part : "all"};
    for (size_t i = 0; i < LISTED_CURVES; i++) {
        const struct curve *curve = &profile.curves[listed_curves[i]];
        if (curve->count > 0) {
            texts[2 + i] = units_format(curve->value[curve->count - 1],
                                        curve_kinds[listed_curves[i]].unit, values[i], TEXT);
        }
    }
    profile_release(&profile);
    return table_add(table, texts, 2 + LISTED_CURVES, why);
}

static bool add_machine(struct table *table, const char *name, struct error *why)
{
    return add_profile(table, name, "", why);
}

static bool add_gpu(struct table *table, const char *name, struct error *why)
{
    return add_profile(table, name, "gpu", why);
}

static bool add_link(struct table *table, const char *name, struct error *why)
{
    return add_profile(table, name, "link", why);
}

static bool add_host(struct table *table, const char *name, struct error *why)
{
    return add_profile(table, name, "host", why);
}

static bool add_fabric(struct table *table, const char *name, struct error *why)
{
    return add_profile(table, name, "fabric", why);
}

static bool add_hardware(struct table *table, struct error *why)
{
    return add_names(table, "hwprofiles", "yaml", add_machine, why) &&
           add_names(table, "hwprofiles/gpus", "yaml", add_gpu, why) &&
           add_names(table, "hwprofiles/links", "yaml", add_link, why) &&
           add_names(table, "hwprofiles/hosts", "yaml", add_host, why) &&
           add_names(table, "hwprofiles/fabrics", "yaml", add_fabric, why);
}

const struct list list_hardware = {"hardware", LIST_COLUMNS(hardware_columns), add_hardware};

/* ---- traces ---- */

static const struct table_column trace_columns[] = {
    {.title = "trace"},
    {.title = "basis"},
    {.title = "model"},
    {.title = "context", .right = true},
    {.title = "steps", .right = true},
    {.title = "from", .wrap = true},
};

static bool add_recording(struct table *table, const char *name, struct error *why)
{
    char path[4096], context[TEXT], steps[TEXT];
    struct trace_source source;
    if (!find_path("traces", name, "swt", path, sizeof path, why)) {
        return false;
    }
    struct trace *trace = trace_open(path, why);
    if (trace == NULL) {
        return false;
    }
    const struct trace_header *header = trace_header(trace);
    trace_source_read(header, &source);
    snprintf(context, sizeof context, "%" PRIu32, header->context);
    snprintf(steps, sizeof steps, "%" PRIu32, header->steps);
    trace_close(trace);
    const char *texts[] = {name,       basis_name(source.basis), source.model, context, steps,
                           source.text};
    return table_add(table, texts, 6, why);
}

/* If a recording has the same name, the name means the recording; the profile is then listed with
 * its suffix. */
static bool add_trace_profile(struct table *table, const char *name, struct error *why)
{
    char path[4096], recording[4096], called[280], context[TEXT];
    struct trace_profile profile;
    if (!find_path("traces", name, "swt", recording, sizeof recording, why) ||
        !find_path("traces", name, "yaml", path, sizeof path, why) ||
        !trace_profile_load(NULL, path, &profile, why)) {
        return false;
    }
    bool shared = access(recording, F_OK) == 0;
    snprintf(called, sizeof called, "%s%s", name, shared ? ".yaml" : "");
    snprintf(context, sizeof context, "%" PRIu32, profile.context);
    const char *texts[] = {called,        basis_name(profile.basis), profile.model, context, "any",
                           profile.source};
    bool ok = table_add(table, texts, 6, why);
    trace_profile_release(&profile);
    return ok;
}

static bool add_traces(struct table *table, struct error *why)
{
    return add_names(table, "traces", "swt", add_recording, why) &&
           add_names(table, "traces", "yaml", add_trace_profile, why);
}

const struct list list_traces = {"traces", LIST_COLUMNS(trace_columns), add_traces};
