-- What runs are wanted for along their axis, and below it what it costs: the hit ratio, or how long the slowest
-- hundredth waits.
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'axis', 0, numbers, path = '$.mechanisms.budget', 0, name, CASE unit WHEN 'B' THEN 'GiB' ELSE unit END FROM axis
UNION ALL SELECT 'figure', 0, name = 'requests a second in time', (SELECT COUNT(hit_ratio) FROM ok) > 0, 0, name, '' FROM figure
UNION ALL SELECT 'tick', 0, x, 0, 0, text, '' FROM (SELECT DISTINCT x, text FROM value, axis WHERE NOT numbers)
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT * FROM (
  SELECT 'point', place, x, rate, COALESCE(hit, -1), series, CASE WHEN id IN knee THEN 'knee' ELSE '-' END
  FROM point JOIN line USING (series) ORDER BY place, x);
