-- Hit ratio along the swept key: the budget, else the context, else only the system. It says nothing about systems that
-- drop the KV that leaves their cache, because all that they attend to is in it. They are named instead of drawn.
, axis(name, path) AS (
  SELECT CASE WHEN '$.mechanisms.budget' IN told THEN 'budget'
              WHEN '$.context' IN told THEN 'context' ELSE 'system' END,
         CASE WHEN '$.mechanisms.budget' IN told THEN '$.mechanisms.budget'
              WHEN '$.context' IN told THEN '$.context' ELSE '' END
),
dropping(system) AS (
  SELECT system FROM ok WHERE hit_ratio IS NOT NULL
  GROUP BY system HAVING MIN(hit_ratio) = 1 AND MAX(dram_kv_bytes) = 0 AND MAX(lossless = 'lossy') = 1
),
dropped(text) AS (
  SELECT group_concat(system, ', ') || ', which ' || CASE COUNT(*) WHEN 1 THEN 'drops' ELSE 'drop' END
         || ' what the cache does not hold'
  FROM (SELECT system FROM ok JOIN dropping USING (system) GROUP BY system ORDER BY MIN(id)) HAVING COUNT(*) > 0
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
  FROM ok LEFT JOIN variant USING (id) WHERE hit_ratio IS NOT NULL AND system NOT IN dropping
),
line(series, place) AS (
  SELECT series, row_number() OVER (ORDER BY MIN(id)) FROM point GROUP BY series
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'dropped', 0, 0, 0, 0, text, '' FROM dropped
UNION ALL SELECT 'axis', 0, 0, 0, 0, name, '' FROM axis
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT * FROM (
  SELECT 'point', place, x, hit, COALESCE(high, hit), series, '' FROM point JOIN line USING (series) ORDER BY place, x)
UNION ALL SELECT * FROM (
  SELECT 'range', place, x, low, high, '', '' FROM point JOIN line USING (series) WHERE low < high ORDER BY place, x);
