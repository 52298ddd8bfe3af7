/* `spillway report`: one self-contained page of HTML from a database: question, answer, tables, charts that
 * move, what the figures rest on, and how to reproduce them. plots/report/page.html is the page. Each table
 * is a file there, too, a query whose columns are the table's. The page's policy allows its own script only,
 * so a name in a database cannot run anything. It does not say when it was made, so the same database gives
 * the same bytes. */

#include "cli/report/report_query.h"

#include "cli/frame/arguments.h"
#include "cli/frame/output.h"
#include "core/version.h"

#include <stdlib.h>
#include <string.h>

enum { OUTPUT };

enum { MOST_SENTENCES = 9 }; /* of an answer, shown unasked: of eight lines and the best */

#define OF_STUDIED "studied page runs report/choices"
#define OF_WALKS "studied page runs walked"

/* The subjects of a page. The first that has rows gives the heading; each that has rows gets an answer. */
static const struct {
    const char *begin, *name;
} headings[] = {
    {OF_STUDIED, "heading"},      {"", "heading_plans"},       {"ablations", "heading_ablations"},
    {"points", "heading_curves"}, {"", "heading_validations"},
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
    const char *section; /* the heading of a section that has no table so far; or NULL */
    bool in_section;     /* it has tables */
    FILE *out;
};

enum { OF_PLANS = 1 }; /* the place of plans among `headings` */

/* Write the table of a line of the page, "NAME MOST FLAGS FILE... | CAPTION", if it has rows. FLAGS are a word:
 * pivot (report_query.h), folded (shown once the reader asks for it), and tries (folded in a page about plans
 * alone, where most runs are tries). A section's title is written before its first table. */
static bool write_table(struct report *report, const char *line, struct error *why)
{
    char name[32] = "", flags[32] = "", begin[64] = "";
    int caption = 0;
    unsigned most = 0;
    struct report_table table;
    sscanf(line, "%31s %u %31s %63[^|]| %n", name, &most, flags, begin, &caption);
    bool folded = strstr(flags, "folded") != NULL ||
                  (strstr(flags, "tries") != NULL && report->heading == OF_PLANS);
    if (!report_table_read(report->store, begin[0] == '-' ? "" : begin, name,
                           strstr(flags, "pivot") != NULL, &table, why)) {
        return false;
    }
    if (report_table_rows(&table) > 0) {
        if (report->section != NULL) {
            html_print(report->out, "<section>\n<h2>%s</h2>\n", report->section);
            report->section = NULL;
            report->in_section = true;
        }
        html_print(report->out, folded ? "<details>\n<summary>%s</summary>\n" : "", line + caption);
        report_table_write(&table, line + caption, most, report->out);
        fputs(folded ? "</details>\n" : "", report->out);
    }
    report_table_release(&table);
    return true;
}

/* End the section before, if it had tables, and begin one under this title; "": none. */
static bool write_section(struct report *report, const char *title, struct error *why)
{
    (void)why;
    fputs(report->in_section ? "</section>\n" : "", report->out);
    report->section = title[0] != '\0' ? title + 1 : NULL;
    report->in_section = false;
    return true;
}

/* ---- question and answer ---- */

