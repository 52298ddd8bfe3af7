-- All runs, including those that failed, for the tables of a report.
, candidate AS (SELECT rowid AS id, * FROM runs)
