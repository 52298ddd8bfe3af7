#include "cli/frame/database.h"

bool database_open(const struct arguments *arguments, int option, struct store **out,
                   struct error *why)
{
    const char *path = arguments_text(arguments, option);
    *out = path != NULL ? store_open(path, true, why) : NULL;
    return path == NULL || *out != NULL;
}
