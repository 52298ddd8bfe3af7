#include "cli/plan/shortfall.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void shortfall_describe(const struct targets *targets, const struct result *result,
                        char text[SHORTFALL_TEXT])
{
    const char *status = result->cells[COLUMN_STATUS].text;
    size_t used = 0;
    if (strcmp(status, "ok") != 0) {
        snprintf(text, SHORTFALL_TEXT, "%s%s (%s)", strcmp(status, "failed") == 0 ? "" : "is ",
                 status, result->message);
        return;
    }
    for (uint32_t i = 0; i < targets->count && used < SHORTFALL_TEXT; i++) {
        const struct target *target = &targets->all[i];
        double shortfall = target_shortfall(target, result);
        char value[TARGET_TEXT];
        if (isinf(shortfall)) {
            used += (size_t)snprintf(
                text + used, SHORTFALL_TEXT - used, "%shas no %s%s", used > 0 ? ", " : "",
                column_kinds[target->column].name,
                target->column == COLUMN_COST ? " (the hardware has no price_per_hour)" : "");
        } else if (shortfall > 0) {
            used += (size_t)snprintf(text + used, SHORTFALL_TEXT - used, "%s%s by %.*f %% (%s)",
                                     used > 0 ? " and " : "misses ", target->text,
                                     shortfall < 0.01 ? 2 : shortfall < 0.1, 100 * shortfall,
                                     target_format(target, result, value));
        }
    }
}
