#include "study/papers/validation.h"

#include "decode/replay/replay.h"

#include <gsl/gsl_statistics_double.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- the shape ---- */

/* Some layers, so that each finds cold processor caches, as it would in a whole model; RetroInfer's
 * selection and cache; and a warm-up in which a cache of three selections fills. */
static const struct miniature standard = {
    .layers = 4,
    .selection = 0.1,
    .capacity = 0.3,
    .warmup = 16,
    .steps = 4,
};

static bool validation_check_trace(const struct trace *trace, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    uint32_t steps = standard.warmup + standard.steps;
    if (header->unit_kind != TRACE_POSITIONS ||
        (uint64_t)header->units * header->unit_tokens != header->context) {
        error_set(why, trace_path(trace), 0, "units are not ranges of tokens");
        return error_expect(why, "a trace of positions, with whole units");
    }
    if (header->steps < steps || !header->has_queries) {
        error_set(why, trace_path(trace), 0, "%u steps, %s queries", header->steps,
                  header->has_queries ? "with" : "without");
        return error_expect(why, "at least %u steps, with queries", steps);
    }
    return true;
}

bool validation_shape(const struct model *model, const struct trace *trace,
                      const struct profile *profile, enum miniature_site site, uint64_t context,
                      struct miniature *out, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    struct trust trust = {.basis = BASIS_MEASURED};
    *out = standard;
    out->site = site;
    if (model->kv_lora > 0) {
        error_set(why, NULL, 0, "'%s' keeps latent K and V; there is no miniature", model->name);
        return error_expect(why, "a model that keeps K and V per head");
    }
    if (!validation_check_trace(trace, why) || !miniature_require(profile, site, why)) {
        return false;
    }
    out->threads = (uint32_t)profile_value(profile, CURVE_HOST_CORES, 0, &trust);
    uint64_t copies = (context + header->context - 1) / header->context;
    uint64_t repeat = copies * header->unit_tokens;
    out->kv_heads = model->kv_heads;
    out->query_heads = model->query_heads;
    out->head_dim = model->head_dim;
    out->hidden = model->hidden;
    out->context = copies * header->context;
    out->repeat = (uint32_t)repeat;
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

static bool add_stand_in(const char *name, double rate, struct validation *out)
{
    struct miniature_stand_ins *to = &out->stand_ins;
    const struct {
        const char *name;
        double *rate;
    } all[] = {{"copies_whole", &to->copies_whole},
               {"copies_rows", &to->copies_rows},
               {"attends_whole", &to->attends_whole},
               {"launch", &to->launch}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) == 0) {
            *all[i].rate = rate;
            return true;
        }
    }
    return false;
}

/* ---- today's curves ---- */

static struct validation_curve *curve_named(struct validation *validation, const char *name)
{
    uint32_t i = 0;
    int id = 0;
    while (id < CURVE_COUNT && strcmp(curve_kinds[id].name, name) != 0) {
        id++;
    }
    while (i < validation->curve_count && (int)validation->curves[i].id != id) {
        i++;
    }
    if (id == CURVE_COUNT || i == VALIDATION_CURVES) {
        return NULL;
    }
    if (i == validation->curve_count) {
        validation->curves[validation->curve_count++] =
            (struct validation_curve){.id = (enum curve_id)id};
    }
    return &validation->curves[i];
}

/* Points arrive in the order of their sizes. */
static bool validation_add_point(const char *name, double size, double value,
                                 struct validation *out)
{
    struct validation_curve *curve = curve_named(out, name);
    bool good = curve != NULL && curve->count < VALIDATION_POINTS &&
                (curve->count == 0 || size > curve->size[curve->count - 1]);
    if (good) {
        curve->size[curve->count] = size;
        curve->value[curve->count++] = value;
    }
    return good;
}

/* A copy of the profile with today's curves. It owns nothing. */
static struct profile profile_today(const struct profile *profile, struct validation *validation)
{
    struct profile today = *profile;
    for (uint32_t i = 0; i < validation->curve_count; i++) {
        struct validation_curve *curve = &validation->curves[i];
        today.curves[curve->id] = (struct curve){.count = curve->count,
                                                 .size = curve->size,
                                                 .value = curve->value,
                                                 .basis = BASIS_MEASURED,
                                                 .least = 1,
                                                 .most = 1};
    }
    return today;
}

static void note_changes(const struct profile *profile, struct validation *validation)
{
    for (uint32_t i = 0; i < validation->curve_count; i++) {
        struct validation_curve *curve = &validation->curves[i];
        struct trust trust = {.basis = BASIS_MEASURED};
        double sum = 0;
        bool stated = profile->curves[curve->id].count > 0;
        for (uint32_t p = 0; stated && p < curve->count; p++) {
            sum += curve->value[p] / profile_value(profile, curve->id, curve->size[p], &trust);
        }
        curve->change = stated ? sum / curve->count : 1;
    }
}

/* ---- mechanisms ---- */

