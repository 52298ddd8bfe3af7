/* Finds the trace of a scenario: a recording, a profile from which a trace is generated at the scenario's own
 * geometry, or an assumed ledger. If the scenario names none, the model's own shipped recording is used;
 * otherwise the ensemble of recordings of small models, carried to this one. If these have fewer steps or
 * keep less than the run needs, a trace is generated at full geometry from the shipped profile; and if that
 * cannot be done, one small model's recording is used. */
#include "predict/scenario/resolve.h"

#include "core/text.h"
#include "decode/mechanism_values.h"
#include "decode/replay/replay.h"
#include "trace/generate/generate.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const struct ensemble_family ensemble_families[ENSEMBLE_FAMILIES] = {
    {"smollm2-135m", "SmolLM2-135M"},
    {"qwen2.5-coder-0.5b", "Qwen2.5-Coder-0.5B"},
    {"gemma-3-270m", "Gemma-3-270M"},
};

/* MOST_STEPS limits the time to generate, which every run spends again. */
enum { PATH_SIZE = 4096, LEAST_STEPS = 32, MOST_STEPS = 1 << 17 };

/* Open the recordings into `out`, the setup's own trace first. On failure `out` has no trace. */
static bool ensemble_open(struct sources *sources, struct point *out, struct error *why)
{
    struct setup *setup = &out->setup;
    for (uint32_t i = 0; i < ENSEMBLE_FAMILIES; i++) {
        const char *name = ensemble_families[i].recording;
        char path[PATH_SIZE];
        bool found = named_file(&named_trace, name, NULL, 0, path, sizeof path, why);
        out->families[i] =
            (struct point_family){name, found ? sources_recording(sources, path, why) : NULL};
        if (out->families[i].trace == NULL) {
            point_close_families(out);
            return false;
        }
        out->family_count = i + 1;
    }
    snprintf(setup->trace_name, sizeof setup->trace_name, "%s", ENSEMBLE_NAME);
    setup->trace = trace_hold(out->families[0].trace);
    for (uint32_t i = 0; i < setup->cohort_count; i++) {
        setup->cohorts[i].trace = setup->trace;
    }
    return true;
}

static bool ensemble_any_selects(const struct setup *setup)
{
    bool selects = false;
    for (uint32_t l = 0; l < setup->model.layer_count; l++) {
        selects = selects || !setup_attends_all(setup, l);
    }
    return selects;
}

/* Does a recording keep what heads want at this context, or what a policy that chooses makes do with? */
static bool keeps_enough(const struct trace *trace, const struct setup *setup, struct error *why)
{
    uint32_t wanted;
    return (!setup_asks_trace(setup) && !ensemble_any_selects(setup)) ||
           setup->mechanisms->policy->chooses_own ||
           replay_wanted(trace, setup_share(setup, &setup->mechanisms->selection), &wanted, why);
}

static bool has_steps(const struct trace *trace, const struct setup *setup, struct error *why)
{
    int64_t recorded = trace_header(trace)->steps;
    int64_t warmup = setup->warmup == SETUP_WARMUP_AUTO ? recorded / 2 : setup->warmup;
    int64_t steps = setup->steps == SETUP_STEPS_ALL ? 1 : setup->steps;
    return steps <= recorded - warmup ||
           error_set(why, trace_path(trace), 0, "the recording has %lld steps",
                     (long long)recorded);
}

bool ensemble_suffices(const struct point *point, struct error *why)
{
    const struct setup *setup = &point->setup;
    /* The shortest sequences of a server want the largest share of the context. 0: there are no requests. */
    uint64_t least = 0;
    for (size_t i = 0; point->requests != NULL && i < point->requests->count; i++) {
        uint64_t prompt = point->requests->all[i].prompt;
        least = least == 0 || prompt < least ? prompt : least;
    }
    for (uint32_t i = 0; i < point->family_count; i++) {
        const struct trace *trace = point->families[i].trace;
        if (!has_steps(trace, setup, why)) {
            return false;
        }
        for (uint32_t c = 0; c < setup_cohort_count(setup); c++) {
            struct setup own = setup_at(setup, setup_cohort(setup, c).context);
            if (!keeps_enough(trace, &own, why)) {
                return false;
            }
        }
        struct setup shortest = setup_at(setup, least);
        if (least > 0 && !keeps_enough(trace, &shortest, why)) {
            return false;
        }
    }
    return true;
}

