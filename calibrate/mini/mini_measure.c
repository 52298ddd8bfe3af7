/* Runs miniatures, and writes their times.
 *
 * SPEC is one JSON object: `trace` (a file), `gpu` (false: the host), the fields of struct miniature,
 * and `seconds`, the time for samples; 0: only say whether it can run.
 * The output is one JSON object a line, each with median, p10, p90 and samples:
 *
 *   {"curve": "host.gather", "size": 2}   the host's speed at that time, measured as by calibrate
 *   {"stand_in": "copies_rows"}           bytes/s of threads that stand for a part of the machine
 *   {"mechanism": "lru"}                  ns a layer; also the tokens wanted and missed in all
 *                                         steps, and the worst difference of an output
 *   {"absent": "qsac-store"}              this machine cannot run it; with its "reason" alone
 *   {"failed": "lru"}                     it failed in an earlier run; with its "reason" alone
 *
 * All probes are sampled by turns, in rounds, so that they see the same state of the machine. Each
 * layer of a step has quantiles of its own, over all rounds; a mechanism has the means of these. If
 * another process takes a processor away for some milliseconds, that spoils a layer and not the
 * sample. A mechanism that fails or has a wrong output ends the run, since what it did to the GPU
 * may break the others, too; another run leaves it out.
 */
#include "core/array.h"
#include "calibrate/host/moment.h"
#include "calibrate/measure/measure.h"
#include "calibrate/measure/statistics.h"
#include "calibrate/mini/check.h"
#include "calibrate/mini/mini.h"
#include "decode/cost/cost.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

struct spec {
    struct miniature shape;
    char trace[4096];
    double seconds;
};

static bool read_spec(const char *text, struct spec *out, struct error *why)
{
    struct miniature *shape = &out->shape;
    const char *trace;
    int gpu, layers, kv_heads, query_heads, head_dim, hidden, repeat, warmup, steps, threads;
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    bool good = root != NULL &&
                json_unpack_ex(root, &error, JSON_STRICT,
                               "{s:s, s:b, s:F, s:i, s:i, s:i, s:i, s:i, s:i, s:F, s:F, s:i, s:i, "
                               "s:i}",
                               "trace", &trace, "gpu", &gpu, "seconds", &out->seconds, "layers",
                               &layers, "kv_heads", &kv_heads, "query_heads", &query_heads,
                               "head_dim", &head_dim, "hidden", &hidden, "repeat", &repeat,
                               "selection", &shape->selection, "capacity", &shape->capacity,
                               "warmup", &warmup, "steps", &steps, "threads", &threads) == 0;
    if (!good) {
        json_decref(root);
        return error_usage(why, NULL, 0, "a miniature's spec: %s", error.text);
    }
    shape->site = gpu ? MINIATURE_GPU : MINIATURE_HOST;
    shape->layers = (uint32_t)layers;
    shape->kv_heads = (uint32_t)kv_heads;
    shape->query_heads = (uint32_t)query_heads;
    shape->head_dim = (uint32_t)head_dim;
    shape->hidden = (uint32_t)hidden;
    shape->repeat = (uint32_t)repeat;
    shape->warmup = (uint32_t)warmup;
    shape->steps = (uint32_t)steps;
    shape->threads = (uint32_t)threads;
    snprintf(out->trace, sizeof out->trace, "%s", trace);
    json_decref(root);
    return true;
}

/* ---- samples ---- */

/* The state of a run, which all its probes share, and that of a mechanism. */
struct mini_run {
    struct mini mini;
    struct mini_check check;
    struct policy_env env;
    const struct mini_runtime *runtime;
    void *own; /* the runtime's state */
    struct mini_broken *broken;
};

struct mechanism {
    struct mini_run *run;
    enum miniature_id id;
    struct mini_counts counts;
    double worst;
    struct error absent; /* why it cannot run; empty if it can */
    double *ns;          /* [rounds][slots], owned; a slot is a layer of a step */
    size_t rounds, capacity;
};

static uint32_t slots_of(const struct mini_run *run)
{
    return run->mini.shape.steps * run->mini.shape.layers;
}

/* While a mechanism runs, ps shows its name. */
static bool sample_mechanism(void *state, double *value, struct error *why)
{
    struct mechanism *mechanism = state;
    struct mini_run *run = mechanism->run;
    uint32_t slots = slots_of(run);
    double worst;
    run->broken->running = (int)mechanism->id;
    run->broken->since_ns = clock_ns();
    prctl(PR_SET_NAME, miniature_kinds[mechanism->id].name);
    if (!array_reserve(&mechanism->ns, &mechanism->capacity, mechanism->rounds + 1,
                       slots * sizeof *mechanism->ns, why) ||
        !run->runtime->start(run->own, mechanism->id, &run->env, why)) {
        return false;
    }
    double *ns = mechanism->ns + slots * mechanism->rounds;
    if (!run->runtime->play(run->own, mechanism->id, ns, &mechanism->counts, why)) {
        return false;
    }
    mechanism->rounds++;
    *value = 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        *value += ns[slot] / slots;
    }
    if (!mini_check(&run->check, mechanism->id, &worst, why)) {
        return false;
    }
    mechanism->worst = worst > mechanism->worst ? worst : mechanism->worst;
    if (!mechanism->counts.agrees) {
        return error_set(why, NULL, 0, "'%s' found a different number of hits than its policy",
                         miniature_kinds[mechanism->id].name);
    }
    prctl(PR_SET_NAME, "mini");
    run->broken->running = -1;
    run->broken->since_ns = 0;
    return true;
}

