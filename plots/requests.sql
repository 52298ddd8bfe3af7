-- Distributions over requests: the share of requests at or below a time to first token (panel 1), or a time per further
-- output token (panel 2), in milliseconds. A line is a run; two hundred points are enough for it.
, variant(id, text) AS (
  SELECT id, group_concat(text, ', ') FROM (SELECT * FROM word ORDER BY id, path) GROUP BY id
),
time(id, panel, ms) AS (
  SELECT ok.id, 1, first_token_ms - arrived_ms FROM ok JOIN requests ON requests.run = ok.run
  WHERE first_token_ms IS NOT NULL
  UNION ALL
  SELECT ok.id, 2, (end_ms - first_token_ms) / (output - 1) FROM ok JOIN requests ON requests.run = ok.run
  WHERE end_ms IS NOT NULL AND output > 1
),
ranked(id, panel, ms, rank, count) AS (
  SELECT id, panel, ms, row_number() OVER (PARTITION BY id, panel ORDER BY ms),
         COUNT(*) OVER (PARTITION BY id, panel)
  FROM time
),
point(id, panel, ms, percent) AS (
  SELECT id, panel, ms, 100.0 * rank / count FROM ranked
  WHERE rank = 1 OR rank = count OR rank * 200 / count > (rank - 1) * 200 / count
),
all_lines(id, series, place) AS (
  SELECT id, system || COALESCE(', ' || variant.text, ''), row_number() OVER (ORDER BY id)
  FROM ok LEFT JOIN variant USING (id) WHERE id IN (SELECT id FROM point)
),
-- As many lines as there are colours, evenly spread over all.
line(id, series, place) AS (
  SELECT id, series, row_number() OVER (ORDER BY place) FROM all_lines, (SELECT COUNT(*) AS count FROM all_lines)
  WHERE count <= 7 OR (place - 1) * 6 % (count - 1) < 6
),
left_out(text) AS (
  SELECT CASE WHEN COUNT(*) > 7 THEN '; 7 of ' || COUNT(*) || ' runs (--only draws others)' ELSE '' END FROM all_lines
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, title.text || left_out.text AS text, '' AS name FROM title, left_out
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT * FROM (
  SELECT 'point', place, ms, percent, panel, series, '' FROM point JOIN line USING (id) ORDER BY place, panel, percent);
