/* An ablation for programs: the rows of ablations.def, as JSON and in a database. */
#ifndef CLI_ABLATE_ABLATE_ROWS_H
#define CLI_ABLATE_ABLATE_ROWS_H

#include "store/store.h"
#include "study/ablate/ablation.h"

#include <stdio.h>

/* A JSON object a row, on a line of its own. Fails on text that is not UTF-8. */
bool ablate_print_json(const struct ablation *ablation, FILE *out, struct error *why);

bool ablate_store(const struct ablation *ablation, struct store *store, struct error *why);

#endif
