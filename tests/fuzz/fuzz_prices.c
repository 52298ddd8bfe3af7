/* Prices of machines: any text is read, and then its machines have prices, or refused with a message. */
#include "study/plan/candidates.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), a40[] = "a40", h100[] = "h100-sxm";
    struct candidate candidates[] = {{.machine = a40}, {.machine = h100}};
    struct error why = {.line = 0};
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = '\0';
    if (scenario_init(&candidates[0].scenario, &why) &&
        scenario_init(&candidates[1].scenario, &why)) {
        bool priced = prices_set(text, candidates, 2, &why);
        assert(priced || why.found[0] != '\0');
        for (size_t i = 0; i < 2; i++) {
            const struct node *price =
                node_find(candidates[i].scenario.root, "hardware.price_per_hour");
            assert(!priced || price == NULL || price->text[0] != '\0');
        }
    }
    scenario_release(&candidates[0].scenario);
    scenario_release(&candidates[1].scenario);
    free(text);
    return 0;
}
