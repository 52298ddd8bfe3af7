#include "cli/runs/contest.h"

#include "base/array.h"
#include "base/text.h"
#include "cli/frame/drawn.h"
#include "cli/frame/table.h"
#include "study/sweep/interval.h"
#include "study/sweep/replication.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most runs in a paragraph, to keep it readable; later runs are only counted. */
enum { MOST_SHOWN = 9, NAME = 128, ROOM = 4096 };

struct runner {
    size_t group;
    char title[NAME], name[NAME];
    double mean;
    double *merits; /* one per draw, more is better; owned */
    uint32_t count;
};

struct contest {
    struct runner *runners; /* group by group, the best first */
    size_t count, capacity;
    struct remarks {
        char text[ROOM];
        uint32_t count;
    } own, missed;        /* remarks on single runs (cli/frame/drawn.h) */
    uint32_t least, most; /* draws of a run */
    double precision;     /* the requested precision; 0: none */
    bool serves;
    bool ranged; /* some runs are of several families of recordings */
};

/* ---- adding runs ------------------------------------------------------------------------- */

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

/* NULL: there is no remark. */
static void add_remark(struct remarks *remarks, const struct runner *runner, const char *remark)
{
    if (remark != NULL && remarks->count++ < MOST_SHOWN) {
        text_append(remarks->text, ROOM, "%s%s%s%s%s%s", remarks->count > 1 ? "; " : "",
                    runner->title, runner->title[0] != '\0' ? ": " : "", runner->name,
                    runner->name[0] != '\0' ? " " : "", remark);
    }
}

/* A server has two times: to the first token, and per token. */
static bool add_own(struct contest *contest, const struct runner *runner,
                    const struct result *result, struct error *why)
{
    const enum drawn main = replication_main(result);
    const enum drawn times[] = {main, main == DRAWN_TTFT ? DRAWN_TPOT : DRAWN_COUNT};
    for (int i = 0; i < 2; i++) {
        char text[DRAWN_TEXT];
        const char *remark;
        if (!drawn_own(result, times[i], text, &remark, why)) {
            return false;
        }
        add_remark(&contest->own, runner, remark);
    }
    return true;
}

static bool ranks_before(const struct runner *a, const struct runner *b)
{
    return a->group != b->group ? a->group < b->group : a->mean > b->mean;
}

bool contest_add(struct contest *contest, size_t group, const char *title, const char *name,
                 const struct result *result, struct error *why)
{
    const struct result_draws *draws = &result->draws;
    if (draws->count < REPLICATIONS_LEAST) {
        return true;
    }
    struct runner runner = {.group = group, .count = draws->count};
    char missed[DRAWN_TEXT];
    bool first = contest->most == 0;
    contest->least = first || runner.count < contest->least ? runner.count : contest->least;
    contest->most = runner.count > contest->most ? runner.count : contest->most;
    contest->ranged = contest->ranged || result->family_count > 0;
    contest->serves = replication_main(result) == DRAWN_TTFT;
    enum drawn drawn = contest->serves ? DRAWN_TTFT : DRAWN_DECODE_RATE;
    if (isnan(drawn_value(result, drawn))) {
        return true; /* some draws have no such figure, so the run has no rank */
    }
    snprintf(runner.title, NAME, "%s", title);
    snprintf(runner.name, NAME, "%s", name);
    runner.merits = array_zeroed(draws->count, sizeof *runner.merits, why);
    if (runner.merits == NULL || !add_own(contest, &runner, result, why) ||
        !array_reserve(&contest->runners, &contest->capacity, contest->count + 1,
                       sizeof *contest->runners, why)) {
        free(runner.merits);
        return false;
    }
    add_remark(&contest->missed, &runner, drawn_missed(result, contest->precision, missed));
    for (uint32_t i = 0; i < draws->count; i++) {
        runner.merits[i] = contest->serves ? -draws->values[i][drawn] : draws->values[i][drawn];
    }
    runner.mean = interval_mean(runner.merits, 1, runner.count).mean;
    size_t place = contest->count++;
    for (; place > 0 && ranks_before(&runner, &contest->runners[place - 1]); place--) {
        contest->runners[place] = contest->runners[place - 1];
    }
    contest->runners[place] = runner;
    return true;
}

/* ---- matches --------------------------------------------------------------------------- */

/* "clo beats litecache in 61 of 100 draws" */
static void append_match(char text[ROOM], const struct runner *better, const struct runner *worse)
{
    uint32_t count = better->count < worse->count ? better->count : worse->count;
    uint32_t won = 0, tied = 0;
    for (uint32_t i = 0; i < count; i++) {
        won += better->merits[i] > worse->merits[i];
        tied += better->merits[i] == worse->merits[i];
    }
    if (tied == count) {
        text_append(text, ROOM, "%s ties with %s in all %" PRIu32, better->name, worse->name,
                    count);
        return;
    }
    text_append(text, ROOM, "%s beats %s in %" PRIu32 " of %" PRIu32, better->name, worse->name,
                won, count);
    if (tied > 0) {
        text_append(text, ROOM, " (%" PRIu32 " %s)", tied, tied == 1 ? "tie" : "ties");
    }
}

static void print_group(const struct runner *ranked, size_t count, bool serves, FILE *out)
{
    char text[ROOM] = "";
    if (ranked[0].title[0] != '\0') {
        text_append(text, ROOM, "%s: ", ranked[0].title);
    }
    for (size_t i = 0; i + 1 < count && i + 1 < MOST_SHOWN; i++) {
        text_append(text, ROOM, "%s", i > 0 ? ", " : "");
        append_match(text, &ranked[i], &ranked[i + 1]);
    }
    if (count > MOST_SHOWN) {
        text_append(text, ROOM, "; %zu more are slower", count - MOST_SHOWN);
    }
    table_line(serves ? "draw by draw, by TTFT: " : "draw by draw, by tokens/s: ", text, out);
}

static void print_remarks(struct remarks *remarks, const char *label, FILE *out)
{
    if (remarks->count > MOST_SHOWN) {
        text_append(remarks->text, ROOM, "; and %" PRIu32 " more", remarks->count - MOST_SHOWN);
    }
    if (remarks->count > 0) {
        table_line(label, remarks->text, out);
    }
}

void contest_print(struct contest *contest, FILE *out)
{
    char text[ROOM] = "";
    if (contest->most == 0) {
        return;
    }
    text_append(
        text, ROOM,
        "%" PRIu32 "%s draws of the machine's figures, each within its range (a figure without a "
        "range stays fixed); all runs share the draws. Whatever is generated gets a new seed per "
        "draw; %s. ± is the 95 %% interval of the mean over draws (Student's "
        "t)%s; other columns use the machine's profile as it is. Draws show the effect of unknown "
        "figures of the machine; the error band shows the error of the model.",
        contest->least, contest->least < contest->most ? " or more" : "",
        contest->ranged ? "each draw takes the recording of one family"
                        : "recordings stay the same",
        contest->serves ? "" : ", 5 - 95 % the range of nine in ten draws");
    fputc('\n', out);
    table_line("replications: ", text, out);
    print_remarks(&contest->own, "as its profile says: ", out);
    print_remarks(&contest->missed, "precision: ", out);
    for (size_t from = 0, to = 0; from < contest->count; from = to) {
        while (to < contest->count && contest->runners[to].group == contest->runners[from].group) {
            to++;
        }
        if (to - from > 1) {
            print_group(&contest->runners[from], to - from, contest->serves, out);
        }
    }
}
