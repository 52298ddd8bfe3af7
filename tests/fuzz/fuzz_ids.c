/* Fuzzes plain streams of ids: bytes are refused with a reason, or every policy that fetches on
 * demand plays them. No policy misses less than OPT, more than all accesses, or less than the
 * number of distinct ids. */
#include "policy/policy.h"
#include "study/sweep/miss_curve.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZES = 4, LONGEST = 4096 };

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static struct miss_curve draw(const struct ids *ids, const char *policy, const uint32_t *sizes)
{
    struct error why;
    struct miss_curve curve;
    struct miss_request request = {
        .policy = policy_find(policy, NULL, 0, &why), .sizes = sizes, .count = SIZES};
    curve = (struct miss_curve){0};
    require(miss_curve_of_ids(ids, &request, 1, &curve, &why));
    return curve;
}

static bool fetches_on_demand(const struct policy_kind *policy)
{
    return !policy->needs_queries && !policy->chooses_own && !policy->by_position;
}

static void draw_all(const struct ids *ids, const uint32_t *sizes)
{
    struct miss_curve least = draw(ids, "opt:bypass", sizes);
    for (size_t row = 0; policies[row]; row++) {
        if (!fetches_on_demand(policies[row])) {
            continue;
        }
        struct miss_curve curve = draw(ids, policies[row]->name, sizes);
        require(curve.accesses[0] == ids->count);
        for (uint32_t i = 0; i < SIZES; i++) {
            require(curve.misses[i] >= least.misses[i] && curve.misses[i] >= ids->blocks &&
                    curve.misses[i] <= ids->count);
        }
        miss_curve_release(&curve);
    }
    miss_curve_release(&least);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct error why;
    struct ids ids;
    int file = memfd_create("fuzz.u32", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (!ids_read(path, &ids, &why)) {
        require(why.found[0] != '\0');
    } else if (ids.count <= LONGEST) { /* longer streams would only be slow */
        uint32_t sizes[SIZES] = {1, 1 + ids.blocks / 10, 1 + ids.blocks / 3, ids.blocks};
        draw_all(&ids, sizes);
    }
    ids_release(&ids);
    close(file);
    return 0;
}
