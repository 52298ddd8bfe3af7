/* What holds the advised run up, and how sure its figures are. */
#include "cli/advise/advise_verdict.h"

#include "base/text.h"
#include "cli/runs/explain_words.h"
#include "serving/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CAUSES_NAMED = 2 };

/* A cause below this share, and a figure below this effect, is not mentioned. */
static const double told = 0.005;

/* ---- what limits ---- */

static void say_causes(const struct explain_time *time, char text[VERDICT_TEXT])
{
    double shares[EXPLAIN_CAUSES];
    explain_shares(time, shares);
    for (int said = 0; said < CAUSES_NAMED; said++) {
        int most = 0;
        for (int cause = 1; cause < EXPLAIN_CAUSES; cause++) {
            most = shares[cause] > shares[most] ? cause : most;
        }
        if (shares[most] >= 0.05) {
            text_append(text, VERDICT_TEXT, "%s%s %.0f %%", said > 0 ? ", " : "",
                        explain_causes[most], 100 * shares[most]);
        }
        shares[most] = 0;
    }
}

/* The largest effect of the figures whose names begin so: 10 % better takes so much off. */
static double effect_of(const struct explain_time *time, const char *begins)
{
    double most = 0;
    for (uint32_t i = 0; i < time->count; i++) {
        const char *name = curve_kinds[time->figures[i].curve].name;
        if (strncmp(name, begins, strlen(begins)) == 0) {
            most = fmax(most, -time->figures[i].better);
        }
    }
    return most;
}

static void say_helps(const struct explain_time *time, char text[VERDICT_TEXT])
{
    static const struct {
        const char *begins, *what;
    } helps[] = {{"gpu.hbm_bandwidth", "HBM bandwidth"},
                 {"gpu.flops_", "FLOP/s"},
                 {"link.", "link speed"},
                 {"host.", "CPU speed"},
                 {"fabric.", "speed between GPUs"}};
    bool any = false;
    for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++) {
        double effect = effect_of(time, helps[i].begins);
        if (effect >= told) {
            text_append(text, VERDICT_TEXT,
                        any ? ", %s %.0f %%" : ". 10 %% more %s takes off %.0f %%", helps[i].what,
                        100 * effect);
            any = true;
        }
    }
    if (effect_of(time, "link.") < told && effect_of(time, "host.") < told) {
        text_append(text, VERDICT_TEXT, "; link and CPU nothing");
    }
}

void advise_say_limit(const struct advice *advice, const struct explanation *explanation,
                      char text[VERDICT_TEXT])
{
    const struct result *result = &explanation->result;
    const struct cell *batch = &result->cells[COLUMN_BATCH],
                      *most = &result->cells[COLUMN_MAX_BATCH];
    const struct cell *by = &result->cells[COLUMN_LIMITED_BY];
    for (uint32_t i = 0; i < (advice->serves ? explanation->count : 1); i++) {
        const struct explain_time *time = &explanation->times[i];
        text_append(text, VERDICT_TEXT, "%sof the time %s: ", i > 0 ? "; " : "",
                    time->column == COLUMN_TTFT ? "to the first token" : "of a token");
        say_causes(time, text);
        say_helps(time, text);
    }
    if (!advice->serves && batch->set && most->set && by->set && batch->integer == most->integer) {
        text_append(text, VERDICT_TEXT, ". %s holds no more sequences",
                    strcmp(by->text, "hbm") == 0 ? "HBM" : "Host memory");
    }
    text_append(text, VERDICT_TEXT, ".");
}

/* ---- how sure ---- */

static void say_band(const struct result *result, char text[VERDICT_TEXT])
{
    const struct cell *band = &result->cells[COLUMN_ERROR_BAND];
    const double *ends = result->band[0];
    if (band->set) {
        text_append(text, VERDICT_TEXT,
                    "published rates of such systems lie %.0f %% below to %.0f %% above "
                    "predicted ones",
                    -100 * ends[0], 100 * ends[1]);
    } else {
        text_append(text, VERDICT_TEXT, "no error band stands here");
    }
}

static void say_basis(const struct result *result, char text[VERDICT_TEXT])
{
    const char *between = ". Of the time, ";
    for (uint32_t i = 0; i < result->basis_count; i++) {
        double share = result->basis[i].share;
        if (share >= 0.05) {
            text_append(text, VERDICT_TEXT, "%s%.0f %% is %s", between, 100 * share,
                        strcmp(result->basis[i].name, "datasheet") == 0 ? "from datasheets"
                                                                        : result->basis[i].name);
            between = ", ";
        }
    }
}

/* How well attention uses the bandwidth rules the time of long contexts: where its figure is from. */
static void say_attention(const struct explanation *explanation, const struct point *point,
                          char text[VERDICT_TEXT])
{
    const struct curve *share = &point->setup.profile.curves[CURVE_GPU_ATTENTION_SHARE];
    double effect = 0;
    for (uint32_t t = 0; t < explanation->count; t++) {
        effect = fmax(effect, effect_of(&explanation->times[t], "gpu.attention_share"));
    }
    if (effect >= 0.05 && share->source != NULL) {
        text_append(text, VERDICT_TEXT, " gpu.attention_share: %s (%.*s).",
                    basis_name(share->basis), (int)strcspn(share->source, ",;:"), share->source);
    }
}

void advise_say_sure(const struct explanation *explanation, const struct point *point,
                     char text[VERDICT_TEXT])
{
    char *first = NULL;
    size_t size = 0;
    say_band(&explanation->result, text);
    if (point->missed.rows > 0) {
        char words[NOTE_WORDS];
        struct note missed = answer_missed_note(&point->missed);
        text_append(text, VERDICT_TEXT, "; %s", note_write(&missed, words, sizeof words));
    }
    say_basis(&explanation->result, text);
    text_append(text, VERDICT_TEXT, ".");
    FILE *out = open_memstream(&first, &size);
    if (out != NULL) {
        explain_measure_first(explanation, "the time", 1, out);
        fclose(out);
        text_append(text, VERDICT_TEXT, "%s", first);
        free(first);
    }
    say_attention(explanation, point, text);
}
