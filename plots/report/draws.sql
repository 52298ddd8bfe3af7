-- How far replications of a run spread: their mean, and quantiles between the two nearest draws. If the ranges of a
-- machine changed between studies, each version stands apart.
, draw(id, ranges, value, place, last) AS (
  SELECT id, ranges, value, row_number() OVER run - 1, COUNT(*) OVER (PARTITION BY id, ranges) - 1
  FROM (SELECT named.id, ranges, CASE kind WHEN 'decode' THEN replications.decode_tokens_per_s ELSE replications.ttft_ms END AS value
        FROM named JOIN replications USING (run))
  WHERE value IS NOT NULL WINDOW run AS (PARTITION BY id, ranges ORDER BY value)
),
spread(id, ranges, draws, mean, p5, median, p95) AS (
  SELECT id, ranges, COUNT(*), AVG(value), SUM(value * MAX(0, 1 - ABS(place - 0.05 * last))),
         SUM(value * MAX(0, 1 - ABS(place - 0.5 * last))), SUM(value * MAX(0, 1 - ABS(place - 0.95 * last)))
  FROM draw GROUP BY id, ranges HAVING COUNT(*) > 1
)
SELECT choice AS "run of", setting AS "setting", draws AS "draws",
       CASE kind WHEN 'decode' THEN 'tokens/s' ELSE 'TTFT (ms)' END AS "of",
       mean AS "mean", p5 AS "5 %", median AS "median", p95 AS "95 %"
FROM spread JOIN named USING (id) ORDER BY id, ranges;
