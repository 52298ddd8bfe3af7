#include "cli/frame/foreign.h"

#include "core/error.h"
#include "cli/frame/message.h"
#include "policy/plugin.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_ended; /* the command */

static void refuse_exit(void)
{
    struct error why;
    const char *plugin = plugin_inside();
    if (has_ended) {
        return;
    }
    error_set(&why, NULL, 0, "%s ended the program by exit()",
              plugin != NULL ? plugin : "a library");
    if (plugin != NULL) {
        error_expect(&why, "code that returns; 'create' may refuse with a reason");
    }
    message_error(&why, ERROR_FAILURE);
    _exit(ERROR_FAILURE);
}

/* What a fault of code raises, and who handled it before: nobody, or a sanitizer. */
static struct crash {
    int signal;
    const char *name;
    struct sigaction before;
} crashes[] = {
    {.signal = SIGSEGV, .name = "SIGSEGV"}, {.signal = SIGBUS, .name = "SIGBUS"},
    {.signal = SIGFPE, .name = "SIGFPE"},   {.signal = SIGILL, .name = "SIGILL"},
    {.signal = SIGABRT, .name = "SIGABRT"},
};

/* Put a part of a line behind the others, as far as there is room. Unlike snprintf(), a signal
 * handler may do so. */
static size_t crash_line_put(char *line, size_t length, const char *part)
{
    while (*part != '\0' && length < ERROR_TEXT) {
        line[length++] = *part++;
    }
    return length;
}

/* One line, of the thread that crashes first. A signal handler may call write(), and not much else;
 * nothing is done about a failure. */
static void say_crash(const char *plugin, const char *name)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const char *const parts[] = {"spillway: ", plugin, " crashed: ", name, "\n"};
    char line[ERROR_TEXT];
    size_t length = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        length = crash_line_put(line, length, parts[i]);
    }
    if (!atomic_flag_test_and_set(&said)) {
        ssize_t unused = write(STDERR_FILENO, line, length);
        (void)unused;
    }
}

/* The thread that crashed is the one that is here. What it did is done again on return, a signal
 * that was sent is sent again, and then ends the program. A stack that is full has no room for
 * this: such a crash is not named. */
static void name_crash(int signal, siginfo_t *info, void *context)
{
    const struct crash *crash = crashes;
    const char *plugin = plugin_inside();
    (void)context;
    while (crash->signal != signal) {
        crash++;
    }
    if (plugin != NULL) {
        say_crash(plugin, crash->name);
    }
    sigaction(signal, &crash->before, NULL);
    if (info->si_code <= 0) {
        raise(signal);
    }
}

void foreign_watch(void)
{
    struct sigaction action = {.sa_sigaction = name_crash, .sa_flags = SA_SIGINFO};
    atexit(refuse_exit);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction *before = &crashes[i].before;
        sigaction(crashes[i].signal, &action, before);
        if (before->sa_handler == SIG_IGN) { /* stays so */
            sigaction(crashes[i].signal, before, NULL);
        }
    }
}

void foreign_end(void)
{
    has_ended = true;
}
