#include "cli/frame/columns.h"

bool view_read(const struct arguments *arguments, const struct view_options *options,
               struct table_view *out, struct error *why)
{
    *out = (struct table_view){.wide = arguments_given(arguments, options->wide),
                               .columns = arguments_text(arguments, options->columns),
                               .why = arguments_given(arguments, options->why)};
    if (out->wide && out->columns != NULL) {
        return error_usage(why, NULL, 0, "use either --columns or --wide");
    }
    if ((out->wide || out->columns != NULL || out->why) &&
        arguments_given(arguments, options->json)) {
        error_usage(why, NULL, 0, "'%s' is about the table, which --json or --csv replaces",
                    out->wide  ? "--wide"
                    : out->why ? "--why"
                               : "--columns");
        return error_expect(why, "one of the two; --json and --csv have all figures");
    }
    return true;
}
