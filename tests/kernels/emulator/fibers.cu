#include "fibers.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#define STACK_BYTES (128U << 10)

/* A jump between stacks leaves no frame to clean up; the sanitizer must not try. */
#define NOT_CHECKED __attribute__((noinline, no_sanitize("address")))

static fiber_place scheduler;

void fiber_begin(struct fiber *fiber, void (*entry)())
{
    if (!fiber->stack) {
        fiber->stack.reset(new char[STACK_BYTES]);
    }
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(fiber->stack.get(), STACK_BYTES); /* of an abandoned fiber */
#endif
    getcontext(&fiber->begin);
    fiber->begin.uc_stack.ss_sp = fiber->stack.get();
    fiber->begin.uc_stack.ss_size = STACK_BYTES;
    fiber->begin.uc_link = nullptr;
    fiber->begun = false;
    makecontext(&fiber->begin, entry, 0);
}

/* A function of its own, because a function that calls __builtin_setjmp cannot call this. */
NOT_CHECKED static void go_on(fiber_place at)
{
    __builtin_longjmp(at, 1);
}

NOT_CHECKED void fiber_run(struct fiber *fiber)
{
    if (__builtin_setjmp(scheduler) != 0) {
        return;
    }
    if (fiber->begun) {
        go_on(fiber->here);
    }
    fiber->begun = true;
    setcontext(&fiber->begin);
}

NOT_CHECKED void fiber_leave(struct fiber *self)
{
    if (__builtin_setjmp(self->here) == 0) {
        go_on(scheduler);
    }
}
