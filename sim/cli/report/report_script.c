/* What moves in a page: its script, and the runs behind its sliders, as JSON.
 *
 * The page's policy names the script by its hash, so nothing else can run. JSON is data to a
 * browser; it has no `<`, so it cannot end its own element. */

#include <stdlib.h>
#include <string.h>

#include "cli/frame/drawing.h"
#include "cli/frame/message.h"
#include "cli/report/picture.h"
#include "cli/report/report.h"
#include "core/text.h"

static void write_json(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        fputs(*text == '<' ? "\\u003c" : (char[]){*text, '\0'}, out);
    }
    fputs("</script>\n", out);
}

/* The run at which the sliders begin. */
static const char *first_run(const struct report *report)
{
    const char *best = report_table_text(&report->best, 0, "best");
    const char *run = report->answer != NULL ? report->answer->run : NULL;
    return run != NULL ? run : best;
}

/* ---- the runs ---- */

static void write_bound(const struct report *report, const struct report_table *table)
{
    const char *shown = report_table_text(table, 0, "shown");
    const char *computed = report_table_text(table, 0, "computed");
    if (strcmp(shown, computed) != 0) {
        html_print(report->out,
                   "<p class=\"shortened\">This page is of %s of %s runs: the best of each system, "
                   "model, machine and context. The database has the others.</p>\n",
                   shown, computed);
    }
}

bool report_write_explore(const struct report *report, struct error *why)
{
    static const char *const of_runs[] = {"every", "page", "runs", PLOT_CELLS, NULL};
    struct report_table table;
    if (!report_table_read(report->store, of_runs, "explore", false, &table, why)) {
        return false;
    }
    bool ok = true;
    if (table.count > 0) {
        ok = plot_copy_file("plots/report", "explore", "html", report->out, why);
        html_print(report->out,
                   "<script type=\"application/json\" id=\"data\" data-run=\"%s\" "
                   "data-targets=\"%s\">",
                   first_run(report), report->answer != NULL ? report->answer->targets : "");
        write_json(report_table_text(&table, 0, "data"), report->out);
        write_bound(report, &table);
    }
    report_table_release(&table);
    return ok;
}

bool report_write_script(FILE *out, struct error *why)
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

/* gnuplot's pictures, placed within the page. */

static bool write_picture(const struct report *report, const struct picture *picture,
                          struct error *why)
{
    const struct picture_kind *kind = picture->kind;
    char prefix[32];
    struct text_file drawn;
    progress_show(0, 0, "picture of %s", kind->name);
    bool ok = text_open(&drawn, why) &&
              (picture_draw(picture, "svg", report->path, drawn.out, why) ||
               error_expect(why, "gnuplot (apt-get install gnuplot-nox), or --no-pictures"));
    char *text = text_close(&drawn, ok, why);
    ok = text != NULL;
    if (ok) {
        snprintf(prefix, sizeof prefix, "%s-", kind->name);
        html_print(report->out,
                   "<figure>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                   "aria-label=\"picture: %s\">\n",
                   kind->summary);
        html_picture(text, prefix, kind->summary, report->out);
        html_print(report->out, "</div>\n<figcaption>%s</figcaption>\n</figure>\n", kind->summary);
    }
    free(text);
    return ok;
}

static void write_too_many(const struct report *report, const struct picture *picture)
{
    fprintf(report->out,
            "<p class=\"shortened\">Not drawn, because %u %ss are too many for one picture",
            picture->count, picture->kind->row);
    html_print(report->out, ": %s. To draw some of them: <code>spillway plot %s ",
               picture->kind->summary, picture->kind->name);
    html_word(report->database, report->out);
    html_print(report->out, " -o %s.svg --only KEY=VALUE</code>.</p>\n", picture->kind->name);
}

/* A report draws the runs that it compares. */
static struct picture_kind kind_of_studied(const struct picture_kind *kind)
{
    static const char *const begins[][5] = {{"studied", "page", "runs", NULL},
                                            {"studied", "page", "runs", "walked", NULL}};
    struct picture_kind studied = *kind;
    if (strcmp(kind->begin[0], "timed") == 0) {
        studied.begin = begins[kind->begin[2] != NULL];
    }
    return studied;
}

/* Does the picture show anything? The runs of an ablation differ too much to be compared in one. */
static bool is_worth_drawing(const struct report *report, const struct picture *picture)
{
    const struct picture_kind *kind = picture->kind;
    bool of_runs = strcmp(kind->begin[0], "studied") == 0;
    return picture->count > 0 && (!kind->walks || picture->points > picture->count) &&
           (!of_runs || report->best.count > 0);
}

/* Write the pictures, with a title before the first. */
bool report_write_pictures(const struct report *report, struct error *why)
{
    bool ok = true, begun = false;
    for (const struct picture_kind *kind = picture_kinds; ok && kind->name != NULL; kind++) {
        struct picture picture;
        const struct picture_kind studied = kind_of_studied(kind);
        if (!picture_read(report->store, &studied, NULL, 0, &picture, why)) {
            progress_clear();
            return false;
        }
        bool drawn = is_worth_drawing(report, &picture);
        fputs(drawn && !begun ? "<section>\n<h2>Pictures</h2>\n" : "", report->out);
        begun = begun || drawn;
        if (drawn && picture.count > kind->most) {
            write_too_many(report, &picture);
        } else if (drawn) {
            ok = write_picture(report, &picture, why);
        }
        picture_release(&picture);
    }
    progress_clear();
    fputs(begun ? "</section>\n" : "", report->out);
    return ok;
}
