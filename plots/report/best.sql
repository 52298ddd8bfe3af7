-- The best run of each setting.
, placed_first AS (
  SELECT *, row_number() OVER (PARTITION BY kind, setting ORDER BY score DESC, id) AS place FROM scored
)
SELECT setting, run AS best, choice AS best_name,
       (SELECT scenario FROM main.runs WHERE main.runs.run = placed_first.run) AS scenario
FROM placed_first WHERE place = 1 ORDER BY id;
