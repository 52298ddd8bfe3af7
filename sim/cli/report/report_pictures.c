/* gnuplot's pictures, placed within the page. */
#include "core/text.h"
#include "cli/frame/drawing.h"
#include "cli/frame/message.h"
#include "cli/report/picture.h"
#include "cli/report/report.h"

#include <stdlib.h>
#include <string.h>

/* `before` keeps the names within a page's pictures apart. */
static bool write_picture(const struct report *report, const struct picture *picture,
                          const char *before, struct error *why)
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
        snprintf(prefix, sizeof prefix, "%s%s-", before, kind->name);
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
    static const char *const begins[][4] = {{"studied", "runs", NULL},
                                            {"studied", "runs", "walked", NULL}};
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

bool report_write_answered(const struct report *report, struct error *why)
{
    static const char *const begin[] = {"answered", "runs", NULL};
    bool ok = true;
    for (const struct picture_kind *kind = picture_kinds; ok && kind->name != NULL; kind++) {
        struct picture picture;
        struct picture_kind answered = *kind;
        answered.begin = begin;
        if (strcmp(kind->name, "latency") != 0 && strcmp(kind->name, "requests") != 0) {
            continue;
        }
        ok = picture_read(report->store, &answered, NULL, 0, &picture, why);
        if (ok && picture.count > 0 && picture.count <= kind->most) {
            ok = write_picture(report, &picture, "answer-", why);
        }
        picture_release(&picture);
    }
    progress_clear();
    return ok;
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
            ok = write_picture(report, &picture, "", why);
        }
        picture_release(&picture);
    }
    progress_clear();
    fputs(begun ? "</section>\n" : "", report->out);
    return ok;
}
