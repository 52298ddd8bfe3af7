-- How far the curves of heads differ: percentiles over the heads at each size, or over the layers if there are no curves
-- of heads.
, part(series, share, percent, rank, count) AS (
  SELECT series, share, percent, row_number() OVER size, COUNT(*) OVER (PARTITION BY series, share)
  FROM hit
  WHERE layer IS NOT NULL
    AND (head IS NOT NULL) = (SELECT MAX(head IS NOT NULL) FROM hit WHERE layer IS NOT NULL)
  WINDOW size AS (PARTITION BY series, share ORDER BY percent)
),
-- Percentiles by nearest rank.
band(series, share, least, median, most) AS (
  SELECT series, share, MAX(CASE WHEN rank = 1 + CAST(.1 * (count - 1) + .5 AS INTEGER) THEN percent END),
         MAX(CASE WHEN rank = 1 + CAST(.5 * (count - 1) + .5 AS INTEGER) THEN percent END),
         MAX(CASE WHEN rank = 1 + CAST(.9 * (count - 1) + .5 AS INTEGER) THEN percent END)
  FROM part GROUP BY series, share
),
panel(series, place) AS (
  SELECT series, row_number() OVER (ORDER BY place)
  FROM (SELECT DISTINCT series FROM band) JOIN line USING (series)
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, CASE WHEN (SELECT MAX(head IS NOT NULL) FROM hit) THEN 'heads' ELSE 'layers' END FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'panel', place, 0, 0, 0, series, '' FROM panel
UNION ALL SELECT * FROM (
  SELECT 'band', place, share, least, most, '', '' FROM band JOIN panel USING (series) ORDER BY place, share)
UNION ALL SELECT * FROM (
  SELECT 'median', place, share, median, 0, '', '' FROM band JOIN panel USING (series) ORDER BY place, share)
UNION ALL SELECT * FROM (
  SELECT 'whole', place, share, percent, is_knee, '', '' FROM hit JOIN panel USING (series)
  WHERE layer IS NULL ORDER BY place, share);
