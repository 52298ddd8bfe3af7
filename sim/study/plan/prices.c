#include "study/plan/prices.h"

#include "core/named.h"
#include "core/text.h"
#include "core/units.h"

#include <stdio.h>
#include <string.h>

#define OPTION "--price"

enum { ITEM = 512 };

struct price {
    char machine[ITEM]; /* its canonical name, or a path */
    char number[ITEM];
};

static bool prices_read(const char *item, size_t length, struct price *out, struct error *why)
{
    char text[ITEM], canonical[NAMED_SIZE];
    double dollars;
    snprintf(text, sizeof text, "%.*s", (int)length, item);
    char *equals = length < sizeof text ? strrchr(text, '=') : NULL;
    if (equals == NULL || equals == text) {
        error_usage(why, OPTION, 0, "'%.80s' is no price", text);
        return error_expect(why, "MACHINE=DOLLARS, such as a40=0.44, separated by commas");
    }
    *equals = '\0';
    snprintf(out->machine, sizeof out->machine, "%s",
             named_canonical(&named_machine, text, canonical) ? canonical : text);
    snprintf(out->number, sizeof out->number, "%s", equals + 1);
    return units_parse(out->number, UNIT_COUNT, NULL, 0, OPTION, &dollars, why);
}

/* The first item of a list, checked up to there, that prices the machine; NULL: none does. */
static const char *prices_find(const char *prices, const char *machine, struct price *out,
                               struct error *why)
{
    const char *item;
    size_t length;
    while (prices != NULL && text_item(&prices, &item, &length)) {
        if (prices_read(item, length, out, why) && strcmp(out->machine, machine) == 0) {
            return item;
        }
    }
    return NULL;
}

bool prices_set(const char *prices, const char *machine, struct scenario *scenario,
                struct error *why)
{
    struct price price;
    return prices_find(prices, machine, &price, why) == NULL ||
           node_set(scenario->root, "hardware.price_per_hour", price.number, why);
}

bool prices_check(const char *prices, char *const *machines, size_t count, struct error *why)
{
    const char *item, *rest = prices;
    size_t length;
    while (rest != NULL && text_item(&rest, &item, &length)) {
        struct price price, first;
        size_t i = 0;
        if (!prices_read(item, length, &price, why)) {
            return false;
        }
        while (i < count && strcmp(machines[i], price.machine) != 0) {
            i++;
        }
        if (i == count) {
            error_usage(why, OPTION, 0, "'%s' is none of the machines", price.machine);
            return error_expect(why, "one of them, such as %s", machines[0]);
        }
        if (prices_find(prices, price.machine, &first, why) != item) {
            error_usage(why, OPTION, 0, "'%.80s' has two prices, %.40s and %.40s", price.machine,
                        first.number, price.number);
            return error_expect(why, "one price a machine");
        }
    }
    return true;
}
