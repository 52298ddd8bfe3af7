/* `spillway plot`: a picture of runs, ablations or miss curves in a database.
 *
 * Each kind has files in the folder plots. KIND.sql, appended to the files of `begin`, asks the
 * database for rows; KIND.gp has gnuplot draw them (plots/style.gp). Rows and picture are passed in
 * memory, by names that the child process opens. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/frame/harness.h"
#include "cli/frame/program.h"
#include "cli/frame/output.h"
#include "cli/frame/question.h"
#include "cli/report/report_query.h"

#define OF_RUNS "timed runs"

const struct picture_kind picture_kinds[] = {
    {"latency", OF_RUNS, "runs with a time", "bar", 24, "the step by part, one bar per run"},
    {"whatif", OF_RUNS " walked", "runs with a time that differ in one key", "line", 12,
     "throughput, goodput or hits along the swept key, with the knee"},
    {"ablate", "ablations", "ablations (of 'ablate --db')", "ablation", 1,
     "what each mechanism saves, alone and added last, and what all save together"},
    {"hits", OF_RUNS,
     "runs with a hit ratio (systems that drop KV always hit; 'plot whatif' draws hits of servers)",
     "line", 24, "hit ratio by system, along the budget or context if it is swept"},
    {"reuse", OF_RUNS, "runs with policy qsac", "line", 16,
     "reuse against attention mass, along the threshold of qsac"},
    {"mass", OF_RUNS, "runs whose attention mass is known", "line", 7,
     "attention mass by step, one line per run: what dropping KV costs as a run goes on"},
    {"growth", OF_RUNS, "runs whose context grows (of --set grows)", "line", 7,
     "time between tokens while the context grows, with the shortest and longest steps"},
    {"pareto", OF_RUNS, "runs of several batches", "line", 24,
     "throughput against the step, with the Pareto front (of 'plan --pareto --db')"},
    {"drafts", OF_RUNS, "runs with drafts, and the same without", "line", 14,
     "what drafts gain over none, by batch: a line for each number of tokens that a step yields"},
    {"requests", OF_RUNS, "runs of a server (with a workload and a clock)", "line", 7,
     "how long requests wait for the first token and for each next one, as distributions"},
    {"waits", OF_RUNS, "runs of a server (with a workload and a clock)", "panel", 6,
     "where the time of requests goes, from arrival to end, quickest first; one panel per run"},
    {"series", OF_RUNS, "runs of a server (with a workload and a clock)", "line", 7,
     "servers over time: queue, tokens per second, link"},
    {"draws", OF_RUNS, "runs with replications (of 'simulate --replications --db')", "line", 7,
     "how far a result spreads over replications, and the run itself among them"},
    {"curves", "points", "miss curves (of 'curve --db')", "line", 24,
     "hit ratio over cache size, one line per policy"},
    {"spread", "points", "miss curves of heads or layers (of 'curve --by head --db')", "panel", 24,
     "how far heads (or layers) differ, one panel per policy"},
    {.name = NULL},
};

/* A file in memory, which a child process can open by its number. */
static FILE *open_memory(const char *name, struct error *why)
{
    int descriptor = memfd_create(name, 0);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w+");
    if (file == NULL) {
        error_set(why, NULL, 0, "no memory for a picture: %s", strerror(errno));
    }
    return file;
}

/* Without the characters that end a cell, or that gnuplot interprets: escapes, and backquotes, which run. */
static bool write_row(uint32_t count, const char *const *names, const char *const *values,
                      void *context, struct error *why)
{
    struct picture *picture = context;
    (void)names;
    (void)why;
    for (uint32_t i = 0; i < count; i++) {
        fputs(i > 0 ? "\t" : "", picture->rows);
        for (const char *text = values[i] != NULL ? values[i] : ""; *text != '\0'; text++) {
            fputc(*text == '"' || *text == '`' ? '\''
                  : *text == '\\'              ? '/'
                  : (unsigned char)*text < ' ' ? ' '
                                               : *text,
                  picture->rows);
        }
    }
    fputc('\n', picture->rows);
    picture->count += values[0] != NULL && strcmp(values[0], picture->kind->row) == 0;
    return true;
}

