/* On what, when and how a profile was measured. Texts, in the order in which a profile states them;
 * one that is empty is left out. */
#ifndef CALIBRATE_MEASURE_PROVENANCE_H
#define CALIBRATE_MEASURE_PROVENANCE_H

#include "base/error.h"
#include "base/node.h"

enum fact {
    FACT_SPILLWAY,     /* version */
    FACT_DATE,         /* UTC, when it began */
    FACT_EFFORT,       /* quick, full */
    FACT_SEED,         /* of the order of samples */
    FACT_GROUPS,       /* what was measured: "link-copies host-gather" */
    FACT_FROM,         /* files of other tools that figures were taken from */
    FACT_NOT_MEASURED, /* what the base says instead */
    FACT_GPU,
    FACT_DRIVER,
    FACT_TOOLKIT,
    FACT_LINK, /* generation and width, now and at most */
    FACT_CPU,
    FACT_CORES, /* that the process may use, and that there are */
    FACT_NUMA,  /* nodes */
    FACT_CLOCKS_START,
    FACT_CLOCKS_END,
    FACT_COUNT
};

struct provenance {
    char facts[FACT_COUNT][1024];
};

/* "clocks_start" */
const char *fact_name(enum fact fact);

void provenance_set(struct provenance *provenance, enum fact fact, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add a word to a fact that is a list of words: "a" to "b" gives "b a". False when it is there. */
bool provenance_add(struct provenance *provenance, enum fact fact, const char *word);
bool provenance_has(const struct provenance *provenance, enum fact fact, const char *word);

/* Read the map that a profile has under `provenance`. */
bool provenance_read(const struct node *node, struct provenance *out, struct error *why);

/* Is it the same machine, measured the same way? `*differs` is the first fact that says it is not.
 */
bool provenance_matches(const struct provenance *a, const struct provenance *b, enum fact *differs);

#endif
