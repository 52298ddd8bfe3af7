/* Lists of what ships as files: a row for each file of a folder. */
#include "cli/list/lists.h"

#include "core/find.h"
#include "core/named.h"
#include "core/units.h"
#include "decode/mechanisms.h"
#include "policy/policy.h"
#include "machine/profile.h"
#include "model/model.h"
#include "trace/generate/profile.h"
#include "trace/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- systems ---- */

static const struct frame_column system_columns[] = {
    {.key = "system", .title = "system"},
    {.key = "available", .title = "runs in"},
    {.key = "lossless", .title = "lossless"},
    {.key = "good_for", .title = "good for"},
    {.key = "what", .title = "what it is", .wrap = true},
};

/* As recorded decodes say (traces/README.md, "Questions about something far back"): what drops KV
 * keeps as much attention mass as others while a text goes on, as in a chat, and less where a
 * question goes back. Of a policy that chooses what the CPU attends to, none was recorded. */
static const char *system_use(const struct mechanisms *mechanisms)
{
    bool chooses = mechanisms_offload(mechanisms) && mechanisms->policy->chooses_own;
    bool lossy = strcmp(mechanisms_lossless(mechanisms), "lossy") == 0;
    return !lossy ? "all" : !chooses ? "questions" : mechanisms_drop(mechanisms) ? "chat" : "-";
}

static bool add_system(struct frame *frame, const char *name, const char *part, struct error *why)
{
    (void)part;
    struct mechanisms mechanisms;
    struct system_info info;
    struct node *at = node_parse(name, strlen(name), "--list", why);
    bool ok = at != NULL && system_load(NULL, name, at, NULL, &mechanisms, &info, NULL, why);
    node_destroy(at);
    const char *where = info.reference ? "to compare with, not to serve with" : info.where;
    if (ok) {
        const char *use = system_use(&mechanisms);
        frame_add(frame, (const char *[]){name, info.available, info.lossless, use}, 4);
        frame_textf(frame, 4, "%s (%s)%s%s", info.summary, info.paper, where[0] != '\0' ? "; " : "",
                    where);
    }
    return ok;
}

static bool add_systems(struct frame *frame, struct error *why)
{
    return add_names(frame, "scenarios/systems", "yaml", add_system, NULL, why);
}

const struct list list_systems = {"systems", LIST_COLUMNS(system_columns), add_systems};

/* ---- models ---- */

enum { LISTED_CONTEXT = 131072 };
enum { MODEL, ARCHITECTURE, LAYERS, HEADS, WEIGHTS, KV, TRAINED, MODEL_COLUMNS };

static const struct frame_column model_columns[MODEL_COLUMNS] = {
    [MODEL] = {.key = "model", .title = "model"},
    [ARCHITECTURE] = {.key = "architecture", .title = "architecture"},
    [LAYERS] = {.key = "layers", .title = "layers", .unit = UNIT_WHOLE},
    [HEADS] = {.key = "kv_heads", .title = "KV heads", .unit = UNIT_WHOLE},
    [WEIGHTS] = {.key = "weights_bytes", .title = "weights", .unit = UNIT_BYTES},
    [KV] = {.key = "kv_bytes_of_128k", .title = "KV of 128K tokens", .unit = UNIT_BYTES},
    [TRAINED] = {.key = "trained_context", .title = "trained to", .unit = UNIT_WHOLE},
};

static bool list_files_add_model(struct frame *frame, const char *name, const char *part,
                                 struct error *why)
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

static bool add_models(struct frame *frame, struct error *why)
{
    return add_names(frame, "models", "json", list_files_add_model, NULL, why);
}

bool list_model(const char *name, bool json, struct error *why)
{
    struct frame *frame = frame_create(model_columns, MODEL_COLUMNS, why);
    if (frame == NULL || !list_files_add_model(frame, name, NULL, why)) {
        frame_destroy(frame);
        return false;
    }
    return list_print(frame, json, why);
}

const struct list list_models = {"models", LIST_COLUMNS(model_columns), add_models};

/* ---- hardware ---- */

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
    {.key = "host_bytes", .title = "host memory", .unit = UNIT_BYTES},
    {.key = "cores", .title = "cores", .unit = UNIT_WHOLE},
};

/* A machine, or a part for a scenario's `hardware: {PART: NAME}`; a GPU has its row with the machine
 * of its name. */
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

const struct list list_hardware = {"hardware", LIST_COLUMNS(hardware_columns), add_hardware};

/* ---- traces ---- */

static const struct frame_column trace_columns[] = {
    {.key = "trace", .title = "trace"},
    {.key = "basis", .title = "basis"},
    {.key = "model", .title = "model"},
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
        (const char *[]){name, basis_name(source.basis), source.model, NULL, NULL, source.text}, 6);
    frame_number(frame, 3, header->context);
    frame_number(frame, 4, header->steps);
    trace_close(trace);
    return true;
}

/* If a recording has the same name, the name means the recording; the profile is then listed with
 * its suffix. */
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
    frame_text(frame, 1, basis_name(profile.basis));
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

const struct list list_traces = {"traces", LIST_COLUMNS(trace_columns), add_traces};
