/* The options of commands that print a table: --columns NAME,... and --wide. */
#ifndef CLI_FRAME_COLUMNS_H
#define CLI_FRAME_COLUMNS_H

#include "cli/frame/arguments.h"
#include "answer/table.h"

#define COLUMNS_OPTION                                                                             \
    {                                                                                              \
        .name = "--columns", .argument = "NAME,...", .list = true,                                 \
        .summary = "show these columns of the table, in this order; their names are below"         \
    }

#define WIDE_OPTION                                                                                \
    {                                                                                              \
        .name = "--wide",                                                                          \
        .summary = "show all columns of the table, in lines as long as they need"                  \
    }

/* Read the command's options number `columns` and `wide` into `out`. They exclude each other, and
 * option number `json`, whose output has all figures. */
bool columns_read(const struct arguments *arguments, int columns, int wide, int json,
                  struct table_view *out, struct error *why);

#endif
