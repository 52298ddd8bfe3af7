#include "cli/frame/drawing.h"

#include "core/find.h"
#include "cli/frame/output.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const formats[] = {"svg", "png", "pdf", NULL};

const char *drawing_format(const char *path, struct error *why)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && formats[i] != NULL; i++) {
        if (strcmp(dot + 1, formats[i]) == 0) {
            return formats[i];
        }
    }
    error_usage(why, NULL, 0, "'%s' does not name a picture format", path);
    error_expect(why, "a name that ends in .svg, .png or .pdf");
    return NULL;
}

/* ---- the rows ---- */

void drawing_text(const char *text, FILE *rows)
{
    for (; *text != '\0'; text++) {
        fputc(*text == '"' || *text == '`' ? '\''
              : *text == '\\'              ? '/'
              : (unsigned char)*text < ' ' ? ' '
                                           : *text,
              rows);
    }
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

FILE *drawing_rows(struct error *why)
{
    return open_memory("rows", why);
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
    if (code == ENOENT || code == EACCES) { /* EACCES: a folder of the PATH cannot be read */
        error_expect(why, "gnuplot on the PATH: apt-get install gnuplot-nox");
    }
    fclose(complaints);
    return ok;
}

/* ---- the picture ---- */

/* gnuplot does not say when its picture could not be written, so it draws into memory. */
static bool drawing_run_gnuplot(const char *script, FILE *rows, const char *format, FILE *drawn,
                                struct error *why)
{
    char path[4096], folder[4096], from[64], into[64];
    const char *data = find_data(why);
    if (data == NULL || !find_path("plots", script, "gp", path, sizeof path, why) ||
        !find_path("plots", "", "", folder, sizeof folder, why)) {
        return false;
    }
    snprintf(from, sizeof from, "/proc/self/fd/%d", fileno(rows));
    snprintf(into, sizeof into, "/proc/self/fd/%d", fileno(drawn));
    char *arguments[] = {"gnuplot", "-c", path, from, into, (char *)format, folder, NULL};
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

bool drawing_draw(const char *script, FILE *rows, const char *format, const char *path, FILE *out,
                  struct error *why)
{
    FILE *drawn = open_memory("picture", why);
    if (drawn == NULL) {
        return false;
    }
    bool ok = drawing_run_gnuplot(script, rows, format, drawn, why) &&
              copy_picture(drawn, path, out, why);
    fclose(drawn);
    return ok;
}

bool drawing_save(const char *script, FILE *rows, const char *path, struct error *why)
{
    struct output output;
    const char *format = drawing_format(path, why);
    if (format == NULL || !output_open(path, &output, why)) {
        return false;
    }
    if (!drawing_draw(script, rows, format, path, output.file, why)) {
        output_discard(&output);
        return false;
    }
    return output_commit(&output, why);
}
