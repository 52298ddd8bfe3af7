#include "cli/frame/left_out.h"

#include "core/text.h"
#include "tables/table.h"

#include <string.h>

enum { LINE = 2048 };

/* Does an earlier candidate have the same reason, or the same system? */
static bool left_out_is_told(const struct candidate *candidates, uint32_t first, uint32_t index,
                             bool reason)
{
    const struct candidate *own = &candidates[index];
    bool told = false;
    for (uint32_t i = first; i < index; i++) {
        const struct candidate *other = &candidates[i];
        told = told || strcmp(reason ? other->left_out : other->system,
                              reason ? own->left_out : own->system) == 0;
    }
    return told;
}

static void left_out_print_reason(const struct candidate *candidates, uint32_t first,
                                  uint32_t count, FILE *out)
{
    const char *reason = candidates[first].left_out;
    char line[LINE];
    size_t used = (size_t)snprintf(line, sizeof line, "left out, %s:", reason);
    for (uint32_t i = first; i < count && used < sizeof line; i++) {
        if (strcmp(candidates[i].left_out, reason) == 0 &&
            !left_out_is_told(candidates, first, i, false)) {
            used += (size_t)snprintf(line + used, sizeof line - used, "%s %s", i > first ? "," : "",
                                     candidates[i].system);
        }
    }
    table_line("", line, out);
}

void left_out_print_counts(const struct candidate *candidates, uint32_t count, FILE *out)
{
    char line[LINE] = "";
    for (uint32_t i = 0; i < count; i++) {
        if (candidates[i].left_out[0] == '\0' || left_out_is_told(candidates, 0, i, true)) {
            continue;
        }
        uint32_t systems = 0;
        for (uint32_t k = i; k < count; k++) {
            systems += strcmp(candidates[k].left_out, candidates[i].left_out) == 0 &&
                       !left_out_is_told(candidates, i, k, false);
        }
        text_append(line, sizeof line, "%s %u (%s)", line[0] == '\0' ? "left out:" : ",", systems,
                    candidates[i].left_out);
    }
    if (line[0] != '\0') {
        text_append(line, sizeof line, "; --wide lists them");
        table_line("", line, out);
    }
}

void left_out_print(const struct candidate *candidates, uint32_t count, FILE *out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (candidates[i].left_out[0] != '\0' && !left_out_is_told(candidates, 0, i, true)) {
            left_out_print_reason(candidates, i, count, out);
        }
    }
}
