-- Runs of decode steps; runs without a time have the reason.
, waited(id, ms) AS (
  SELECT ok.id, SUM(each.value) / 1000 FROM ok, json_each(COALESCE(stalls_us, '{}')) AS each GROUP BY ok.id
),
mechanism(id, text) AS (
  SELECT id, group_concat(text, ', ')
  FROM (SELECT * FROM word WHERE path LIKE '$.mechanisms.%' ORDER BY id, path) GROUP BY id
)
SELECT system AS "system", mechanism.text AS "with", setting AS "setting", named.batch AS "batch",
       NULLIF(cache_bytes, 0) / 1073741824.0 AS "cache (GiB)", hbm_bytes / 1073741824.0 AS "HBM (GiB)",
       round(100 * hit_ratio, 1) AS "hit (%)", round(100 * mass_recall, 1) AS "mass (%)",
       prefill_ms / 1000 AS "prefill (s)", step_us / 1000 AS "step (ms)", decode_tokens_per_s AS "tokens/s",
       e2e_tokens_per_s AS "e2e tokens/s",
       CASE WHEN step_us > 0 THEN round(100 * COALESCE(ms, 0) / (step_us / 1000), 1) END AS "stall (%)",
       run AS "run",
       CASE WHEN status <> 'ok' THEN status || COALESCE(': ' || NULLIF(message, ''), '') END AS "why there is no time"
FROM named JOIN seated USING (id) LEFT JOIN waited USING (id) LEFT JOIN mechanism USING (id) WHERE kind IN ('decode', '') ORDER BY seat;
