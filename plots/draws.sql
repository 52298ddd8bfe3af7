-- How far a result spreads: the share of a run's replications at or below each rate in tokens a second, and the place
-- of the run itself among them, with its range over families. If all runs are of servers, mean times to first token instead of rates.
, variant(id, text) AS (
  SELECT id, group_concat(text, ', ') FROM (SELECT * FROM word ORDER BY id, path) GROUP BY id
),
figure(name, of_steps) AS (
  SELECT CASE WHEN MAX(step_us) > 0 THEN 'tokens a second' ELSE 'ms to the first token, on average' END,
         COALESCE(MAX(step_us), 0) > 0
  FROM ok WHERE run IN (SELECT run FROM replications)
),
-- If the ranges of a machine changed between studies: the version with the most draws.
draw(id, value) AS (
  SELECT ok.id, CASE WHEN of_steps THEN replications.decode_tokens_per_s ELSE replications.ttft_ms END
  FROM ok, figure JOIN replications ON replications.run = ok.run
  WHERE ranges = (SELECT ranges FROM replications AS other WHERE other.run = ok.run
                  GROUP BY ranges ORDER BY COUNT(*) DESC, ranges LIMIT 1)
),
ranked(id, value, rank, count) AS (
  SELECT id, value, row_number() OVER (PARTITION BY id ORDER BY value), COUNT(*) OVER (PARTITION BY id)
  FROM draw WHERE value IS NOT NULL
),
-- Four hundred points are enough for a line.
point(id, value, percent) AS (
  SELECT id, value, 100.0 * rank / count FROM ranked
  WHERE rank = 1 OR rank = count OR rank * 400 / count > (rank - 1) * 400 / count
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
),
own(id, value, low, high) AS (
  SELECT id, CASE WHEN of_steps THEN decode_tokens_per_s ELSE ttft_ms END,
         CASE WHEN of_steps THEN decode_tokens_per_s_low END, CASE WHEN of_steps THEN decode_tokens_per_s_high END
  FROM ok, figure
),
height(id, percent) AS (
  SELECT own.id, 100.0 * COUNT(CASE WHEN ranked.value <= own.value THEN 1 END) / MAX(count)
  FROM own JOIN ranked ON ranked.id = own.id GROUP BY own.id
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, title.text || left_out.text AS text, '' AS name FROM title, left_out
UNION ALL SELECT 'figure', 0, 0, 0, 0, name, '' FROM figure
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT 'own', place, value, COALESCE(percent, 0), 0, '', '' FROM own JOIN line USING (id) LEFT JOIN height USING (id)
UNION ALL SELECT 'range', place, low, high, COALESCE(percent, 0), '', ''
FROM own JOIN line USING (id) LEFT JOIN height USING (id) WHERE low < high
UNION ALL SELECT * FROM (
  SELECT 'point', place, value, percent, 0, series, '' FROM point JOIN line USING (id) ORDER BY place, percent);
