/* `spillway validate`: runs mechanisms for real, in miniature, and compares their times with
 * predictions. */
#include "base/named.h"
#include "base/units.h"
#include "base/version.h"
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "cli/frame/database.h"
#include "cli/frame/harness.h"
#include "answer/table.h"
#include "cli/frame/waiting.h"
#include "scenario/identity.h"
#include "store/store_validation.h"
#include "study/papers/validation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { HOST, MODEL, CONTEXT, QUICK, DB };

/* A layer of 32 Ki tokens of eight heads is 134 MB: more than a CPU's caches hold. */
static const char default_model[] = "llama-3-8b", default_context[] = "32768";

/* Seconds for all mechanisms together. */
#define SECONDS 120.0
#define QUICK_SECONDS 30.0

static const struct command_option options[] = {
    [HOST] = {.name = "--host",
              .summary = "run mechanisms that need no GPU; threads stand in for the GPU and the "
                         "link"},
    [MODEL] = {.name = "--model",
               .argument = "NAME",
               .summary = "the model whose shapes are run (default: llama-3-8b)"},
    [CONTEXT] = {.name = "--context",
                 .argument = "TOKENS",
                 .summary = "the context to run at, rounded up to a multiple of the recorded "
                            "context (default: 32768)"},
    [QUICK] = {.name = "--quick", .summary = "take samples for 30 seconds instead of 120"},
    [DB] = {.name = "--db",
            .argument = "FILE",
            .summary = "store predictions and measurements in table 'validations' of this SQLite "
                       "file"},
    {.name = NULL},
};

/* What is validated. */
struct subject {
    struct profile profile;
    struct model model;
    struct trace *trace;
    struct miniature shape;
};

static void subject_release(struct subject *subject)
{
    profile_release(&subject->profile);
    model_release(&subject->model);
    trace_close(subject->trace);
}

static const char *text_or(const struct arguments *arguments, int option, const char *standard)
{
    const char *text = arguments_text(arguments, option);
    return text != NULL ? text : standard;
}

static bool load_profile(const char *name, struct profile *out, struct error *why)
{
    char text[4096];
    snprintf(text, sizeof text, "%s", name);
    const struct node node = {.kind = NODE_SCALAR, .file = NULL, .text = text};
    return profile_load(NULL, &node, out, why);
}

static bool load_trace(const char *name, struct trace **out, struct error *why)
{
    char path[4096];
    *out = named_file(&named_trace, name, NULL, 0, path, sizeof path, why) ? trace_open(path, why)
                                                                           : NULL;
    return *out != NULL;
}

static bool load(const struct arguments *arguments, struct subject *out, struct error *why)
{
    static const struct model_options as_it_is = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    uint32_t count;
    uint64_t context;
    const char *const *operands = arguments_operands(arguments, &count);
    return units_parse_whole(text_or(arguments, CONTEXT, default_context), UNIT_TOKENS, 1 << 30,
                             NULL, 0, "--context", &context, why) &&
           load_profile(operands[0], &out->profile, why) &&
           load_trace(operands[1], &out->trace, why) &&
           model_load(NULL, text_or(arguments, MODEL, default_model), &as_it_is, NULL, 0,
                      &out->model, why) &&
           validation_shape(&out->model, out->trace, &out->profile,
                            arguments_given(arguments, HOST) ? MINIATURE_HOST : MINIATURE_GPU,
                            context, &out->shape, why);
}

/* ---- the table ---- */

static const struct table_column columns[] = {
    {.title = "mechanism"},
    {.title = "measured", .right = true},
    {.title = "p10 - p90", .right = true, .drop = 3},
    {.title = "predicted", .right = true},
    {.title = "error", .right = true},
    {.title = "gate", .right = true},
    {.title = "verdict"},
    {.title = "as profiled", .right = true, .drop = 2},
    {.title = "its error", .right = true},
    {.title = "rank", .right = true, .drop = 1},
};
enum { COLUMNS = sizeof columns / sizeof *columns, TEXT = 64 };

/* One sample has no spread. */
static void write_range(const struct validation_figure *figure, char *text, size_t size)
{
    char low[TEXT], high[TEXT];
    if (figure->samples == 1) {
        snprintf(text, size, "one sample");
        return;
    }
    snprintf(text, size, "%s - %s", units_format(figure->p10, UNIT_NS, low, sizeof low),
             units_format(figure->p90, UNIT_NS, high, sizeof high));
}

