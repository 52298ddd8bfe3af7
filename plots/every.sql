-- All runs, those that failed too: what tables of a report show.
, candidate AS (SELECT rowid AS id, * FROM runs)
