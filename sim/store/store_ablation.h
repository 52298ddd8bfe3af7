/* Ablations in the results file: each is several rows of `ablations`; its runs are in `runs`. */
#ifndef STORE_STORE_ABLATION_H
#define STORE_STORE_ABLATION_H

#include "store/store.h"

#include <stdint.h>

/* A NULL text and a number that is not finite become null. */
#define ABLATION_TEXT const char *
#define ABLATION_INTEGER int64_t
#define ABLATION_REAL double
#define ABLATION_US double
struct store_ablation {
#define COLUMN(name, type, what) ABLATION_##type name;
#include "store/ablations.def"
#undef COLUMN
};

/* Put rows in one transaction; a row of the same ablation and place is replaced. */
bool store_put_ablations(struct store *store, const struct store_ablation *rows, uint32_t count,
                         struct error *why);

#endif
