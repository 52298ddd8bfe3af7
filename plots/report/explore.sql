-- What a page lets its reader move through, as one JSON text: the axes with the values that were computed, the measures,
-- and a row for each run. A run without a key has no position on that axis.
--   axes       name, whether its values are numbers, and each value as text and, for a number, in the axis' base unit
--   measures   column, title, unit, what one shown unit is in the column's own; 1: more is better, -1: less is; 0: any other
--              number in which runs differ, shown if the reader asks for it
--   targets    of a plan, if all plans have the same
--   runs       run, system, status, why there is no result, positions by axis, values by measure, the step's parts in us
, axis(path, seat, name, numbers) AS (SELECT path, place - 1, name, numbers FROM walkable),
position(path, value, text, x, seat) AS MATERIALIZED (
  SELECT path, value, CASE WHEN path = '$.context' AND value % 1024 = 0 THEN (value / 1024) || 'K' ELSE spelled.text END,
         CASE WHEN numbers THEN magnitude(value) END,
         row_number() OVER (PARTITION BY path ORDER BY CASE WHEN numbers THEN magnitude(value) END, first.id) - 1
  FROM axis JOIN spelled USING (path) JOIN (SELECT path, value, MIN(id) AS id FROM leaf GROUP BY path, value) AS first USING (path, value)
),
placed(id, positions) AS MATERIALIZED (
  SELECT leaf.id, json_group_object(axis.seat, position.seat)
  FROM leaf JOIN axis USING (path) JOIN position USING (path, value) GROUP BY leaf.id
),
main(key, title, unit, scale, better) AS (
  VALUES ('decode_tokens_per_s', 'tokens/s', 'tokens/s', 1, 1), ('tokens_per_s_per_user', 'tokens/s a sequence', 'tokens/s', 1, 1),
         ('step_us', 'step', 'ms', 1000, -1), ('tpot_ms', 'TPOT', 'ms', 1, -1), ('tpot_p99_ms', 'TPOT p99', 'ms', 1, -1),
         ('ttft_p50_ms', 'TTFT p50', 'ms', 1, -1), ('ttft_p99_ms', 'TTFT p99', 'ms', 1, -1), ('e2e_p50_ms', 'e2e p50', 'ms', 1, -1),
         ('goodput', 'good requests/s', '1/s', 1, 1), ('requests_out_per_s', 'requests/s', '1/s', 1, 1),
         ('hit_ratio', 'hits', '%', .01, 1), ('mass_recall', 'mass', '%', .01, 1), ('hbm_bytes', 'HBM', 'GiB', 1073741824, -1),
         ('dram_bytes', 'host memory', 'GiB', 1073741824, -1), ('cost_per_million_tokens', 'cost', '$/M tokens', 1, -1)
),
measure(place, key, title, unit, scale, better) AS (
  SELECT row_number() OVER (), * FROM main
  UNION ALL
  SELECT place + 100, key, key, '', 1, 0 FROM cell
  WHERE typeof(value) IN ('integer', 'real') AND key NOT IN (SELECT key FROM main) GROUP BY key HAVING COUNT(DISTINCT value) > 1
  ORDER BY 1
),
valued(id, figures) AS (
  SELECT id, json_group_array(value)
  FROM (SELECT cell.id, value FROM cell JOIN measure USING (key) ORDER BY cell.id, measure.place) GROUP BY id
)
SELECT replace(json_object(
  'axes', (SELECT json_group_array(json_object('name', name, 'numbers', numbers, 'values', json((
             SELECT json_group_array(json_array(text, x)) FROM (SELECT * FROM position WHERE position.path = axis.path ORDER BY seat)))))
           FROM (SELECT * FROM axis ORDER BY seat) AS axis),
  'measures', (SELECT json_group_array(json_array(key, title, unit, scale, better)) FROM (SELECT * FROM measure ORDER BY place)),
  'targets', (SELECT MIN(targets) FROM plans HAVING COUNT(DISTINCT targets) = 1),
  'runs', (SELECT json_group_array(json_array(run, system, status, CASE WHEN status <> 'ok' THEN message END, json(positions),
             json(figures), json(CASE WHEN json_valid(parts_us) THEN parts_us ELSE '{}' END)))
           FROM (SELECT ok.*, COALESCE(positions, '{}') AS positions, figures FROM ok LEFT JOIN placed USING (id) JOIN valued USING (id) JOIN seated USING (id) ORDER BY seat))
), '<', '\u003c') AS data,
(SELECT 'This page is of ' || shown || ' of ' || computed || ' runs: the best of each system, model, machine and context. The database has the others.'
 FROM (SELECT (SELECT COUNT(*) FROM bounded) AS shown, (SELECT COUNT(*) FROM chosen) AS computed) WHERE shown <> computed) AS shortened
FROM ok LIMIT (SELECT COUNT(*) > 1 FROM ok);
