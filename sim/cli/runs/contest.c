#include "cli/runs/contest.h"

#include "base/array.h"
#include "cli/frame/drawn.h"
#include "cli/frame/table.h"
#include "study/sweep/interval.h"
#include "study/sweep/replication.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Runs behind these of a group are not matched: nobody reads on. */
enum { MOST_MATCHED = 9, NAME = 128 };

struct runner {
    size_t group;
    char title[NAME], name[NAME];
    bool serves;
    double mean;
    double *merits; /* of each draw, more is better; owned */
    uint32_t count, place;
    char own[DRAWN_TEXT], missed[DRAWN_TEXT]; /* what is said of the draws besides; "": nothing */
};

struct contest {
    struct runner *runners;
    size_t count, capacity;
    uint32_t least, most; /* draws of a run */
    double precision;     /* wanted; 0: none */
    bool serves;
};

struct contest *contest_create(double precision, struct error *why)
{
    struct contest *contest = array_zeroed(1, sizeof *contest, why);
    if (contest != NULL) {
        contest->precision = precision;
    }
    return contest;
}

void contest_destroy(struct contest *contest)
{
    if (contest != NULL) {
        for (size_t i = 0; i < contest->count; i++) {
            free(contest->runners[i].merits);
        }
        free(contest->runners);
        free(contest);
    }
}

static bool note_draws(struct runner *runner, const struct result *result, double precision,
                       struct error *why)
{
    const char *own;
    drawn_missed(result, precision, runner->missed);
    return drawn_own(result, runner->own, &own, why);
}

bool contest_add(struct contest *contest, size_t group, const char *title, const char *name,
                 const struct result *result, struct error *why)
{
    const struct result_draws *draws = &result->draws;
    if (draws->count < REPLICATIONS_LEAST) {
        return true;
    }
    struct runner runner = {.group = group,
                            .count = draws->count,
                            .place = (uint32_t)contest->count,
                            .serves = replication_main(result) == DRAWN_TTFT};
    enum drawn drawn = runner.serves ? DRAWN_TTFT : DRAWN_DECODE_RATE;
    bool first = contest->most == 0;
    contest->least = first || runner.count < contest->least ? runner.count : contest->least;
    contest->most = runner.count > contest->most ? runner.count : contest->most;
    contest->serves = runner.serves;
    if (isnan(drawn_value(result, drawn))) {
        return true; /* some draws have none: it has no rank */
    }
    snprintf(runner.title, NAME, "%s", title);
    snprintf(runner.name, NAME, "%s", name);
    runner.merits = array_zeroed(draws->count, sizeof *runner.merits, why);
    if (runner.merits == NULL || !note_draws(&runner, result, contest->precision, why) ||
        !array_reserve(&contest->runners, &contest->capacity, contest->count + 1,
                       sizeof *contest->runners, why)) {
        free(runner.merits);
        return false;
    }
    for (uint32_t i = 0; i < draws->count; i++) {
        runner.merits[i] = runner.serves ? -draws->values[i][drawn] : draws->values[i][drawn];
    }
    runner.mean = interval_mean(runner.merits, 1, runner.count).mean;
    contest->runners[contest->count++] = runner;
    return true;
}

/* ---- matches --------------------------------------------------------------------------- */

/* Group by group, the best first. */
static int by_rank(const void *a, const void *b)
{
    const struct runner *x = *(const struct runner *const *)a;
    const struct runner *y = *(const struct runner *const *)b;
    if (x->group != y->group) {
        return x->group > y->group ? 1 : -1;
    }
    return x->mean != y->mean ? (x->mean < y->mean ? 1 : -1)
                              : (x->place > y->place) - (x->place < y->place);
}

/* "clo beats litecache in 61 of 100 draws" */
static void print_match(const struct runner *better, const struct runner *worse, bool first,
                        FILE *out)
{
    uint32_t count = better->count < worse->count ? better->count : worse->count;
    uint32_t won = 0, tied = 0;
    for (uint32_t i = 0; i < count; i++) {
        won += better->merits[i] > worse->merits[i];
        tied += better->merits[i] == worse->merits[i];
    }
    fprintf(out, "%s%s ", first ? "" : ", ", better->name);
    if (tied == count) {
        fprintf(out, "ties with %s in all %" PRIu32, worse->name, count);
        return;
    }
    fprintf(out, "beats %s in %" PRIu32 " of %" PRIu32, worse->name, won, count);
    if (tied > 0) {
        fprintf(out, " (%" PRIu32 " %s)", tied, tied == 1 ? "tie" : "ties");
    }
}