/* ---- lines ---- */

static bool mini_measure_print_line(json_t *line, FILE *out, struct error *why)
{
    char *text = line != NULL ? json_dumps(line, JSON_COMPACT) : NULL;
    json_decref(line);
    bool good = text != NULL && fprintf(out, "%s\n", text) > 0 && fflush(out) == 0;
    free(text);
    return good || error_set(why, NULL, 0, "the measurements cannot be written");
}

static json_t *point_line(const struct found_point *point, const char *kind, const char *name)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:i}", kind, name, "size", point->size, "median",
                     point->median, "p10", point->p10, "p90", point->p90, "samples",
                     (int)point->samples);
}

static const struct found_point *only_point(const struct findings *findings, const char *figure)
{
    return &findings_get(findings, figure)->points[0];
}

static bool print_curves(const struct findings *findings, FILE *out, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < findings->count; i++) {
        const struct finding *finding = &findings->all[i];
        for (uint32_t p = 0; good && finding_is_curve(finding) && p < finding->count; p++) {
            good = mini_measure_print_line(point_line(&finding->points[p], "curve", finding->name),
                                           out, why);
        }
    }
    return good;
}

/* The means of the quantiles of all slots. */
static bool read_slots(const struct mechanism *mechanism, struct found_point *out,
                       struct error *why)
{
    uint32_t slots = slots_of(mechanism->run), rounds = (uint32_t)mechanism->rounds;
    double *sorted = array_zeroed(rounds, sizeof *sorted, why);
    *out = (struct found_point){.samples = rounds};
    for (uint32_t slot = 0; sorted != NULL && slot < slots; slot++) {
        for (uint32_t i = 0; i < rounds; i++) {
            sorted[i] = mechanism->ns[(size_t)i * slots + slot];
        }
        samples_sort(sorted, rounds);
        out->median += samples_quantile(sorted, rounds, 0.5) / slots;
        out->p10 += samples_quantile(sorted, rounds, 0.1) / slots;
        out->p90 += samples_quantile(sorted, rounds, 0.9) / slots;
    }
    free(sorted);
    return sorted != NULL;
}

static bool print_mechanism(const struct mechanism *mechanism, FILE *out, struct error *why)
{
    struct found_point point;
    if (!read_slots(mechanism, &point, why)) {
        return false;
    }
    json_t *line = point_line(&point, "mechanism", miniature_kinds[mechanism->id].name);
    json_t *counts =
        json_pack("{s:I, s:I, s:f}", "wanted", (json_int_t)mechanism->counts.wanted, "missed",
                  (json_int_t)mechanism->counts.missed, "worst", mechanism->worst);
    json_object_update(line, counts);
    json_decref(counts);
    return mini_measure_print_line(line, out, why);
}

/* `how` is "absent" or "failed". */
static bool mini_measure_print_reason(const char *how, int id, const char *reason, FILE *out,
                                      struct error *why)
{
    return mini_measure_print_line(
        json_pack("{s:s, s:s}", how, miniature_kinds[id].name, "reason", reason), out, why);
}

static bool mini_measure_print_lines(const struct mini_run *run, const struct mechanism *mechanisms,
                                     const struct findings *findings, FILE *out, struct error *why)
{
    const struct mini_runtime *runtime = run->runtime;
    bool good = print_curves(findings, out, why);
    for (uint32_t i = 0; good && i < runtime->stand_in_count; i++) {
        const char *name = runtime->stand_ins[i].name;
        good = mini_measure_print_line(point_line(only_point(findings, name), "stand_in", name),
                                       out, why);
    }
    for (int id = 0; good && id < MINIATURE_COUNT; id++) {
        const struct mechanism *mechanism = &mechanisms[id];
        const char *absent = mechanism->absent.found, *failed = run->broken->reason[id];
        good = (absent[0] == '\0' || mini_measure_print_reason("absent", id, absent, out, why)) &&
               (failed[0] == '\0' || mini_measure_print_reason("failed", id, failed, out, why)) &&
               (mechanism->rounds == 0 || print_mechanism(mechanism, out, why));
    }
    return good;
}

/* ---- all together ---- */

/* Samples until the time is up, the same number for each probe: none is done before the others. */
static struct effort effort_of(const struct spec *spec)
{
    struct effort effort = effort_quick;
    effort.warmup = 0;
    effort.most = 1000;
    effort.precision = 0;
    effort.seconds = spec->seconds;
    return effort;
}

