/* Provenance: on what machine, when and how a profile was measured. Facts are texts, in the order
 * in which a profile states them; an empty fact is left out. */
#pragma once

#include "core/error.h"
#include "core/node.h"

#include <stdint.h>

enum fact {
    FACT_SPILLWAY,     /* version */
    FACT_DATE,         /* UTC, when the measurement began */
    FACT_EFFORT,       /* quick, full */
    FACT_SEED,         /* of the order of samples */
    FACT_GROUPS,       /* measured: "link-copies host-gather" */
    FACT_RESTLESS,     /* groups of which a curve did not settle */
    FACT_FROM,         /* files of other tools from which figures were imported */
    FACT_NOT_MEASURED, /* curves that the base profile states instead */
    FACT_GPU,
    FACT_DRIVER,
    FACT_TOOLKIT,
    FACT_LINK, /* generation and width, now and at most */
    FACT_CPU,
    FACT_CORES, /* those that the process may use, and all */
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

/* Add a word to a fact that is a list of words: "a" added to "b" gives "b a". Returns false if the
 * list has the word already. */
bool provenance_add(struct provenance *provenance, enum fact fact, const char *word);
bool provenance_has(const struct provenance *provenance, enum fact fact, const char *word);
void provenance_drop(struct provenance *provenance, enum fact fact, const char *word);

/* Read a profile's map `provenance`. */
bool provenance_read(const struct node *node, struct provenance *out, struct error *why);

/* Do both describe the same machine, measured in the same way? If not, `*differs` is the first fact
 * that differs. */
bool provenance_matches(const struct provenance *a, const struct provenance *b, enum fact *differs);
