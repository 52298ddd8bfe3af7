/* The options of commands that print a table: --columns NAME,..., --wide, --why. */
#ifndef CLI_FRAME_COLUMNS_H
#define CLI_FRAME_COLUMNS_H

#include "cli/frame/arguments.h"
#include "answer/table.h"

#define COLUMNS_OPTION                                                                             \
    {                                                                                              \
        .name = "--columns", .argument = "NAME,...", .list = true,                                 \
        .summary =                                                                                 \
            "show these columns, in this order: of the table, as below, or any of 'list columns'"  \
    }

#define WIDE_OPTION                                                                                \
    {                                                                                              \
        .name = "--wide",                                                                          \
        .summary = "show all columns of the table, in lines as long as they need"                  \
    }

#define WHY_OPTION                                                                                 \
    {                                                                                              \
        .name = "--why", .summary = "below the table, also say what its figures rest on"           \
    }

/* The numbers of these options among the command's, and of --json or --csv. */
struct view_options {
    int columns, wide, why, json;
};

/* Read the options into `out`. --columns and --wide exclude each other, and all three exclude JSON
 * and CSV, which have everything. */
bool view_read(const struct arguments *arguments, const struct view_options *options,
               struct table_view *out, struct error *why);

#endif
