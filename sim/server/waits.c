#include "server/waits.h"

const char *wait_name(int wait)
{
    static const char *const names[WAIT_STALL] = {
        [WAIT_API] = "api",         [WAIT_QUEUE] = "queue",         [WAIT_LOAD] = "load",
        [WAIT_PREFILL] = "prefill", [WAIT_PREEMPTED] = "preempted", [WAIT_OTHERS] = "others",
        [WAIT_DECODE] = "decode",
    };
    return wait < WAIT_STALL ? names[wait] : pipeline_part_names[wait - WAIT_STALL];
}

void waits_charge(struct waits *waits, enum wait wait, int64_t until_ns)
{
    waits->ns[wait] += until_ns - waits->until_ns;
    waits->until_ns = until_ns;
}

void waits_charge_decode(struct waits *waits, int64_t ns, int64_t others_ns,
                         const int64_t stall_ns[PART_COUNT])
{
    int64_t decode_ns = ns - others_ns;
    for (int part = 0; part < PART_COUNT; part++) {
        waits->ns[WAIT_STALL + part] += stall_ns[part];
        decode_ns -= stall_ns[part];
    }
    waits->ns[WAIT_OTHERS] += others_ns;
    waits->ns[WAIT_DECODE] += decode_ns;
    waits->until_ns += ns;
}
