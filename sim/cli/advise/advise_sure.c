/* What holds the advised run up, and how sure its figures are. */
#include "cli/advise/advise_verdict.h"

#include "cli/runs/explain_words.h"
#include "serving/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CAUSES_NAMED = 2 };

/* A cause below this share, and a figure below this effect, is not mentioned. */
static const double told = 0.005;

/* ---- what limits ---- */

/* A list of shares: of what, and of which part. Memory that ran out shows when the verdict is
 * printed. */
static struct frame *make_shares(const char *first, const char *second)
{
    const struct frame_column columns[] = {
        {.key = first}, {.key = second}, {.key = "share", .unit = ANSWER_SHARE}};
    struct error unused;
    return frame_create(columns, 3, &unused);
}

static void put_share(const char *first, const char *second, double share, struct frame *rows)
{
    frame_row(rows);
    frame_text(rows, 0, first);
    frame_text(rows, 1, second);
    frame_number(rows, 2, share);
}

static const char *advise_sure_name_of(const struct explain_time *time)
{
    return column_kinds[time->column].name;
}

static void put_causes(const struct explain_time *time, struct frame *rows)
{
    double shares[EXPLAIN_CAUSES];
    explain_shares(time, shares);
    for (int cause = 0; cause < EXPLAIN_CAUSES; cause++) {
        put_share(advise_sure_name_of(time), explain_causes[cause], shares[cause], rows);
    }
}

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
            SAY(text, "%s%s %.0f %%", said > 0 ? ", " : "", explain_causes[most],
                100 * shares[most]);
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

static void say_helps(const struct explain_time *time, struct frame *rows, char text[VERDICT_TEXT])
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
        put_share(advise_sure_name_of(time), helps[i].what, effect, rows);
        if (effect >= told) {
            SAY(text, any ? ", %s %.0f %%" : ". 10 %% more %s takes off %.0f %%", helps[i].what,
                100 * effect);
            any = true;
        }
    }
    if (effect_of(time, "link.") < told && effect_of(time, "host.") < told) {
        SAY(text, "; link and CPU nothing");
    }
}

void advise_say_limit(const struct advice *advice, const struct explanation *explanation,
                      struct frame *verdict)
{
    const struct result *result = &explanation->result;
    const struct cell *batch = &result->cells[COLUMN_BATCH],
                      *most = &result->cells[COLUMN_MAX_BATCH];
    const struct cell *by = &result->cells[COLUMN_LIMITED_BY];
    struct frame *causes = make_shares("time", "cause");
    struct frame *helps = make_shares("time", "figure");
    char text[VERDICT_TEXT] = "";
    for (uint32_t i = 0; i < (advice->serves ? explanation->count : 1); i++) {
        const struct explain_time *time = &explanation->times[i];
        SAY(text, "%sof the time %s: ", i > 0 ? "; " : "",
            time->column == COLUMN_TTFT ? "to the first token" : "of a token");
        put_causes(time, causes);
        say_causes(time, text);
        say_helps(time, helps, text);
    }
    if (!advice->serves && batch->set && most->set && by->set && batch->integer == most->integer) {
        SAY(text, ". %s holds no more sequences",
            strcmp(by->text, "hbm") == 0 ? "HBM" : "Host memory");
    }
    SAY(text, ".");
    frame_text(verdict, VERDICT_limit, text);
    frame_take(verdict, VERDICT_causes, causes);
    frame_take(verdict, VERDICT_helps, helps);
}

/* ---- how sure ---- */

static void say_band(const struct result *result, struct frame *verdict, char text[VERDICT_TEXT])
{
    const struct cell *band = &result->cells[COLUMN_ERROR_BAND];
    const double *ends = result->band[0];
    if (band->set) {
        frame_number(verdict, VERDICT_error_band_low, ends[0]);
        frame_number(verdict, VERDICT_error_band_high, ends[1]);
        SAY(text,
            "published rates of such systems lie %.0f %% below to %.0f %% above predicted ones",
            -100 * ends[0], 100 * ends[1]);
    } else {
        SAY(text, "the error is unknown");
    }
}

static void say_basis(const struct result *result, struct frame *verdict, char text[VERDICT_TEXT])
{
    struct frame *rows = make_shares("of", "basis");
    const char *between = ". Of the time, ";
    for (uint32_t i = 0; i < result->basis_count; i++) {
        double share = result->basis[i].share;
        put_share("time", result->basis[i].name, share, rows);
        if (share >= 0.05) {
            SAY(text, "%s%.0f %% is %s", between, 100 * share,
                strcmp(result->basis[i].name, "datasheet") == 0 ? "from datasheets"
                                                                : result->basis[i].name);
            between = ", ";
        }
    }
    frame_take(verdict, VERDICT_basis, rows);
}

/* How well attention uses the bandwidth rules the time of long contexts: what its figure rests
 * on. */
static void say_attention(const struct explanation *explanation, const struct point *point,
                          char text[VERDICT_TEXT])
{
    const struct curve *share = &point->setup.profile.curves[CURVE_GPU_ATTENTION_SHARE];
    double effect = 0;
    for (uint32_t t = 0; t < explanation->count; t++) {
        effect = fmax(effect, effect_of(&explanation->times[t], "gpu.attention_share"));
    }
    if (effect >= 0.05 && share->count > 0) {
        bool guessed = share->basis == BASIS_ASSUMED && share->source != NULL;
        SAY(text, guessed ? " gpu.attention_share: %s (%s)." : " gpu.attention_share: %s.",
            basis_name(share->basis), share->source);
    }
}

static void say_first(const struct explanation *explanation, struct frame *verdict,
                      char text[VERDICT_TEXT])
{
    struct explain_guess guesses[CURVE_COUNT];
    uint32_t count = explain_guesses(explanation, guesses);
    struct frame *rows = make_shares("figure", "basis");
    for (uint32_t i = 0; i < count; i++) {
        put_share(curve_kinds[guesses[i].curve].name, basis_name(guesses[i].basis),
                  guesses[i].effect, rows);
    }
    frame_take(verdict, VERDICT_measure_first, rows);
    char *first = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&first, &size);
    if (out != NULL) {
        explain_measure_first(explanation, "the time", 1, out);
        fclose(out);
        SAY(text, "%s", first);
        free(first);
    }
}

void advise_say_sure(const struct explanation *explanation, const struct point *point,
                     struct frame *verdict)
{
    char text[VERDICT_TEXT] = "";
    say_band(&explanation->result, verdict, text);
    if (point->missed.rows > 0) {
        char words[NOTE_WORDS];
        struct note missed = answer_missed_note(&point->missed);
        SAY(text, "; %s", note_write(&missed, words, sizeof words));
    }
    say_basis(&explanation->result, verdict, text);
    SAY(text, ".");
    say_first(explanation, verdict, text);
    say_attention(explanation, point, text);
    frame_text(verdict, VERDICT_sure, text);
}
