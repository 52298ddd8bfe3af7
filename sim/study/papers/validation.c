#include "study/papers/validation.h"

#include "decode/replay/replay.h"

#include <gsl/gsl_statistics_double.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

bool validation_shape(const struct model *model, const struct trace *trace,
                      const struct profile *profile, enum miniature_site site, uint64_t context,
                      struct miniature *out, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    uint64_t copies = (context + header->context - 1) / header->context;
    /* Some layers, so that each finds cold processor caches, as it would in a whole model; RetroInfer's
     * selection and cache; and a warm-up in which a cache of three selections fills. */
    *out = (struct miniature){
        .site = site,
        .layers = 4,
        .kv_heads = model->kv_heads,
        .query_heads = model->query_heads,
        .head_dim = model->head_dim,
        .hidden = model->hidden,
        .context = copies * header->context,
        .repeat = (uint32_t)(copies * header->unit_tokens),
        .selection = 0.1,
        .capacity = 0.3,
        .warmup = 16,
        .steps = 4,
    };
    if (model->kv_lora > 0) {
        error_set(why, NULL, 0, "'%s' keeps latent K and V; there is no miniature", model->name);
        return error_expect(why, "a model that keeps K and V per head");
    }
    if (header->unit_kind != TRACE_POSITIONS ||
        (uint64_t)header->units * header->unit_tokens != header->context) {
        error_set(why, trace_path(trace), 0, "units are not ranges of tokens");
        return error_expect(why, "a trace of positions, with whole units");
    }
    if (header->steps < out->warmup + out->steps || !header->has_queries) {
        error_set(why, trace_path(trace), 0, "%u steps, %s queries", header->steps,
                  header->has_queries ? "with" : "without");
        return error_expect(why, "at least %u steps, with queries", out->warmup + out->steps);
    }
    if (!miniature_require(profile, site, why)) {
        return false;
    }
    out->threads = (uint32_t)profile_value(profile, CURVE_HOST_CORES, 0, TRUST_UNSEEN);
    if (out->context * out->kv_heads > INT32_MAX) { /* rows are numbered within a layer */
        error_set(why, NULL, 0, "a context of %llu tokens is too long for a miniature",
                  (unsigned long long)context);
        return error_expect(why, "at most %u", INT32_MAX / out->kv_heads);
    }
    return true;
}

char *validation_spec(const struct miniature *shape, const char *trace_path, double seconds,
                      struct error *why)
{
    json_t *spec = json_pack(
        "{s:s, s:b, s:f, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:i, s:i, s:i}", "trace",
        trace_path, "gpu", (int)(shape->site == MINIATURE_GPU), "seconds", seconds, "layers",
        (int)shape->layers, "kv_heads", (int)shape->kv_heads, "query_heads",
        (int)shape->query_heads, "head_dim", (int)shape->head_dim, "hidden", (int)shape->hidden,
        "repeat", (int)shape->repeat, "selection", shape->selection, "capacity", shape->capacity,
        "warmup", (int)shape->warmup, "steps", (int)shape->steps, "threads", (int)shape->threads);
    char *text = spec != NULL ? json_dumps(spec, JSON_COMPACT) : NULL;
    json_decref(spec);
    if (text == NULL) {
        error_set(why, trace_path, 0, "the name is not UTF-8, or memory ran out");
    }
    return text;
}

bool validation_has(const struct validation *validation, int id)
{
    return miniature_kinds[id].site == validation->shape.site;
}

bool validation_ran(const struct validation *validation, int id)
{
    return validation_has(validation, id) && validation->rows[id].absent[0] == '\0';
}

static bool validation_read_figure(json_t *object, struct validation_figure *out)
{
    int samples = 0;
    bool good = json_unpack(object, "{s:F, s:F, s:F, s:i}", "median", &out->median, "p10",
                            &out->p10, "p90", &out->p90, "samples", &samples) == 0;
    out->samples = (uint32_t)samples;
    return good && out->median > 0 && samples > 0;
}