void ensemble_describe(const struct point *point, char *text, size_t size)
{
    static_assert(ENSEMBLE_FAMILIES == 3, "the text says three");
    const struct setup *setup = &point->setup;
    text_copy(text, size, "recordings of three small models (");
    for (uint32_t i = 0; i < ENSEMBLE_FAMILIES; i++) {
        text_append(text, size, "%s%s", i > 0 ? ", " : "", ensemble_families[i].model);
    }
    text_append(text, size, ")");
    if (setup->cohorts != NULL) {
        text_append(text, size, " carried to %" PRIu64 "…%" PRIu64 " tokens",
                    setup->cohorts[0].context, setup->cohorts[setup->cohort_count - 1].context);
    } else if (trace_header(setup->trace)->context != setup->context) {
        text_append(text, size, " carried to %" PRIu64 " tokens", setup->context);
    }
}

#define DEFAULT_PROFILE "llama-3-8b-like"
#define DEFAULT_RECORDING "smollm2-135m"

static bool is_assumed(const char *name)
{
    return strncmp(name, "assumed:", strlen("assumed:")) == 0;
}

static bool read_assumed(const struct node *node, const char *text, struct setup *out,
                         struct error *why)
{
    char hit[32] = "", spread[32] = "0%";
    int used = 0;
    sscanf(text, "assumed:hit=%31[^,]%n,spread=%31s%n", hit, &used, spread, &used);
    if (used == 0 || text[used] != '\0') {
        node_error(node, why, "'%.100s' is not an assumed trace", text);
        return error_expect(why, "assumed:hit=93%%,spread=5%%");
    }
    out->trace_basis = BASIS_ASSUMED;
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

/* Is the trace a recording of this very model? Its recorded model's name starts with the model's name, it
 * holds all layers or all whose KV grows with the context, and the geometry is the same. A generated trace
 * counts if it is a twin of such a recording that is not carried to another context. */
static bool is_recording_of(const struct trace_header *header, const struct trace_source *source,
                            const struct model *model)
{
    uint32_t growing = 0;
    for (uint32_t l = 0; l < model->layer_count; l++) {
        growing += !model_layer_local(model, l);
    }
    return source->model[0] != '\0' &&
           strncasecmp(source->model, model->name, strlen(model->name)) == 0 &&
           source->model_layers == model->layer_count &&
           (header->layers == model->layer_count || header->layers == growing) &&
           header->kv_heads == model->kv_heads && header->query_heads == model->query_heads &&
           header->head_dim == model->head_dim &&
           (!source->twin || source->fitted_context == header->context);
}

void resolve_trace_source(struct setup *out)
{
    struct trace_source source;
    out->trace_is_model = true;
    for (uint32_t i = 0; i < setup_cohort_count(out); i++) {
        const struct trace_header *header = trace_header(setup_cohort(out, i).trace);
        trace_source_read(header, &source);
        out->trace_is_model = out->trace_is_model && is_recording_of(header, &source, &out->model);
    }
    out->trace_basis = source.basis;
}

/* ---- profiles ---- */

static bool find_shipped(const struct named_kind *kind, const char *name, char path[PATH_SIZE])
{
    char canonical[NAMED_SIZE];
    return named_canonical(kind, name, canonical) &&
           find_path(kind->folder, canonical, kind->suffix, path, PATH_SIZE, ERROR_UNSEEN);
}

/* A path that ends in .yaml, or a shipped profile; without the suffix a recording of the name goes first. */
static bool find_profile(const char *name, char path[PATH_SIZE])
{
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".yaml") == 0) {
        char stem[NAMED_SIZE] = "";
        if (length - 5 < sizeof stem && access(name, F_OK) != 0) {
            memcpy(stem, name, length - 5);
        }
        return find_shipped(&named_trace_profile, stem, path) ||
               snprintf(path, PATH_SIZE, "%s", name) < PATH_SIZE;
    }
    return !find_shipped(&named_trace, name, path) &&
           find_shipped(&named_trace_profile, name, path);
}

/* The reported steps and as many of warm-up, or as many as fill a cache of three selections. */
static uint64_t steps_to_generate(const struct setup *setup)
{
    uint64_t reported = setup->steps > LEAST_STEPS ? setup->steps : LEAST_STEPS;
    if (setup->warmup == SETUP_WARMUP_AUTO) {
        return 2 * reported;
    }
    return (setup->steps > 0 ? setup->steps : reported) + (uint64_t)setup->warmup;
}

/* The share of the context that a policy chooses to hold; 1 if only the memory limits it. */
static double share_to_hold(const struct setup *setup)
{
    const struct amount *budget = &setup->mechanisms->budget;
    switch (budget->unit) {
    case UNIT_SHARE:
    case UNIT_TIMES:
        return budget->value;
    case UNIT_TOKENS:
        return budget->value / (double)setup->context;
    default:
        return 1;
    }
}

