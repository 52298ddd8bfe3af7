#include "cli/frame/ranges.h"

void ranges_put(const struct result *result, const struct range_cell *cells, size_t count,
                const char **texts, char (*room)[RANGE_TEXT])
{
    for (size_t i = 0; i < count; i++) {
        const char *text = range_text(result, cells[i].column, cells[i].scale, room[i]);
        texts[cells[i].place] = text != NULL ? text : texts[cells[i].place];
    }
}
