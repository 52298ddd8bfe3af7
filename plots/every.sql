-- All runs, including those that failed, for the tables of a report.
, chosen(id) AS (SELECT rowid FROM runs)
