/* The group flags: flags that a kernel polls, in place of launches and synchronisations.
 *
 *   gpu.flag  half of the round trip of a flag in mapped memory, from the CPU to a polling kernel
 *             and back
 *
 * Observed: the time from the CPU's flag until the next kernel of the stream has begun and answered
 * (flag.release_by_cpu); one way of a flag in GPU memory between two kernels
 * (flag.between_kernels).
 *
 * Every wait ends: a kernel gives up after GPU_DEADLINE_NS and reports it, the CPU after
 * GPU_PATIENCE_NS.
 */
#include "calibrate/device/launch.cuh"
#include "calibrate/link/groups.h"

#include <initializer_list>

#define ROUNDS 64
#define RELEASES 16
#define KERNEL_ROUNDS 512

/* Words of the mapped memory, a cache line apart. */
#define ASK 0
#define ANSWER 32
#define GIVEN_UP 64
#define TIME 96
#define WORDS 128

struct polling {
    pinned_memory mapped;
    gpu_memory word; /* the flag between kernels */
    gpu_stream stream, other;

    bool create(struct error *why);
    uint32_t *host(int place) const
    {
        return (uint32_t *)mapped.data + place;
    }
    uint32_t *seen(int place) const
    {
        return (uint32_t *)mapped.seen + place;
    }
};

bool polling::create(struct error *why)
{
    return mapped.take(WORDS * sizeof(uint32_t), 0, why) && word.take(sizeof(uint32_t), why) &&
           stream.create(why) && other.create(why);
}

static void flags_clear(const struct polling *all)
{
    for (int place : {ASK, ANSWER, GIVEN_UP}) {
        __atomic_store_n(all->host(place), 0, __ATOMIC_SEQ_CST);
    }
}

/* Wait on the CPU for a word to become `value`. */
static bool flags_await(const struct polling *all, int place, uint32_t value, struct error *why)
{
    double since = clock_ns();
    while (__atomic_load_n(all->host(place), __ATOMIC_ACQUIRE) != value) {
        if (__atomic_load_n(all->host(GIVEN_UP), __ATOMIC_RELAXED) != 0) {
            return error_set(why, NULL, 0, "a polling kernel saw no flag for %.0f s",
                             (double)GPU_DEADLINE_NS / 1e9);
        }
        if (clock_ns() - since > GPU_PATIENCE_NS) {
            return error_set(why, NULL, 0, "no flag came from the GPU for %.0f s",
                             GPU_PATIENCE_NS / 1e9);
        }
    }
    return true;
}

static void flags_ask(const struct polling *all, uint32_t value)
{
    __atomic_store_n(all->host(ASK), value, __ATOMIC_RELEASE);
}

/* Wait on the GPU until `flag` is `value`; false at the deadline. */
static __device__ bool arrives(const volatile uint32_t *flag, uint32_t value, uint64_t since)
{
    while (*flag != value) {
        if (ptx_clock_ns() - since > GPU_DEADLINE_NS) {
            return false;
        }
    }
    return true;
}

/* Answers the rounds 1, 2, ... `rounds`, each when the CPU asks for it. */
static __global__ void answer_flags(const volatile uint32_t *ask, volatile uint32_t *answer,
                                    volatile uint32_t *given_up, uint32_t rounds)
{
    uint64_t since = ptx_clock_ns();
    for (uint32_t round = 1; round <= rounds; round++) {
        if (!arrives(ask, round, since)) {
            *given_up = 1;
            return;
        }
        *answer = round;
    }
}

/* Round 1 waits for the kernel to start and does not count. */
static bool sample_flag(void *state, double *ns, struct error *why)
{
    const struct polling *all = (const struct polling *)state;
    double begin = 0;
    bool ok = true;
    flags_clear(all);
    if (!launch(answer_flags, dim3(1), 1, 0, all->stream.at, why, all->seen(ASK), all->seen(ANSWER),
                all->seen(GIVEN_UP), ROUNDS)) {
        return false;
    }
    for (uint32_t round = 1; ok && round <= ROUNDS; round++) {
        flags_ask(all, round);
        ok = flags_await(all, ANSWER, round, why);
        begin = round == 1 ? clock_ns() : begin;
    }
    *ns = (clock_ns() - begin) / (2.0 * (ROUNDS - 1));
    return ok && all->stream.wait(why);
}

/* Reports that it runs, then waits. */
static __global__ void wait_flag(const volatile uint32_t *ask, volatile uint32_t *answer,
                                 volatile uint32_t *given_up)
{
    *answer = 1;
    if (!arrives(ask, 2, ptx_clock_ns())) {
        *given_up = 1;
    }
}

