#include "cli/report/picture.h"

#include "base/find.h"
#include "cli/frame/output.h"
#include "cli/report/plot_statement.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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
    {"hits", of_runs, "runs with a hit ratio", "line", 24, false,
     "hit ratio by system, along the budget or context if it is swept"},
    {"reuse", of_runs, "runs with policy qsac", "line", 16, true,
     "reuse against attention mass, along the threshold of qsac"},
    {"pareto", of_runs, "runs of several batches", "line", 24, false,
     "throughput against the step, with the Pareto front (of 'plan --pareto --db')"},
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

/* Write a cell without the characters that would end it or that gnuplot interprets in a quoted
 * text: escapes, and backquotes, which run a command. */
static void write_cell(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        fputc(*text == '"' || *text == '`' ? '\''
              : *text == '\\'              ? '/'
              : (unsigned char)*text < ' ' ? ' '
                                           : *text,
              out);
    }
}

static bool write_row(uint32_t count, const char *const *names, const char *const *values,
                      void *context, struct error *why)
{
    struct picture *picture = context;
    (void)names;
    (void)why;
    for (uint32_t i = 0; i < count; i++) {
        fputs(i > 0 ? "\t" : "", picture->rows);
        write_cell(values[i] != NULL ? values[i] : "", picture->rows);
    }
    fputc('\n', picture->rows);
    picture->points += values[0] != NULL && strcmp(values[0], "point") == 0;
    picture->count += values[0] != NULL && strcmp(values[0], picture->kind->row) == 0;
    return true;
}

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

bool picture_read(struct store *store, const struct picture_kind *kind, const char *const *only,
                  uint32_t only_count, struct picture *out, struct error *why)
{
    const struct plot_statement statement = {
        .begin = kind->begin, .end = kind->name, .only = only, .only_count = only_count};
    *out = (struct picture){.kind = kind, .rows = open_memory("rows", why)};
    char *text = out->rows != NULL && plot_statement_check(&statement, store, why)
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

/* ---- gnuplot ---- */

/* What gnuplot complained about, on one line. */
static void read_complaint(FILE *file, char *text, size_t size)
{
    rewind(file);
    size_t count = fread(text, 1, size - 1, file);
    text[count] = '\0';
    for (char *c = text; *c != '\0'; c++) {
        *c = *c == '\n' ? ' ' : *c;
    }
}

static bool wait_for(pid_t child, FILE *complaints, struct error *why)
{
    int status;
    char text[256];
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return true;
    }
    read_complaint(complaints, text, sizeof text);
    return error_set(why, NULL, 0, "gnuplot failed: %s", text);
}

static bool run_gnuplot(char *const *arguments, struct error *why)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    FILE *complaints = tmpfile();
    if (complaints == NULL) {
        return error_set(why, NULL, 0, "no temporary file: %s", strerror(errno));
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(complaints), STDERR_FILENO);
    int code = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    bool ok = code == 0 ? wait_for(child, complaints, why)
                        : error_set(why, NULL, 0, "gnuplot cannot be run: %s", strerror(code));
    if (code == ENOENT) {
        error_expect(why, "gnuplot on the PATH: apt-get install gnuplot-nox");
    }
    fclose(complaints);
    return ok;
}

/* ---- the picture ---- */

/* gnuplot does not say when its picture could not be written, so it draws into memory. */
static bool draw(const struct picture *picture, const char *format, FILE *drawn, struct error *why)
{
    char script[4096], folder[4096], from[64], into[64];
    const char *data = find_data(why);
    if (data == NULL ||
        !find_path("plots", picture->kind->name, "gp", script, sizeof script, why) ||
        !find_path("plots", "", "", folder, sizeof folder, why)) {
        return false;
    }
    snprintf(from, sizeof from, "/proc/self/fd/%d", fileno(picture->rows));
    snprintf(into, sizeof into, "/proc/self/fd/%d", fileno(drawn));
    char *arguments[] = {"gnuplot", "-c", script, from, into, (char *)format, folder, NULL};
    return run_gnuplot(arguments, why);
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

bool picture_draw(const struct picture *picture, const char *format, const char *path, FILE *out,
                  struct error *why)
{
    FILE *drawn = open_memory("picture", why);
    if (drawn == NULL) {
        return false;
    }
    bool ok = draw(picture, format, drawn, why) && copy_picture(drawn, path, out, why);
    fclose(drawn);
    return ok;
}
