-- Runs along axes: a measure over each key with numbers in which runs differ, and over links; without any of these, over
-- the first key. A line is one system with equal values of all other keys. The measure is tokens a second; for servers
-- with objectives, requests that meet them; for servers without times, prompt tokens found; for other servers to which the
-- same requests arrive in every run, the time of a request. Points at which not all requests are answered have no part in
-- a knee, and tokens a second have no knee if the arrivals determine them.
, axis(path, place, numbers, name, unit) AS MATERIALIZED (
  SELECT * FROM walkable WHERE numbers OR name = 'hardware.link' OR place = 1
),
arrivals(come, same) AS (
  SELECT COUNT(requests_in_per_s) > 0 AND COUNT(requests_in_per_s) = COUNT(decode_tokens_per_s)
           AND COUNT(CASE WHEN json_valid(scenario) THEN json_extract(scenario, '$.clients') END) = 0,
         MIN(requests_in_per_s) = MAX(requests_in_per_s)
  FROM ok
),
figure(name, sign, bends) AS MATERIALIZED (
  SELECT name, CASE name WHEN 'seconds a request' THEN -1 ELSE 1 END, name <> 'tokens a second' OR NOT come
  FROM arrivals JOIN (
    SELECT CASE WHEN COUNT(goodput) > 0 THEN 'requests a second in time'
                WHEN COUNT(decode_tokens_per_s) = 0 THEN 'tokens of prompts found (%)'
                WHEN (SELECT come AND same FROM arrivals) THEN 'seconds a request'
                ELSE 'tokens a second' END AS name
    FROM ok)
),
short(id, tokens) AS MATERIALIZED (
  SELECT id, prompt_tokens - hit_tokens_gpu - hit_tokens_host - (COALESCE(hit_tokens_disk, 0) + COALESCE(hit_tokens_pool, 0)) - recompute_tokens FROM ok WHERE requests_out_per_s IS NOT NULL
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
              WHEN axis.unit = 'B' THEN magnitude(leaf.value) / 1073741824.0
              WHEN axis.unit = 'us' THEN magnitude(leaf.value) / 1e3
              WHEN axis.unit = 'GB/s' THEN magnitude(leaf.value) / 1e9
              WHEN axis.numbers THEN CAST(leaf.value AS REAL)
              ELSE dense_rank() OVER (PARTITION BY path ORDER BY seen.id) END
  FROM leaf JOIN axis USING (path) JOIN seen USING (path, value) JOIN spelled USING (path, value) JOIN ok ON ok.id = leaf.id
),
point AS (
  SELECT value.axis, axis.place AS rank, axis.numbers, ok.id, value.x, value.text AS value, figure.name AS figure, sign, bends,
         CASE figure.name WHEN 'requests a second in time' THEN goodput
                          WHEN 'tokens a second' THEN decode_tokens_per_s
                          WHEN 'seconds a request' THEN e2e_ms / 1000
                          ELSE CASE WHEN hashed_blocks IS NOT NULL THEN 100.0 * (hit_tokens_gpu + hit_tokens_host + COALESCE(hit_tokens_disk, 0) + COALESCE(hit_tokens_pool, 0)) / prompt_tokens END END AS rate,
         figure.name = 'requests a second in time'
           OR (COALESCE(queue_grows, 0) = 0 AND COALESCE(short.tokens, 0) <= COALESCE((SELECT MIN(tokens) FROM short), 0)) AS sound,
         COALESCE(100 * hit_ratio, ttft_p99_ms / 1000) AS hit,
         CASE figure.name WHEN 'tokens a second' THEN decode_tokens_per_s_low END AS rate_low,
         CASE figure.name WHEN 'tokens a second' THEN decode_tokens_per_s_high END AS rate_high,
         100 * hit_ratio_low AS hit_low, 100 * hit_ratio_high AS hit_high, queue_grows, ttft_p99_ms, e2e_p50_ms,
         system || COALESCE(', ' || variant.text, '') AS series
  FROM value JOIN axis ON axis.path = value.axis JOIN ok ON ok.id = value.id JOIN figure
  LEFT JOIN variant ON variant.axis = value.axis AND variant.id = ok.id LEFT JOIN short ON short.id = ok.id
  WHERE rate IS NOT NULL
),
spanned AS (
  SELECT *, MIN(id) OVER whole AS first_id, COUNT(*) OVER whole AS points, MIN(x) OVER whole AS low,
         MIN(x) OVER held AS from_x, MAX(x) OVER held AS to_x,
         first_value(sign * rate) OVER held AS first, last_value(sign * rate) OVER held AS last
  FROM point
  WINDOW whole AS (PARTITION BY axis, series ORDER BY x, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING),
         held AS (PARTITION BY axis, series, sound ORDER BY x, id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
),
-- How far each point lies above the line from the first point to the last; the furthest is the knee.
above AS (
  SELECT *, CASE WHEN numbers AND sound AND bends AND to_x > from_x AND (last > first OR figure = 'requests a second in time')
                 THEN sign * rate - first - (last - first) * (x - from_x) / (to_x - from_x) ELSE 0 END AS beyond
  FROM spanned
),
bent AS (SELECT *, MAX(beyond) OVER (PARTITION BY axis, series) AS furthest FROM above),
walk AS MATERIALIZED (
  SELECT *, beyond > 0 AND beyond = furthest
            AND id = MIN(CASE WHEN beyond = furthest THEN id END) OVER (PARTITION BY axis, series) AS knee
  FROM bent
)