static bool add_stand_in(const char *name, double rate, struct miniature_stand_ins *to)
{
    double *at = strcmp(name, "copies_whole") == 0    ? &to->copies_whole
                 : strcmp(name, "copies_rows") == 0   ? &to->copies_rows
                 : strcmp(name, "attends_whole") == 0 ? &to->attends_whole
                 : strcmp(name, "launch") == 0        ? &to->launch
                                                      : NULL;
    if (at != NULL) {
        *at = rate;
    }
    return at != NULL;
}

/* Points arrive in the order of their sizes. `today` has those that came so far. */
static bool validation_add_point(const char *name, double size, double value,
                                 struct validation *out)
{
    int id = name_index(name, NAMES(curve_kinds));
    uint32_t i = 0;
    while (i < out->curve_count && (int)out->curves[i].id != id) {
        i++;
    }
    if (id < 0 || i == VALIDATION_CURVES) {
        return false;
    }
    struct validation_curve *curve = &out->curves[i];
    curve->id = (enum curve_id)id;
    out->curve_count += i == out->curve_count;
    if (curve->count == VALIDATION_POINTS ||
        (curve->count > 0 && size <= curve->size[curve->count - 1])) {
        return false;
    }
    curve->size[curve->count] = size;
    curve->value[curve->count++] = value;
    out->today.curves[id] = (struct curve){.count = curve->count,
                                           .size = curve->size,
                                           .value = curve->value,
                                           .basis = BASIS_MEASURED,
                                           .least = 1,
                                           .most = 1};
    return true;
}

/* The harness must count what a replay counts; a mechanism that counted otherwise has failed. */
static bool predict(struct validation *validation, enum miniature_id id, const struct trace *trace,
                    json_int_t wanted, json_int_t missed, struct error *why)
{
    struct ledger ledger;
    struct validation_row *row = &validation->rows[id];
    uint64_t all = 0, lost = 0;
    bool good = miniature_replay(&validation->shape, id, trace, &ledger, why);
    for (size_t i = 0; good && i < (size_t)ledger.steps * ledger.layers; i++) {
        all += ledger.rows[i].wanted;
        lost += ledger.rows[i].missed;
    }
    row->failed = good && ((uint64_t)wanted != all || (uint64_t)missed != lost);
    if (row->failed) {
        snprintf(row->absent, sizeof row->absent,
                 "it missed %lld of %lld tokens, a replay %llu of %llu", (long long)missed,
                 (long long)wanted, (unsigned long long)lost, (unsigned long long)all);
    }
    good = good && (row->failed ||
                    miniature_predict(&validation->shape, id, &validation->today,
                                      &validation->stand_ins, &ledger, &row->predicted, why));
    ledger_release(&ledger);
    return good;
}

/* A mechanism's figures; or why the harness could not run it, or that it failed. */
static bool read_mechanism(json_t *object, const char *name, const char *reason,
                           const struct trace *trace, struct validation *out, struct error *why)
{
    json_int_t wanted, missed;
    int id = 0;
    while (id < MINIATURE_COUNT &&
           (strcmp(miniature_kinds[id].name, name) != 0 || !validation_has(out, id))) {
        id++;
    }
    struct validation_row *row = &out->rows[id];
    if (id == MINIATURE_COUNT || (reason != NULL && reason[0] == '\0') ||
        (reason == NULL && (!validation_read_figure(object, &row->measured) ||
                            json_unpack(object, "{s:I, s:I, s:F}", "wanted", &wanted, "missed",
                                        &missed, "worst", &row->output_error) != 0))) {
        return false;
    }
    if (reason == NULL && miniature_knows(&out->today, (enum miniature_id)id, why)) {
        return predict(out, (enum miniature_id)id, trace, wanted, missed, why);
    }
    snprintf(row->absent, sizeof row->absent, "%s", reason != NULL ? reason : why->found);
    row->failed = json_object_get(object, "failed") != NULL;
    return true;
}