bool picture_read(struct store *store, const struct picture_kind *kind, const char *const *only,
                  uint32_t only_count, struct picture *out, struct error *why)
{
    const struct plot_statement statement = {
        .begin = kind->begin, .end = kind->name, .only = only, .only_count = only_count};
    *out = (struct picture){.kind = kind, .rows = open_memory("rows", why)};
    bool ok = out->rows != NULL && plot_only_check(&statement, store, why) &&
              plot_query(&statement, store, write_row, out, why) &&
              output_flush(out->rows, "rows of a picture", why);
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

/* gnuplot does not say when its picture could not be written, so it draws into memory. */
static bool run_gnuplot(const char *script, FILE *rows, const char *format, FILE *drawn,
                        struct error *why)
{
    char path[4096], folder[4096], from[64], into[64], *printed;
    if (!find_path("plots", script, "gp", path, sizeof path, why) ||
        !find_path("plots", "", "", folder, sizeof folder, why)) {
        return false;
    }
    snprintf(from, sizeof from, "/proc/self/fd/%d", fileno(rows));
    snprintf(into, sizeof into, "/proc/self/fd/%d", fileno(drawn));
    const char *const arguments[] = {"gnuplot", "-c", path, from, into, format, folder, NULL};
    if (child_read("gnuplot", arguments, true, &printed, why)) {
        free(printed);
        return true;
    }
    bool absent = strncmp(why->found, "cannot be run", strlen("cannot be run")) == 0;
    return absent ? error_expect(why, "gnuplot on the PATH: apt-get install gnuplot-nox") : false;
}

static bool copy_picture(FILE *drawn, const char *path, FILE *out, struct error *why)
{
    char buffer[65536];
    off_t offset = 0;
    ssize_t count;
    while ((count = pread(fileno(drawn), buffer, sizeof buffer, offset)) > 0) {
        if (fwrite(buffer, 1, (size_t)count, out) < (size_t)count) {
            return error_set(why, path, 0, "cannot be written: %s", strerror(errno));
        }
        offset += count;
    }
    return count == 0 && offset > 0 ? true : error_set(why, NULL, 0, "gnuplot drew nothing");
}

static bool save(const struct picture *picture, const char *format, const char *path,
                 struct error *why)
{
    struct output output;
    FILE *drawn = open_memory("picture", why);
    bool opened = drawn != NULL && output_open(path, &output, why);
    bool ok = opened && run_gnuplot(picture->kind->name, picture->rows, format, drawn, why) &&
              copy_picture(drawn, path, output.file, why);
    if (opened && !ok) {
        output_discard(&output);
    }
    if (drawn != NULL) {
        fclose(drawn);
    }
    return ok && output_commit(&output, why);
}

enum { OUTPUT, ONLY };

static bool plot_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count, only_count;
    const char *const *operands = arguments_operands(arguments, &count);
    const char *const *only = arguments_all(arguments, ONLY, &only_count);
    const char *path = arguments_text(arguments, OUTPUT), *database = operands[1];
    const struct picture_kind *kind = picture_kinds;
    struct picture picture = {.rows = NULL};
    char note[STORE_NOTE] = "";
    while (strcmp(kind->name, operands[0]) != 0) {
        kind++;
    }
    static const char *const formats[] = {"svg", "png", "pdf", NULL};
    const char *dot = strrchr(path, '.'), *const *format = formats;
    while (dot != NULL && *format != NULL && strcmp(dot + 1, *format) != 0) {
        format++;
    }
    if (dot == NULL || *format == NULL) {
        error_usage(why, NULL, 0, "'%s' does not name a picture format", path);
        return error_expect(why, "a name that ends in .svg, .png or .pdf");
    }
    struct store *store = store_open_shown(database, note, why);
    bool ok = store != NULL && picture_read(store, kind, only, only_count, &picture, why);
    if (ok && picture.count == 0) {
        ok = error_set(why, database, 0, "holds no %s%s, which '%s' needs", kind->needs,
                       only_count > 0 ? " that match --only" : "", kind->name);
    } else if (ok && picture.count > kind->most) { /* more than can be told apart */
        error_set(why, database, 0, "holds %u %ss, too many for one picture of '%s'", picture.count,
                  kind->row, kind->name);
        ok = error_expect(why, "at most %u; select some with --only KEY=VALUE", kind->most);
    }
    ok = ok && save(&picture, *format, path, why);
    store_close(store);
    picture_release(&picture);
    database_print_note(note);
    return ok;
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
    .kinds = {picture_kinds, sizeof *picture_kinds},
    .summary = "draw a picture of the runs, ablations or miss curves in a database",
    .example = "spillway plot latency results.db -o latency.svg",
    .options = options,
    .more = print_kinds,
    .run = plot_run,
};
