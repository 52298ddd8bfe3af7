/* Miniatures are run, and what they took is written.
 *
 * SPEC is one JSON object: `trace` (a file), the fields of struct miniature, and `seconds` to take
 * samples for. What comes out is one JSON object a line: what stands for the copy engine, as
 * {"link": "whole" or "rows"} in bytes a second, and {"mechanism": NAME} in nanoseconds a layer,
 * each with median, p10, p90, samples and precise; of a mechanism also what it wanted and missed
 * in all its steps, and the worst difference of an output. A wrong output ends the run.
 */
#include "base/array.h"
#include "calibrate/measure.h"
#include "calibrate/mini.h"
#include "calibrate/mini_check.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct spec {
    struct miniature shape;
    char trace[4096];
    double seconds;
};

static bool read_spec(const char *text, struct spec *out, struct error *why)
{
    struct miniature *shape = &out->shape;
    const char *trace;
    int layers, kv_heads, query_heads, head_dim, repeat, warmup, steps, threads;
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    bool good =
        root != NULL &&
        json_unpack_ex(root, &error, JSON_STRICT,
                       "{s:s, s:F, s:i, s:i, s:i, s:i, s:i, s:F, s:F, s:i, s:i, s:i}", "trace",
                       &trace, "seconds", &out->seconds, "layers", &layers, "kv_heads", &kv_heads,
                       "query_heads", &query_heads, "head_dim", &head_dim, "repeat", &repeat,
                       "selection", &shape->selection, "capacity", &shape->capacity, "warmup",
                       &warmup, "steps", &steps, "threads", &threads) == 0;
    if (!good) {
        json_decref(root);
        return error_usage(why, NULL, 0, "a miniature's spec: %s", error.text);
    }
    shape->layers = (uint32_t)layers;
    shape->kv_heads = (uint32_t)kv_heads;
    shape->query_heads = (uint32_t)query_heads;
    shape->head_dim = (uint32_t)head_dim;
    shape->repeat = (uint32_t)repeat;
    shape->warmup = (uint32_t)warmup;
    shape->steps = (uint32_t)steps;
    shape->threads = (uint32_t)threads;
    snprintf(out->trace, sizeof out->trace, "%s", trace);
    json_decref(root);
    return true;
}

/* ---- samples ---- */

/* What probes of a run share, and a mechanism's own. */
struct run {
    struct mini mini;
    struct mini_check check;
    struct policy_env env;
    uint32_t turn; /* of the copies' layers */
};

struct mechanism {
    struct run *run;
    enum miniature_id id;
    struct mini_counts counts;
    double worst;
};

static bool sample_mechanism(void *state, double *value, struct error *why)
{
    struct mechanism *mechanism = state;
    struct run *run = mechanism->run;
    double worst;
    if (!mini_start(&run->mini, mechanism->id, &run->env, why)) {
        return false;
    }
    *value = mini_play(&run->mini, mechanism->id, &mechanism->counts);
    if (!mini_check(&run->check, mechanism->id, &worst, why)) {
        return false;
    }
    mechanism->worst = worst > mechanism->worst ? worst : mechanism->worst;
    return mechanism->counts.agrees ||
           error_set(why, NULL, 0, "'%s' found other hits than its policy counted",
                     miniature_kinds[mechanism->id].name);
}

static bool sample_whole(void *state, double *value, struct error *why)
{
    struct run *run = state;
    (void)why;
    *value = mini_copy_whole(&run->mini, run->turn++ % run->mini.shape.layers);
    return true;
}

static bool sample_rows(void *state, double *value, struct error *why)
{
    struct run *run = state;
    (void)why;
    *value = mini_copy_rows(&run->mini, run->turn++ % run->mini.shape.layers);
    return true;
}

/* ---- lines ---- */

