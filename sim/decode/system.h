/* Classes of systems, by the mechanisms that dominate their time. Predictions of one class err in
 * the same way, so their errors are counted together.
 *
 *   cpu-managed      the GPU waits for the launch thread or the CPU pool to get its KV: host costs
 *                    dominate, and no datasheet states them
 *   gpu-managed      there is a cache or a selection, and nothing waits for a thread of the CPU
 *   bandwidth-bound  all KV is read, from HBM or over the link
 *   disk             KV or weights are read from a drive, by whatever system
 *   drafts           a step drafts and verifies several tokens, whatever keeps its KV
 */
#pragma once

#include "decode/mechanisms.h"
#include "decode/setup.h"

enum system_class {
    CLASS_BANDWIDTH_BOUND,
    CLASS_GPU_MANAGED,
    CLASS_CPU_MANAGED,
    CLASS_DISK,
    CLASS_DRAFTS,
    SYSTEM_CLASS_COUNT
};

/* The first mechanism by which an offloading system's GPU waits for the CPU: "sync: cpu"; NULL: none. */
const char *system_cpu_part(const struct mechanisms *mechanisms);

enum system_class system_class_of(const struct setup *setup);

/* A rule for combining mechanisms: is it broken, the key to blame, and the rule in words. */
struct mechanism_rule {
    bool broken;
    const char *key, *reason;
};
enum { MECHANISM_RULES = 128 }; /* at most */

/* All rules, for mechanisms whose numbers are within their bounds. Returns how many there are. */
size_t mechanisms_rules(const struct mechanisms *mechanisms,
                        struct mechanism_rule rules[MECHANISM_RULES]);

/* Why these mechanisms contradict each other, with the key to blame: the first number that is out of
 * its bounds, else the first rule that is broken; NULL when there is none. */
const char *mechanisms_contradiction(const struct mechanisms *mechanisms, const char **key);