static bool print_wrapped(const char *label, char *text, FILE *out)
{
    table_line(label, text, out);
    free(text);
    return true;
}

static bool print_group(const struct runner *const *ranked, size_t count, FILE *out,
                        struct error *why)
{
    char *text = NULL;
    size_t size, matched = count < MOST_MATCHED ? count : MOST_MATCHED;
    FILE *sentence = open_memstream(&text, &size);
    if (sentence == NULL) {
        return error_set(why, NULL, 0, "out of memory");
    }
    if (ranked[0]->title[0] != '\0') {
        fprintf(sentence, "%s: ", ranked[0]->title);
    }
    for (size_t i = 0; i + 1 < matched; i++) {
        print_match(ranked[i], ranked[i + 1], i == 0, sentence);
    }
    if (matched < count) {
        fprintf(sentence, "; %zu more are slower", count - matched);
    }
    return fclose(sentence) == 0 ? print_wrapped(ranked[0]->serves ? "draw by draw, by TTFT: "
                                                                   : "draw by draw, by tokens/s: ",
                                                 text, out)
                                 : error_set(why, NULL, 0, "out of memory");
}

static bool print_matches(const struct contest *contest, FILE *out, struct error *why)
{
    const struct runner **ranked = array_zeroed(contest->count, sizeof(struct runner *), why);
    bool ok = ranked != NULL;
    for (size_t i = 0; ok && i < contest->count; i++) {
        ranked[i] = &contest->runners[i];
    }
    if (ok) {
        qsort(ranked, contest->count, sizeof *ranked, by_rank);
    }
    for (size_t from = 0, to = 0; ok && from < contest->count; from = to) {
        while (to < contest->count && ranked[to]->group == ranked[from]->group) {
            to++;
        }
        ok = to - from < 2 || print_group(&ranked[from], to - from, out, why);
    }
    free(ranked);
    return ok;
}

/* ---- what is said of single runs ------------------------------------------------------- */

static const char *own_of(const struct runner *runner)
{
    return runner->own;
}

static const char *missed_of(const struct runner *runner)
{
    return runner->missed;
}

static void write_said(const struct runner *runner, const char *said, bool first, FILE *out)
{
    fprintf(out, "%s%s%s%s%s%s", first ? "" : "; ", runner->title,
            runner->title[0] != '\0' ? ": " : "", runner->name, runner->name[0] != '\0' ? " " : "",
            said);
}

/* Of those that it says something of, the first few. */
static bool print_said(const struct contest *contest, const char *label,
                       const char *(*said_of)(const struct runner *), FILE *out, struct error *why)
{
    char *text = NULL;
    size_t size, count = 0;
    FILE *sentence = open_memstream(&text, &size);
    if (sentence == NULL) {
        return error_set(why, NULL, 0, "out of memory");
    }
    for (size_t i = 0; i < contest->count; i++) {
        const char *said = said_of(&contest->runners[i]);
        if (said[0] != '\0' && count++ < MOST_MATCHED) {
            write_said(&contest->runners[i], said, count == 1, sentence);
        }
    }
    if (count > MOST_MATCHED) {
        fprintf(sentence, "; and %zu more", count - MOST_MATCHED);
    }
    if (fclose(sentence) != 0) {
        return error_set(why, NULL, 0, "out of memory");
    }
    if (count > 0) {
        return print_wrapped(label, text, out);
    }
    free(text);
    return true;
}

bool contest_print(const struct contest *contest, FILE *out, struct error *why)
{
    char *text = NULL;
    if (contest->most == 0) {
        return true;
    }
    int length = asprintf(
        &text,
        "%" PRIu32 "%s draws of the machine's figures, each within its range (one without is taken "
        "as sure), the same for every run; what is generated takes a seed each, what is recorded "
        "stays. ± is the 95 %% interval of the mean over draws (Student's t)%s; other columns are of "
        "the machine as its profile says. Draws tell what not knowing the machine spreads, an "
        "error band what the model misses.",
        contest->least, contest->least < contest->most ? " or more" : "",
        contest->serves ? "" : ", 5 - 95 % what nine of ten draws span");
    if (length < 0) {
        return error_set(why, NULL, 0, "out of memory");
    }
    fputc('\n', out);
    return print_wrapped("replications: ", text, out) &&
           print_said(contest, "as its profile says: ", own_of, out, why) &&
           print_said(contest, "precision: ", missed_of, out, why) && print_matches(contest, out, why);
}
