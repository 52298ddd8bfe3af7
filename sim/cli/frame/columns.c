#include "cli/frame/columns.h"

bool columns_read(const struct arguments *arguments, int columns, int wide, int json,
                  struct table_view *out, struct error *why)
{
    *out = (struct table_view){.wide = arguments_given(arguments, wide),
                               .columns = arguments_text(arguments, columns)};
    if (out->wide && out->columns != NULL) {
        return error_usage(why, NULL, 0, "use either --columns or --wide");
    }
    if ((out->wide || out->columns != NULL) && arguments_given(arguments, json)) {
        error_usage(why, NULL, 0, "'%s' is about the table, which --json or --csv replaces",
                    out->wide ? "--wide" : "--columns");
        return error_expect(why, "one of the two; --json and --csv have all figures");
    }
    return true;
}