static bool add_probe(const char *name, enum unit unit, void *state,
                      bool (*sample)(void *, double *, struct error *), struct probe *probe,
                      struct findings *findings, struct error *why)
{
    *probe = (struct probe){.figure = name, .state = state, .sample = sample};
    return findings_add(findings, name, "", unit, why) != NULL;
}

enum { MOST_OWN = 10 + MINIATURE_COUNT }; /* probes: stand-ins and mechanisms */

/* Has this site the mechanism, did it not fail before, and has this machine what it needs? */
static bool can_run(struct mechanism *mechanism)
{
    const struct mini_run *run = mechanism->run;
    return miniature_kinds[mechanism->id].site == run->mini.shape.site &&
           run->broken->reason[mechanism->id][0] == '\0' &&
           (run->runtime->can == NULL ||
            run->runtime->can(run->own, mechanism->id, &mechanism->absent));
}

static bool add_probes(struct mini_run *run, struct mechanism *mechanisms, struct probe *probes,
                       uint32_t *count, struct findings *findings, struct error *why)
{
    const struct mini_runtime *runtime = run->runtime;
    bool good = true;
    *count = 0;
    for (uint32_t i = 0; good && i < runtime->stand_in_count; i++) {
        const struct mini_stand_in *alone = &runtime->stand_ins[i];
        good = add_probe(alone->name, alone->unit, run->own, alone->sample, &probes[(*count)++],
                         findings, why);
    }
    for (int id = 0; good && id < MINIATURE_COUNT; id++) {
        mechanisms[id] = (struct mechanism){.run = run, .id = (enum miniature_id)id};
        good = !can_run(&mechanisms[id]) ||
               add_probe(miniature_kinds[id].name, UNIT_NS, &mechanisms[id], sample_mechanism,
                         &probes[(*count)++], findings, why);
    }
    return good;
}

static bool mini_measure_mechanism(struct mini_run *run, const struct spec *spec, FILE *out,
                                   struct error *why)
{
    struct mechanism mechanisms[MINIATURE_COUNT] = {{.run = NULL}};
    struct findings findings = {.all = NULL};
    struct moment moment;
    struct probe *probes = NULL;
    uint32_t own;
    const struct effort effort = effort_of(spec);
    bool good = moment_init(&moment, (uint32_t)run->mini.shape.context, 1, &findings, why) &&
                (probes = array_zeroed(MOST_OWN + moment.count, sizeof *probes, why)) != NULL &&
                add_probes(run, mechanisms, probes, &own, &findings, why);
    if (good) {
        moment_probes(&moment, probes + own);
        good = measure_probes(probes, own + moment.count, &effort, 1, &findings, why) &&
               moment_finish(&findings, why) &&
               mini_measure_print_lines(run, mechanisms, &findings, out, why);
    }
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        free(mechanisms[id].ns);
    }
    free(probes);
    moment_release(&moment);
    findings_release(&findings);
    return good;
}

static bool run_shape(const struct spec *spec, const struct mini_runtime *runtime,
                      const struct miniature *shape, const struct trace *trace,
                      struct mini_broken *broken, FILE *out, struct error *why)
{
    struct mini_run run = {.runtime = runtime, .broken = broken};
    bool good = mini_init(&run.mini, shape, trace, why) &&
                (run.own = runtime->create(&run.mini, why)) != NULL;
    if (good) {
        run.env = mini_env(shape, trace);
        run.check = (struct mini_check){.mini = &run.mini, .env = &run.env};
        good = mini_measure_mechanism(&run, spec, out, why);
    }
    mini_check_release(&run.check);
    if (run.own != NULL) {
        runtime->destroy(run.own);
    }
    mini_release(&run.mini);
    return good;
}

static bool run_spec(const struct spec *spec, struct mini_broken *broken, FILE *out,
                     struct error *why)
{
    const struct mini_runtime *runtime =
        spec->shape.site == MINIATURE_GPU ? mini_gpu_runtime(why) : &mini_host_runtime;
    struct trace *trace = runtime != NULL ? trace_open(spec->trace, why) : NULL;
    if (trace == NULL) {
        return false;
    }
    struct miniature shape = spec->shape;
    shape.context = (uint64_t)trace_header(trace)->units * shape.repeat;
    bool good = spec->seconds > 0 ? run_shape(spec, runtime, &shape, trace, broken, out, why)
                                  : mini_can(&shape, trace, why);
    trace_close(trace);
    return good;
}

bool mini_seconds(const char *text, double *seconds, struct error *why)
{
    struct spec spec;
    bool good = read_spec(text, &spec, why);
    *seconds = good ? spec.seconds : 0;
    return good;
}

bool mini_measure(const char *text, struct mini_broken *broken, FILE *out, struct error *why)
{
    struct spec spec;
    broken->running = -1;
    broken->since_ns = 0;
    return read_spec(text, &spec, why) && run_spec(&spec, broken, out, why);
}
