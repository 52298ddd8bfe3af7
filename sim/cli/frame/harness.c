#include "cli/frame/harness.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/array.h"
#include "core/node.h"

/* The path of this program with a suffix. */
static bool harness_path(const char *ending, char path[PATH_MAX], struct error *why)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) {
        return error_set(why, NULL, 0, "the path of this program cannot be read: %s",
                         strerror(errno));
    }
    self[length] = '\0';
    int written = snprintf(path, PATH_MAX, "%s-calibrate%s", self, ending);
    return written < PATH_MAX || error_set(why, self, 0, "its path is too long");
}

/* The harness for the GPU if that is wanted and was built, else the one for the host. */
static bool choose_harness(bool host, char path[PATH_MAX], struct error *why)
{
    return harness_path("-cuda", path, why) &&
           ((!host && access(path, X_OK) == 0) || harness_path("", path, why));
}

bool harness_become(const struct arguments *arguments, bool host, struct error *why)
{
    char path[PATH_MAX];
    size_t typed = (size_t)arguments->count;
    if (!choose_harness(host, path, why)) {
        return false;
    }
    const char **words = array_zeroed(typed + 3, sizeof *words, why);
    if (words == NULL) {
        return false;
    }
    words[0] = "spillway-calibrate";
    words[1] = arguments->command->name;
    for (size_t i = 0; i < typed; i++) {
        words[i + 2] = arguments->typed[i];
    }
    execv(path, (char *const *)words);
    error_set(why, path, 0, "cannot be run: %s", strerror(errno));
    error_expect(why, "the harness beside the program, as 'make' and 'make install' leave it");
    free(words);
    return false;
}

bool harness_read(const char *command, const char *operand, bool host, char **out,
                  struct error *why)
{
    char path[PATH_MAX];
    const char *const words[] = {"spillway-calibrate", command, operand, NULL};
    return choose_harness(host, path, why) && child_read(path, words, out, why);
}

/* Everything that was written to the file. */
static char *child_read_all(FILE *file, struct error *why)
{
    size_t size;
    rewind(file);
    return node_stream(file, "a program's output", NODE_FILE_MOST, &size, why);
}

/* Take over a two-line complaint as this project's programs print it. */
static void take_over(char *text, struct error *why)
{
    static const char start[] = "spillway: ", expected[] = "  expected: ";
    text += strspn(text, "\n"); /* gnuplot's own begins with an empty line */
    size_t skipped = strncmp(text, start, strlen(start)) == 0 ? strlen(start) : 0;
    size_t length = strcspn(text, "\n");
    char *next = text + length + (text[length] == '\n');
    text[length] = '\0';
    error_set(why, NULL, 0, "%s", text + skipped);
    if (strncmp(next, expected, strlen(expected)) == 0) {
        next[strcspn(next, "\n")] = '\0';
        error_expect(why, "%s", next + strlen(expected));
    }
}

static bool failed(const char *path, int status, FILE *complaint, struct error *why)
{
    if (WIFSIGNALED(status)) {
        return error_set(why, path, 0, "was killed: %s", strsignal(WTERMSIG(status)));
    }
    char *text = child_read_all(complaint, why);
    if (text == NULL) {
        return false;
    }
    if (text[0] != '\0') {
        take_over(text, why);
    } else {
        error_set(why, path, 0, "ended with status %d", WEXITSTATUS(status));
    }
    free(text);
    return false;
}

static bool child_run(const char *path, const char *const *words, FILE *out, FILE *complaint,
                      struct error *why)
{
    int status = 0;
    pid_t child;
    posix_spawn_file_actions_t streams;
    fflush(NULL);
    posix_spawn_file_actions_init(&streams);
    posix_spawn_file_actions_adddup2(&streams, fileno(out), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&streams, fileno(complaint), STDERR_FILENO);
    int fault = posix_spawnp(&child, path, &streams, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&streams);
    if (fault != 0 || waitpid(child, &status, 0) < 0) {
        return error_set(why, path, 0, "cannot be run: %s", strerror(fault != 0 ? fault : errno));
    }
    return status == 0 || failed(path, status, complaint, why);
}

bool child_read(const char *path, const char *const *words, char **out, struct error *why)
{
    FILE *printed = tmpfile(), *complaint = tmpfile();
    bool good = printed != NULL && complaint != NULL;
    if (!good) {
        error_set(why, NULL, 0, "cannot create a temporary file for the output of '%.80s': %s",
                  path, strerror(errno));
    }
    good = good && child_run(path, words, printed, complaint, why);
    *out = good ? child_read_all(printed, why) : NULL;
    if (printed != NULL) {
        fclose(printed);
    }
    if (complaint != NULL) {
        fclose(complaint);
    }
    return *out != NULL;
}
