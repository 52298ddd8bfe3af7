/* Each point is resolved again, because results do not say what a system keeps on the host. */
#include "cli/whatif/whatif_report.h"

#include "answer/table.h"

#include <string.h>

enum { LINE = 512 };

static bool walks_host(const struct whatif *whatif)
{
    bool walks = false;
    for (uint32_t i = 0; i < whatif->axis_count; i++) {
        walks = walks || strcmp(whatif->axes[i].key, "host_memory") == 0;
    }
    return walks;
}

/* Does the point keep neither KV nor weights in host memory? False if it cannot be resolved. */
static bool keeps_nothing(const struct whatif *whatif, uint32_t point)
{
    struct point resolved;
    struct error unseen;
    if (!scenario_point(&whatif->scenario, point, &resolved, &unseen)) {
        return false;
    }
    const struct mechanisms *m = &resolved.setup.mechanisms;
    bool keeps = mechanisms_offload(m) || m->prefix == PREFIX_TWO_TIER ||
                 m->preemption == PREEMPTION_SWAP || m->weights < 1;
    point_release(&resolved);
    return !keeps;
}

void whatif_host_print(const struct whatif *whatif, FILE *out)
{
    char line[LINE];
    bool nothing = walks_host(whatif);
    for (uint32_t i = 0; nothing && i < whatif->count; i++) {
        nothing = keeps_nothing(whatif, i);
    }
    if (nothing) {
        const struct cell *system = &whatif->results[0].cells[COLUMN_SYSTEM];
        snprintf(line, sizeof line,
                 "%s keeps no KV in host memory, so more of it has no effect; two-tier keeps "
                 "prefixes there (--set system=two-tier)",
                 system->set ? system->text : "the system");
        table_line("", line, out);
    }
}
