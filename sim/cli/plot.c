/* `spillway plot`: a picture of the runs, or the miss curves, in a database.
 *
 * A kind is two files of the folder plots: KIND.sql, which goes on where runs.sql or points.sql
 * ends, asks the database for rows; KIND.gp has gnuplot draw them. */
#include "base/find.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/plot_statement.h"
#include "store/store.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT, ONLY };

static const char *const formats[] = {"svg", "png", "pdf", NULL};

static const struct {
    const char *name;
    const char *begin; /* the file that begins its statement */
    const char *needs; /* which runs, for the message when there are none */
    const char *row;   /* what it draws several of: the kind of row that says one */
    uint32_t most;     /* of them in one picture */
    const char *summary;
} kinds[] = {
    {"latency", "runs", "runs that have a time", "bar", 60, "the step by part, a bar a run"},
    {"whatif", "runs", "runs that have a time and differ in one key", "line", 12,
     "throughput and hit ratio over what runs sweep, with the knee"},
    {"hits", "runs", "runs that have a hit ratio", "line", 24,
     "hit ratio by system, over budget or context where runs sweep one"},
    {"reuse", "runs", "runs with policy qsac", "line", 16,
     "reuse against attention mass, along the thresholds of qsac"},
    {"requests", "runs", "runs of a server (with a workload and a clock)", "line", 12,
     "how long requests wait for their first token, and for each next one: their distribution"},
    {"curves", "points", "miss curves (of 'curve --db')", "line", 24,
     "hit ratio over the size of the cache, a line a policy"},
    {"spread", "points", "miss curves of heads or layers (of 'curve --by head --db')", "panel", 24,
     "how far heads (or layers) lie apart, a panel a policy"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- the rows ---- */

/* Where rows go, and how many there are to draw. */
struct rows {
    FILE *file;
    const char *needed;
    uint32_t found;
};

/* A cell without what would end it, or make gnuplot take it for a quoted one. */
static void write_cell(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        fputc(*text == '"' ? '\'' : (unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

static bool write_row(uint32_t count, const char *const *names, const char *const *values,
                      void *context, struct error *why)
{
    struct rows *rows = context;
    (void)names;
    (void)why;
    for (uint32_t i = 0; i < count; i++) {
        fputs(i > 0 ? "\t" : "", rows->file);
        write_cell(values[i] != NULL ? values[i] : "", rows->file);
    }
    fputc('\n', rows->file);
    rows->found += values[0] != NULL && strcmp(values[0], rows->needed) == 0;
    return true;
}

/* A picture of nothing, or of more than can be told apart, is none. */
static bool check_count(const char *database, size_t kind, const struct plot_statement *statement,
                        uint32_t count, struct error *why)
{
    if (count == 0) {
        return error_set(why, database, 0, "holds no %s%s, which '%s' draws", kinds[kind].needs,
                         statement->only_count > 0 ? " and that --only keeps" : "",
                         kinds[kind].name);
    }
    if (count > kinds[kind].most) {
        error_set(why, database, 0, "holds %u %ss, too many for one picture of '%s'", count,
                  kinds[kind].row, kinds[kind].name);
        return error_expect(why, "at most %u; --only KEY=VALUE draws some", kinds[kind].most);
    }
    return true;
}

static bool write_rows(const char *database, size_t kind, const struct plot_statement *statement,
                       FILE *file, struct error *why)
{
    struct rows rows = {.file = file, .needed = kinds[kind].row};
    struct store *store = store_open(database, false, why);
    char *text = store != NULL && plot_statement_check(statement, store, why)
                     ? plot_statement_text(statement, why)
                     : NULL;
    bool ok = text != NULL && store_query(store, text, write_row, &rows, why);
    free(text);
    store_close(store);
    return ok && check_count(database, kind, statement, rows.found, why);
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

/* gnuplot does not say when its picture could not be written, so it draws into memory, by a name
 * that the child opens. */
static bool draw(size_t kind, const char *rows, const char *format, int picture, struct error *why)
{
    char script[4096], folder[4096], name[64];
    const char *data = find_data(why);
    if (data == NULL || !find_path("plots", kinds[kind].name, "gp", script, sizeof script, why) ||
        !find_path("plots", "", "", folder, sizeof folder, why)) {
        return false;
    }
    snprintf(name, sizeof name, "/proc/self/fd/%d", picture);
    char *arguments[] = {"gnuplot", "-c", script, (char *)rows, name, (char *)format, folder, NULL};
    return run_gnuplot(arguments, why);
}

static bool copy_picture(int picture, const char *path, FILE *out, struct error *why)
{
    char buffer[65536];
    off_t offset = 0;
    ssize_t count;
    while ((count = pread(picture, buffer, sizeof buffer, offset)) > 0) {
        if (fwrite(buffer, 1, (size_t)count, out) < (size_t)count) {
            return error_set(why, path, 0, "cannot be written: %s", strerror(errno));
        }
        offset += count;
    }
    return count == 0 && offset > 0 ? true : error_set(why, NULL, 0, "gnuplot drew nothing");
}

static bool draw_into(size_t kind, const char *rows, const char *format,
                      const struct output *output, struct error *why)
{
    int picture = memfd_create("picture", 0);
    if (picture < 0) {
        return error_set(why, NULL, 0, "no memory for a picture: %s", strerror(errno));
    }
    bool ok = draw(kind, rows, format, picture, why) &&
              copy_picture(picture, output->path, output->file, why);
    close(picture);
    return ok;
}

/* The format that the picture's name ends in; NULL with `why`. */
static const char *format_of(const char *path, struct error *why)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && formats[i] != NULL; i++) {
        if (strcmp(dot + 1, formats[i]) == 0) {
            return formats[i];
        }
    }
    error_usage(why, NULL, 0, "'%s' says no format of a picture", path);
    error_expect(why, "a name that ends in .svg, .png or .pdf");
    return NULL;
}

static bool plot_rows(size_t kind, const struct arguments *arguments, FILE *file, const char *rows,
                      const char *format, struct error *why)
{
    struct output output;
    struct plot_statement statement = {.begin = kinds[kind].begin, .kind = kinds[kind].name};
    statement.only = arguments_all(arguments, ONLY, &statement.only_count);
    uint32_t count;
    const char *database = arguments_operands(arguments, &count)[1];
    const char *path = arguments_text(arguments, OUTPUT);
    if (!write_rows(database, kind, &statement, file, why) || !output_flush(file, rows, why) ||
        !output_open(path, &output, why)) {
        return false;
    }
    if (!draw_into(kind, rows, format, &output, why)) {
        output_discard(&output);
        return false;
    }
    return output_commit(&output, why);
}

static bool run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    const char *const *operands = arguments_operands(arguments, &count);
    const char *format = format_of(arguments_text(arguments, OUTPUT), why);
    char rows[] = "/tmp/spillway.XXXXXX";
    size_t kind = 0;
    while (strcmp(kinds[kind].name, operands[0]) != 0) {
        kind++;
    }
    if (format == NULL) {
        return false;
    }
    int descriptor = mkstemp(rows);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (file == NULL) {
        return error_set(why, rows, 0, "cannot be written: %s", strerror(errno));
    }
    bool ok = plot_rows(kind, arguments, file, rows, format, why);
    fclose(file);
    unlink(rows);
    return ok;
}

static const char *kind_name(size_t index)
{
    return index < KINDS ? kinds[index].name : NULL;
}

static void print_kinds(FILE *out)
{
    fputs("kinds:\n", out);
    for (size_t i = 0; i < KINDS; i++) {
        fprintf(out, "  %-9s %s\n", kinds[i].name, kinds[i].summary);
    }
}

static const struct command_option options[] = {
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .required = true,
                .summary = "the picture to write; .svg, .png or .pdf says its format"},
    [ONLY] = {.name = "--only",
              .argument = "KEY=VALUE",
              .repeats = true,
              .summary = "draw what has this value of a key; of several values of a key, any"},
    {.name = NULL},
};

const struct command command_plot = {
    .name = "plot",
    .operands = "DB",
    .least_operands = 2,
    .most_operands = 2,
    .kind = kind_name,
    .summary = "draw a picture of the runs or the miss curves in a database",
    .example = "spillway plot latency results.db -o latency.svg",
    .options = options,
    .more = print_kinds,
    .run = run,
};
