/* The trace that a scenario means: a recording, a profile from which one is generated at the
 * scenario's own geometry, or an assumed ledger. */
#include "study/resolve_trace.h"

#include "base/named.h"
#include "trace/generate.h"
#include "trace/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DEFAULT_TRACE "smollm2-135m"

enum { PATH_SIZE = 4096, LEAST_STEPS = 32 };

/* assumed:hit=93%,spread=5% */
static bool read_assumed(const struct node *node, const char *text, struct setup *out,
                         struct error *why)
{
    char hit[32] = "", spread[32] = "0%";
    int used = 0;
    sscanf(text, "assumed:hit=%31[^,]%n,spread=%31s%n", hit, &used, spread, &used);
    if (used == 0 || text[used] != '\0') {
        node_error(node, why, "'%.100s' is no assumed ledger", text);
        return error_expect(why, "assumed:hit=93%%,spread=5%%");
    }
    if (!units_parse(hit, UNIT_SHARE, node->file, node->line, "hit", &out->assumed_hit, why) ||
        !units_parse(spread, UNIT_SHARE, node->file, node->line, "spread", &out->assumed_spread,
                     why)) {
        return false;
    }
    if (out->assumed_hit > 1) {
        return node_error(node, why, "a hit ratio of '%s' is above 100%%", hit);
    }
    return true;
}

/* A recording of this very model: its name begins the recorded one, and the geometry is the same.
 * So is a generated trace where it is a twin of such a recording, not carried to another context.
 */
static bool is_recording_of(const struct trace_header *header, const struct model *model)
{
    struct trace_source source;
    trace_source_read(header, &source);
    return source.model[0] != '\0' &&
           strncasecmp(source.model, model->name, strlen(model->name)) == 0 &&
           header->layers == model->layer_count && header->kv_heads == model->kv_heads &&
           header->query_heads == model->query_heads && header->head_dim == model->head_dim &&
           (!source.twin || source.fitted_context == header->context);
}

/* The model's own shipped recording where there is one. */
static const char *default_trace(const struct model *model)
{
    char path[PATH_SIZE];
    struct error ignored;
    bool own =
        named_file(model->name, "traces", "swt", "trace", NULL, 0, path, sizeof path, &ignored) &&
        access(path, F_OK) == 0;
    return own ? model->name : DEFAULT_TRACE;
}

/* ---- profiles ---- */

static bool find_shipped(const char *name, const char *suffix, char path[PATH_SIZE])
{
    struct error ignored;
    return named_file(name, "traces", suffix, "trace", NULL, 0, path, PATH_SIZE, &ignored) &&
           access(path, F_OK) == 0;
}

/* A path that ends in .yaml, or a shipped profile; of a name that is a recording, too, that one is
 * meant. */
static bool find_profile(const char *name, char path[PATH_SIZE])
{
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".yaml") == 0) {
        return snprintf(path, PATH_SIZE, "%s", name) < PATH_SIZE;
    }
    return !find_shipped(name, "swt", path) && strchr(name, '/') == NULL &&
           find_shipped(name, "yaml", path);
}

/* As many steps as are asked for and as many before them, so that half of them are warm-up where
 * nothing else is said; never fewer than fill a cache of three selections. */
static uint32_t steps_to_generate(const struct setup *setup)
{
    uint32_t reported = setup->steps > LEAST_STEPS ? setup->steps : LEAST_STEPS;
    int64_t warmup = setup->warmup != SETUP_WARMUP_AUTO ? setup->warmup : reported;
    int64_t steps =
        setup->warmup != SETUP_WARMUP_AUTO && setup->steps > 0 ? setup->steps : reported;
    return (uint32_t)(steps + warmup < UINT32_MAX ? steps + warmup : UINT32_MAX);
}

/* Rows keep what is selected beside the system's window; twice that where sets are reused, whose
 * mass at later steps is to be known. */
static double share_to_keep(const struct setup *setup)
{
    const struct mechanisms *mechanisms = &setup->mechanisms;
    double window = (double)(mechanisms->sinks + mechanisms->recent + 1) / (double)setup->context;
    double selection = fmin(mechanisms->selection, 1) * (mechanisms->policy->needs_queries ? 2 : 1);
    return fmin(selection + window, 1);
}

static bool open_profile(const struct node *root, const char *path, struct setup *out,
                         struct error *why)
{
    struct trace_profile profile;
    if (!trace_profile_load(path, &profile, why)) {
        return false;
    }
    struct trace_geometry geometry = {
        .layers = out->model.layer_count,
        .kv_heads = out->model.kv_heads,
        .query_heads = out->model.query_heads,
        .head_dim = out->model.head_dim,
        .context = (uint32_t)fmin((double)out->context, UINT32_MAX),
        .keep = share_to_keep(out),
        .sequences = 1,
        .steps = steps_to_generate(out),
        .seed = out->seed,
    };
    bool ok = out->context <= UINT32_MAX ||
              node_error(node_get(root, "context"), why, "no trace of %llu tokens can be generated",
                         (unsigned long long)out->context);
    out->trace = ok ? trace_open_generated(&profile, path, &geometry, why) : NULL;
    out->trace_is_model =
        out->trace != NULL && is_recording_of(trace_header(out->trace), &out->model);
    trace_profile_release(&profile);
    return out->trace != NULL;
}

/* ---- the key ---- */

bool resolve_trace(const struct node *root, struct setup *out, struct error *why)
{
    const struct node *node = node_get(root, "trace");
    const char *name = default_trace(&out->model);
    char path[PATH_SIZE];
    if (!node_text(root, "trace", &name, why)) {
        return false;
    }
    snprintf(out->trace_name, sizeof out->trace_name, "%s", name);
    if (strncmp(name, "assumed:", 8) == 0) {
        return read_assumed(node, name, out, why);
    }
    if (find_profile(name, path)) {
        return open_profile(root, path, out, why);
    }
    if (!named_file(name, "traces", "swt", "trace", node != NULL ? node->file : NULL,
                    node != NULL ? node->line : 0, path, sizeof path, why)) {
        return false;
    }
    out->trace = trace_open(path, why);
    if (out->trace == NULL) {
        return false;
    }
    out->trace_is_model = is_recording_of(trace_header(out->trace), &out->model);
    return true;
}