/* Below the question: the verdict, the number of runs without a result, and the note on the programs. */
static bool write_heading(struct report *report, const char *unused, struct error *why)
{
    const char *missing = report_table_text(&report->headings[report->heading], 0, "missing");
    (void)unused;
    (void)why;
    const struct frame *verdict = report->answer != NULL ? report->answer->verdict : NULL;
    if (verdict != NULL) {
        fputs("<dl class=\"answer\">\n", report->out);
        for (uint32_t i = 0; i < verdict->column_count; i++) {
            const char *title = verdict->columns[i].title, *text = verdict->cells[i].text;
            if (title != NULL && verdict->cells[i].set && text != NULL) {
                html_print(report->out, "<dt>%s</dt><dd>%s</dd>\n", title, text);
            }
        }
        fputs("</dl>\n", report->out);
    }
    html_print(report->out, *missing != '\0' ? "<p>%s</p>\n" : "", missing);
    html_print(report->out, report->note[0] != '\0' ? "<p>Note: %s.</p>\n" : "", report->note);
    return true;
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
    if (!report_table_read(report->store, OF_WALKS, name, false, &table, why)) {
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

static bool write_answer(struct report *report, const char *unused, struct error *why)
{
    bool titled = report_table_rows(&report->best) > 0;
    (void)unused;
    if (report->answer != NULL) {
        return true;
    }
    fputs(titled ? "<section>\n<h2>Answer</h2>\n" : "", report->out);
    bool ok = write_sentences(report, "winners", why) && write_sentences(report, "walks", why) &&
              write_table(report, "answer 20 - " OF_STUDIED " | The best", why) &&
              write_table(report, "settings 60 - " OF_WALKS " | The best of each setting", why);
    /* the answers of plans, ablations, curves and validations */
    for (size_t i = 1; i < HEADINGS; i++) {
        for (size_t row = 0; row < report_table_rows(&report->headings[i]); row++) {
            write_short_answer(report, &report->headings[i], row, i == report->heading && row == 0);
        }
    }
    fputs(titled ? "</section>\n" : "", report->out);
    return ok &&
           write_table(report, "varied 40 - " OF_STUDIED " | What differs between the runs", why);
}

/* ---- what moves: the script, which the page's policy names by its hash, and the runs behind its sliders.
 * JSON has no `<`, so it cannot end its own element ---- */

static bool write_explore(struct report *report, const char *unused, struct error *why)
{
    struct report_table table;
    (void)unused;
    if (!report_table_read(report->store, "every page runs cells", "explore", false, &table, why)) {
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

/* The most runs whose scenario is printed in the page. */
enum { MOST_SCENARIOS = 12 };

/* The scenarios of the best runs, and of the runs that plans found: the first of each. */
static bool write_scenarios(struct report *report, const char *unused, struct error *why)
{
    struct report_table planned;
    (void)unused;
    const struct report_table *const tables[] = {&report->best, &planned};
    if (!report_table_read(report->store, "", "planned", false, &planned, why)) {
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

/* A line of the page: {{NAME.KIND}} stands for a file of plots/report, {{NAME}} for a text. */
static bool write_page_line(const struct report *report, char *line, struct error *why)
{
    const struct report_table *heading = &report->headings[report->heading];
    const struct report_answer *answer = report->answer;
    const struct {
        const char *name, *text;
    } texts[] = {{"title", answer != NULL ? answer->title : report_table_text(heading, 0, "title")},
                 {"question", answer != NULL ? "" : report_table_text(heading, 0, "question")},
                 {"version", spillway_program}};
    bool ok = true;
    for (char *open; ok && (open = strstr(line, "{{")) != NULL;) {
        char *name = open + 2, *kind = name + strcspn(name, ".}");
        *open = '\0';
        fputs(line, report->out);
        line = strstr(kind, "}}") + 2;
        line[-2] = '\0';
        if (*kind == '.') {
            *kind = '\0';
            ok = plot_copy_file("plots/report", name, kind + 1, report->out, why);
        }
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            html_text(strcmp(texts[i].name, name) == 0 ? texts[i].text : "", report->out);
        }
    }
    fputs(line, report->out);
    fputc('\n', report->out);
    return ok;
}

/* plots/report/page.html, in which a line that begins with one of these says what stands there. */
static bool write_page(struct report *report, struct error *why)
{
    static const struct {
        const char *begin;
        bool (*write)(struct report *report, const char *rest, struct error *why);
    } parts[] = {{"@table ", write_table},    {"@section", write_section},
                 {"@heading", write_heading}, {"@answer", write_answer},
                 {"@explore", write_explore}, {"@scenarios", write_scenarios}};
    enum { PARTS = sizeof parts / sizeof *parts };
    size_t size;
    char *page = plot_file("plots/report", "page", "html", &size, why), *rest = page, *line;
    bool ok = page != NULL;
    while (ok && (line = strsep(&rest, "\n")) != NULL && rest != NULL) {
        size_t i = 0;
        while (i < PARTS && strncmp(line, parts[i].begin, strlen(parts[i].begin)) != 0) {
            i++;
        }
        ok = i == PARTS ? write_page_line(report, line, why)
                        : parts[i].write(report, line + strlen(parts[i].begin), why);
    }
    free(page);
    return ok;
}

static bool report_write(struct report *report, struct error *why)
{
    struct output output = {.file = NULL};
    bool ok = true;
    report->heading = HEADINGS; /* the first that has rows */
    for (size_t i = HEADINGS; ok && i > 0; i--) {
        struct report_table *table = &report->headings[i - 1];
        ok = report_table_read(report->store, headings[i - 1].begin, headings[i - 1].name, false,
                               table, why);
        report->heading = ok && report_table_rows(table) > 0 ? i - 1 : report->heading;
    }
    ok = ok &&
         (report->heading < HEADINGS ||
          error_set(why, report->database, 0,
                    "holds no runs, miss curves or validations to report")) &&
         report_table_read(report->store, OF_STUDIED, "best", false, &report->best, why) &&
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
