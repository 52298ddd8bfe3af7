/* A run is reproduced from its scenario, which the database keeps; a curve or a validation by a
 * command. */
#include "cli/frame/drawing.h"
#include "cli/report/report.h"

/* The most runs whose scenario is printed in the page. */
enum { MOST_SCENARIOS = 12 };

static const char *const of_all[] = {NULL};

/* The scenario of the run that a row names as `best`. */
static bool report_again_write_scenario(const struct report *report,
                                        const struct report_table *table, size_t row,
                                        struct error *why)
{
    const char *run = report_table_text(table, row, "best");
    const char *setting = report_table_text(table, row, "setting");
    struct result result;
    result_init(&result);
    bool ok = store_get(report->store, run, &result, why);
    if (ok) {
        html_print(report->out, "<details>\n<summary>%s%s%s: run <code>%s</code></summary>\n",
                   report_table_text(table, row, "best_name"), *setting != '\0' ? ", " : "",
                   setting, run);
        html_print(report->out, "<pre>%s</pre>\n</details>\n", result.scenario);
    }
    result_release(&result);
    return ok;
}

static void write_way(const struct report *report)
{
    if (report->database == NULL) {
        fputs("<p>A run is a scenario; its name is a hash of all inputs. <code>spillway simulate "
              "run.yaml --json</code> prints one again, if the program and the contents of model, "
              "machine and trace are those above. Save one of these as run.yaml for ",
              report->out);
        return;
    }
    fputs("<p>A run is a scenario; its name is a hash of all inputs. The database holds the "
          "scenario of every run:</p>\n"
          "<pre>sqlite3 ",
          report->out);
    html_word(report->database, report->out);
    fputs(" &quot;SELECT scenario FROM runs WHERE run = 'RUN'&quot; &gt;run.yaml\n"
          "spillway simulate run.yaml --json</pre>\n"
          "<p>prints that run again, under the same name if the program and the "
          "contents of model, machine and trace are those above. Save one of these as run.yaml "
          "for ",
          report->out);
}

/* The scenarios of the best runs, and of the runs that plans found. */
static bool report_again_write_list(const struct report *report, const struct report_table *best,
                                    const struct report_table *planned, struct error *why)
{
    size_t shown = best->count < MOST_SCENARIOS ? best->count : MOST_SCENARIOS;
    if (shown == 0 && planned->count == 0) {
        return true;
    }
    write_way(report);
    if (shown == 0) {
        fputs("what was planned:</p>\n", report->out);
    } else if (shown == best->count) {
        fputs("the best:</p>\n", report->out);
    } else {
        fprintf(report->out, "the best of %zu settings, the first of %zu:</p>\n", shown,
                best->count);
    }
    bool ok = true;
    for (size_t row = 0; ok && row < shown; row++) {
        ok = report_again_write_scenario(report, best, row, why);
    }
    for (size_t row = 0; ok && row < planned->count && row < MOST_SCENARIOS; row++) {
        ok = report_again_write_scenario(report, planned, row, why);
    }
    return ok;
}

static bool write_scenarios(const struct report *report, struct error *why)
{
    struct report_table planned;
    if (!report_table_read(report->store, of_all, "planned", false, &planned, why)) {
        return false;
    }
    bool ok = report_again_write_list(report, &report->best, &planned, why);
    report_table_release(&planned);
    return ok;
}

/* The commands that fill the other tables again. */
static bool write_commands(const struct report *report, struct error *why)
{
    static const char *const names[] = {"curve_commands", "validation_commands"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct report_table table;
        if (!report_table_read(report->store, of_all, names[i], false, &table, why)) {
            return false;
        }
        for (size_t row = 0; row < table.count; row++) {
            html_print(report->out, "<pre>%s --db ", report_table_text(&table, row, "command"));
            html_word(report->database, report->out);
            fputs("</pre>\n", report->out);
        }
        report_table_release(&table);
    }
    return true;
}

bool report_write_again(const struct report *report, struct error *why)
{
    fputs("<section>\n<h2>How to get it again</h2>\n", report->out);
    bool ok = write_scenarios(report, why) && write_commands(report, why);
    fputs("</section>\n", report->out);
    return ok;
}
