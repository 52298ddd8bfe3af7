/* Fuzzes quantities: an accepted text is finite and not negative, is nearly the same when printed
 * and read back, and all ways of reading it agree. */
#include "core/units.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_quantity(const struct quantity *quantity)
{
    char text[32];
    struct quantity again;
    require(isfinite(quantity->value) && quantity->value >= 0);
    units_format(quantity->value, quantity->unit, text, sizeof text);
    require(strlen(text) < sizeof text - 1);
    if (quantity->value > 1e-30 && quantity->value < 9e18) { /* rounding up stays in range */
        require(quantity_parse(text, &again) && again.unit == quantity->unit);
        require(fabs(again.value - quantity->value) <= 0.00501 * quantity->value);
    }
}

static void check_unit(const char *text, enum unit unit, bool known,
                       const struct quantity *quantity)
{
    struct error why = {.found = ""};
    double value;
    uint64_t whole;
    bool asked = unit == UNIT_BYTES && (!known || quantity->unit == UNIT_TOKENS); /* "8G", "8K" */
    if (units_parse(text, unit, "fuzz", 1, "key", &value, &why)) {
        require(asked || (known && (quantity->unit == unit || quantity->unit == UNIT_COUNT)));
        require(asked || value == quantity->value);
    } else {
        require(why.found[0] != '\0' && why.expected[0] != '\0');
    }
    if (units_parse_whole(text, unit, UINT64_MAX, "fuzz", 1, "key", &whole, &why) && known &&
        !asked) {
        require(fabs((double)whole - quantity->value) <= 1e-6 * quantity->value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    require(text != NULL);
    struct quantity quantity = {0};
    bool known = quantity_parse(text, &quantity);
    if (known) {
        check_quantity(&quantity);
    }
    for (int unit = UNIT_COUNT; unit <= UNIT_FLOP_PER_S; unit++) {
        check_unit(text, (enum unit)unit, known, &quantity);
    }
    free(text);
    return 0;
}
