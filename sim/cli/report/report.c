/* `spillway report`: one self-contained page of HTML from a database: question, answer,
 * tables, charts that move, what the figures rest on, and how to reproduce them.
 *
 * Each table is a file of plots/report, a query whose columns are the table's. The page's
 * policy allows its own script only, so a name in a database cannot run anything.
 * It does not say when it was made, so the same database gives the same bytes. */

#include "cli/report/report_query.h"
#include "cli/report/report.h"

#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "core/version.h"

enum { OUTPUT };

enum { MOST_SENTENCES = 9 }; /* of an answer, shown unasked: of eight lines and the best */

static const char *const of_studied[] = {"studied", "page", "runs", "report/choices", NULL};
static const char *const of_runs[] = {"every", "page", "runs", "report/choices", NULL};
static const char *const of_cells[] = {"every", "page", "runs", PLOT_CELLS, "report/choices", NULL};
static const char *const of_walks[] = {"studied", "page", "runs", "walked", NULL};
static const char *const of_curves[] = {"points", NULL};
static const char *const of_ablations[] = {"ablations", NULL};
static const char *const of_all[] = {NULL};

struct report_kind {
    const char *name; /* of its file */
    const char *const *begin;
    bool pivot;
    size_t most; /* rows */
    const char *caption;
    bool folded; /* shown once the reader asks for it */
};

static const struct report_kind answers[] = {
    {"answer", of_studied, false, 20, "The best", false},
    {"settings", of_walks, false, 60, "The best of each setting", false},
    {.name = NULL},
};
static const struct report_kind varied[] = {
    {"varied", of_studied, false, 40, "What differs between the runs", false},
    {.name = NULL},
};
static const struct report_kind plans[] = {
    {"plans", of_all, false, 60, "The candidates of a plan, and their verdicts", false},
    {"plan_points", of_all, true, 200, "What was tried for the answer, and which meets the targets",
     false},
    {"plan_points_others", of_all, true, 400, "What the other candidates tried", true},
    {.name = NULL},
};
static const struct report_kind figures[] = {
    {"runs", of_runs, false, 200, "Runs of decode steps", false},
    {"families", of_runs, false, 200, "The same runs with each family of recordings", false},
    {"served", of_runs, false, 200, "Runs of a server", false},
    {"columns", of_cells, true, 200, "All that is known of the first runs", true},
    {"parts", of_runs, true, 100, "The step along its critical path, by part (ms)", false},
    {"stalls", of_runs, true, 100,
     "Time in which the GPU's main stream waits, by cause (% of the step)", false},
    {"ablations", of_ablations, false, 100, "What each mechanism saves", false},
    {"ablation_others", of_all, false, 40, "Other mechanisms that a row switches as well", false},
    {"curves", of_curves, false, 100, "Policies: the knee of the miss curve, and the largest size",
     false},
    {"validations", of_all, false, 100, "Mechanisms run for real, compared with predictions",
     false},
    {"draws", of_runs, false, 100, "How far answers spread over replications", false},
    {.name = NULL},
};
static const struct report_kind trust[] = {
    {"trust", of_runs, false, 60, "What the figures rest on", false},
    {"notes", of_runs, false, 30, "Notes on the runs", false},
    {.name = NULL},
};
static const struct report_kind provenance[] = {
    {"provenance", of_runs, false, 60, "Inputs, by name and hash", false},
    {"contents", of_all, false, 20, "What the database holds", false},
    {.name = NULL},
};

/* The subjects of a page. The first that has rows gives the heading; each that has rows gets an answer. */
static const struct {
    const char *const *begin;
    const char *name;
} headings[] = {
    {of_studied, "heading"},
    {of_all, "heading_plans"},
    {of_ablations, "heading_ablations"},
    {of_curves, "heading_curves"},
    {of_all, "heading_validations"},
};
enum { HEADINGS = sizeof headings / sizeof headings[0] };

