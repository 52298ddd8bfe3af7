-- The run that each plan found, or else the nearest.
, ranked AS (
  SELECT *, row_number() OVER (PARTITION BY plan ORDER BY verdict <> 'wins', verdict <> 'meets', place) AS rank
  FROM plans WHERE run IS NOT NULL
)
SELECT run AS best, system AS best_name, COALESCE(substr(goal, instr(goal, ' ') + 1) || ' ' || value, '') AS setting,
       (SELECT scenario FROM main.runs WHERE main.runs.run = ranked.run) AS scenario
FROM ranked WHERE rank = 1 ORDER BY plan;
