#include "cli/report/picture.h"

#include "cli/frame/drawing.h"
#include "cli/frame/output.h"
#include "cli/report/plot_statement.h"

#include <stdlib.h>
#include <string.h>

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