static bool add_row(struct table *table, int id, const struct validation_row *row,
                    struct error *why)
{
    char predicted[TEXT], profiled[TEXT], measured[TEXT], range[2 * TEXT + 3], error[TEXT],
        profiled_error[TEXT], gate[TEXT], rank[TEXT];
    write_range(&row->measured, range, sizeof range);
    snprintf(error, sizeof error, "%+.1f %%", 100 * row->error);
    snprintf(profiled_error, sizeof profiled_error, "%+.1f %%", 100 * row->profiled_error);
    snprintf(gate, sizeof gate, "%.0f %%", 100 * row->gate);
    snprintf(rank, sizeof rank, "%" PRIu32 " / %" PRIu32, row->predicted_rank, row->measured_rank);
    const char *const cells[COLUMNS] = {
        miniature_kinds[id].name,
        units_format(row->measured.median, UNIT_NS, measured, sizeof measured),
        range,
        units_format(row->predicted, UNIT_NS, predicted, sizeof predicted),
        error,
        gate,
        validation_verdicts[row->verdict],
        units_format(row->profiled, UNIT_NS, profiled, sizeof profiled),
        profiled_error,
        rank,
    };
    return table_add(table, cells, COLUMNS, why);
}

static void print_absent(const struct validation *validation)
{
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        const struct validation_row *row = &validation->rows[id];
        if (row->absent[0] != '\0') {
            printf("%s: %s: %s\n", row->failed ? "failed" : "absent", miniature_kinds[id].name,
                   row->absent);
        }
    }
}

static void print_changes(const struct validation *validation)
{
    printf("this machine today, relative to its profile:");
    for (uint32_t i = 0; i < validation->curve_count; i++) {
        const struct validation_curve *curve = &validation->curves[i];
        printf("%s %s %.2f", i > 0 ? "," : "", curve_kinds[curve->id].name, curve->change);
    }
    putchar('\n');
}

static void print_class(const struct validation *validation, int by, bool named)
{
    const struct validation_class *class = &validation->classes[by];
    if (class->count > 0) {
        printf("%s%smedian error %.1f %%, gate %.0f %%: %s; as profiled %.1f %%\n",
               named ? validation_gates[by].of : "", named ? ": " : "", 100 * class->median_error,
               100 * class->median_gate, validation_verdicts[class->verdict],
               100 * class->median_profiled_error);
    }
}

static void print_stand_ins(const struct validation *validation)
{
    const struct miniature_stand_ins *stand_ins = &validation->stand_ins;
    char whole[TEXT], rows[TEXT], attends[TEXT];
    if (validation->shape.site == MINIATURE_GPU) {
        printf("a kernel launch takes the CPU %s (no framework runs here)\n",
               units_format(stand_ins->launch, UNIT_NS, whole, sizeof whole));
        return;
    }
    printf("a thread stands in for the link: it copies at %s in one piece, at %s row by row; "
           "another stands in for the GPU: it attends to whole layers at %s\n",
           units_format(stand_ins->copies_whole, UNIT_BYTES_PER_S, whole, sizeof whole),
           units_format(stand_ins->copies_rows, UNIT_BYTES_PER_S, rows, sizeof rows),
           units_format(stand_ins->attends_whole, UNIT_BYTES_PER_S, attends, sizeof attends));
}

static void print_remarks(const struct subject *subject, const struct validation *validation)
{
    double worst = 0;
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        worst = fmax(worst, validation->rows[id].output_error);
    }
    putchar('\n');
    for (int by = 0; by < MINIATURE_CLASSES; by++) {
        print_class(validation, by, validation->shape.site == MINIATURE_GPU);
    }
    printf("one layer of %s at %" PRIu64 " tokens; %" PRIu32 " cores; error: predicted relative "
           "to measured; rank: predicted / measured\n",
           subject->model.name, validation->shape.context, validation->shape.threads);
    puts("predicted: from the profile's curves, with those of the host measured again in the "
         "same rounds; as profiled: what simulate predicts, from the profile alone");
    print_absent(validation);
    print_changes(validation);
    print_stand_ins(validation);
    printf("every output equals attention in double precision, within %.1g of the largest value\n",
           worst);
}

static bool print_table(const struct subject *subject, const struct validation *validation,
                        struct error *why)
{
    struct table *table = table_create(columns, COLUMNS, why);
    bool good = table != NULL;
    for (int id = 0; good && id < MINIATURE_COUNT; id++) {
        good = !validation_ran(validation, id) || add_row(table, id, &validation->rows[id], why);
    }
    if (good) {
        table_print(table, stdout);
        print_remarks(subject, validation);
    }
    table_destroy(table);
    return good;
}

/* ---- the database ---- */

static void write_hash(uint64_t hash, char text[17])
{
    snprintf(text, 17, "%016" PRIx64, hash);
}

