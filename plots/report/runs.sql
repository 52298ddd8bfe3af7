-- Runs of decode steps; runs without a time have the reason.
, waited(id, ms) AS (
  SELECT ok.id, SUM(each.value) / 1000 FROM ok, json_each(COALESCE(stalls_us, '{}')) AS each GROUP BY ok.id
),
beside(ranges) AS (SELECT COUNT(step_us_low) > 0 FROM ok),
mechanism(id, text) AS (
  SELECT id, group_concat(text, ', ')
  FROM (SELECT * FROM word WHERE path LIKE '$.mechanisms.%' ORDER BY id, path) GROUP BY id
)
SELECT system AS "system", mechanism.text AS "with", setting AS "setting", named.batch AS "batch",
       NULLIF(COALESCE(cache_bytes, 0) + COALESCE(hbm_kv_bytes, 0), 0) / 1073741824.0 AS "KV in HBM (GiB)", hbm_bytes / 1073741824.0 AS "HBM (GiB)",
       ranged(100 * hit_ratio, 100 * hit_ratio_low, 100 * hit_ratio_high, ranges) AS "hit (%)",
       ranged(100 * mass_recall, 100 * mass_recall_low, 100 * mass_recall_high, ranges) AS "mass (%)",
       prefill_ms / 1000 AS "prefill (s)", ranged(step_us / 1000, step_us_low / 1000, step_us_high / 1000, ranges) AS "step (ms)",
       ranged(decode_tokens_per_s, decode_tokens_per_s_low, decode_tokens_per_s_high, ranges) AS "tokens/s",
       ranged(e2e_tokens_per_s, e2e_tokens_per_s_low, e2e_tokens_per_s_high, ranges) AS "e2e tokens/s",
       CASE WHEN step_us > 0 THEN round(100 * COALESCE(ms, 0) / (step_us / 1000), 1) END AS "stall (%)",
       run AS "run",
       CASE WHEN status <> 'ok' THEN status || COALESCE(': ' || NULLIF(message, ''), '') END AS "why there is no time"
FROM named JOIN seated USING (id) JOIN beside LEFT JOIN waited USING (id) LEFT JOIN mechanism USING (id) WHERE kind IN ('decode', '') ORDER BY seat;
