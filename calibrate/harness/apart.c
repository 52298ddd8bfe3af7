#include "calibrate/harness/apart.h"

#include "calibrate/measure/measure.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Between two looks at the process: rare, for the sake of what is being measured. */
#define LOOK_NS 20000000

/* How long a process may take to end after an interrupt, or after it was killed: a driver may hold
 * it. */
#define END_SECONDS 5

void *apart_memory(size_t size, struct error *why)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        error_set(why, NULL, 0, "no shared memory: %s", strerror(errno));
        return NULL;
    }
    return memory;
}

void apart_release(void *memory, size_t size)
{
    if (memory != NULL) {
        munmap(memory, size);
    }
}

/* In the new process. A group of its own keeps a Ctrl-C of the terminal away, which would come
 * twice: the parent passes it on. */
static _Noreturn void become_task(const struct apart *apart, pid_t parent, struct error *why)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, apart->name);
    bool ok = getppid() == parent && apart->run(apart->state, why);
    _exit(ok ? 0 : 1);
}

/* Wait until the process has ended, but not past `*end_ns`. With `apart` not past an interrupt
 * either, and `*end_ns` becomes the end of a piece that takes too long. */
static bool apart_await(pid_t task, const struct apart *apart, double *end_ns, int *status)
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    while (waitpid(task, status, WNOHANG) == 0) {
        bool pieces = apart != NULL && apart->piece_ns != NULL;
        double piece_ns = pieces ? *(const volatile double *)apart->piece_ns : 0;
        double piece_end_ns = piece_ns > 0 ? piece_ns + apart->piece_seconds * 1e9 : *end_ns;
        if (clock_ns() > fmin(*end_ns, piece_end_ns)) {
            *end_ns = fmin(*end_ns, piece_end_ns);
            return false;
        }
        if (apart != NULL && measure_interrupted != 0) {
            return false;
        }
        nanosleep(&look, NULL);
    }
    return true;
}

static bool apart_end(pid_t task, int how, int *status)
{
    double end_ns = clock_ns() + END_SECONDS * 1e9;
    kill(task, how);
    return apart_await(task, NULL, &end_ns, status);
}

static bool apart_judge(int status, const struct error *said, struct error *why)
{
    if (WIFSIGNALED(status)) {
        return error_set(why, NULL, 0, "ended by signal %d (%s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) != 0 && said->found[0] == '\0') {
        return error_set(why, NULL, 0, "ended with status %d", WEXITSTATUS(status));
    }
    if (WEXITSTATUS(status) != 0) {
        *why = *said;
    }
    return WEXITSTATUS(status) == 0;
}

static bool watch(const struct apart *apart, pid_t task, const struct error *said,
                  struct error *why)
{
    int status;
    double whole_ns = clock_ns() + apart->seconds * 1e9, end_ns = whole_ns;
    if (apart_await(task, apart, &end_ns, &status)) {
        return apart_judge(status, said, why);
    }
    if (measure_interrupted != 0 && apart_end(task, SIGINT, &status)) {
        return error_set(why, NULL, 0, "interrupted");
    }
    const char *left = apart_end(task, SIGKILL, &status) ? "" : ", but its process does not end";
    return measure_interrupted != 0
               ? error_set(why, NULL, 0, "interrupted, and killed%s", left)
               : error_set(why, NULL, 0, "not done after %.0f s, and killed%s",
                           end_ns < whole_ns ? apart->piece_seconds : apart->seconds, left);
}

bool apart_run(const struct apart *apart, struct error *why)
{
    struct error *said = apart_memory(sizeof *said, why);
    if (said == NULL) {
        return false;
    }
    fflush(NULL);             /* or the new process writes the same text again */
    signal(SIGCHLD, SIG_DFL); /* or, if our parent ignored it, no status of the task is kept */
    pid_t parent = getpid(), task = fork();
    if (task == 0) {
        become_task(apart, parent, said);
    }
    bool ok = task < 0 ? error_set(why, NULL, 0, "no new process: %s", strerror(errno))
                       : watch(apart, task, said, why);
    apart_release(said, sizeof *said);
    return ok;
}