/* The inputs of the page's parts. */
struct report {
    struct store *store;
    const char *database; /* as the user named it; NULL: that of an answer */
    const char *path;     /* of the page */
    struct report_table headings[HEADINGS];
    size_t heading;           /* which of them is the page's */
    char note[STORE_NOTE];    /* on the programs whose results it has; "": nothing to say */
    struct report_table best; /* the best run of each setting (plots/report/best.sql) */
    const struct report_answer *answer; /* NULL: no question was asked */
    FILE *out;
};

enum { OF_PLANS = 1 }; /* the place of plans among `headings` */

/* Write the tables that have rows, the first one under `title`; NULL: no title. */
static bool write_tables(const struct report *report, const char *title,
                         const struct report_kind *kind, struct error *why)
{
    bool begun = false;
    const struct report_kind *all = kind;
    for (; kind->name != NULL; kind++) {
        struct report_table table;
        if (!report_table_read(report->store, kind->begin, kind->name, kind->pivot, &table, why)) {
            return false;
        }
        if (report_table_rows(&table) > 0 && title != NULL && !begun) {
            begun = true;
            html_print(report->out, "<section>\n<h2>%s</h2>\n", title);
        }
        if (report_table_rows(&table) > 0) {
            /* A page about plans alone folds the figures of single runs, most of which are tries. */
            bool tries = report->heading == OF_PLANS && all == figures && kind->begin == of_runs;
            bool folded = kind->folded || tries;
            html_print(report->out, folded ? "<details>\n<summary>%s</summary>\n" : "",
                       kind->caption);
            report_table_write(&table, kind->caption, kind->most, report->out);
            fputs(folded ? "</details>\n" : "", report->out);
        }
        report_table_release(&table);
    }
    fputs(begun ? "</section>\n" : "", report->out);
    return true;
}

/* ---- question and answer ---- */

/* The sentences of the answer's verdict. */
static void report_write_verdict(const struct report *report)
{
    const struct frame *verdict = report->answer->verdict;
    fputs("<dl class=\"answer\">\n", report->out);
    for (uint32_t i = 0; i < verdict->column_count; i++) {
        if (verdict->columns[i].title != NULL && verdict->cells[i].set &&
            verdict->cells[i].text != NULL) {
            html_print(report->out, "<dt>%s</dt><dd>%s</dd>\n", verdict->columns[i].title,
                       verdict->cells[i].text);
        }
    }
    fputs("</dl>\n", report->out);
}

static bool report_write_head(const char *title, FILE *out, struct error *why)
{
    html_print(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"");
    bool ok = plot_copy_file("plots/report", "policy", "txt", out, why);
    html_print(out, "\">\n<title>%s</title>\n<style>\n", title);
    ok = ok && plot_copy_file("plots/report", "report", "css", out, why);
    fputs("</style>\n</head>\n", out);
    return ok;
}

/* The question, its setting, and the number of runs without a result. */
static bool write_question(const struct report *report, struct error *why)
{
    const struct report_table *heading = &report->headings[report->heading];
    const struct report_answer *answer = report->answer;
    const char *title = answer != NULL ? answer->title : report_table_text(heading, 0, "title");
    const char *missing = report_table_text(heading, 0, "missing");
    bool ok = report_write_head(title, report->out, why);
    html_print(report->out,
               "<body>\n<header>\n<h1>%s</h1>\n<p class=\"question\">%s</p>\n</header>\n<main>\n",
               title, answer != NULL ? "" : report_table_text(heading, 0, "question"));
    if (answer != NULL) {
        report_write_verdict(report);
    }
    html_print(report->out, *missing != '\0' ? "<p>%s</p>\n" : "", missing);
    html_print(report->out, report->note[0] != '\0' ? "<p>Note: %s.</p>\n" : "", report->note);
    return ok;
}

/* An answer states its question if that is not the page's own. */
static void write_short_answer(const struct report *report, const struct report_table *table,
                               size_t row, bool asked)
{
    const char *answer = report_table_text(table, row, "answer");
    if (!asked) {
        html_print(report->out, "<h3>%s</h3>\n<p class=\"question\">%s</p>\n",
                   report_table_text(table, row, "title"),
                   report_table_text(table, row, "question"));
    }
    if (*answer != '\0') {
        html_print(report->out, "<p class=\"answer\">%s</p>\n", answer);
    }
}

