/* What `trace fit` prints about a recording beside its twin. */
#ifndef CLI_TRACE_FIT_REPORT_H
#define CLI_TRACE_FIT_REPORT_H

#include "cli/trace/fit_bands.h"
#include "cli/trace/layer_choice.h"

/* How a report's recording is related to what was fitted, and to what the bands learned from. */
enum fit_relation {
    FIT_FITTED,        /* it was fitted; the report has an outlook */
    FIT_LEARNED,       /* the bands learned from it, but it was not fitted */
    FIT_FITTED_AGAIN,  /* a check that is the fitted recording itself: nothing to judge */
    FIT_LEARNED_AGAIN, /* a check that is one of the others that the bands learned from: likewise */
    FIT_TEXT_LEARNED,  /* a check of a text that the shipped rows of its model have */
    FIT_OTHER_MODEL,   /* a check of another model than the fitted one */
    FIT_UNSEEN
};

struct fit_report {
    const struct beside_twin *comparison;
    const struct layer_choice *choice;
    const struct fit_bands *bands;
    const struct fit_outlook *outlook; /* NULL unless FIT_FITTED */
    enum fit_relation relation;
};

/* How the recording of a check is related to the fit: by the contents of both files, not by names.
 * Fails if a recording cannot be read. */
bool fit_relation_find(const struct fit_learned *learned, const struct beside_twin *check,
                       enum fit_relation *out, struct error *why);

bool fit_report_json(const struct fit_report *report, struct error *why);
bool fit_report_table(const struct fit_report *report, struct error *why);

#endif
