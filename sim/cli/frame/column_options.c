#include "cli/frame/column_options.h"

bool view_read(const struct arguments *arguments, const struct frame_column *columns,
               uint32_t count, struct table_view *out, struct error *why)
{
    bool data = arguments_shared(arguments, "--json") != NULL ||
                arguments_shared(arguments, "--csv") != NULL;
    *out = (struct table_view){.wide = arguments_shared(arguments, "--wide") != NULL,
                               .columns = arguments_shared(arguments, "--columns"),
                               .why = arguments_shared(arguments, "--why") != NULL};
    if (out->wide && out->columns != NULL) {
        return error_usage(why, NULL, 0, "use either --columns or --wide");
    }
    if ((out->wide || out->columns != NULL || out->why) && data) {
        error_usage(why, NULL, 0, "'%s' is about the table, which --json or --csv replaces",
                    out->wide  ? "--wide"
                    : out->why ? "--why"
                               : "--columns");
        return error_expect(why, "one of the two; --json and --csv have all figures");
    }
    return frame_view_check(out, columns, count, why);
}
