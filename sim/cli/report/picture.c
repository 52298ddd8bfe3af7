#include "cli/report/picture.h"

#include <stdlib.h>
#include <string.h>

#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "cli/frame/drawing.h"
#include "cli/frame/help.h"
#include "cli/frame/output.h"
#include "cli/report/report_query.h"
#include "core/name.h"

static const char *const of_runs[] = {"timed", "runs", NULL};
static const char *const of_walks[] = {"timed", "runs", "walked", NULL};
static const char *const of_curves[] = {"points", NULL};
static const char *const of_ablations[] = {"ablations", NULL};

const struct picture_kind picture_kinds[] = {
    {"latency", of_runs, "runs with a time", "bar", 24, false, "the step by part, one bar per run"},
    {"whatif", of_walks, "runs with a time that differ in one key", "line", 12, true,
     "throughput, goodput or hits along the swept key, with the knee"},
    {"ablate", of_ablations, "ablations (of 'ablate --db')", "ablation", 1, false,
     "what each mechanism saves, alone and added last, and what all save together"},
    {"hits", of_runs,
     "runs with a hit ratio (systems that drop KV always hit; 'plot whatif' draws hits of servers)",
     "line", 24, false, "hit ratio by system, along the budget or context if it is swept"},
    {"reuse", of_runs, "runs with policy qsac", "line", 16, true,
     "reuse against attention mass, along the threshold of qsac"},
    {"mass", of_runs, "runs whose attention mass is known", "line", 7, true,
     "attention mass by step, one line per run: what dropping KV costs as a run goes on"},
    {"pareto", of_runs, "runs of several batches", "line", 24, false,
     "throughput against the step, with the Pareto front (of 'plan --pareto --db')"},
    {"drafts", of_runs, "runs with drafts, and the same without", "line", 14, false,
     "what drafts gain over none, by batch: a line for each number of tokens that a step yields"},
    {"requests", of_runs, "runs of a server (with a workload and a clock)", "line", 7, false,
     "how long requests wait for the first token and for each next one, as distributions"},
    {"waits", of_runs, "runs of a server (with a workload and a clock)", "panel", 6, false,
     "where the time of requests goes, from arrival to end, quickest first; one panel per run"},
    {"series", of_runs, "runs of a server (with a workload and a clock)", "line", 7, false,
     "servers over time: queue, tokens per second, link"},
    {"draws", of_runs, "runs with replications (of 'simulate --replications --db')", "line", 7,
     false, "how far a result spreads over replications, and the run itself among them"},
    {"curves", of_curves, "miss curves (of 'curve --db')", "line", 24, true,
     "hit ratio over cache size, one line per policy"},
    {"spread", of_curves, "miss curves of heads or layers (of 'curve --by head --db')", "panel", 24,
     false, "how far heads (or layers) differ, one panel per policy"},
    {.name = NULL},
};

/* ---- the rows ---- */

static bool write_row(uint32_t count, const char *const *names, const char *const *values,
                      void *context, struct error *why)
{
    struct picture *picture = context;
    (void)names;
    (void)why;
    for (uint32_t i = 0; i < count; i++) {
        fputs(i > 0 ? "\t" : "", picture->rows);
        drawing_text(values[i] != NULL ? values[i] : "", picture->rows);
    }
    fputc('\n', picture->rows);
    picture->points += values[0] != NULL && strcmp(values[0], "point") == 0;
    picture->count += values[0] != NULL && strcmp(values[0], picture->kind->row) == 0;
    return true;
}

bool picture_read(struct store *store, const struct picture_kind *kind, const char *const *only,
                  uint32_t only_count, struct picture *out, struct error *why)
{
    const struct plot_statement statement = {
        .begin = kind->begin, .end = kind->name, .only = only, .only_count = only_count};
    *out = (struct picture){.kind = kind, .rows = drawing_rows(why)};
    char *text = out->rows != NULL && plot_only_check(&statement, store, why)
                     ? plot_statement_text(&statement, why)
                     : NULL;
    bool ok = text != NULL && store_query(store, text, write_row, out, why) &&
              output_flush(out->rows, "rows of a picture", why);
    free(text);
    if (!ok) {
        picture_release(out);
    }
    return ok;
}

