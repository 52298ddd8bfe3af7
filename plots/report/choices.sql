-- A part that tables of a report share: the choice of each run, its setting, and its score.
--
-- A choice is a system, a mechanism or a batch; a setting is everything else in which runs differ. Choices are compared
-- within a setting, and among runs of one kind: decode steps, a timed server, or a server that is not timed. A higher score
-- is better: tokens a second; requests that meet the objectives or, without objectives, minus the median time to the last
-- token; the share of prompt tokens found.
, picked(id, text) AS (
  SELECT id, group_concat(text, ', ')
  FROM (SELECT * FROM word WHERE path LIKE '$.mechanisms.%' OR path = '$.batch' ORDER BY id, path) GROUP BY id
),
placed(id, text) AS (
  SELECT id, group_concat(text, ', ')
  FROM (SELECT * FROM word WHERE path NOT LIKE '$.mechanisms.%' AND path <> '$.batch' ORDER BY id, path) GROUP BY id
),
named AS (
  SELECT ok.*, system || COALESCE(', ' || picked.text, '') AS choice, COALESCE(placed.text, '') AS setting,
         CASE WHEN status <> 'ok' THEN '' WHEN step_us > 0 THEN 'decode'
              WHEN decode_tokens_per_s IS NOT NULL THEN 'served' WHEN requests > 0 THEN 'found' ELSE '' END AS kind
  FROM ok LEFT JOIN picked USING (id) LEFT JOIN placed USING (id)
),
scored AS MATERIALIZED (
  SELECT *, CASE kind WHEN 'decode' THEN decode_tokens_per_s
                      WHEN 'served' THEN COALESCE(goodput, -e2e_p50_ms)
                      ELSE 100.0 * (hit_tokens_gpu + hit_tokens_host + COALESCE(hit_tokens_disk, 0) + COALESCE(hit_tokens_pool, 0)) / prompt_tokens END AS score
  FROM named WHERE kind <> ''
)
