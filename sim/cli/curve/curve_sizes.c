#include "cli/curve/curve_sizes.h"

#include "core/array.h"
#include "core/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Closer together at small sizes, where curves bend. */
static const char default_list[] = "1%,2%,5%,10%,15%,20%,30%,40%,50%,70%,100%";

void curve_sizes_release(struct curve_sizes *sizes)
{
    free(sizes->size);
    *sizes = (struct curve_sizes){.size = NULL};
}

static bool sizes_add(struct curve_sizes *sizes, double size, struct error *why)
{
    if (!array_reserve(&sizes->size, &sizes->capacity, sizes->count + 1, sizeof *sizes->size,
                       why)) {
        return false;
    }
    sizes->size[sizes->count++] = (uint32_t)size;
    return true;
}

static bool curve_sizes_add_text(struct curve_sizes *sizes, const char *text, uint32_t blocks,
                                 struct error *why)
{
    struct quantity quantity;
    bool known = quantity_parse(text, &quantity) && quantity.value >= 0;
    if (known && quantity.unit == UNIT_COUNT && quantity.value > 0 && quantity.value < 1) {
        quantity.unit = UNIT_SHARE; /* 0.1 is 10% */
    }
    if (known && quantity.unit == UNIT_SHARE && quantity.value <= 1) {
        double share = quantity.value;
        sizes->in_blocks = false;
        return sizes_add(sizes, share > 0 ? fmax(1, floor(share * blocks + 0.5)) : 0, why);
    }
    if (known && quantity.unit == UNIT_COUNT && quantity.value <= UINT32_MAX &&
        quantity.value == floor(quantity.value)) {
        return sizes_add(sizes, quantity.value, why);
    }
    error_usage(why, NULL, 0, "--sizes: '%s' is not a size", text);
    return error_expect(why, "numbers of blocks, as 512, or shares, as 30%%, separated by commas");
}

/* With few blocks, several shares give the same size. */
static void drop_repeated(struct curve_sizes *sizes)
{
    size_t kept = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        if (kept == 0 || sizes->size[i] != sizes->size[kept - 1]) {
            sizes->size[kept++] = sizes->size[i];
        }
    }
    sizes->count = kept;
}

bool curve_sizes_read(const char *list, uint32_t blocks, struct curve_sizes *sizes,
                      struct error *why)
{
    char *copy = strdup(list != NULL ? list : default_list), *rest = copy, *text;
    bool ok = copy != NULL || error_set(why, NULL, 0, "out of memory");
    sizes->in_blocks = true;
    while (ok && (text = strsep(&rest, ",")) != NULL) {
        ok = curve_sizes_add_text(sizes, text, blocks, why);
    }
    free(copy);
    if (list == NULL) {
        drop_repeated(sizes);
    }
    return ok;
}

bool curve_sizes_all(uint32_t blocks, struct curve_sizes *sizes, struct error *why)
{
    bool ok = true;
    for (uint32_t size = 1; ok && size <= blocks; size++) {
        ok = sizes_add(sizes, size, why);
    }
    return ok;
}

void curve_sizes_keep(struct curve_sizes *sizes, uint32_t least)
{
    size_t kept = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        if (sizes->size[i] >= least) {
            sizes->size[kept++] = sizes->size[i];
        }
    }
    sizes->count = kept;
}