static bool print_line(json_t *line, FILE *out, struct error *why)
{
    char *text = line != NULL ? json_dumps(line, JSON_COMPACT) : NULL;
    json_decref(line);
    bool good = text != NULL && fprintf(out, "%s\n", text) > 0 && fflush(out) == 0;
    free(text);
    return good || error_set(why, NULL, 0, "what was measured cannot be written");
}

static json_t *point_line(const struct findings *findings, const char *kind, const char *name,
                          const char *figure)
{
    const struct found_point *point = &findings_get(findings, figure)->points[0];
    return json_pack("{s:s, s:f, s:f, s:f, s:i, s:b}", kind, name, "median", point->median, "p10",
                     point->p10, "p90", point->p90, "samples", (int)point->samples, "precise",
                     (int)point->precise);
}

enum { LINK_WHOLE, LINK_ROWS, PROBES = 2 + MINIATURE_COUNT };
static const char *const link_names[] = {"whole", "rows"};

static bool print_lines(const struct probe *probes, const struct mechanism *mechanisms,
                        const struct findings *findings, FILE *out, struct error *why)
{
    bool good = true;
    for (int i = 0; good && i < 2; i++) {
        good = print_line(point_line(findings, "link", link_names[i], probes[i].figure), out, why);
    }
    for (int id = 0; good && id < MINIATURE_COUNT; id++) {
        const struct mechanism *mechanism = &mechanisms[id];
        const char *name = miniature_kinds[id].name;
        json_t *line = point_line(findings, "mechanism", name, name);
        json_t *counts =
            json_pack("{s:I, s:I, s:f}", "wanted", (json_int_t)mechanism->counts.wanted, "missed",
                      (json_int_t)mechanism->counts.missed, "worst", mechanism->worst);
        json_object_update(line, counts);
        json_decref(counts);
        good = print_line(line, out, why);
    }
    return good;
}

static bool measure(struct run *run, const struct spec *spec, FILE *out, struct error *why)
{
    struct mechanism mechanisms[MINIATURE_COUNT];
    struct probe probes[PROBES] = {
        [LINK_WHOLE] = {.figure = "link.whole", .state = run, .sample = sample_whole},
        [LINK_ROWS] = {.figure = "link.rows", .state = run, .sample = sample_rows},
    };
    struct effort effort = effort_quick;
    effort.seconds = spec->seconds;
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        mechanisms[id] = (struct mechanism){.run = run, .id = id};
        probes[2 + id] = (struct probe){.figure = miniature_kinds[id].name,
                                        .state = &mechanisms[id],
                                        .sample = sample_mechanism};
    }
    struct findings findings = {.all = NULL};
    bool good = true;
    for (int i = 0; good && i < PROBES; i++) {
        enum unit unit = i < 2 ? UNIT_BYTES_PER_S : UNIT_NS;
        good = findings_add(&findings, probes[i].figure, "", unit, why) != NULL;
    }
    good = good && measure_probes(probes, PROBES, &effort, 1, &findings, why) &&
           print_lines(probes, mechanisms, &findings, out, why);
    findings_release(&findings);
    return good;
}

static bool run_spec(const struct spec *spec, FILE *out, struct error *why)
{
    struct trace *trace = trace_open(spec->trace, why);
    if (trace == NULL) {
        return false;
    }
    struct run run = {.turn = 0};
    struct miniature shape = spec->shape;
    shape.context = (uint64_t)trace_header(trace)->units * shape.repeat;
    bool good = mini_init(&run.mini, &shape, trace, why);
    if (good) {
        run.env = mini_env(&shape, trace);
        run.check = (struct mini_check){.mini = &run.mini, .env = &run.env};
        good = measure(&run, spec, out, why);
    }
    mini_check_release(&run.check);
    mini_release(&run.mini);
    trace_close(trace);
    return good;
}

bool mini_measure(const char *text, FILE *out, struct error *why)
{
    struct spec spec;
    return read_spec(text, &spec, why) && run_spec(&spec, out, why);
}
