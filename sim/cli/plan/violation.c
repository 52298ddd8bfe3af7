#include "cli/plan/violation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t say_absent(const struct column *column, size_t used, char text[VIOLATION_TEXT])
{
    return (size_t)snprintf(
        text + used, VIOLATION_TEXT - used, "%shas no %s%s", used > 0 ? ", " : "", column->name,
        column == COLUMN(cost_per_million_tokens) ? " (the hardware has no price_per_hour)" : "");
}

void violation_describe(const struct targets *targets, const struct column *compared,
                        const struct result *result, char text[VIOLATION_TEXT])
{
    const char *status = result_cell(result, COLUMN(status))->text;
    size_t used = 0;
    text[0] = '\0';
    if (strcmp(status, "ok") != 0) {
        snprintf(text, VIOLATION_TEXT, "%s%s (%s)", strcmp(status, "failed") == 0 ? "" : "is ",
                 status, result->message);
        return;
    }
    for (uint32_t i = 0; i < targets->count && used < VIOLATION_TEXT; i++) {
        const struct target *target = &targets->all[i];
        double violation = target_violation(target, result);
        char value[TARGET_TEXT];
        if (isinf(violation)) {
            used += say_absent(target->column, used, text);
        } else if (violation > 0) {
            char share[TARGET_TEXT] = ""; /* nothing is a share of 0 */
            if (target->bound > 0) {
                snprintf(share, sizeof share, " by %.*f %%", violation < 0.01 ? 2 : violation < 0.1,
                         100 * violation);
            }
            used += (size_t)snprintf(text + used, VIOLATION_TEXT - used, "%s%s%s (%s)",
                                     used > 0 ? " and " : "misses ", target->text, share,
                                     target_format(target, result, value));
        }
    }
    bool lacks = compared != NULL && !result_cell(result, compared)->set;
    if (lacks && !targets_judge(targets, compared) && used < VIOLATION_TEXT) {
        say_absent(compared, used, text);
    }
}
