-- What each mechanism saves, alone (or on top of the least that it needs) and added last; and the sum of
-- what they save alone beside what the system saves.
, saved(mechanism, place, alone, last, alone_low, alone_high, last_low, last_high) AS (
  SELECT mechanism, MIN(place) FILTER (WHERE kind = 'alone'),
         MAX(saves_us) FILTER (WHERE kind = 'alone' AND status <> 'refused') / 1000,
         MAX(saves_us) FILTER (WHERE kind = 'left-out' AND status <> 'refused') / 1000,
         MAX(saves_us_low) FILTER (WHERE kind = 'alone') / 1000, MAX(saves_us_high) FILTER (WHERE kind = 'alone') / 1000,
         MAX(saves_us_low) FILTER (WHERE kind = 'left-out') / 1000, MAX(saves_us_high) FILTER (WHERE kind = 'left-out') / 1000
  FROM ablations WHERE ablation IN (SELECT ablation FROM drawn) AND mechanism IS NOT NULL GROUP BY mechanism
),
bar(name, y, alone, last, alone_low, alone_high, last_low, last_high) AS (
  SELECT mechanism, row_number() OVER (ORDER BY place), alone, last, alone_low, alone_high, last_low, last_high FROM saved
  WHERE alone IS NULL OR last IS NULL OR alone <> 0 OR last <> 0
),
base(step) AS (
  SELECT printf('%.4g ms', ablations.step_us / 1000) FROM ablations JOIN drawn USING (ablation) WHERE ablations.kind = 'base'
)
SELECT 'ablation' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, ablation AS text, '' AS name FROM drawn
UNION ALL SELECT 'title', 0, 0, 0, 0,
       drawn.system || ' against ' || base || COALESCE(': ' || model || ' on ' || CASE WHEN gpus > 1 THEN gpus || ' x ' ELSE '' END || hardware || ', ' || context || ' tokens, batch ' || batch, '')
         || COALESCE((SELECT ', ' || group_concat(text, ', ') FROM unlike WHERE id = ablation AND key NOT IN ('model', 'hardware', 'context', 'batch')), ''), ''
       FROM drawn
UNION ALL SELECT 'source', 0, 0, 0, 0,
       'a step of ' || base || ': ' || COALESCE(base.step, 'no time') || COALESCE('; hit ratios: ' || trace_source, ''), '' FROM drawn, base
-- A step without a time saves NaN.
UNION ALL SELECT 'both', 0, COALESCE(alone_us / 1000, 'NaN'), COALESCE(saves_us / 1000, 'NaN'), 0, 'summed, together', '' FROM drawn
UNION ALL SELECT 'bar', y, COALESCE(alone, 'NaN'), COALESCE(last, 'NaN'), 0, name, '' FROM bar
-- Over families of recordings; of the whole, its own.
UNION ALL SELECT 'range', y, alone_low, alone_high, 1, '', 'bar' FROM bar WHERE alone_low < alone_high
UNION ALL SELECT 'range', y, last_low, last_high, 2, '', 'bar' FROM bar WHERE last_low < last_high
UNION ALL SELECT 'range', 0, saves_us_low / 1000, saves_us_high / 1000, 2, '', 'both' FROM drawn WHERE saves_us_low < saves_us_high;
