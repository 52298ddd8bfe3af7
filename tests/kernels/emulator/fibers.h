/* Fibers: GPU threads that switch to each other on one CPU thread. The caller of fiber_run() is the
 * scheduler. */
#pragma once

#include <memory>
#include <ucontext.h>

/* Where a fiber or the scheduler continues: the buffer of the compiler's own setjmp. The library's
 * setjmp and swapcontext tell the kernel or the address sanitizer of each switch, which takes far
 * longer than the code between two switches. */
typedef void *fiber_place[5];

struct fiber {
    ucontext_t begin;
    fiber_place here;
    std::unique_ptr<char[]> stack;
    bool begun;
};

/* Let `fiber` call `entry`, which must not return, when it next runs. Its earlier work is
 * abandoned. A fiber is zeroed before its first use, and may not be moved between this call and its
 * run. */
void fiber_begin(struct fiber *fiber, void (*entry)());

/* Let `fiber` run until it leaves. */
void fiber_run(struct fiber *fiber);

/* Return to the caller of fiber_run(). Returns when `self`, the calling fiber, is run again. */
void fiber_leave(struct fiber *self);
