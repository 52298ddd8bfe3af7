/* The end of the page that `compare` prints: verdicts and errors by class, error bands, and the
 * figures that were read off rows. */
#ifndef CLI_COMPARE_SUMMARY_H
#define CLI_COMPARE_SUMMARY_H

#include "study/papers/class_errors.h"

/* Print it, as Markdown. `errors`: out, those of each class of systems. Fails only if memory runs
 * out. */
bool compare_print_summary(const struct comparison *comparison,
                           struct class_errors errors[ERROR_BAND_COUNT], FILE *out,
                           struct error *why);

#endif
