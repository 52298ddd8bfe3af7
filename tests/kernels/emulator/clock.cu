/* The clock of the emulated program, and failures that a test injects.
 *
 * GPU and CPU have one clock, which no other clock moves: every measured time is the same on any
 * machine, under any load. Each call of the runtime, each look at the clock and each emulated work
 * takes a fixed time; what the host computes takes none. clock_gettime(CLOCK_MONOTONIC) is replaced
 * by it.
 *
 * EMULATOR_FAIL=NAME:KIND:NUMBER,... lets a process with such a name (prctl(PR_GET_NAME): the
 * harness gives the process of a group the group's name) fail at its NUMBER-th call of the runtime,
 * or look of its main thread at the clock:
 *
 *   fail      this call and all later ones return an error
 *   hang      the call does not return; to the process that waits for this one, time flies
 *   stop      the call does not return before an interrupt, and nobody loses patience
 *   die       the process ends by a segmentation fault
 *   nonsense  the clock, and the times between events, are a billionth of what they should be, from
 *             the first call on
 */
#include "emulator.h"

#include "calibrate/measure/measure.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define LEAKED 23
#endif

#define FIRST_NS 1000000000 /* when the program begins */
#define CALL_NS 400
#define LOOK_NS 1000
#define FLIGHT_NS 1000000000 /* that pass at a look while a process hangs */
#define AHEAD_NS 1000000000  /* that a process may be of the one that waits for it */
#define POLLING_LOOKS 4      /* at the clock, one after the other, without a call of the runtime */

/* ---- the clock ---- */

static std::atomic<uint64_t> now_ns{FIRST_NS};
static std::atomic<bool> used{false};    /* by a call of the runtime */
static std::atomic<pthread_t> caller{0}; /* the thread that makes calls */
static int looks;                        /* of the caller, since its last call */

/* What the processes of a program share. */
struct shared_clock {
    std::atomic<pid_t> hanging;  /* the process that hangs; 0: none */
    std::atomic<uint64_t> above; /* the time of the process that was started first */
    std::atomic<uint64_t> below; /* of the latest one that it started */
};

static shared_clock *make_shared()
{
    void *memory = mmap(nullptr, sizeof(shared_clock), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        emulator_fail("no shared memory");
    }
    return (shared_clock *)memory;
}

static shared_clock *const shared = make_shared(); /* NULL before main() */
static const pid_t first = getpid();

uint64_t emulator_now()
{
    return now_ns;
}

void emulator_pass(uint64_t ns)
{
    now_ns += ns;
}

void emulator_pass_until(uint64_t then)
{
    uint64_t now = emulator_now();
    if (then > now) {
        emulator_pass(then - now);
    }
}

/* ---- failures ---- */

enum failure { NO_FAILURE, FAIL, HANG, STOP, DIE, NONSENSE };

struct wanted_failure {
    char name[17];
    failure kind;
    int number;
};

static std::vector<wanted_failure> read_failures()
{
    static const char *const kinds[] = {"", "fail", "hang", "stop", "die", "nonsense"};
    const char *text = getenv("EMULATOR_FAIL");
    std::vector<wanted_failure> all;
    for (int used = 0; text != nullptr && *text != '\0'; text += used) {
        wanted_failure wanted = {};
        char kind[16] = "";
        if (sscanf(text, "%16[^:]:%15[^:]:%d%n", wanted.name, kind, &wanted.number, &used) == 3) {
            for (int known = FAIL; known <= NONSENSE; known++) {
                wanted.kind = strcmp(kind, kinds[known]) == 0 ? (failure)known : wanted.kind;
            }
        }
        if (wanted.kind == NO_FAILURE) {
            emulator_fail(
                "EMULATOR_FAIL is NAME:KIND:NUMBER,... KIND is fail, hang, stop, die or nonsense");
        }
        used += text[used] == ',';
        all.push_back(wanted);
    }
    return all;
}

/* The failure of this process. Its name may still change. */
static wanted_failure failure_here()
{
    static const std::vector<wanted_failure> wanted = read_failures();
    char name[17] = "";
    if (!wanted.empty() && prctl(PR_GET_NAME, name) == 0) {
        for (const wanted_failure &one : wanted) {
            if (strcmp(name, one.name) == 0) {
                return one;
            }
        }
    }
    return {};
}

static void let_time_fly()
{
    pid_t process = shared->hanging;
    if (process != 0 && process != getpid()) {
        emulator_pass(FLIGHT_NS);
    }
}

/* What is killed hangs no longer. */
extern "C" int kill(pid_t process, int number) noexcept
{
    pid_t hanging = process;
    if (number == SIGKILL) {
        shared->hanging.compare_exchange_strong(hanging, 0);
    }
    return (int)syscall(SYS_kill, process, number);
}

/* Returns true if the call has to fail. */
static bool come_to_harm()
{
    static int calls;
    const wanted_failure wanted = failure_here();
    const failure here = wanted.kind;
    if (here == NO_FAILURE || here == NONSENSE || ++calls < wanted.number) {
        return false;
    }
    if (here == HANG) {
        shared->hanging = getpid();
    }
    while (here == HANG) {
        pause();
    }
    while (here == STOP && measure_interrupted == 0) {
        usleep(1000);
    }
    if (here == DIE) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    return true;
}

cudaError_t emulator_call()
{
    used = true;
    caller = pthread_self();
    looks = 0;
    emulator_pass(CALL_NS);
    return come_to_harm() ? cudaErrorLaunchFailure : cudaSuccess;
}

uint64_t emulator_kernel_factor()
{
    static const char *const text = getenv("EMULATOR_SLOW");
    static const uint64_t factor = text != nullptr ? strtoull(text, nullptr, 10) : 1;
    return factor;
}

double emulator_slowness()
{
    return failure_here().kind == NONSENSE ? 1e-9 : 1;
}

/* ---- clock_gettime() ---- */

/* The first process only waits while another one runs. */
static void keep_together()
{
    if (getpid() == first) {
        emulator_pass_until(shared->below);
        shared->above = emulator_now();
        return;
    }
    shared->below = emulator_now();
    while (emulator_now() > shared->above + AHEAD_NS) {
        usleep(1000);
    }
}

/* A host that looks at nothing but the clock polls memory that a kernel writes. */
static void see_polling()
{
    if (used && pthread_equal(caller, pthread_self()) && ++looks > POLLING_LOOKS) {
        emulator_give_turns();
    }
}

static int machine_clock(clockid_t clock, struct timespec *now)
{
    static int (*const real)(clockid_t, struct timespec *) =
        (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return real(clock, now);
}

extern "C" int clock_gettime(clockid_t clock, struct timespec *now) noexcept
{
    if (clock != CLOCK_MONOTONIC) {
        return machine_clock(clock, now);
    }
    if (getpid() == gettid()) {
        come_to_harm();
    }
    see_polling();
    if (shared != nullptr && getpid() == gettid()) {
        let_time_fly();
        keep_together();
    }
    emulator_pass(LOOK_NS);
    uint64_t ns = emulator_now();
    ns = failure_here().kind == NONSENSE ? FIRST_NS + (ns - FIRST_NS) / 1000000000 : ns;
    *now = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return 0;
}

/* ---- _exit() ---- */

/* The process of a group ends here, without the checks of a program that ends. */
extern "C" void _exit(int status)
{
    if (status == 0 && used) {
        emulator_check_released();
#ifdef __SANITIZE_ADDRESS__
        status = __lsan_do_recoverable_leak_check() != 0 ? LEAKED : status;
#endif
    }
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
