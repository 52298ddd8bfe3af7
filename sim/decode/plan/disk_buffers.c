#include "decode/plan/disk_buffers.h"

#include "decode/cost/disk_reads.h"
#include "decode/plan/peak.h"

#include <math.h>

/* A layer of all sequences: at most the blocks of what they select. */
static double selected_bytes(const struct setup *setup, const struct plan *plan)
{
    double bytes = 0;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        const struct cohort *cohort = &plan->cohorts[i];
        double pairs = (double)model_kv_heads(&setup->model) * cohort->sequences;
        double selected = (double)cohort->sizes.selected_tokens * setup_queries(setup);
        bytes += disk_selection_bytes(setup, pairs * fmin(selected, (double)cohort->context),
                                      pairs * (double)cohort->context);
    }
    return bytes;
}

double disk_buffer_bytes(const struct setup *setup, const struct plan *plan)
{
    const struct mechanisms *m = &setup->mechanisms;
    double kv = 0;
    if (!mechanisms_use_disk(m) && m->attention != ATTEND_CPU) {
        return 0;
    }
    if (m->attention == ATTEND_CPU) {
        bool all = m->transfer == TRANSFER_PAGEABLE;
        kv = (all ? 1 : m->disk_kv) * peak_layer_bytes(setup, plan);
    } else if (m->disk_kv > 0) {
        bool whole = m->prefetch == PREFETCH_WHOLE_LAYER;
        double layer = setup_loads_whole(setup, 0) ? peak_layer_bytes(setup, plan) : 0;
        kv = fmax(m->disk_kv * layer, whole ? 0 : selected_bytes(setup, plan));
    }
    return 2 * kv + m->disk_weights * peak_weight_buffers(setup);
}
