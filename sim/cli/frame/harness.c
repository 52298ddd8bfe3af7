#include "cli/frame/harness.h"

#include "base/array.h"
#include "base/child.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* "--base=h100-sxm" or "--host", owned. */
static char *option_word(const struct command_option *option, const char *value)
{
    char *word = NULL;
    bool has_value = option->argument != NULL;
    int length =
        asprintf(&word, "%s%s%s", option->name, has_value ? "=" : "", has_value ? value : "");
    return length < 0 ? NULL : word;
}

/* The typed words as arguments of the harness: its name, the command, options, "--", operands. The
 * words of options are owned, from `*first` to `*end`. */
static const char **words_of(const struct arguments *arguments, size_t *first, size_t *end,
                             struct error *why)
{
    uint32_t count, operands;
    const char *const *texts = arguments_operands(arguments, &operands);
    const struct command_option *options = arguments->command->options;
    size_t most = operands + 4, used = 0;
    for (int i = 0; options[i].name != NULL; i++) {
        arguments_all(arguments, i, &count);
        most += count;
    }
    const char **words = array_zeroed(most, sizeof *words, why);
    if (words == NULL) {
        return NULL;
    }
    words[used++] = "spillway-calibrate";
    words[used++] = arguments->command->name;
    *first = used;
    for (int i = 0; options[i].name != NULL; i++) {
        const char *const *values = arguments_all(arguments, i, &count);
        for (uint32_t j = 0; j < count; j++) {
            words[used++] = option_word(&options[i], values[j]);
        }
    }
    *end = used;
    words[used++] = "--";
    for (uint32_t i = 0; i < operands; i++) {
        words[used++] = texts[i];
    }
    return words;
}

static void free_words(const char **words, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        free((char *)words[i]);
    }
    free(words);
}

static bool is_complete(const char *const *words, size_t first, size_t end)
{
    while (first < end && words[first] != NULL) {
        first++;
    }
    return first == end;
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
    size_t first = 0, end = 0;
    if (!choose_harness(host, path, why)) {
        return false;
    }
    const char **words = words_of(arguments, &first, &end, why);
    if (words == NULL) {
        return false;
    }
    if (is_complete(words, first, end)) {
        execv(path, (char *const *)words);
        error_set(why, path, 0, "cannot be run: %s", strerror(errno));
        error_expect(why, "the harness in the program's folder, where 'make' and 'make install' "
                          "put it");
    } else {
        error_set(why, NULL, 0, "out of memory");
    }
    free_words(words, first, end);
    return false;
}

bool harness_read(const char *command, const char *operand, bool host, char **out,
                  struct error *why)
{
    char path[PATH_MAX];
    const char *const words[] = {"spillway-calibrate", command, operand, NULL};
    return choose_harness(host, path, why) && child_read(path, words, out, why);
}
