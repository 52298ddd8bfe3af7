-- The measure of runs along their likeliest axis, and below it what it costs: the hit ratio, or how long the slowest
-- hundredth waits.
, drawn AS (SELECT * FROM axis WHERE place = 1)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'axis', 0, numbers, path = '$.mechanisms.budget', 0, name, CASE unit WHEN 'B' THEN 'GiB' ELSE unit END FROM drawn
UNION ALL SELECT 'figure', 0, name = 'requests a second in time', (SELECT COUNT(hit_ratio) FROM ok) > 0, 0, name, '' FROM figure
UNION ALL SELECT 'tick', 0, x, 0, 0, text, ''
  FROM (SELECT DISTINCT x, value.text FROM value JOIN drawn ON drawn.path = value.axis WHERE NOT numbers)
UNION ALL SELECT * FROM (
  SELECT DISTINCT 'oom', 0, CAST(json_extract(scenario, path) AS REAL) AS x, 0, 0, '', ''
  FROM runs JOIN drawn ON numbers AND unit = '' AND json_valid(scenario)
  WHERE status = 'out-of-memory' AND NOT EXISTS (SELECT 1 FROM only)) WHERE x > 0
UNION ALL SELECT 'line', dense_rank() OVER (ORDER BY first_id), 0, 0, 0, series, ''
  FROM (SELECT DISTINCT first_id, series FROM walk WHERE rank = 1)
UNION ALL SELECT * FROM (
  SELECT 'point', dense_rank() OVER (ORDER BY first_id) AS line, x, rate, COALESCE(hit, -1), series,
         CASE WHEN knee THEN 'knee' ELSE '-' END
  FROM walk WHERE rank = 1 ORDER BY line, x)
UNION ALL SELECT * FROM (
  SELECT 'range', dense_rank() OVER (ORDER BY first_id) AS line, x, rate_low, rate_high, '', 'rate'
  FROM walk WHERE rank = 1 ORDER BY line, x) WHERE rate_low < rate_high
UNION ALL SELECT * FROM (
  SELECT 'range', dense_rank() OVER (ORDER BY first_id) AS line, x, hit_low, hit_high, '', 'hit'
  FROM walk WHERE rank = 1 ORDER BY line, x) WHERE hit_low < hit_high;
