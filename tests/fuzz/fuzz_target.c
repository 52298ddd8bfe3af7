/* Fuzzes targets: a text is refused with a reason, or it has numeric bounds that do not contradict
 * each other, and reads back from its own text. */
#include "study/plan/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* A run with a figure in every numeric column meets the target, or misses it by a finite share. */
static void check_target(const struct target *target, struct result *result)
{
    struct targets again;
    struct error why;
    char text[TARGET_TEXT];
    require(isfinite(target->bound) && target->bound >= 0);
    require(targets_parse(target->text, &again, &why) && again.count == 1);
    require(again.all[0].column == target->column && again.all[0].bound == target->bound);
    if (unit_is_whole(target->column->unit) || unit_kinds[target->column->unit].ns > 0) {
        result_integer(result, target->column, 1);
    } else {
        result_real(result, target->column, 1);
    }
    double violation = target_violation(target, result);
    require(isfinite(violation) && violation >= 0);
    require(strlen(target_format(target, result, text)) < sizeof text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct targets targets;
    struct error why = {.found = ""};
    struct result result;
    char *text = strndup((const char *)data, size);
    result_init(&result);
    require(text != NULL && result_text(&result, COLUMN(status), "ok", &why));
    if (targets_parse(text, &targets, &why)) {
        require(targets.count > 0 && targets.count <= TARGETS_MOST);
        for (uint32_t i = 0; i < targets.count; i++) {
            check_target(&targets.all[i], &result);
        }
    } else {
        require(why.found[0] != '\0' && why.kind == ERROR_USAGE);
    }
    result_release(&result);
    free(text);
    return 0;
}
