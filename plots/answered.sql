-- The runs that candidates of plans are judged by: of each the value found, or else the nearest.
, candidate AS (SELECT rowid AS id, * FROM runs WHERE run IN (SELECT run FROM plans WHERE run IS NOT NULL) AND status = 'ok')
