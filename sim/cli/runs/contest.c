#include "cli/runs/contest.h"

#include "base/array.h"
#include "base/text.h"
#include "cli/frame/drawn.h"
#include "answer/table.h"
#include "cli/runs/ranking.h"
#include "study/sweep/interval.h"
#include "study/sweep/replication.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most runs in a paragraph, to keep it readable; later runs are only counted. */
enum { MOST_SHOWN = 9, ROOM = 4096 };

/* The draws of a run, in `more` of its place in the ranking. */
struct draws {
    uint32_t count;
    double merits[]; /* one per draw, more is better */
};

struct contest {
    struct ranking ranking; /* by the means of draws */
    struct contest_remarks {
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
        ranking_release(&contest->ranking);
        free(contest);
    }
}

/* NULL: there is no remark. */
static void add_remark(struct contest_remarks *remarks, const struct ranked *runner,
                       const char *remark)
{
    if (remark != NULL && remarks->count++ < MOST_SHOWN) {
        text_append(remarks->text, ROOM, "%s%s%s%s%s%s", remarks->count > 1 ? "; " : "",
                    runner->title, runner->title[0] != '\0' ? ": " : "", runner->name,
                    runner->name[0] != '\0' ? " " : "", remark);
    }
}

/* A server has two times: to the first token, and per token. */
static bool contest_add_own(struct contest *contest, const struct ranked *runner,
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

/* The draws of the figure that runs are compared by; NULL without memory. */
static struct draws *copy_draws(const struct result_draws *draws, enum drawn drawn, bool less,
                                struct error *why)
{
    struct draws *copy = array_zeroed(1, sizeof *copy + draws->count * sizeof copy->merits[0], why);
    if (copy == NULL) {
        return NULL;
    }
    copy->count = draws->count;
    for (uint32_t i = 0; i < draws->count; i++) {
        copy->merits[i] = less ? -draws->values[i][drawn] : draws->values[i][drawn];
    }
    return copy;
}

/* Note the run's number of draws, and what runs are compared by. */
static void note_kind(struct contest *contest, const struct result *result)
{
    uint32_t count = result->draws.count;
    bool first = contest->most == 0;
    contest->least = first || count < contest->least ? count : contest->least;
    contest->most = count > contest->most ? count : contest->most;
    contest->ranged = contest->ranged || result->family_count > 0;
    contest->serves = replication_main(result) == DRAWN_TTFT;
}

bool contest_add(struct contest *contest, size_t group, const char *title, const char *name,
                 const struct result *result, struct error *why)
{
    struct ranked runner = {.group = group};
    char missed[DRAWN_TEXT];
    if (result->draws.count < REPLICATIONS_LEAST) {
        return true;
    }
    note_kind(contest, result);
    enum drawn drawn = contest->serves ? DRAWN_TTFT : DRAWN_DECODE_RATE;
    if (isnan(drawn_value(result, drawn))) {
        return true; /* some draws have no such figure, so the run has no rank */
    }
    text_copy(runner.title, RANKING_NAME, title);
    text_copy(runner.name, RANKING_NAME, name);
    if (!contest_add_own(contest, &runner, result, why)) {
        return false;
    }
    add_remark(&contest->missed, &runner, drawn_missed(result, contest->precision, missed));
    struct draws *draws = copy_draws(&result->draws, drawn, contest->serves, why);
    if (draws == NULL) {
        return false;
    }
    runner.merit = interval_mean(draws->merits, 1, draws->count).mean;
    runner.more = draws;
    return ranking_add(&contest->ranking, &runner, why);
}

/* ---- matches --------------------------------------------------------------------------- */

/* "clo beats litecache in 61 of 100 draws" */
static void append_match(char text[ROOM], const struct ranked *better, const struct ranked *worse)
{
    const struct draws *draws = better->more, *others = worse->more;
    uint32_t count = draws->count < others->count ? draws->count : others->count;
    uint32_t won = 0, tied = 0;
    for (uint32_t i = 0; i < count; i++) {
        won += draws->merits[i] > others->merits[i];
        tied += draws->merits[i] == others->merits[i];
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

static void contest_print_group(const struct ranked *ranked, size_t count, bool serves, FILE *out)
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

static void contest_print_remarks(struct contest_remarks *remarks, const char *label, FILE *out)
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
    contest_print_remarks(&contest->own, "as its profile says: ", out);
    contest_print_remarks(&contest->missed, "precision: ", out);
    for (size_t from = 0, count; from < contest->ranking.count; from += count) {
        count = ranking_group(&contest->ranking, from);
        if (count > 1) {
            contest_print_group(&contest->ranking.runs[from], count, contest->serves, out);
        }
    }
}