static bool store_rows(const struct subject *subject, const struct validation *validation,
                       const char *spec, struct store *store, struct error *why)
{
    struct store_validation rows[MINIATURE_COUNT];
    char name[17], profile[17], trace[17];
    uint64_t hash;
    uint32_t count = 0;
    if (!trace_hash(subject->trace, &hash, why)) {
        return false;
    }
    write_hash(hash, trace);
    profile_hash(&subject->profile, profile);
    hash = XXH64(spec, strlen(spec), XXH64(profile, sizeof profile, hash));
    hash = XXH64(spillway_program, strlen(spillway_program), hash);
    write_hash(XXH64(subject->model.name, strlen(subject->model.name), hash), name);
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        const struct validation_row *row = &validation->rows[id];
        if (!validation_ran(validation, id)) {
            continue;
        }
        rows[count++] = (struct store_validation){
            .validation = name,
            .mechanism = miniature_kinds[id].name,
            .hardware = subject->profile.name,
            .profile_hash = profile,
            .trace = trace_path(subject->trace),
            .trace_hash = trace,
            .model = subject->model.name,
            .context = (int64_t)validation->shape.context,
            .layers = validation->shape.layers,
            .threads = validation->shape.threads,
            .profiled_us = row->profiled / 1e3,
            .predicted_us = row->predicted / 1e3,
            .measured_us = row->measured.median / 1e3,
            .p10_us = row->measured.p10 / 1e3,
            .p90_us = row->measured.p90 / 1e3,
            .samples = row->measured.samples,
            .profiled_error = row->profiled_error,
            .error = row->error,
            .gate = row->gate,
            .verdict = validation_verdicts[row->verdict],
            .predicted_rank = row->predicted_rank,
            .measured_rank = row->measured_rank,
            .output_error = row->output_error,
        };
    }
    return store_put_validations(store, rows, count, why);
}

/* ---- the command ---- */

/* The others stand in the table and in the database all the same. */
static bool check_none_failed(const struct validation *validation, struct error *why)
{
    uint32_t failed = 0;
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        failed += validation->rows[id].failed;
    }
    return failed == 0 ||
           error_set(why, NULL, 0, "%" PRIu32 " mechanism%s failed, as said under the table",
                     failed, failed > 1 ? "s" : "");
}

/* A short trial run, so that a machine that cannot run it fails before the user waits. */
static bool can_measure(const struct subject *subject, struct error *why)
{
    char *lines = NULL;
    char *spec = validation_spec(&subject->shape, trace_path(subject->trace), 0, why);
    bool good = spec != NULL &&
                harness_read("mini", spec, subject->shape.site == MINIATURE_HOST, &lines, why);
    free(lines);
    free(spec);
    return good;
}

static bool measure(const struct subject *subject, const char *spec, double seconds, char **lines,
                    struct error *why)
{
    struct waiting waiting;
    waiting_start(&waiting, "running mechanisms (keep the machine idle)", seconds);
    bool good = harness_read("mini", spec, subject->shape.site == MINIATURE_HOST, lines, why);
    waiting_stop(&waiting);
    return good;
}

static bool validate(const struct arguments *arguments, const struct subject *subject,
                     struct store *store, struct error *why)
{
    struct validation validation;
    char *lines = NULL;
    double seconds = arguments_given(arguments, QUICK) ? QUICK_SECONDS : SECONDS;
    char *spec = validation_spec(&subject->shape, trace_path(subject->trace), seconds, why);
    bool good = spec != NULL && can_measure(subject, why) &&
                measure(subject, spec, seconds, &lines, why) &&
                validation_judge(&subject->shape, subject->trace, &subject->profile, lines,
                                 &validation, why) &&
                print_table(subject, &validation, why) &&
                (store == NULL || store_rows(subject, &validation, spec, store, why)) &&
                check_none_failed(&validation, why);
    free(lines);
    free(spec);
    return good;
}

/* The database is opened first, so that a bad path fails before the measurement. */
static bool run(const struct arguments *arguments, struct error *why)
{
    struct subject subject = {.trace = NULL};
    struct store *store = NULL;
    bool good = load(arguments, &subject, why) && database_open(arguments, DB, &store, why) &&
                validate(arguments, &subject, store, why);
    store_close(store);
    subject_release(&subject);
    return good;
}

static void print_site(enum miniature_site site, const char *title, FILE *out)
{
    fprintf(out, "%s:\n", title);
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        if (miniature_kinds[id].site == site) {
            fprintf(out, "  %-17s", miniature_kinds[id].name);
            table_wrap(miniature_kinds[id].what, 19, out);
            fputc('\n', out);
        }
    }
}

static void print_mechanisms(FILE *out)
{
    print_site(MINIATURE_GPU, "mechanisms", out);
    fputc('\n', out);
    print_site(MINIATURE_HOST, "with --host", out);
}

const struct command command_validate = {
    .name = "validate",
    .operands = "PROFILE TRACE",
    .least_operands = 2,
    .most_operands = 2,
    .summary = "run mechanisms for real, in miniature, and compare their times with predictions",
    .example = "spillway validate --host here.yaml smollm2-135m",
    .options = options,
    .more = print_mechanisms,
    .run = run,
};
