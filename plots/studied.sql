-- The runs that a report compares: all, but none where they belong to an ablation, which has an answer of its own.
, candidate AS (SELECT rowid AS id, * FROM runs WHERE NOT EXISTS (SELECT 1 FROM ablations))
