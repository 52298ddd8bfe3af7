-- Servers over time: a panel each for requests, tokens and the link. For one run, each panel has a line per quantity; for
-- several runs, a line per run. Four bins are averaged into one, which keeps the lines readable.
, variant(id, text) AS (
  SELECT id, group_concat(text, ', ') FROM (SELECT * FROM word ORDER BY id, path) GROUP BY id
),
shown AS (SELECT ok.*, system || COALESCE(', ' || variant.text, '') AS series FROM ok LEFT JOIN variant USING (id)
          WHERE run IN (SELECT run FROM series)),
all_lines(id, place, series) AS (SELECT id, row_number() OVER (ORDER BY id), series FROM shown),
-- As many lines as there are colours, evenly spread over all.
run_line(id, place, series) AS (
  SELECT id, row_number() OVER (ORDER BY place), series FROM all_lines, (SELECT COUNT(*) AS count FROM all_lines)
  WHERE count <= 7 OR (place - 1) * 6 % (count - 1) < 6
),
left_out(text) AS (
  SELECT CASE WHEN COUNT(*) > 7 THEN '; 7 of ' || COUNT(*) || ' runs (--only draws others)' ELSE '' END FROM all_lines
),
bins AS (
  SELECT shown.id, MIN(start_ms) / 1000 AS start, SUM(ms) / 1000 AS s,
         SUM(waiting * ms) / SUM(ms) AS waiting, SUM(loading * ms) / SUM(ms) AS loading,
         SUM(running * ms) / SUM(ms) AS running, SUM(output_tokens) AS output, SUM(series.prompt_tokens) AS prompts,
         SUM(series.hit_tokens_gpu) AS on_gpu, SUM(series.hit_tokens_host) AS on_host,
         SUM(series.hit_tokens_disk + series.hit_tokens_pool) AS below_host,
         SUM(loaded_bytes) AS loaded, SUM(saved_bytes) AS saved, SUM(fetched_bytes) AS fetched,
         SUM(written_bytes) AS written
  FROM shown JOIN series USING (run) GROUP BY shown.id, bin / 4
),
-- For one run.
part(panel, place, name) AS (
  VALUES (1, 1, 'waiting'), (1, 2, 'running'), (1, 3, 'loading'), (2, 1, 'output'),
         (2, 2, 'prompts: computed'), (2, 3, 'found on GPU'), (2, 4, 'found on host'), (2, 5, 'found below'),
         (3, 1, 'prefixes in'), (3, 2, 'prefixes out'), (3, 3, 'decode fetches'),
         (3, 4, 'prompts out')
),
of_one AS (
  SELECT panel, place, start + s / 2 AS t, CASE name
    WHEN 'waiting' THEN waiting WHEN 'running' THEN running WHEN 'loading' THEN loading
    WHEN 'output' THEN output / s WHEN 'prompts: computed' THEN prompts / s
    WHEN 'found on GPU' THEN on_gpu / s WHEN 'found on host' THEN on_host / s WHEN 'found below' THEN below_host / s
    WHEN 'prefixes in' THEN loaded / s / 1e9 WHEN 'prefixes out' THEN saved / s / 1e9
    WHEN 'prompts out' THEN written / s / 1e9
    ELSE fetched / s / 1e9 END AS value
  FROM part JOIN bins
),
-- For several runs.
of_many AS (
  SELECT 1 AS panel, place, start + s / 2 AS t, waiting AS value FROM bins JOIN run_line USING (id)
  UNION ALL SELECT 2, place, start + s / 2, output / s FROM bins JOIN run_line USING (id)
  UNION ALL SELECT 3, place, start + s / 2, (loaded + saved + fetched + written) / s / 1e9 FROM bins JOIN run_line USING (id)
),
is_one(one) AS (SELECT COUNT(*) = 1 FROM run_line),
-- Runs of very different lengths are drawn over the share of their own time, else the short ones are not seen.
length(place, s) AS (SELECT place, MAX(start + bins.s) FROM bins JOIN run_line USING (id) GROUP BY place),
shares(yes) AS (SELECT MAX(s) >= 4 * MIN(s) FROM length),
there(panel, place) AS (SELECT panel, place FROM of_one GROUP BY panel, place HAVING MAX(value) > 0)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, title.text || left_out.text AS text, '-' AS name FROM title, left_out
UNION ALL SELECT 'axis', 0, 0, 0, 0, CASE WHEN yes THEN 'share' ELSE 'time' END, '-' FROM shares
UNION ALL SELECT 'line', place, s, 0, 0,
  series || CASE WHEN NOT yes THEN '' WHEN s < 600 THEN printf(': %.0f s', s) ELSE printf(': %.0f min', s / 60) END, '-'
  FROM run_line JOIN length USING (place) JOIN shares
UNION ALL SELECT 'part', place, panel, 0, 0, name, '-' FROM part JOIN there USING (panel, place) JOIN is_one WHERE one
UNION ALL SELECT * FROM (
  SELECT 'point', place, t, value, panel, '-', '-' FROM of_one JOIN there USING (panel, place) JOIN is_one WHERE one
  UNION ALL SELECT 'point', place, CASE WHEN yes THEN 100 * t / length.s ELSE t END, value, panel, '-', '-'
  FROM of_many JOIN length USING (place) JOIN is_one JOIN shares WHERE NOT one
  ORDER BY 5, 2, 3);
