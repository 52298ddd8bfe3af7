/* Fibers: threads of a GPU that change over to each other on one thread of the CPU. One who calls
 * `fiber_run` is the scheduler. */
#ifndef EMULATOR_FIBERS_H
#define EMULATOR_FIBERS_H

#include <memory>
#include <ucontext.h>

/* Where a fiber or the scheduler goes on: what the compiler's own setjmp keeps. The library's, and
 * swapcontext, tell the kernel or the address sanitizer of each change, which takes far longer than
 * what runs between two. */
typedef void *fiber_place[5];

struct fiber {
    ucontext_t begin;
    fiber_place here;
    std::unique_ptr<char[]> stack;
    bool begun;
};

/* Let `fiber` call `entry`, which must not return, when it is next run; what it did before ends
 * where it is. A fiber is zeroed before its first use, and not moved from here until it is run. */
void fiber_begin(struct fiber *fiber, void (*entry)());

/* Let `fiber` run until it leaves. */
void fiber_run(struct fiber *fiber);

/* Back to who called fiber_run; returns when `self`, the fiber that calls, is run again. */
void fiber_leave(struct fiber *self);

#endif
