/* Results in SQLite: one file, one transaction a run.
 *
 * Tables: runs (the columns of columns.def, the hashes, version and seed), parts and stalls (run,
 * name, us), layers (run, layer, us, hit_ratio, h2d_bytes), steps (run, step, us, hit_ratio,
 * h2d_bytes), requests (run, request, what became of it), waits (run, request, name, ms: what its
 * time from arrival to end went to), series (series.def: servers over time); replications (run,
 * hash of the ranges drawn from, number, the figures of drawn.def); curves (what store_curve.h has)
 * and curve_points (curve, size, misses); shards; validations, ablations, plans and
 * plan_points (the .def of the name).
 * A run's identity is its hash: a run already there is not put twice. A killed process leaves whole
 * runs only; no column holds the wall clock, so an interrupted and resumed sweep gives the rows of
 * an uninterrupted one.
 *
 * A file that is no database, is another program's, or has another schema version is refused and
 * left alone.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/error.h"
#include "result/result.h"

#include <stdbool.h>

struct store;

/* Open for writing (created when absent) or for reading only (must exist). */
struct store *store_open(const char *path, bool writable, struct error *why);
void store_close(struct store *store);

/* Does this file begin as databases do, whatever it holds? */
bool store_is_database(const char *path);

/* Is there a finished run of this identity? */
bool store_has(struct store *store, const char *run, bool *found, struct error *why);

/* Read a run back, all columns and detail but requests, waits, series and replications. Texts are
 * the result's. */
bool store_get(struct store *store, const char *run, struct result *result, struct error *why);

/* Put a run with its detail in one transaction. A run that is there already stays as it is, but for
 * replications that it did not have. */
bool store_put(struct store *store, const struct result *result, struct error *why);

/* Which part of a sweep of several machines a file holds. */
struct store_shard {
    char scenario[17]; /* hash of the whole, its sweep included */
    uint32_t points, number, count;
};

/* Say so in the file, before its runs. One that holds another sweep's, or another of its shards, is
 * refused. */
bool store_put_shard(struct store *store, const struct store_shard *shard, struct error *why);

/* Put what the files at `paths` hold into `into`, in one transaction; `*added` runs were not there.
 * Shards of one sweep are interleaved, so that all of them come to the file that a single machine
 * would have written; other files follow each other. What is there twice must be the same; files of
 * another version, and shards of different sweeps, are refused. */
bool store_merge(struct store *into, const char *const *paths, uint32_t count, uint64_t *added,
                 struct error *why);

/* Run a query and hand each row, as texts (NULL for null), to `row`; for plots and reports. */
typedef bool (*store_row)(uint32_t count, const char *const *names, const char *const *values,
                          void *context, struct error *why);
bool store_query(struct store *store, const char *sql, store_row row, void *context,
                 struct error *why);

#endif
