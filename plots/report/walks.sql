-- What follows along each axis, for each line of three points or more: the most of what is wanted, as
-- the first point within a thousandth of it has it; the knee; what waits come to from the line's first point to its
-- last; and from where on, or up to where, a server's queue grows without bound. A grid of axes is said along the likeliest alone: not a
-- line of which two points lie on lines of axes before its own.
, ranked AS (SELECT *, rank > MIN(rank) OVER (PARTITION BY id) AS behind FROM walk WHERE points > 2),
lined AS (
  SELECT *, SUM(behind) OVER line AS crossed,
         MAX(CASE WHEN sound THEN sign * rate END) OVER line AS most, MIN(CASE WHEN sound THEN sign * rate END) OVER line AS least,
         row_number() OVER (PARTITION BY axis, series ORDER BY x, id) AS place,
         -- The queue grows at every point behind this one.
         COALESCE(MAX(CASE WHEN NOT COALESCE(queue_grows, 0) THEN x END) OVER line, low - 1) AS bounded,
         MIN(CASE WHEN NOT COALESCE(queue_grows, 0) THEN x END) OVER line AS bounded_from
  FROM ranked WINDOW line AS (PARTITION BY axis, series)
),
placed AS (
  SELECT *, MIN(CASE WHEN sound AND sign * rate >= most - .001 * abs(most) THEN x END) OVER line AS best,
         MIN(CASE WHEN x > bounded THEN x END) OVER line AS unbounded,
         MAX(CASE WHEN x < bounded_from THEN x END) OVER line AS unbounded_until
  FROM lined WHERE crossed < 2 WINDOW line AS (PARTITION BY axis, series)
)
SELECT series, walkable.name AS axis, points,
       MAX(CASE placed.place WHEN 1 THEN value END) AS "from", MAX(CASE placed.place WHEN points THEN value END) AS "to",
       CASE figure WHEN 'requests a second in time' THEN 'requests/s that meet the objectives'
                   WHEN 'tokens a second' THEN 'tokens/s'
                   WHEN 'seconds a request' THEN 's a request (mean, arrival to last token)' ELSE '% of the prompts'' tokens found' END AS unit,
       least >= most - .001 * abs(most) AS flat,
       MAX(CASE WHEN x = best THEN sign * rate END) AS merit,
       MAX(CASE WHEN x = best THEN rate END) AS best, MAX(CASE WHEN x = best THEN value END) AS best_at,
       MAX(CASE WHEN knee THEN rate END) AS knee, MAX(CASE WHEN knee THEN value END) AS knee_at,
       MAX(CASE placed.place WHEN 1 THEN e2e_p50_ms END) AS e2e_from, MAX(CASE placed.place WHEN points THEN e2e_p50_ms END) AS e2e_to,
       MAX(CASE placed.place WHEN 1 THEN ttft_p99_ms END) AS ttft_from,
       MAX(CASE placed.place WHEN points THEN ttft_p99_ms END) AS ttft_to,
       MAX(CASE WHEN x = unbounded THEN value END) AS unbounded_at,
       MAX(CASE WHEN x = unbounded_until THEN value END) AS unbounded_until
FROM placed JOIN walkable ON walkable.path = placed.axis
WHERE placed.numbers OR walkable.name = 'hardware.link'
GROUP BY placed.axis, series ORDER BY first_id;
