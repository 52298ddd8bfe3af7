#include "cli/runs/explain_words.h"

#include "core/text.h"
#include "tables/table.h"

#include <math.h>
#include <stdlib.h>

void explain_percent(double share, FILE *out)
{
    double percent = 100 * fabs(share);
    fprintf(out, "%.*f %%", percent < 9.95 ? 1 : 0, percent);
}

/* Requests have not the regularity of steps: their means deserve fewer digits. */
static void print_ms(const struct explain_time *time, double ms, FILE *out)
{
    bool step = time->column == COLUMN(step_us);
    fprintf(out, " off %s, %.*f ms", step ? "the step" : "it", step ? 2 : ms < 100 ? 1 : 0, ms);
}

void explain_helps(const struct explanation *explanation, const struct explain_time *time,
                   const char *of, FILE *out)
{
    uint32_t shown = 0;
    double ms = (double)result_cell(&explanation->result, time->column)->integer / 1e6;
    for (uint32_t i = 0; i < time->count && shown < EXPLAIN_SHOWN; i++) {
        const struct explain_figure *figure = &time->figures[i];
        if (-figure->better < EXPLAIN_TOLD) {
            break;
        }
        if (shown++ == 0) {
            fprintf(out, " What would help%s%s most: 10 %% %s %s: ", of[0] != '\0' ? " " : "", of,
                    figure->is_more ? "more" : "less", curve_kinds[figure->curve].name);
            explain_percent(figure->better, out);
            print_ms(time, ms * (1 + figure->better), out);
        } else {
            fputs(shown == 2 ? "; then " : ", ", out);
            fprintf(out, "%s ", curve_kinds[figure->curve].name);
            explain_percent(figure->better, out);
        }
    }
    if (shown > 0) {
        fputs(".", out);
    } else {
        fprintf(out, " No single figure of the machine changes %s noticeably.",
                of[0] != '\0' ? of : "it");
    }
}

/* ---- what to measure -------------------------------------------------------------------- */

static int explain_words_by_effect(const void *a, const void *b)
{
    const struct explain_guess *x = a, *y = b;
    if (x->effect != y->effect) {
        return x->effect < y->effect ? 1 : -1;
    }
    return (int)x->curve - (int)y->curve;
}

static void add_guess(struct explain_guess *guesses, uint32_t *count,
                      const struct explain_figure *figure)
{
    double effect = fmax(-figure->better, figure->worse);
    uint32_t place = 0;
    while (place < *count && guesses[place].curve != figure->curve) {
        place++;
    }
    if (place == *count) {
        guesses[(*count)++] = (struct explain_guess){figure->curve, figure->basis, effect};
    }
    guesses[place].effect = fmax(guesses[place].effect, effect);
}

uint32_t explain_guesses(const struct explanation *explanation,
                         struct explain_guess guesses[CURVE_COUNT])
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < explanation->count; t++) {
        const struct explain_time *time = &explanation->times[t];
        for (uint32_t i = 0; i < time->count; i++) {
            if (time->figures[i].basis != BASIS_MEASURED) {
                add_guess(guesses, &count, &time->figures[i]);
            }
        }
    }
    qsort(guesses, count, sizeof *guesses, explain_words_by_effect);
    while (count > 0 && guesses[count - 1].effect < EXPLAIN_TOLD) {
        count--;
    }
    return count;
}

void explain_measure_first(const struct explanation *explanation, const char *on, uint32_t most,
                           FILE *out)
{
    struct explain_guess guesses[CURVE_COUNT];
    uint32_t count = explain_guesses(explanation, guesses);
    for (uint32_t i = 0; i < count && i < most; i++) {
        if (i == 0) {
            fprintf(out, " To measure first (effect of a 10 %% error on %s): ", on);
        }
        fprintf(out, "%s%s (%s) ", i > 0 ? ", " : "", curve_kinds[guesses[i].curve].name,
                basis_name(guesses[i].basis));
        explain_percent(guesses[i].effect, out);
    }
    fputs(count > 0 && most > 0 ? "." : "", out);
}

bool explain_paragraph(const struct point *point, const char *name, const struct run_context *runs,
                       explain_writer *write, FILE *out, struct error *why)
{
    struct explanation explanation;
    struct text_file file;
    if (!explain_run(point, runs, &explanation, why)) {
        return false;
    }
    bool ok = text_open(&file, why);
    if (ok) {
        fprintf(file.out, "%s%s", name, name[0] != '\0' ? ": " : "");
        write(&explanation, file.out);
    }
    explanation_release(&explanation);
    char *text = text_close(&file, ok, why);
    ok = text != NULL;
    if (ok) {
        table_line("", text, out);
    }
    free(text);
    return ok;
}
