#include "cli/frame/harness.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/array.h"
#include "core/node.h"

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
    return choose_harness(host, path, why) && child_read(path, words, false, out, why);
}

bool child_read(const char *path, const char *const *words, bool quiet, char **out,
                struct error *why)
{
    FILE *printed = tmpfile();
    int status = 0;
    pid_t child;
    size_t size;
    posix_spawn_file_actions_t streams;
    *out = NULL;
    if (printed == NULL) {
        return error_set(why, NULL, 0, "no temporary file for what '%.80s' prints: %s", path,
                         strerror(errno));
    }
    fflush(NULL);
    posix_spawn_file_actions_init(&streams);
    posix_spawn_file_actions_adddup2(&streams, fileno(printed), STDOUT_FILENO);
    if (quiet) {
        posix_spawn_file_actions_adddup2(&streams, fileno(printed), STDERR_FILENO);
    }
    int fault = posix_spawnp(&child, path, &streams, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&streams);
    if (fault != 0 || waitpid(child, &status, 0) < 0) {
        error_set(why, path, 0, "cannot be run: %s", strerror(fault != 0 ? fault : errno));
    } else if (WIFSIGNALED(status)) {
        error_set(why, path, 0, "was killed: %s", strsignal(WTERMSIG(status)));
    } else if (status != 0) {
        error_set(why, path, 0, "ended with status %d", WEXITSTATUS(status));
    } else {
        rewind(printed);
        *out = node_stream(printed, "a program's output", NODE_FILE_MOST, &size, why);
    }
    rewind(printed);
    for (int byte; quiet && *out == NULL && (byte = getc(printed)) != EOF;) {
        putc(byte, stderr);
    }
    fclose(printed);
    return *out != NULL;
}