/* The sentences that a query gives; many of them are folded. */
static bool write_sentences(const struct report *report, const char *name, struct error *why)
{
    struct report_table table;
    if (!report_table_read(report->store, of_walks, name, false, &table, why)) {
        return false;
    }
    bool folded = report_table_rows(&table) > MOST_SENTENCES;
    if (folded) {
        html_print(report->out, "<details>\n<summary>Along each axis: %s lines</summary>\n",
                   report_table_text(&table, 0, "lines"));
    }
    for (size_t row = 0; row < report_table_rows(&table); row++) {
        write_short_answer(report, &table, row, true);
    }
    fputs(folded ? "</details>\n" : "", report->out);
    report_table_release(&table);
    return true;
}

static bool write_answer(const struct report *report, struct error *why)
{
    bool titled = report_table_rows(&report->best) > 0;
    if (report->answer != NULL) {
        return true;
    }
    fputs(titled ? "<section>\n<h2>Answer</h2>\n" : "", report->out);
    bool ok = write_sentences(report, "winners", why) && write_sentences(report, "walks", why) &&
              write_tables(report, NULL, answers, why);
    /* the answers of plans, ablations, curves and validations */
    for (size_t i = 1; i < HEADINGS; i++) {
        for (size_t row = 0; row < report_table_rows(&report->headings[i]); row++) {
            write_short_answer(report, &report->headings[i], row, i == report->heading && row == 0);
        }
    }
    fputs(titled ? "</section>\n" : "", report->out);
    return ok && write_tables(report, NULL, varied, why);
}

/* ---- what moves: the script, and the runs behind its sliders ----
 *
 * The page's policy names the script by its hash, so nothing else can run. JSON is data to a
 * browser; it has no `<`, so it cannot end its own element. */

static bool write_explore(const struct report *report, struct error *why)
{
    static const char *const begin[] = {"every", "page", "runs", PLOT_CELLS, NULL};
    struct report_table table;
    if (!report_table_read(report->store, begin, "explore", false, &table, why)) {
        return false;
    }
    bool ok = true;
    if (report_table_rows(&table) > 0) {
        ok = plot_copy_file("plots/report", "explore", "html", report->out, why);
        const char *run = report->answer != NULL ? report->answer->run : NULL;
        html_print(report->out,
                   "<script type=\"application/json\" id=\"data\" data-run=\"%s\" "
                   "data-targets=\"%s\">",
                   run != NULL ? run : report_table_text(&report->best, 0, "best"),
                   report->answer != NULL ? report->answer->targets : "");
        fputs(report_table_text(&table, 0, "data"), report->out);
        fputs("</script>\n", report->out);
        const char *shortened = report_table_text(&table, 0, "shortened");
        html_print(report->out, *shortened != '\0' ? "<p class=\"shortened\">%s</p>\n" : "",
                   shortened);
    }
    report_table_release(&table);
    return ok;
}

/* page.js and what follows it in plots/report. plots/report/policy.txt has its hash. */
static bool write_script(FILE *out, struct error *why)
{
    static const char *const parts[] = {"page", "runs", "charts", "start"};
    bool ok = true;
    fputs("<script>", out);
    for (size_t i = 0; ok && i < sizeof parts / sizeof parts[0]; i++) {
        ok = plot_copy_file("plots/report", parts[i], "js", out, why);
    }
    fputs("</script>\n", out);
    return ok;
}

/* The most runs whose scenario is printed in the page. */
enum { MOST_SCENARIOS = 12 };

