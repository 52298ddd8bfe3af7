/* The bands beside the figures of a report of `trace fit`: of shipped rows, and of the recordings
 * that the user named. */
#ifndef CLI_TRACE_FIT_BANDS_H
#define CLI_TRACE_FIT_BANDS_H

#include "cli/trace/beside_twin.h"
#include "decode/replay/twin_bands.h"

/* A band of each figure. `known` is false where there is none. */
struct fit_bands {
    bool known[LIKENESS_FIGURES];
    double band[LIKENESS_FIGURES][2];
};

/* What was learned: `own` is [count], the fitted recording first. */
struct fit_learned {
    struct twin_rows shipped;
    const struct beside_twin *own;
    uint32_t count;
    bool is_like_shipped; /* the same demands, all layers that offload: else there are no bands */
};

/* The bands for a recording like that of `report`: of another text of the fitted model at its
 * context, or of another model. Demands of another share than TWIN_SELECTION have none. */
bool fit_bands_find(const struct fit_learned *learned, const struct beside_twin *report,
                    struct fit_bands *out, struct error *why);

/* The bands that a user without other recordings wants to know. */
struct fit_outlook {
    double is_twice[LIKENESS_FIGURES]; /* the twin at twice the context */
    struct fit_bands text, twice, model;
};
bool fit_outlook_find(const struct fit_learned *learned, const struct fitted *fitted,
                      struct fit_outlook *out, struct error *why);

#endif