/* The share of the context that a row keeps: the selection and the window, or the window alone if nothing
 * asks what heads want, so that no context is too long for it. Twice the selection if sets are reused,
 * because their mass at later steps must be known. A policy that chooses by weight needs twice what it holds:
 * of the other tokens, no more than that weigh more than an even share. */
static double share_to_keep(const struct setup *setup)
{
    const struct mechanisms *mechanisms = setup->mechanisms;
    const struct policy_kind *policy = mechanisms->policy;
    double window = (double)(mechanisms->sinks + setup_recent(setup) + 1) / (double)setup->context;
    bool unasked = !setup_asks_trace(setup) && !ensemble_any_selects(setup);
    double selection = unasked               ? 0
                       : policy->chooses_own ? share_to_hold(setup)
                                             : setup_share(setup, &mechanisms->selection);
    bool twice = policy->chooses_own || policy->needs_queries;
    return fmin(selection * (twice ? 2 : 1) + window, 1);
}

/* The size of a generated trace is limited here in tokens and steps; by the generator in bytes. */
static bool resolve_trace_check_size(const struct scenario *scenario, const struct setup *setup,
                                     uint64_t steps, struct error *why)
{
    uint64_t context = setup_cohort(setup, setup_cohort_count(setup) - 1).context;
    if (context > UINT32_MAX) {
        scenario_error(scenario, setup->cohorts != NULL ? "contexts" : "context", why,
                       "a generated trace of %llu tokens is too long", (unsigned long long)context);
        return error_expect(why, "less than 2^32 tokens");
    }
    if (steps > MOST_STEPS) {
        scenario_error(scenario, "warmup", why, "a generated trace of %llu steps is too long",
                       (unsigned long long)steps);
        return error_expect(why, "'warmup' and 'steps' that add up to at most %d", MOST_STEPS);
    }
    return true;
}

/* One trace for each context, of the profile at `path`, which may be that of a trace in `out`. */
static bool generate_traces(const struct scenario *scenario, const char *path, struct files *files,
                            struct sources *sources, struct setup *out, struct error *why)
{
    struct trace_profile profile;
    uint64_t steps = steps_to_generate(out);
    bool good = trace_profile_load(files, path, &profile, why);
    if (!good) {
        return false;
    }
    good = scenario == NULL || resolve_trace_check_size(scenario, out, steps, why);
    for (uint32_t i = 0; good && i < setup_cohort_count(out); i++) {
        struct setup own = setup_at(out, setup_cohort(out, i).context);
        const struct trace_geometry geometry = {
            .layers = own.model.layer_count,
            .kv_heads = own.model.kv_lora > 0 ? 1 : own.model.kv_heads, /* of latents: MLA */
            .query_heads = own.model.query_heads,
            .head_dim = own.model.head_dim,
            .context = (uint32_t)own.context,
            .keep = share_to_keep(&own),
            .sequences = 1,
            .steps = (uint32_t)steps,
            .seed = own.seed,
        };
        struct trace *trace = trace_open_generated(&profile, path, &geometry, why);
        trace = trace != NULL ? sources_generated(sources, trace, why) : NULL;
        good = trace != NULL;
        out->trace = i == 0 ? trace : out->trace;
        if (out->cohorts != NULL) {
            out->cohorts[i].trace = trace;
        }
    }
    trace_profile_release(&profile);
    if (!good) {
        setup_close_traces(out);
    }
    return good;
}

/* The path of a recording; `node` says where its name stood (or NULL). Words that are none may be near. */
static bool find_recording(const char *name, const struct node *node, char path[PATH_SIZE],
                           struct error *why)
{
    static const char *const others[] = {ENSEMBLE_NAME, DEFAULT_PROFILE, NULL};
    const char *file = node != NULL ? node->file : NULL;
    if (named_file(&named_trace, name, file, node != NULL ? node->line : 0, path, PATH_SIZE, why)) {
        return true;
    }
    char files[sizeof why->expected];
    text_copy(files, sizeof files, why->expected);
    error_expect(why, "%.250s, ensemble, or assumed:hit=93%%", files);
    return error_nearest(why, name_nearest(name, NAMES(others)));
}

static bool resolve_trace_open_named(const struct scenario *scenario, const struct node *node,
                                     const char *name, struct sources *sources, struct setup *out,
                                     struct error *why)
{
    char path[PATH_SIZE];
    snprintf(out->trace_name, sizeof out->trace_name, "%s", name);
    if (find_profile(name, path)) {
        return generate_traces(scenario, path, sources_files(sources), sources, out, why);
    }
    if (!find_recording(name, node, path, why)) {
        return false;
    }
    out->trace = sources_recording(sources, path, why);
    for (uint32_t i = 0; i < out->cohort_count; i++) {
        out->cohorts[i].trace = out->trace;
    }
    return out->trace != NULL;
}

