-- Hit ratio over the size of the cache: one line per policy, for all heads.
, knee(series, text) AS (
  SELECT series, printf(': %g%%', round(share, 1)) FROM hit WHERE layer IS NULL AND is_knee
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'line', place, 0, 0, 0, series || COALESCE(knee.text, ''), '' FROM line LEFT JOIN knee USING (series)
UNION ALL SELECT * FROM (
  SELECT 'point', place, share, percent, is_knee, series, '' FROM hit JOIN line USING (series)
  WHERE layer IS NULL ORDER BY place, share);