/* The scenarios of the best runs, and of the runs that plans found: the first of each. */
static bool write_scenarios(const struct report *report, struct error *why)
{
    struct report_table planned;
    const struct report_table *const tables[] = {&report->best, &planned};
    if (!report_table_read(report->store, of_all, "planned", false, &planned, why)) {
        return false;
    }
    bool ok = true, any = report_table_rows(&report->best) + report_table_rows(&planned) > 0;
    if (any) {
        fputs("<section>\n<h2>How to get it again</h2>\n", report->out);
        ok = plot_copy_file("plots/report", "again", "html", report->out, why);
    }
    for (int t = 0; t < 2; t++) {
        for (size_t row = 0; row < report_table_rows(tables[t]) && row < MOST_SCENARIOS; row++) {
            const char *setting = report_table_text(tables[t], row, "setting");
            html_print(report->out,
                       "<details>\n<summary>%s%s%s: run <code>%s</code></summary>\n"
                       "<pre>%s</pre>\n</details>\n",
                       report_table_text(tables[t], row, "best_name"), *setting != '\0' ? ", " : "",
                       setting, report_table_text(tables[t], row, "best"),
                       report_table_text(tables[t], row, "scenario"));
        }
    }
    fputs(any ? "</section>\n" : "", report->out);
    report_table_release(&planned);
    return ok;
}

/* ---- the page ---- */

static bool write_page(const struct report *report, struct error *why)
{
    bool ok = write_question(report, why) && write_answer(report, why) &&
              write_explore(report, why) && write_tables(report, "Plans", plans, why) &&
              write_tables(report, "Figures", figures, why) &&
              write_tables(report, "How far to trust it", trust, why) &&
              write_tables(report, "Where it comes from", provenance, why) &&
              write_scenarios(report, why) &&
              plot_copy_file("plots/report", "words", "html", report->out, why);
    html_print(report->out,
               "</main>\n<footer><p>Written by <code>spillway report</code>, version %s.</p>"
               "</footer>\n",
               spillway_program);
    ok = ok && write_script(report->out, why);
    fputs("</body>\n</html>\n", report->out);
    return ok;
}

/* The subject of the database is that of the first heading that has rows. */
static bool read_headings(struct report *report, struct error *why)
{
    bool ok = true;
    report->heading = HEADINGS;
    for (size_t i = HEADINGS; ok && i > 0; i--) {
        struct report_table *table = &report->headings[i - 1];
        ok = report_table_read(report->store, headings[i - 1].begin, headings[i - 1].name, false,
                               table, why);
        report->heading = ok && report_table_rows(table) > 0 ? i - 1 : report->heading;
    }
    return ok && (report->heading < HEADINGS ||
                  error_set(why, report->database, 0,
                            "holds no runs, miss curves or validations to report"));
}

static bool report_write(struct report *report, struct error *why)
{
    struct output output = {.file = NULL};
    bool ok = read_headings(report, why) &&
              report_table_read(report->store, of_studied, "best", false, &report->best, why) &&
              output_open(report->path, &output, why);
    bool opened = ok;
    if (opened) {
        report->out = output.file;
        ok = write_page(report, why);
    }
    if (ok) {
        ok = output_commit(&output, why);
    } else if (opened) {
        output_discard(&output);
    }
    report_table_release(&report->best);
    for (size_t i = 0; i < HEADINGS; i++) {
        report_table_release(&report->headings[i]);
    }
    return ok;
}

static bool report_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    struct report report = {.database = arguments_operands(arguments, &count)[0],
                            .path = arguments_text(arguments, OUTPUT)};
    report.store = store_open_shown(report.database, report.note, why);
    bool ok = report.store != NULL && report_write(&report, why);
    store_close(report.store);
    return ok;
}

static const struct command_option options[] = {
    [OUTPUT] = {"--output", "FILE", "the page to write", .letter = 'o', .required = true},
    {.name = NULL},
};

const struct command command_report = {
    .name = "report",
    .operands = "DB",
    .summary = "write an HTML page about a database's results: answer, charts, tables, sources",
    .example = "spillway report results.db -o report.html",
    .options = options,
    .run = report_run,
};

bool report_answer(const struct report_answer *answer, const char *path, struct error *why)
{
    struct report report = {.store = answer->store, .path = path, .answer = answer};
    return report_write(&report, why);
}
