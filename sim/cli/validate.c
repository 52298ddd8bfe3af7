/* `spillway validate`: runs mechanisms for real, in miniature, and compares their times with predictions. */
#include "cli/frame/question.h"
#include "cli/frame/harness.h"
#include "cli/frame/message.h"
#include "cli/trace/trace_argument.h"
#include "core/text.h"
#include "core/version.h"
#include "store/stored_run.h"
#include "study/papers/validation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct subject {
    struct profile profile;
    struct model model;
    struct trace *trace;
    struct miniature shape;
};

#define LIST "tables/validations.def"
#define ID(name) DATA_##name
#define ARRAY columns
#include "tables/columns.h"

/* A validation is identified by what was run, on what, by which program. */
static struct frame *validation_frame(const struct subject *subject,
                                      const struct validation *validation, const char *spec,
                                      struct error *why)
{
    char profile[17], low[SHOWN_TEXT], high[SHOWN_TEXT];
    uint64_t trace, hash;
    struct frame *frame =
        trace_hash(subject->trace, &trace, why) ? frame_create(columns, DATA_COUNT, why) : NULL;
    if (frame == NULL) {
        return NULL;
    }
    profile_hash(&subject->profile, profile);
    hash = XXH64(spec, strlen(spec), XXH64(profile, sizeof profile, trace));
    hash = XXH64(spillway_program, strlen(spillway_program), hash);
    hash = XXH64(subject->model.name, strlen(subject->model.name), hash);
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        const struct validation_row *row = &validation->rows[id];
        double p10_us = row->measured.p10 / 1e3, p90_us = row->measured.p90 / 1e3;
        if (!validation_ran(validation, id)) {
            continue;
        }
        frame_row(frame);
        frame_textf(frame, DATA_validation, "%016" PRIx64, hash);
        frame_text(frame, DATA_hardware, subject->profile.name);
        frame_text(frame, DATA_profile_hash, profile);
        frame_text(frame, DATA_trace, trace_path(subject->trace));
        frame_textf(frame, DATA_trace_hash, "%016" PRIx64, trace);
        frame_text(frame, DATA_model, subject->model.name);
        frame_number(frame, DATA_context, (double)subject->shape.context);
        frame_number(frame, DATA_layers, subject->shape.layers);
        frame_number(frame, DATA_threads, subject->shape.threads);
        frame_text(frame, DATA_mechanism, miniature_kinds[id].name);
        frame_number(frame, DATA_measured_us, row->measured.median / 1e3);
        frame_number(frame, DATA_p10_us, p10_us);
        frame_number(frame, DATA_p90_us, p90_us);
        frame_number(frame, DATA_samples, row->measured.samples);
        frame_textf(frame, DATA_spread, row->measured.samples == 1 ? "one sample" : "%s - %s",
                    shown_value(UNIT_DURATION, 0, p10_us, NAN, NAN, low),
                    shown_value(UNIT_DURATION, 0, p90_us, NAN, NAN, high));
        frame_number(frame, DATA_predicted_us, row->predicted / 1e3);
        frame_number(frame, DATA_error, row->error);
        frame_number(frame, DATA_gate, row->gate);
        frame_text(frame, DATA_verdict, validation_verdicts[row->verdict]);
        frame_number(frame, DATA_output_error, row->output_error);
    }
    return frame;
}

static void validate_print_remarks(const struct subject *subject,
                                   const struct validation *validation)
{
    double worst = 0;
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        worst = fmax(worst, validation->rows[id].output_error);
    }
    putchar('\n');
    bool named = validation->shape.site == MINIATURE_GPU;
    for (int by = 0; by < MINIATURE_CLASSES; by++) {
        const struct validation_class *class = &validation->classes[by];
        if (class->count > 0) {
            printf("%s%smedian error %.1f %%, gate %.0f %%: %s\n",
                   named ? validation_gates[by].of : "", named ? ": " : "",
                   100 * class->median_error, 100 * class->median_gate,
                   validation_verdicts[class->verdict]);
        }
    }
    printf("one layer of %s at %" PRIu64 " tokens; %" PRIu32 " cores; error: predicted relative "
           "to measured\n",
           subject->model.name, validation->shape.context, validation->shape.threads);
    puts("predicted: from the profile's curves, with those of the host measured again in the "
         "same rounds");
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        const struct validation_row *row = &validation->rows[id];
        if (row->absent[0] != '\0') {
            printf("%s: %s: %s\n", row->failed ? "failed" : "absent", miniature_kinds[id].name,
                   row->absent);
        }
    }
    printf("this machine today, relative to its profile:");
    for (uint32_t i = 0; i < validation->curve_count; i++) {
        const struct validation_curve *curve = &validation->curves[i];
        printf("%s %s %.2f", i > 0 ? "," : "", curve_kinds[curve->id].name, curve->change);
    }
    putchar('\n');
    printf("every output equals attention in double precision, within %.1g of the largest value\n",
           worst);
}

