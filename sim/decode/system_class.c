#include "decode/system_class.h"

#include "policy/kinds.h"

const char *system_cpu_part(const struct mechanisms *m)
{
    return m->manager == MANAGER_CPU             ? "manager: cpu"
           : m->manager == MANAGER_SPLIT         ? "manager: split"
           : m->sync == SYNC_CPU                 ? "sync: cpu"
           : m->barrier == BARRIER_LAYER         ? "barrier: layer"
           : m->barrier == BARRIER_PASS          ? "barrier: pass"
           : m->transfer == TRANSFER_GATHER_COPY ? "transfer: gather+copy"
           : m->transfer == TRANSFER_PAGEABLE    ? "transfer: pageable"
           : m->attention == ATTEND_HYBRID       ? "attention: hybrid"
           : m->attention == ATTEND_CPU          ? "attention: cpu"
                                                 : NULL;
}

enum system_class system_class_of(const struct setup *setup)
{
    const struct mechanisms *m = &setup->mechanisms;
    if (setup->drafts.count > 0) {
        return CLASS_DRAFTS;
    }
    if (mechanisms_use_disk(m)) {
        return CLASS_DISK;
    }
    if (!mechanisms_offload(m)) {
        return CLASS_BANDWIDTH_BOUND;
    }
    if (system_cpu_part(m) != NULL) {
        return CLASS_CPU_MANAGED;
    }
    bool caches = m->policy != &policy_none;
    return mechanisms_select(m) || caches ? CLASS_GPU_MANAGED : CLASS_BANDWIDTH_BOUND;
}
