-- What walks along axes are about: what runs are wanted for over each key with numbers that they differ in, and over
-- links; where there is none of these, over the first key. What else runs differ in, and their system, tells lines
-- apart. Wanted are tokens a second; of servers with objectives requests that meet them; of servers without a
-- clock prompts' tokens found.
, axis(path, place, numbers, name, unit) AS MATERIALIZED (
  SELECT * FROM walkable WHERE numbers OR name = 'hardware.link' OR place = 1
),
figure(name) AS MATERIALIZED (
  SELECT CASE WHEN COUNT(goodput) > 0 THEN 'requests a second in time'
              WHEN COUNT(decode_tokens_per_s) = 0 THEN 'tokens of prompts found (%)'
              ELSE 'tokens a second' END FROM ok
),
variant(axis, id, text) AS MATERIALIZED (
  SELECT axis, id, group_concat(text, ', ')
  FROM (SELECT axis.path AS axis, word.* FROM axis JOIN word ON word.path <> axis.path ORDER BY axis, id, word.path)
  GROUP BY axis, id
),
seen(path, value, id) AS (SELECT path, value, MIN(id) FROM leaf JOIN axis USING (path) GROUP BY path, value),
value(axis, id, text, x) AS MATERIALIZED (
  SELECT path, leaf.id, spelled.text,
         CASE WHEN path = '$.mechanisms.budget' THEN ok.cache_bytes / 1073741824.0
              WHEN axis.unit = 'B' THEN CAST(leaf.value AS REAL) / 1073741824.0
              WHEN axis.numbers THEN CAST(leaf.value AS REAL)
              ELSE dense_rank() OVER (PARTITION BY path ORDER BY seen.id) END
  FROM leaf JOIN axis USING (path) JOIN seen USING (path, value) JOIN spelled USING (path, value) JOIN ok ON ok.id = leaf.id
),
point AS (
  SELECT value.axis, axis.place AS rank, axis.numbers, ok.id, value.x, value.text AS value, figure.name AS figure,
         CASE figure.name WHEN 'requests a second in time' THEN goodput
                          WHEN 'tokens a second' THEN decode_tokens_per_s
                          ELSE 100.0 * (hit_tokens_gpu + hit_tokens_host) / prompt_tokens END AS rate,
         COALESCE(100 * hit_ratio, ttft_p99_ms / 1000) AS hit, queue_grows, ttft_p99_ms, e2e_p50_ms,
         system || COALESCE(', ' || variant.text, '') AS series
  FROM value JOIN axis ON axis.path = value.axis JOIN ok ON ok.id = value.id JOIN figure
  LEFT JOIN variant ON variant.axis = value.axis AND variant.id = ok.id
  WHERE rate IS NOT NULL
),
spanned AS (
  SELECT *, MIN(id) OVER whole AS first_id, COUNT(*) OVER whole AS points, MIN(x) OVER whole AS low, MAX(x) OVER whole AS high,
         first_value(rate) OVER whole AS first, last_value(rate) OVER whole AS last
  FROM point
  WINDOW whole AS (PARTITION BY axis, series ORDER BY x, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
),
-- Of the line from the first point to the last, how far above it a point lies; that of most is the knee.
above AS (
  SELECT *, CASE WHEN numbers AND high > low AND (last > first OR figure = 'requests a second in time')
                 THEN rate - first - (last - first) * (x - low) / (high - low) ELSE 0 END AS beyond
  FROM spanned
),
bent AS (SELECT *, MAX(beyond) OVER (PARTITION BY axis, series) AS furthest FROM above),
walk AS MATERIALIZED (
  SELECT *, beyond > 0 AND beyond = furthest
            AND id = MIN(CASE WHEN beyond = furthest THEN id END) OVER (PARTITION BY axis, series) AS knee
  FROM bent
)