void picture_release(struct picture *picture)
{
    if (picture->rows != NULL) {
        fclose(picture->rows);
    }
    picture->rows = NULL;
}

bool picture_draw(const struct picture *picture, const char *format, const char *path, FILE *out,
                  struct error *why)
{
    return drawing_draw(picture->kind->name, picture->rows, format, path, out, why);
}

/* Pictures of a database, drawn into a file. */

/* Say which kinds the database can be drawn as. */
static bool plot_refuse_empty(struct store *store, const char *database,
                              const struct picture_kind *kind, bool only, struct error *why)
{
    char kinds[256] = "";
    struct error unread;
    struct picture other;
    error_set(why, database, 0, "holds no %s%s, which '%s' needs", kind->needs,
              only ? " that match --only" : "", kind->name);
    for (kind = picture_kinds; !only && kind->name != NULL; kind++) {
        if (picture_read(store, kind, NULL, 0, &other, &unread)) {
            if (other.count > 0 && (!kind->walks || other.points > other.count)) {
                name_list_add(kinds, sizeof kinds, kind->name);
            }
            picture_release(&other);
        }
    }
    return kinds[0] != '\0' ? error_expect(why, "what it can be drawn as: %s", kinds) : false;
}

/* A picture needs at least one item, and no more than can be told apart. */
static bool plot_check_count(struct store *store, const char *database,
                             const struct picture *picture, bool only, struct error *why)
{
    const struct picture_kind *kind = picture->kind;
    if (picture->count == 0) {
        return plot_refuse_empty(store, database, kind, only, why);
    }
    if (picture->count > kind->most) {
        error_set(why, database, 0, "holds %u %ss, too many for one picture of '%s'",
                  picture->count, kind->row, kind->name);
        return error_expect(why, "at most %u; select some with --only KEY=VALUE", kind->most);
    }
    return true;
}

/* `spillway plot`: a picture of runs, ablations or miss curves in a database. */

enum { OUTPUT, ONLY };

static bool plot_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count, only_count;
    const char *const *operands = arguments_operands(arguments, &count);
    const char *const *only = arguments_all(arguments, ONLY, &only_count);
    const char *path = arguments_text(arguments, OUTPUT), *database = operands[1];
    const struct picture_kind *kind = picture_kinds;
    struct picture picture = {.rows = NULL};
    char note[DATABASE_NOTE] = "";
    while (strcmp(kind->name, operands[0]) != 0) {
        kind++;
    }
    bool named = drawing_format(path, why) != NULL;
    struct store *store = named ? database_show(database, note, why) : NULL;
    bool ok = store != NULL && picture_read(store, kind, only, only_count, &picture, why) &&
              plot_check_count(store, database, &picture, only_count > 0, why) &&
              drawing_save(kind->name, picture.rows, path, why);
    store_close(store);
    picture_release(&picture);
    database_print_note(note);
    return ok;
}

static const char *plot_kind_name(size_t index)
{
    return picture_kinds[index].name;
}

static void print_kinds(FILE *out)
{
    fputs("kinds:\n", out);
    for (const struct picture_kind *kind = picture_kinds; kind->name != NULL; kind++) {
        help_entry(kind->name, 9, kind->summary, out);
    }
}

static const struct command_option options[] = {
    [OUTPUT] = {"--output", "FILE",
                "the picture to write; its suffix (.svg, .png or .pdf) sets the format",
                .letter = 'o', .required = true},
    [ONLY] =
        {"--only", "KEY=VALUE",
         "draw only runs or curves with this value of the key, or with one of several; several "
         "keys must all match",
         .repeats = true},
    {.name = NULL},
};

const struct command command_plot = {
    .name = "plot",
    .operands = "DB",
    .kind = plot_kind_name,
    .summary = "draw a picture of the runs, ablations or miss curves in a database",
    .example = "spillway plot latency results.db -o latency.svg",
    .options = options,
    .more = print_kinds,
    .run = plot_run,
};
