-- A page is of at most 4000 of the chosen runs, so that it ends soon and stays small: in turn the best, the next, ... of each
-- system, model, machine and context. The best has most good requests or tokens a second.
, bounded(id) AS (
  SELECT id FROM (
    SELECT rowid AS id, row_number() OVER (PARTITION BY system, model, hardware, context
                                           ORDER BY goodput DESC, decode_tokens_per_s DESC, rowid) AS place
    FROM runs WHERE rowid IN (SELECT id FROM chosen))
  ORDER BY place, id LIMIT 4000
),
candidate AS (SELECT rowid AS id, * FROM runs WHERE rowid IN (SELECT id FROM bounded))
