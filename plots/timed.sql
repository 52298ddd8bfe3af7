-- The runs that pictures draw: those with a time, or with served requests.
, candidate AS (SELECT rowid AS id, * FROM runs WHERE status = 'ok' AND (step_us > 0 OR requests > 0))