/* The harness must count what a replay counts; a mechanism that counted otherwise has failed. */
static bool check_counts(const struct ledger *ledger, json_int_t wanted, json_int_t missed,
                         struct validation_row *row)
{
    uint64_t all = 0, lost = 0;
    for (size_t i = 0; i < (size_t)ledger->steps * ledger->layers; i++) {
        all += ledger->rows[i].wanted;
        lost += ledger->rows[i].missed;
    }
    if ((uint64_t)wanted != all || (uint64_t)missed != lost) {
        snprintf(row->absent, sizeof row->absent,
                 "it missed %lld of %lld tokens, a replay %llu of %llu", (long long)missed,
                 (long long)wanted, (unsigned long long)lost, (unsigned long long)all);
        row->failed = true;
    }
    return !row->failed;
}

static bool predict(struct validation *validation, enum miniature_id id, const struct trace *trace,
                    const struct profile *profile, json_int_t wanted, json_int_t missed,
                    struct error *why)
{
    struct ledger ledger;
    struct validation_row *row = &validation->rows[id];
    const struct profile today = profile_today(profile, validation);
    const struct miniature *shape = &validation->shape;
    bool good = miniature_replay(shape, id, trace, &ledger, why) &&
                (!check_counts(&ledger, wanted, missed, row) ||
                 miniature_predict(shape, id, &today, &validation->stand_ins, &ledger,
                                   &row->predicted, why));
    ledger_release(&ledger);
    return good;
}

/* MINIATURE_COUNT: this site has none of that name. */
static enum miniature_id find_mechanism(const struct validation *validation, const char *name)
{
    int id = 0;
    while (id < MINIATURE_COUNT &&
           (strcmp(miniature_kinds[id].name, name) != 0 || !validation_has(validation, id))) {
        id++;
    }
    return (enum miniature_id)id;
}

static bool read_mechanism(json_t *object, const char *name, const struct trace *trace,
                           const struct profile *profile, struct validation *out, struct error *why)
{
    json_int_t wanted, missed;
    enum miniature_id id = find_mechanism(out, name);
    struct validation_row *row = &out->rows[id];
    if (id == MINIATURE_COUNT || !validation_read_figure(object, &row->measured) ||
        json_unpack(object, "{s:I, s:I, s:F}", "wanted", &wanted, "missed", &missed, "worst",
                    &row->output_error) != 0) {
        return false;
    }
    if (!miniature_knows(profile, id, why)) {
        snprintf(row->absent, sizeof row->absent, "%s", why->found);
        return true;
    }
    return predict(out, id, trace, profile, wanted, missed, why);
}

/* Read a mechanism that the harness could not run, or that failed. */
static bool read_absent(const char *name, const char *reason, bool failed, struct validation *out)
{
    enum miniature_id id = find_mechanism(out, name);
    if (id < MINIATURE_COUNT) {
        snprintf(out->rows[id].absent, sizeof out->rows[id].absent, "%s", reason);
        out->rows[id].failed = failed;
    }
    return id < MINIATURE_COUNT && reason[0] != '\0';
}

static bool validation_read_line(const char *text, size_t length, const struct trace *trace,
                                 const struct profile *profile, struct validation *out,
                                 struct error *why)
{
    const char *name, *reason;
    struct validation_figure figure;
    json_t *object = json_loadb(text, length, 0, NULL);
    double size;
    bool good = false;
    error_set(why, NULL, 0, "the harness printed '%.*s'", length < 80 ? (int)length : 80, text);
    error_expect(why, "lines of JSON, from a harness of the same version as this program");
    if (json_unpack(object, "{s:s}", "mechanism", &name) == 0) {
        good = read_mechanism(object, name, trace, profile, out, why);
    } else if (json_unpack(object, "{s:s, s:s}", "absent", &name, "reason", &reason) == 0 ||
               json_unpack(object, "{s:s, s:s}", "failed", &name, "reason", &reason) == 0) {
        good = read_absent(name, reason, json_object_get(object, "failed") != NULL, out);
    } else if (validation_read_figure(object, &figure)) {
        good = json_unpack(object, "{s:s, s:F}", "curve", &name, "size", &size) == 0
                   ? validation_add_point(name, size, figure.median, out)
                   : json_unpack(object, "{s:s}", "stand_in", &name) == 0 &&
                         add_stand_in(name, figure.median, out);
    }
    json_decref(object);
    return good;
}

static bool validation_read_lines(const char *lines, const struct trace *trace,
                                  const struct profile *profile, struct validation *out,
                                  struct error *why)
{
    bool good = true;
    while (good && *lines != '\0') {
        size_t length = strcspn(lines, "\n");
        good = validation_read_line(lines, length, trace, profile, out, why);
        lines += length + (lines[length] == '\n');
    }
    for (int id = 0; good && id < MINIATURE_COUNT; id++) {
        good = !validation_ran(out, id) || out->rows[id].measured.samples > 0 ||
               error_set(why, NULL, 0, "the harness did not run '%s'", miniature_kinds[id].name);
    }
    return good;
}

/* ---- judging ---- */

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
    *out = (struct validation){.shape = *shape};
    if (!validation_read_lines(lines, trace, profile, out, why)) {
        return false;
    }
    note_changes(profile, out);
    for (int by = 0; by < MINIATURE_CLASSES; by++) {
        judge_class(out, (enum miniature_class)by);
    }
    return true;
}
