-- Hit ratio along the swept key: the budget, else the context, else only the system.
, axis(name, path) AS (
  SELECT CASE WHEN '$.mechanisms.budget' IN told THEN 'budget'
              WHEN '$.context' IN told THEN 'context' ELSE 'system' END,
         CASE WHEN '$.mechanisms.budget' IN told THEN '$.mechanisms.budget'
              WHEN '$.context' IN told THEN '$.context' ELSE '' END
),
variant(id, text) AS (
  SELECT id, group_concat(text, ', ')
  FROM (SELECT * FROM word WHERE path <> (SELECT path FROM axis) ORDER BY id, path) GROUP BY id
),
point AS (
  SELECT ok.id, 100 * hit_ratio AS hit, 100 * hit_ratio_low AS low, 100 * hit_ratio_high AS high,
         CASE (SELECT name FROM axis) WHEN 'budget' THEN budget_bytes / 1073741824.0
                                      WHEN 'context' THEN context / 1024.0 ELSE 0 END AS x,
         system || COALESCE(', ' || variant.text, '') AS series
  FROM ok LEFT JOIN variant USING (id) WHERE hit_ratio IS NOT NULL
),
line(series, place) AS (
  SELECT series, row_number() OVER (ORDER BY MIN(id)) FROM point GROUP BY series
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'axis', 0, 0, 0, 0, name, '' FROM axis
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT * FROM (
  SELECT 'point', place, x, hit, COALESCE(high, hit), series, '' FROM point JOIN line USING (series) ORDER BY place, x)
UNION ALL SELECT * FROM (
  SELECT 'range', place, x, low, high, '', '' FROM point JOIN line USING (series) WHERE low < high ORDER BY place, x);
