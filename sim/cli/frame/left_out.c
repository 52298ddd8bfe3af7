#include "cli/frame/left_out.h"

#include "core/text.h"
#include "tables/table.h"

#include <string.h>

enum { LINE = 2048 };

void left_out_print(const struct candidate *candidates, uint32_t count, bool names, FILE *out)
{
    char reasons[LINE] = "", line[LINE] = "";
    for (uint32_t i = 0; i < count; i++) {
        const char *reason = candidates[i].left_out;
        char systems[LINE] = "";
        uint32_t alike = 0;
        if (reason[0] == '\0' || name_listed(reasons, reason)) {
            continue;
        }
        name_list_add(reasons, sizeof reasons, reason);
        for (uint32_t k = i; k < count; k++) {
            if (strcmp(candidates[k].left_out, reason) == 0) {
                alike += !name_listed(systems, candidates[k].system);
                name_list_add(systems, sizeof systems, candidates[k].system);
            }
        }
        if (names) {
            snprintf(line, sizeof line, "left out, %.200s: %.1800s", reason, systems);
            table_line("", line, out);
        } else {
            text_append(line, sizeof line, "%s %u (%s)", line[0] == '\0' ? "left out:" : ",", alike,
                        reason);
        }
    }
    if (!names && line[0] != '\0') {
        text_append(line, sizeof line, "; --wide lists them");
        table_line("", line, out);
    }
}
