/* Tries a plug-in where it can do no harm: in a child process, on a few small caches.
 *
 * The child loads the plug-in, replays demands, unloads it and reports the outcome. If the child
 * ends without a report, by a signal or by exiting, or does not report in time, the plug-in is at
 * fault. The child shares buffered output and terminal with its parent, so it writes to neither.
 */
#include "policy/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, BLOCKS = 8, WANTED = 4, STEPS = 24, QUERIES = 2, DIM = 4 };

/* In the child these signals have their default effect: they end it, and the parent sees that. */
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* The child's report. */
struct report {
    bool good;
    struct error why;
};

/* Replay demands that wander over the blocks, so that all kinds of hits and misses occur. */
static bool play(const struct policy_kind *kind, uint32_t capacity, enum policy_order order,
                 struct error *why)
{
    const uint8_t mass[BLOCKS] = {10, 20, 30, 40, 50, 60, 70, 80};
    const struct policy_env env = {
        .blocks = BLOCKS,
        .capacity = capacity,
        .wanted = WANTED,
        .order = order,
        .query_heads = QUERIES,
        .head_dim = DIM,
        .seed = capacity,
    };
    struct policy *policy = policy_create(kind, NULL, &env, why);
    if (policy == NULL) {
        return false;
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t units[BLOCKS];
        int8_t query[QUERIES * DIM];
        float scale[QUERIES] = {1, 1};
        for (uint32_t i = 0; i < BLOCKS; i++) {
            units[i] = (step * step / 2 + i * (2 * (step / 8) + 1)) % BLOCKS;
            query[i] = (int8_t)(step / 4 * 25 % 100 + 10 * i);
        }
        struct demand demand = {
            .units = units,
            .mass = mass,
            .wanted = step % (WANTED + 1),
            .recorded = BLOCKS,
            .scale = scale,
            .query = query,
            .query_heads = QUERIES,
            .head_dim = DIM,
            .query_stride = 1,
        };
        struct outcome outcome;
        policy_access(policy, &demand, &outcome);
    }
    bool good = policy_check(policy, why);
    policy_destroy(policy);
    return good;
}

static bool play_all(const struct policy_kind *kind, struct error *why)
{
    bool good = true;
    for (uint32_t capacity = kind->needs_queries ? WANTED : 1; good && capacity <= BLOCKS;
         capacity++) {
        good =
            play(kind, capacity, POLICY_BATCH, why) && play(kind, capacity, POLICY_SEQUENTIAL, why);
    }
    return good;
}

static _Noreturn void child(int pipe, const char *name, const char *file, int line)
{
    const struct rlimit none = {0, 0};
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &none);
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
        signal(crashes[i], SIG_DFL);
    }

    struct report report = {.good = false};
    struct plugin *plugin = plugin_load(name, file, line, &report.why);
    report.good = plugin != NULL && play_all(&plugin->kind, &report.why);
    plugin_unload(plugin);
    ssize_t sent = write(pipe, &report, sizeof report); /* fits a pipe: all or nothing */
    _exit(sent != sizeof report);
}

/* Read the child's report; false if it ended, or was killed, without one. */
static bool await_report(int pipe, pid_t pid, struct report *report, bool *late)
{
    size_t have = 0;
    while (have < sizeof *report) {
        struct pollfd ready = {.fd = pipe, .events = POLLIN};
        int events = poll(&ready, 1, PATIENCE_MS);
        if (events < 0 && errno == EINTR) {
            continue;
        }
        *late = events == 0;
        ssize_t got = events > 0 ? read(pipe, (char *)report + have, sizeof *report - have) : 0;
        if (got <= 0) {
            kill(pid, SIGKILL);
            return false;
        }
        have += (size_t)got;
    }
    return true;
}

static int end_of(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

static bool judge(const char *name, const char *file, int line, int pipe, pid_t pid,
                  struct error *why)
{
    struct report report;
    bool late = false, told = await_report(pipe, pid, &report, &late);
    int status = end_of(pid);
    if (told) {
        if (!report.good) {
            *why = report.why;
        }
        return report.good;
    }
    if (late) {
        error_set(why, file, line, "policy '%s' does not return when it is loaded or tried", name);
    } else if (WIFSIGNALED(status)) {
        error_set(why, file, line, "policy '%s' crashes when it is loaded or tried: %s", name,
                  strsignal(WTERMSIG(status)));
    } else {
        error_set(why, file, line, "policy '%s' ends the program when it is loaded or tried", name);
    }
    return error_expect(why, "a plug-in whose functions return without crashing or exiting");
}

bool plugin_try(const char *name, const char *file, int line, struct error *why)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return error_set(why, file, line, "cannot create a pipe to try policy '%s': %s", name,
                         strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(ends[1], name, file, line);
    }
    close(ends[1]);
    bool good = pid > 0
                    ? judge(name, file, line, ends[0], pid, why)
                    : error_set(why, file, line, "cannot create a process to try policy '%s': %s",
                                name, strerror(errno));
    close(ends[0]);
    return good;
}
