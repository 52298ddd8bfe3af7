-- What follows along an axis of numbers, for each line of three points or more: the most of what is wanted, as
-- the first point within a thousandth of it has it; the knee; what waits come to from the line's first point to its
-- last; and from where on a server's queue grows without bound.
, placed AS (
  SELECT point.*, queue_grows, ttft_p99_ms, e2e_p50_ms,
         MAX(point.rate) OVER series AS most, MIN(point.rate) OVER series AS least,
         row_number() OVER (PARTITION BY series ORDER BY x, id) AS place, COUNT(*) OVER series AS points
  FROM point JOIN ok USING (id) WINDOW series AS (PARTITION BY series)
),
best(series, x) AS (SELECT series, MIN(x) FROM placed WHERE rate >= .999 * most GROUP BY series),
-- The queue grows there and at every point behind it.
bounded(series, x) AS (SELECT series, MAX(x) FROM placed WHERE NOT COALESCE(queue_grows, 0) GROUP BY series),
unbounded(series, x) AS (
  SELECT series, MIN(placed.x) FROM placed LEFT JOIN bounded USING (series) WHERE bounded.x IS NULL OR placed.x > bounded.x GROUP BY series
)
SELECT series, axis.name AS axis, points,
       MAX(CASE place WHEN 1 THEN value END) AS "from", MAX(CASE place WHEN points THEN value END) AS "to",
       CASE figure.name WHEN 'requests a second in time' THEN 'requests/s that meet the objectives'
                        WHEN 'tokens a second' THEN 'tokens/s' ELSE '% of the prompts'' tokens found' END AS unit,
       least >= .999 * most AS flat,
       MAX(CASE WHEN placed.x = best.x THEN placed.rate END) AS best, MAX(CASE WHEN placed.x = best.x THEN value END) AS best_at,
       MAX(CASE WHEN id IN knee AND points > 2 THEN placed.rate END) AS knee, MAX(CASE WHEN id IN knee AND points > 2 THEN value END) AS knee_at,
       MAX(CASE place WHEN 1 THEN e2e_p50_ms END) AS e2e_from, MAX(CASE place WHEN points THEN e2e_p50_ms END) AS e2e_to,
       MAX(CASE place WHEN 1 THEN ttft_p99_ms END) AS ttft_from, MAX(CASE place WHEN points THEN ttft_p99_ms END) AS ttft_to,
       MAX(CASE WHEN placed.x = unbounded.x THEN value END) AS unbounded_at
FROM placed JOIN axis JOIN figure JOIN best USING (series) LEFT JOIN unbounded USING (series)
WHERE axis.numbers AND points > 2
GROUP BY series ORDER BY MIN(id);
