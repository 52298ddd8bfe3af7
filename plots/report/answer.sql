-- The answer where all runs of a kind have one setting: the best run, the best that attends to all of the attention mass,
-- the next one and why it ties, the one with the shortest step, and the one with the least HBM among those within 5 % of
-- the best, if that is a tenth less.
, alone AS (
  SELECT *, CASE WHEN kind = 'decode' THEN 'decode_tokens_per_s' WHEN score < 0 THEN 'e2e_p50_ms' WHEN kind = 'served' THEN 'goodput' END AS measured,
         MAX(score) OVER whole AS most, COUNT(*) OVER whole AS runs, first_value(id) OVER best AS best_id, first_value(run) OVER best AS best_run,
         first_value(hbm_bytes) OVER best AS best_hbm, lossless = 'lossy' OR COALESCE(mass_recall, 1) < .9995 AS loses
  FROM scored WHERE kind IN (SELECT kind FROM scored GROUP BY kind HAVING COUNT(DISTINCT setting) = 1)
  WINDOW whole AS (PARTITION BY kind), best AS (PARTITION BY kind ORDER BY score DESC, id)
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY kind ORDER BY score DESC, id) AS place,
         row_number() OVER (PARTITION BY kind ORDER BY loses, score DESC, id) AS place_lossless,
         row_number() OVER (PARTITION BY kind ORDER BY step_us, id) AS place_step,
         row_number() OVER (PARTITION BY kind ORDER BY score < .95 * most, hbm_bytes, id) AS place_hbm
  FROM alone
),
roles(seat, role, id) AS (
  SELECT 1, CASE WHEN runs = 1 THEN 'the run' WHEN kind = 'decode' THEN 'fastest' ELSE 'best' END, id FROM ranked WHERE place = 1
  UNION ALL SELECT 2, 'fastest that attends to all', id FROM ranked WHERE kind = 'decode' AND place_lossless = 1 AND NOT loses AND id <> best_id
  UNION ALL SELECT 3, 'next', id FROM ranked WHERE place = 2
  UNION ALL SELECT 4, 'shortest step', id FROM ranked WHERE kind = 'decode' AND place_step = 1 AND id <> best_id
  UNION ALL SELECT 5, 'least HBM within 5 % of the fastest', id FROM ranked WHERE kind = 'decode' AND place_hbm = 1 AND id <> best_id AND hbm_bytes <= .9 * best_hbm
)
SELECT group_concat(role, ', ') AS "answer", choice AS "run of",
       CASE kind WHEN 'decode' THEN decode_tokens_per_s END AS "tokens/s",
       step_us / 1000 AS "step (ms)",
       CASE WHEN kind = 'decode' AND batch > 1 THEN tokens_per_s_per_user END AS "tokens/s a sequence",
       CASE kind WHEN 'decode' THEN 100 * mass_recall END AS "mass (%)",
       CASE kind WHEN 'decode' THEN CASE WHEN lossless = 'lossy' THEN 'lossy' END END AS "output",
       CASE kind WHEN 'decode' THEN hbm_bytes / 1073741824.0 END AS "HBM (GiB)",
       goodput AS "good requests/s", ttft_p50_ms AS "TTFT p50 (ms)", e2e_p50_ms AS "e2e p50 (ms)",
       CASE WHEN kind <> 'decode' THEN COALESCE(CASE WHEN hashed_blocks IS NOT NULL THEN round(100.0 * hit_tokens_gpu / prompt_tokens, 1) END, 'unknown') END AS "GPU hit (%)",
       CASE WHEN kind <> 'decode' THEN COALESCE(CASE WHEN hashed_blocks IS NOT NULL THEN round(100.0 * hit_tokens_host / prompt_tokens, 1) END, 'unknown') END AS "host hit (%)",
       CASE WHEN kind <> 'decode' AND hashed_blocks IS NOT NULL THEN round(100.0 * hit_tokens_disk / prompt_tokens, 1) END AS "disk hit (%)",
       CASE WHEN kind <> 'decode' AND hashed_blocks IS NOT NULL THEN round(100.0 * hit_tokens_pool / prompt_tokens, 1) END AS "pool hit (%)",
       CASE WHEN id <> best_id AND most > 0 THEN round(100 * (score / most - 1), 1) END AS "against the best (%)",
       CASE WHEN place = 2 THEN tied(best_run, run, measured) END AS "a tie, because",
       CASE WHEN kind = 'found' THEN NULL WHEN error_band IS NOT NULL
            THEN printf('%+.0f … %+.0f', 100 * json_extract(error_band, '$[0]'), 100 * json_extract(error_band, '$[1]'))
            ELSE 'not known' END AS "error band (%)"
FROM (SELECT * FROM roles ORDER BY seat) JOIN ranked USING (id) GROUP BY id ORDER BY kind, MIN(seat);
