-- Hit ratio over the size of the cache: one line per policy, for all heads.
, knee(series, text) AS (
  SELECT series, printf(': %g%%', round(share, 1)) FROM hit WHERE layer IS NULL AND is_knee
)
, origin(series, place, policy, source) AS (
  SELECT series, place, MIN(called.text || parameters), MIN(source_hash || COALESCE(selection, '') || step_order)
  FROM drawn JOIN called USING (curve) JOIN label USING (curve) JOIN line USING (series) WHERE layer IS NULL GROUP BY series
),
colored(policy, color) AS (SELECT policy, row_number() OVER (ORDER BY MIN(place)) FROM origin GROUP BY policy),
dashed(source, dash) AS (SELECT source, row_number() OVER (ORDER BY MIN(place)) FROM origin GROUP BY source),
-- The color of a policy and the dash of a trace; with more policies than colors, a color and dash for each line.
styled(place, color, dash) AS (
  SELECT place, CASE WHEN (SELECT MAX(color) FROM colored) <= 7 THEN color ELSE place END,
         CASE WHEN (SELECT MAX(color) FROM colored) <= 7 THEN dash ELSE 1 + (place - 1) / 7 END
  FROM origin JOIN colored USING (policy) JOIN dashed USING (source)
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT * FROM (
  SELECT 'line', place, color, dash, 0, series || COALESCE(knee.text, ''), ''
  FROM line JOIN styled USING (place) LEFT JOIN knee USING (series) ORDER BY place)
UNION ALL SELECT * FROM (
  SELECT 'point', place, share, percent, is_knee, series, '' FROM hit JOIN line USING (series)
  WHERE layer IS NULL ORDER BY place, share);