static bool validation_read_line(const char *text, size_t length, const struct trace *trace,
                                 struct validation *out, struct error *why)
{
    const char *name, *reason = NULL;
    struct validation_figure figure;
    json_t *object = json_loadb(text, length, 0, NULL);
    double size;
    bool good = false;
    error_set(why, NULL, 0, "the harness printed '%.*s'", length < 80 ? (int)length : 80, text);
    error_expect(why, "lines of JSON, from a harness of the same version as this program");
    if (json_unpack(object, "{s:s}", "mechanism", &name) == 0 ||
        json_unpack(object, "{s:s, s:s}", "absent", &name, "reason", &reason) == 0 ||
        json_unpack(object, "{s:s, s:s}", "failed", &name, "reason", &reason) == 0) {
        good = read_mechanism(object, name, reason, trace, out, why);
    } else if (validation_read_figure(object, &figure)) {
        good = json_unpack(object, "{s:s, s:F}", "curve", &name, "size", &size) == 0
                   ? validation_add_point(name, size, figure.median, out)
                   : json_unpack(object, "{s:s}", "stand_in", &name) == 0 &&
                         add_stand_in(name, figure.median, &out->stand_ins);
    }
    json_decref(object);
    return good;
}

const char *const validation_verdicts[] = {
    [VALIDATION_MET] = "met", [VALIDATION_NOISE] = "noise", [VALIDATION_MISSED] = "missed"};

const struct validation_gates validation_gates[MINIATURE_CLASSES] = {
    [MINIATURE_BY_GPU] = {"of the GPU alone", 0.08, 0.03},
    [MINIATURE_BY_CPU] = {"managed by the CPU", 0.20, 0.10},
};

/* `gate` is set to `asked`, or to twice the spread if that is larger. */
static enum validation_verdict judge_error(double error, double asked, double spread, double *gate)
{
    *gate = fmax(asked, 2 * spread);
    return fabs(error) <= asked   ? VALIDATION_MET
           : fabs(error) <= *gate ? VALIDATION_NOISE
                                  : VALIDATION_MISSED;
}

static void judge_class(struct validation *out, enum miniature_class by)
{
    const struct validation_gates *asked = &validation_gates[by];
    struct validation_class *class = &out->classes[by];
    double errors[MINIATURE_COUNT], spreads[MINIATURE_COUNT];
    for (int i = 0; i < MINIATURE_COUNT; i++) {
        struct validation_row *row = &out->rows[i];
        if (!validation_ran(out, i) || miniature_kinds[i].by != by) {
            continue;
        }
        row->error = row->predicted / row->measured.median - 1;
        double spread = (row->measured.p90 - row->measured.p10) / 2 / row->measured.median;
        row->verdict = judge_error(row->error, asked->each, spread, &row->gate);
        errors[class->count] = fabs(row->error);
        spreads[class->count++] = spread;
    }
    if (class->count > 0) {
        class->median_error = gsl_stats_median(errors, 1, class->count);
        class->verdict =
            judge_error(class->median_error, asked->median,
                        gsl_stats_median(spreads, 1, class->count), &class->median_gate);
    }
}

bool validation_judge(const struct miniature *shape, const struct trace *trace,
                      const struct profile *profile, const char *lines, struct validation *out,
                      struct error *why)
{
    *out = (struct validation){.shape = *shape, .today = *profile};
    for (size_t length; *lines != '\0'; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        if (!validation_read_line(lines, length, trace, out, why)) {
            return false;
        }
    }
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        if (validation_ran(out, id) && out->rows[id].measured.samples == 0) {
            return error_set(why, NULL, 0, "the harness did not run '%s'",
                             miniature_kinds[id].name);
        }
    }
    for (uint32_t i = 0; i < out->curve_count; i++) {
        struct validation_curve *curve = &out->curves[i];
        bool stated = profile->curves[curve->id].count > 0;
        curve->change = stated ? 0 : 1;
        for (uint32_t p = 0; stated && p < curve->count; p++) {
            double then = profile_value(profile, curve->id, curve->size[p], TRUST_UNSEEN);
            curve->change += curve->value[p] / then / curve->count;
        }
    }
    for (int by = 0; by < MINIATURE_CLASSES; by++) {
        judge_class(out, (enum miniature_class)by);
    }
    return true;
}
