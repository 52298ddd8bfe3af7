-- What a walk along an axis is about: what runs are wanted for over a key that they differ in (the budget, else
-- one that has numbers, else the first of the others). What else they differ in, and their system, tells lines
-- apart. Wanted are tokens a second; of servers with objectives requests that meet them; of servers without a
-- clock prompts' tokens found.
, swept(path, rank, numbers) AS (
  SELECT path, path <> '$.mechanisms.budget', MIN(value GLOB '[0-9]*')
  FROM leaf JOIN told USING (path) GROUP BY path
),
axis(path, numbers, name, unit) AS (
  SELECT path, numbers, replace(replace(replace(substr(path, 3), '"', ''), 'mechanisms.', ''), '.extends', ''),
         ltrim((SELECT MIN(value) FROM leaf WHERE leaf.path = swept.path), '0123456789.e+- ')
  FROM swept ORDER BY rank, numbers DESC, path LIMIT 1
),
figure(name) AS (
  SELECT CASE WHEN COUNT(goodput) > 0 THEN 'requests a second in time'
              WHEN COUNT(decode_tokens_per_s) = 0 THEN 'tokens of prompts found (%)'
              ELSE 'tokens a second' END FROM ok
),
variant(id, text) AS (
  SELECT id, group_concat(text, ', ')
  FROM (SELECT * FROM word WHERE path <> (SELECT path FROM axis) ORDER BY id, path) GROUP BY id
),
value(id, text, x) AS (
  SELECT leaf.id, leaf.value,
         CASE WHEN axis.path = '$.mechanisms.budget' THEN ok.cache_bytes / 1073741824.0
              WHEN axis.unit = 'B' THEN CAST(leaf.value AS REAL) / 1073741824.0
              WHEN axis.numbers THEN CAST(leaf.value AS REAL)
              ELSE dense_rank() OVER (ORDER BY (SELECT MIN(id) FROM leaf AS first
                                                WHERE first.path = axis.path AND first.value = leaf.value)) END
  FROM leaf JOIN axis USING (path) JOIN ok USING (id)
),
point AS (
  SELECT ok.id, value.x, value.text AS value,
         CASE figure.name WHEN 'requests a second in time' THEN goodput
                          WHEN 'tokens a second' THEN decode_tokens_per_s
                          ELSE 100.0 * (hit_tokens_gpu + hit_tokens_host) / prompt_tokens END AS rate,
         COALESCE(100 * hit_ratio, ttft_p99_ms / 1000) AS hit,
         system || COALESCE(', ' || variant.text, '') AS series
  FROM ok JOIN figure JOIN value USING (id) LEFT JOIN variant USING (id)
  WHERE rate IS NOT NULL
),
line(series, place, low, high) AS (
  SELECT series, row_number() OVER (ORDER BY MIN(id)), MIN(x), MAX(x) FROM point GROUP BY series
),
-- Of the line from the first point to the last, how far above it a point lies.
above(id, series, beyond) AS (
  SELECT point.id, point.series, point.rate - first.rate - (last.rate - first.rate) * (point.x - low) / (high - low)
  FROM point JOIN line USING (series)
  JOIN point AS first ON first.series = line.series AND first.x = low
  JOIN point AS last ON last.series = line.series AND last.x = high
  WHERE high > low AND (SELECT numbers FROM axis)
    AND (last.rate > first.rate OR (SELECT name FROM figure) = 'requests a second in time')
),
knee(id) AS (
  SELECT MIN(id) FROM above WHERE beyond > 0
    AND beyond = (SELECT MAX(beyond) FROM above AS other WHERE other.series = above.series)
  GROUP BY series
)
