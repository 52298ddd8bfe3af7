-- Attention mass by step: what is attended to after the prompt, as the run goes on. A line is a run; long runs are drawn
-- as means over as many steps as keep a line at some 128 points.
, variant(id, text) AS (
  SELECT id, group_concat(text, ', ') FROM (SELECT * FROM word ORDER BY id, path) GROUP BY id
),
shown AS (
  SELECT ok.id, run, warmup, 1 + (steps - 1) / 128 AS each, system || COALESCE(', ' || variant.text, '') AS series
  FROM ok LEFT JOIN variant USING (id) WHERE mass_recall IS NOT NULL AND run IN (SELECT run FROM steps)
),
line(id, series, place) AS (SELECT id, series, row_number() OVER (ORDER BY id) FROM shown),
point AS (
  SELECT shown.id, AVG(warmup + step + 1) AS x, 100 * AVG(steps.mass_recall) AS mass
  FROM shown JOIN steps USING (run) GROUP BY shown.id, step / each
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, replace(replace(text, 'hit ratios:', 'attention mass:'), 'the median of three recordings', 'the one of three recordings whose step is in the middle'), '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT * FROM (SELECT 'point', place, x, mass, 0, series, '' FROM point JOIN line USING (id) ORDER BY place, x);
