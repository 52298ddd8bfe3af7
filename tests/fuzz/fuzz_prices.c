/* Prices of machines: any text is read or refused with a message, and what passes has prices that
 * its machines then have. */
#include "study/plan/candidates.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), a40[] = "a40", h100[] = "h100-sxm";
    char *const machines[] = {a40, h100};
    struct error why = {.line = 0};
    struct scenario scenario;
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    if (!prices_check(text, machines, 2, &why)) {
        assert(why.found[0] != '\0');
    } else if (scenario_init(&scenario, &why)) {
        bool laid =
            prices_set(text, a40, &scenario, &why) && prices_set(text, h100, &scenario, &why);
        assert(laid);
        bool priced = node_find(scenario.root, "hardware.price_per_hour") != NULL;
        assert(priced || text[0] == '\0');
        scenario_release(&scenario);
    }
    free(text);
    return 0;
}