static __global__ void say_begun(volatile uint32_t *answer)
{
    *answer = 3;
}

static bool release_once(const struct polling *all, double *ns, struct error *why)
{
    flags_clear(all);
    if (!launch(wait_flag, dim3(1), 1, 0, all->stream.at, why, all->seen(ASK), all->seen(ANSWER),
                all->seen(GIVEN_UP)) ||
        !launch(say_begun, dim3(1), 1, 0, all->stream.at, why, all->seen(ANSWER)) ||
        !flags_await(all, ANSWER, 1, why)) {
        return false;
    }
    double begin = clock_ns();
    flags_ask(all, 2);
    if (!flags_await(all, ANSWER, 3, why)) {
        return false;
    }
    *ns += clock_ns() - begin;
    return all->stream.wait(why);
}

static bool sample_release(void *state, double *ns, struct error *why)
{
    double sum = 0;
    for (int i = 0; i < RELEASES; i++) {
        if (!release_once((const struct polling *)state, &sum, why)) {
            return false;
        }
    }
    *ns = sum / RELEASES;
    return true;
}

/* Run by two kernels, each writing the word for which the other waits. The first kernel measures
 * the time of all rounds but the first, in which the second kernel starts. */
static __global__ void turn_words(volatile uint32_t *word, bool first, uint32_t rounds,
                                  volatile uint32_t *given_up, volatile uint32_t *time_ns)
{
    uint64_t since = ptx_clock_ns(), begin = since;
    for (uint32_t round = 0; round < rounds; round++) {
        if (first) {
            *word = 2 * round + 1;
        }
        if (!arrives(word, 2 * round + (first ? 2 : 1), since)) {
            *given_up = 1;
            return;
        }
        if (!first) {
            *word = 2 * round + 2;
        }
        begin = round == 0 ? ptx_clock_ns() : begin;
    }
    if (first) {
        *time_ns = (uint32_t)(ptx_clock_ns() - begin);
    }
}

static bool flags_sample_between(void *state, double *ns, struct error *why)
{
    const struct polling *all = (const struct polling *)state;
    uint32_t *word = (uint32_t *)all->word.data;
    flags_clear(all);
    if (!GPU_TRY(cudaMemsetAsync(word, 0, sizeof *word, all->stream.at), why) ||
        !all->stream.wait(why)) {
        return false;
    }
    if (!launch(turn_words, dim3(1), 1, 0, all->stream.at, why, word, true, KERNEL_ROUNDS,
                all->seen(GIVEN_UP), all->seen(TIME)) ||
        !launch(turn_words, dim3(1), 1, 0, all->other.at, why, word, false, KERNEL_ROUNDS,
                all->seen(GIVEN_UP), all->seen(TIME)) ||
        !all->stream.wait(why) || !all->other.wait(why)) {
        return false;
    }
    *ns = (double)*all->host(TIME) / (2.0 * (KERNEL_ROUNDS - 1));
    return *all->host(GIVEN_UP) == 0 ||
           error_set(why, NULL, 0, "of two kernels that wait for each other only one ran");
}

bool flags_arrive(struct error *why)
{
    struct polling all;
    double flag, release, between;
    return all.create(why) && sample_flag(&all, &flag, why) &&
           sample_release(&all, &release, why) && flags_sample_between(&all, &between, why) &&
           ((flag > 0 && release > flag && between > 0) ||
            error_set(why, NULL, 0, "flags took %.0f, %.0f and %.0f ns", flag, release, between));
}

bool flags(const struct effort *effort, uint64_t seed, struct findings *findings, struct error *why)
{
    struct polling all;
    struct error without;
    double ignored;
    const struct probe probes[] = {
        {"gpu.flag", 0, &all, sample_flag},
        {"flag.release_by_cpu", 0, &all, sample_release},
        {"flag.between_kernels", 0, &all, flags_sample_between},
    };
    if (!all.create(why) || !findings_add(findings, "flag.release_by_cpu", "", UNIT_NS, why) ||
        !findings_add(findings, "flag.between_kernels", "", UNIT_NS, why)) {
        return false;
    }
    bool between = flags_sample_between(&all, &ignored, &without);
    return measure_probes(probes, between ? 3 : 2, effort, seed, findings, why) &&
           findings_note(findings, "gpu.flag",
                         "half a round trip CPU, polling kernel, CPU through mapped memory", why) &&
           findings_note(findings, "flag.release_by_cpu",
                         "from the CPU's flag to the flag of the kernel behind the one that polls",
                         why) &&
           findings_note(findings, "flag.between_kernels",
                         between ? "one way of a word in GPU memory between two polling kernels"
                                 : without.found,
                         why);
}
