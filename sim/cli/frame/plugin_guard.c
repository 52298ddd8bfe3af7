/* Handlers of the signals that a crash raises, and one of exit(). They run in the thread that asked
 * the plug-in, and call nothing but what a signal handler may. */
#include "cli/frame/plugin_guard.h"

#include "policy/plugin.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct crash {
    int signal;
    const char *what;
    struct sigaction before;
} crashes[] = {
    {.signal = SIGSEGV, .what = "crashes: Segmentation fault"},
    {.signal = SIGBUS, .what = "crashes: Bus error"},
    {.signal = SIGFPE, .what = "crashes: Floating point exception"},
    {.signal = SIGILL, .what = "crashes: Illegal instruction"},
    {.signal = SIGABRT, .what = "crashes: Aborted"},
};
enum { CRASHES = sizeof crashes / sizeof crashes[0] };

static atomic_flag told = ATOMIC_FLAG_INIT;

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* there is no one left to tell */
}

static _Noreturn void blame(const char *plugin, const char *what)
{
    while (atomic_flag_test_and_set(&told)) { /* another thread is saying it, and ends all */
        pause();
    }
    say("spillway: policy '");
    say(plugin);
    say("' ");
    say(what);
    say("\n  expected: a plug-in that only answers what it is asked\n");
    _exit(EXIT_FAILURE);
}

/* A fault that is not a plug-in's happens again when this returns; a signal that was sent does not.
 */
static void on_crash(int signal, siginfo_t *info, void *context)
{
    const char *plugin = plugin_asked();
    (void)context;
    for (size_t i = 0; i < CRASHES; i++) {
        if (crashes[i].signal == signal && plugin != NULL) {
            blame(plugin, crashes[i].what);
        } else if (crashes[i].signal == signal) {
            sigaction(signal, &crashes[i].before, NULL);
        }
    }
    if (info->si_code <= 0) {
        raise(signal);
    }
}

static void on_exit_called(void)
{
    const char *plugin = plugin_asked();
    if (plugin != NULL) {
        blame(plugin, "ends the program");
    }
}

void plugin_guard_install(void)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < CRASHES; i++) {
        sigaction(crashes[i].signal, &action, &crashes[i].before);
    }
    atexit(on_exit_called);
}
