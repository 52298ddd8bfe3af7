/* Fuzzes files of papers: bytes are refused with a reason, or give rows with valid figures and
 * scenarios. */
#include "study/papers/paper.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void require_row(const struct paper_row *row)
{
    require(row->most >= row->least && row->least >= 0);
    require(row->rank || row->most > 0 || row->not_comparable != NULL);
    require(row->used == NULL || row->not_comparable != NULL);
    for (int i = 0; i < PAPER_MOST_RUNS; i++) {
        require(row->runs[i].root == NULL || row->runs[i].points == 1);
    }
    require(row->runs[PAPER_RUN].root == NULL || row->take.count > 0);
    char name[8]; /* too short for most */
    for (uint32_t i = 0; i < row->case_count; i++) {
        paper_case_name(row, i, name, sizeof name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct paper paper;
    struct error why;
    int file = memfd_create("paper", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (paper_load(path, &paper, &why)) {
        for (size_t i = 0; i < paper.row_count; i++) {
            require_row(&paper.rows[i]);
        }
        paper_release(&paper);
    } else {
        require(why.found[0] != '\0');
    }
    close(file);
    return 0;
}
