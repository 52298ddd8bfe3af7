/* Results in SQLite: one file, one transaction per run.
 *
 * Tables: runs (the columns of columns.def, the hashes, version and seed), their detail, curves, and the
 * rows of studies (store/schema.c; docs/database.md).
 *
 * A run's identity is its hash, in which the program has a part: a run that is already stored is not stored
 * twice, and a changed program stores a run of its own. A killed process leaves only whole runs. No column
 * holds the wall clock, so an interrupted and resumed sweep gives the rows of an uninterrupted one.
 *
 * A file of another version lacks columns, or has more: a writer adds those of this version in one
 * transaction, a reader does so in a copy that it keeps for itself. A file that is no database, belongs to
 * another program, or holds something that could run is refused and left as it is. A reader also refuses a
 * file in which a value is not what its column holds. */
#pragma once

#include "core/error.h"
#include "predict/result/result.h"

struct stop_flag;
struct store;

/* Open for writing (created when absent) or reading (must exist). NULL, for writing: one in memory alone. */
struct store *store_open(const char *path, bool writable, struct error *why);
void store_close(struct store *store);

/* Keep of runs only what store_get() and store_get_draws() read: the rows of requests take longest to put. */
void store_spare_detail(struct store *store);

/* Abandon statements, and the wait for a file in use, once the flag is raised, which outlives the store. */
void store_watch(struct store *store, const struct stop_flag *stop);

/* Is there a finished run of this identity? */
bool store_has(struct store *store, const char *run, bool *found, struct error *why);

/* Read a run back: all columns, and of its detail the figures of families. Texts belong to the result. */
bool store_get(struct store *store, const char *run, struct result *result, struct error *why);

/* Put a run with its detail in one transaction; to one that is stored missing replications are added. */
bool store_put(struct store *store, const struct result *result, struct error *why);

/* Note that the file holds shard `number` of the `count` of a sweep over several machines. */
bool store_put_turn(struct store *store, uint32_t number, uint32_t count, struct error *why);

/* Put the contents of the files at `paths` into `into`, each in one transaction; `*added` counts new runs.
 * Shards of one sweep are interleaved, as a single machine would have written them. Rows that are there twice
 * must be equal; files of another schema are refused. */
bool store_merge(struct store *into, const char *const *paths, uint32_t count, uint64_t *added,
                 struct error *why);

/* Run a query and hand each row, as texts (NULL for null), to `row`; used by plots and reports. */
typedef bool (*store_row)(uint32_t count, const char *const *names, const char *const *values,
                          void *context, struct error *why);
bool store_query(struct store *store, const char *sql, store_row row, void *context,
                 struct error *why);

/* Whose results a reader sees: after a change of what computes, the same question is another run, stored
 * beside the old one, and a page that mixed them would compare two programs (column `version`). */

enum { STORE_PROGRAM = 64, STORE_NOTE = 320 };

/* Open a file to show one program's runs and studies: this one's, else those stored last. `note` says that
 * results are left out, or that another program computed them; "" if neither. */
struct store *store_open_shown(const char *path, char note[STORE_NOTE], struct error *why);
