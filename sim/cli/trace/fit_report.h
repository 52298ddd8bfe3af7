/* What `trace fit` prints about a recording beside its twin. What other texts, contexts and models may
 * show follows from several such reports: traces/twin_bands.py. */
#pragma once

#include "cli/trace/beside_twin.h"
#include "cli/trace/layer_choice.h"

struct fit_report {
    const struct beside_twin *comparison;
    const struct layer_choice *choice;
    const struct fitted *fitted;
    bool chosen;                       /* layers were chosen by --layers */
    double is_twice[LIKENESS_FIGURES]; /* of the fitted recording: the twin at twice the context */
};

bool fit_report_json(const struct fit_report *report, struct error *why);
bool fit_report_table(const struct fit_report *report, struct error *why);
