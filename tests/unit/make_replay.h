/* What tests of replay begin with: a trace that was written, a policy by name, a ledger. */
#ifndef MAKE_REPLAY_H
#define MAKE_REPLAY_H

#include "decode/replay/replay.h"
#include "make_trace.h"

static inline struct trace *make_open(const char *path)
{
    struct error why;
    struct trace *trace = trace_open(path, &why);
    make_check(trace != NULL, &why);
    return trace;
}

static inline const struct policy_kind *make_kind(const char *name)
{
    struct error why;
    const struct policy_kind *found = policy_find(name, NULL, 0, &why);
    assert_non_null(found);
    return found;
}

static inline void make_ledger(const struct trace *trace, const struct replay_plan *plan,
                               uint32_t threads, struct ledger *ledger)
{
    struct error why;
    ledger_init(ledger);
    make_check(replay_run(trace, plan, threads, ledger, &why), &why);
}

#endif
