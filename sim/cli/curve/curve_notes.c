/* The lines below the tables of curves. */
#include "tables/table.h"
#include "core/text.h"
#include "cli/curve/curve_report.h"
#include "decode/replay/replay_job.h"
#include "policy/policy.h"
#include "policy/qsac.h"

/* A smaller share of first uses moves no curve by much. */
#define FIRST_USES_TOLD 0.05

enum { LINE = 512 };

/* A block that is wanted for the first time hits only if caches began with it. */
static void print_first_uses(const struct curve_report *report, FILE *out)
{
    const struct miss_curve *whole = NULL;
    char line[LINE] = "";
    for (uint32_t i = 0; whole == NULL && i < report->count; i++) {
        whole = replay_can_fill(report->policies[i].policy) ? &report->policies[i].whole : NULL;
    }
    if (whole == NULL || report->trace == NULL ||
        (double)whole->first_uses[0] < FIRST_USES_TOLD * (double)whole->accesses[0]) {
        return;
    }
    text_append(line, LINE,
                "first uses: %.0f %% of the accesses are to blocks that no earlier step wanted. "
                "Caches begin full, with the blocks that the first step weighs most and the latest "
                "ones, so such an access can hit",
                100 * (double)whole->first_uses[0] / (double)whole->accesses[0]);
    table_line("", line, out);
}

/* A trace has no table of importance; a model may have one. */
static void print_heads_alike(const struct curve_report *report, FILE *out)
{
    bool weighs = false;
    for (uint32_t i = 0; i < report->count; i++) {
        const struct policy_curves *curves = &report->policies[i];
        weighs = weighs || (curves->policy == &policy_qsac && qsac_weighs_heads(curves->values));
    }
    if (weighs) {
        table_line(
            "",
            "qsac: all heads count as the most important ones; a run of a model with a table "
            "of its heads' importance reuses more sets",
            out);
    }
}

/* QSAC reuses whole sets, so the smallest of its caches holds a set. */
static void print_lacking(const struct curve_report *report, FILE *out)
{
    bool lacks = false;
    for (uint32_t i = 1; i < report->count; i++) {
        lacks = lacks || report->policies[i].sizes.count != report->policies[0].sizes.count;
    }
    if (lacks) {
        table_line("", "-: the cache is smaller than a head's demand, so no set could be reused",
                   out);
    }
}

void curve_report_notes(const struct curve_report *report, FILE *out)
{
    print_lacking(report, out);
    print_first_uses(report, out);
    print_heads_alike(report, out);
}