enum { HOST, MODEL, CONTEXT, QUICK, DB };

/* A layer of 32 Ki tokens of eight heads is 134 MB: more than a CPU's caches hold. */
enum { USUAL_CONTEXT = 32768 };

/* Seconds for all mechanisms together. */
#define SECONDS 120.0
#define QUICK_SECONDS 30.0

static const struct command_option options[] = {
    [HOST] = {"--host", NULL,
              "run mechanisms that need no GPU; threads stand in for the GPU and the link"},
    [MODEL] = {"--model", "NAME", "the model whose shapes are run (default: llama-3-8b)"},
    [CONTEXT] = {"--context", "TOKENS",
                 "the context to run at, rounded up to a multiple of the recorded "
                 "context (default: 32768)"},
    [QUICK] = {"--quick", NULL, "take samples for 30 seconds instead of 120"},
    [DB] = {"--db", "FILE",
            "store predictions and measurements in table 'validations' of this SQLite file"},
    {.name = NULL},
};

static bool validate_load(const struct arguments *arguments, struct subject *out, struct error *why)
{
    static const struct model_options as_it_is = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    uint32_t count, context = USUAL_CONTEXT;
    const char *const *operands = arguments_operands(arguments, &count);
    const char *model = arguments_text(arguments, MODEL);
    return arguments_whole(arguments, CONTEXT, UNIT_TOKENS, 0, 1 << 30, &context, why) &&
           profile_load_named(operands[0], &out->profile, why) &&
           (out->trace = trace_named(operands[1], why)) != NULL &&
           model_load(NULL, model != NULL ? model : "llama-3-8b", &as_it_is, NULL, 0, &out->model,
                      why) &&
           validation_shape(&out->model, out->trace, &out->profile,
                            arguments_given(arguments, HOST) ? MINIATURE_HOST : MINIATURE_GPU,
                            context, &out->shape, why);
}

/* The database is opened first, so that a bad path fails before the measurement. */
static bool validate_run(const struct arguments *arguments, struct error *why)
{
    struct subject subject = {.trace = NULL};
    struct store *store = NULL;
    struct validation validation;
    char *lines = NULL, *spec = NULL;
    double seconds = arguments_given(arguments, QUICK) ? QUICK_SECONDS : SECONDS;
    bool good = validate_load(arguments, &subject, why) && database_open(arguments, &store, why) &&
                (spec = validation_spec(&subject.shape, trace_path(subject.trace), seconds, why));
    if (good) {
        message_note("running mechanisms (keep the machine idle): about %.0f s", seconds);
        good = harness_read("mini", spec, subject.shape.site == MINIATURE_HOST, &lines, why) &&
               validation_judge(&subject.shape, subject.trace, &subject.profile, lines, &validation,
                                why);
    }
    struct frame *frame = good ? validation_frame(&subject, &validation, spec, why) : NULL;
    const struct store_frame stored = {.table = "validations", .frame = frame};
    good = frame != NULL && frame_print(frame, NULL, stdout, why);
    if (good) {
        validate_print_remarks(&subject, &validation);
        good = store == NULL || store_put_frames(store, &stored, 1, why);
    }
    uint32_t failed = 0; /* the others stand in the table and in the database all the same */
    for (int id = 0; good && id < MINIATURE_COUNT; id++) {
        failed += validation.rows[id].failed;
    }
    frame_destroy(frame);
    free(lines);
    free(spec);
    store_close(store);
    profile_release(&subject.profile);
    model_release(&subject.model);
    trace_close(subject.trace);
    return good &&
           (failed == 0 ||
            error_set(why, NULL, 0, "%" PRIu32 " mechanism%s failed, as said under the table",
                      failed, text_plural(failed)));
}

static void print_mechanisms(FILE *out)
{
    static const char *const titles[] = {
        [MINIATURE_GPU] = "mechanisms:\n", [MINIATURE_HOST] = "\nwith --host:\n"};
    for (int site = MINIATURE_GPU; site >= MINIATURE_HOST; site--) {
        fputs(titles[site], out);
        for (int id = 0; id < MINIATURE_COUNT; id++) {
            if ((int)miniature_kinds[id].site == site) {
                fprintf(out, "  %-17s", miniature_kinds[id].name);
                table_wrap(miniature_kinds[id].what, 19, out);
                fputc('\n', out);
            }
        }
    }
}

const struct command command_validate = {
    .name = "validate",
    .operands = "PROFILE TRACE",
    .summary = "run mechanisms for real, in miniature, and compare their times with predictions",
    .example = "spillway validate --host here.yaml smollm2-135m",
    .options = options,
    .more = print_mechanisms,
    .run = validate_run,
};
