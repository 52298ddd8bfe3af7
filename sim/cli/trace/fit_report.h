/* What `trace fit` prints about a recording beside its twin. */
#ifndef CLI_TRACE_FIT_REPORT_H
#define CLI_TRACE_FIT_REPORT_H

#include "cli/trace/fit_bands.h"
#include "cli/trace/layer_choice.h"

struct fit_report {
    const struct beside_twin *comparison;
    const struct layer_choice *choice;
    const struct fit_bands *bands;
    const struct fit_outlook *outlook; /* NULL unless this recording was fitted */
    bool is_learned;                   /* the bands learned from it, but it was not fitted */
};

bool fit_report_json(const struct fit_report *report, struct error *why);
bool fit_report_table(const struct fit_report *report, struct error *why);

#endif
