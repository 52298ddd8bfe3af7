/* The options of commands that print a table: --columns NAME,..., --wide, --why. */
#pragma once

#include "cli/frame/arguments.h"
#include "tables/frame.h"

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

/* Read the options into `out`. --columns and --wide exclude each other, and all three exclude
 * --json and --csv, which have everything. --columns names columns of these, or of results. */
bool view_read(const struct arguments *arguments, const struct frame_column *columns,
               uint32_t count, struct table_view *out, struct error *why);
