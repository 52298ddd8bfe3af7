#include "decode/system_class.h"

#include "policy/kinds.h"

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
    if (m->manager != MANAGER_GPU || m->sync == SYNC_CPU || m->barrier != BARRIER_NONE ||
        m->transfer == TRANSFER_GATHER_COPY || m->transfer == TRANSFER_PAGEABLE ||
        m->attention != ATTEND_GPU) {
        return CLASS_CPU_MANAGED;
    }
    bool caches = m->policy != &policy_none;
    return mechanisms_select(m) || caches ? CLASS_GPU_MANAGED : CLASS_BANDWIDTH_BOUND;
}
