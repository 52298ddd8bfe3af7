/* Whose results a reader sees, where a file holds those of several programs.
 *
 * Every row says which program computed it (the column `version`). After a change of what computes,
 * the same question is another run, stored beside the old one: both are kept, and a page or a
 * picture that mixed them would compare two programs.
 */
#pragma once

#include "store/store.h"

#include <stdint.h>

enum { STORE_PROGRAM = 64 };

struct store_program {
    char name[STORE_PROGRAM]; /* whose results are shown; "": the file says none */
    bool own;                 /* this program's */
    uint64_t hidden;          /* runs and validations of other programs */
};

/* From now on queries of `store`, which is open for reading, see one program's runs, plans,
 * ablations and validations: this program's if there are any, else the last that were stored. */
bool store_show_program(struct store *store, struct store_program *out, struct error *why);