static bool open_generated(const struct scenario *scenario, struct sources *sources,
                           struct setup *out, struct error *why)
{
    struct error reason;
    if (resolve_trace_open_named(scenario, NULL, DEFAULT_PROFILE, sources, out, &reason)) {
        return true;
    }
    snprintf(out->trace_fault, sizeof out->trace_fault, "%.100s", reason.found);
    out->trace_recorded = true;
    return resolve_trace_open_named(scenario, NULL, DEFAULT_RECORDING, sources, out, why);
}

static bool open_default(const struct scenario *scenario, struct sources *sources,
                         struct point *point, struct error *why)
{
    struct setup *out = &point->setup;
    char path[PATH_SIZE];
    struct error reason;
    if (find_shipped(&named_trace, out->model.name, path)) {
        return resolve_trace_open_named(scenario, NULL, out->model.name, sources, out, why);
    }
    if (!ensemble_open(sources, point, why) || ensemble_suffices(point, &reason)) {
        return point->family_count > 0;
    }
    point_close_families(point);
    setup_close_traces(out);
    snprintf(out->trace_fault, sizeof out->trace_fault, "%.100s", reason.found);
    return open_generated(scenario, sources, out, why);
}

bool resolve_trace(const struct scenario *scenario, struct point *point, struct error *why)
{
    struct sources *sources = scenario->sources;
    struct setup *out = &point->setup;
    const struct node *node = node_get(scenario->root, "trace");
    const char *name = NULL;
    if (!node_text(scenario->root, "trace", &name, why)) {
        return false;
    }
    if (name != NULL && is_assumed(name)) {
        snprintf(out->trace_name, sizeof out->trace_name, "%s", name);
        return read_assumed(node, name, out, why);
    }
    bool ensemble = name != NULL && name_same(name, ENSEMBLE_NAME);
    if (!(ensemble       ? ensemble_open(sources, point, why)
          : name != NULL ? resolve_trace_open_named(scenario, node, name, sources, out, why)
                         : open_default(scenario, sources, point, why))) {
        return false;
    }
    resolve_trace_source(out);
    return true;
}

bool resolve_trace_canonical(const char *name, char *out, size_t size)
{
    char path[PATH_SIZE], canonical[NAMED_SIZE];
    if (is_assumed(name) || strchr(name, '/') != NULL) {
        return false;
    }
    if (name_same(name, ENSEMBLE_NAME)) {
        return snprintf(out, size, "%s", ENSEMBLE_NAME) < (int)size;
    }
    if (find_profile(name, path)) {
        const char *start = strrchr(path, '/');
        bool suffix = strrchr(name, '.') != NULL && strcmp(strrchr(name, '.'), ".yaml") == 0;
        int stem = start != NULL ? (int)strlen(start + 1) - (suffix ? 0 : 5) : 0;
        return start != NULL && snprintf(out, size, "%.*s", stem, start + 1) < (int)size;
    }
    return named_canonical(&named_trace, name, canonical) &&
           snprintf(out, size, "%s", canonical) < (int)size;
}

bool resolve_trace_named(const struct node *node, struct error *why)
{
    char path[PATH_SIZE];
    return is_assumed(node->text) || name_same(node->text, ENSEMBLE_NAME) ||
           find_profile(node->text, path) || find_recording(node->text, node, path, why);
}

static bool is_generated(const struct setup *setup)
{
    return setup->trace != NULL && trace_bytes(setup->trace) == 0;
}

bool resolve_hangs_on_seed(const struct point *point)
{
    const struct setup *setup = &point->setup;
    return is_generated(setup) || (setup->trace == NULL && setup->assumed_spread > 0) ||
           setup->mechanisms->policy->draws_lots || point->workload.rate > 0;
}

/* Sizes were checked when the point was resolved. The traces of a draw are not shared. */
bool point_view_reseed(struct point *view, uint64_t seed, struct error *why)
{
    struct setup *setup = &view->setup;
    setup->seed = seed;
    if (!is_generated(setup)) {
        return true;
    }
    struct trace *before = trace_hold(setup->trace);
    setup_close_traces(setup);
    bool good =
        generate_traces(NULL, trace_path(before), sources_files(view->sources), NULL, setup, why);
    for (uint32_t i = 0; good && i < setup_cohort_count(setup); i++) {
        trace_stop_when(setup_cohort(setup, i).trace, trace_stop(before));
    }
    trace_close(before);
    return good;
}
