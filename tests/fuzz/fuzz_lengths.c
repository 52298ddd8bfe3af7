/* Fuzzes files of accepted drafts: bytes are refused with a reason, or give probabilities that add up
 * to 1 and a number of tokens that a step can yield. */
#include "decode/draft/drafts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COUNT = 4 };

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void require_distribution(const struct drafts *drafts)
{
    double sum = 0;
    for (uint32_t i = 0; i <= COUNT; i++) {
        require(drafts->accepted[i] >= 0);
        sum += drafts->accepted[i];
    }
    require(fabs(sum - 1) < 1e-9);
    require(drafts_tokens(drafts) >= 1 - 1e-9 && drafts_tokens(drafts) <= COUNT + 1 + 1e-9);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct drafts drafts = {.count = 0};
    struct error why = {.found = ""};
    int file = memfd_create("lengths", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (draft_lengths_read(NULL, path, COUNT, &drafts, &why)) {
        require_distribution(&drafts);
    } else {
        require(why.found[0] != '\0');
    }
    close(file);
    return 0;
}
