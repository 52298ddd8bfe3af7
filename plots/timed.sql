-- Of runs, those that have a time, or served requests: what pictures draw.
, candidate AS (SELECT rowid AS id, * FROM runs WHERE status = 'ok' AND (step_us > 0 OR requests > 0))
