/* `spillway merge`: merges databases of several machines into one. */
#include "core/unfinished.h"
#include "cli/frame/arguments.h"
#include "store/store.h"

#include <inttypes.h>
#include <unistd.h>

enum { OUTPUT };

static const struct command_option options[] = {
    [OUTPUT] = {"--output", "DB", "the database to merge into; created if it does not exist",
                .letter = 'o', .required = true},
    {.name = NULL},
};

static bool merge_command_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    uint64_t added;
    const char *const *paths = arguments_operands(arguments, &count);
    const char *output = arguments_text(arguments, OUTPUT);
    struct store *store = NULL;
    struct destination to;
    bool existed = access(output, F_OK) == 0;
    bool ok = (store = store_open(output, true, why)) != NULL &&
              store_merge(store, paths, count, &added, why);
    bool made = store != NULL && !existed;
    store_close(store);
    if (!ok && made && destination_find(output, &to, ERROR_UNSEEN)) {
        unlink(to.path); /* do not leave an empty file that looks like the result */
    }
    if (ok) {
        printf("%" PRIu64 " run%s added to %s\n", added, added == 1 ? "" : "s", output);
    }
    return ok;
}

const struct command command_merge = {
    .name = "merge",
    .operands = "DB...",
    .summary = "merge databases into one, such as those of a sweep's shards",
    .example = "spillway merge shard-*.db -o results.db",
    .options = options,
    .run = merge_command_run,
};
