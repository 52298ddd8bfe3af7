/* What the files of the emulator share. */
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <string>

/* ---- the clock (clock.cu) ---- */

/* The program's clock, which the GPU and clock_gettime() share, in ns. It stands while the host
 * computes. */
uint64_t emulator_now();
void emulator_pass(uint64_t ns);         /* the clock advances */
void emulator_pass_until(uint64_t then); /* to `then`, unless it is later */

/* ---- calls (clock.cu, device.cu) ---- */

/* To be called first in each function of the runtime. An injected failure happens here. */
cudaError_t emulator_call();
#define EMULATOR_CALL()                                                                            \
    do {                                                                                           \
        cudaError_t failed = emulator_call();                                                      \
        if (failed != cudaSuccess) {                                                               \
            return emulator_return(failed);                                                        \
        }                                                                                          \
    } while (0)
/* Keep an error for cudaGetLastError(), and return it. */
cudaError_t emulator_return(cudaError_t error);

/* The factor by which EMULATOR_SLOW slows down kernels and products; else 1. */
uint64_t emulator_kernel_factor();

/* The factor by which an injected failure slows down the times of events; else 1. */
double emulator_slowness();

[[noreturn]] void emulator_fail(const char *what);

/* ---- memory (device.cu) ---- */

enum emulator_memory { EMULATOR_PAGEABLE, EMULATOR_PINNED, EMULATOR_GPU };

/* The kind of memory at `data`. Memory past the end of an allocation is pageable. */
emulator_memory emulator_memory_at(const void *data, size_t bytes);

/* The start of the allocation at `data`, or NULL. */
const void *emulator_start_of(const void *data);

/* End the program if memory, streams, events or graphs were not released. */
void emulator_check_released();
bool emulator_holds_memory();

/* ---- kernels (emulator.cu) ---- */

/* A kernel with its arguments, as emulator_queue() was given them. */
struct emulator_launch {
    cudaLaunchConfig_t config;
    const void *kernel;
    std::unique_ptr<const emulator_body> body;
    std::string arguments;
};

struct emulator_kernel;

/* Start a kernel at the time `begin`; it does nothing yet. `launch` outlives it. */
emulator_kernel *emulator_start(const emulator_launch &launch, uint64_t begin);
/* Run until it has ended (true) or is suspended (false). */
bool emulator_continue(emulator_kernel *kernel);
/* Its time by what its threads did so far, in ns. */
uint64_t emulator_kernel_ns(const emulator_kernel *kernel);
/* Has it been suspended? */
bool emulator_was_suspended(const emulator_kernel *kernel);
void emulator_end(emulator_kernel *kernel);

/* ---- streams (streams.cu) ---- */

/* Queue work that takes `ns`; on the default stream, do it now. `key` is the same for equal work;
 * 0: unlike all other work. */
void emulator_put(cudaStream_t stream, std::function<void()> act, uint64_t ns, uint64_t key);

/* The host polls: let each stream do one work. */
void emulator_give_turns();

/* If true, then of a row of equal works between two events only the first few are done, and nothing
 * of a row that was done before. It takes its time all the same. The harness needs that: it repeats
 * most work 10 to 1000 times, for its times alone. */
bool emulator_hurries();
