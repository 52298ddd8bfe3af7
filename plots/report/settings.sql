-- The best choice of each setting, where runs of a kind have several; a walk without a choice has an answer of its own.
, behind AS (
  SELECT *, row_number() OVER setting AS place, COUNT(*) OVER whole AS choices,
         lead(choice) OVER setting AS next_choice, lead(score) OVER setting AS next_score, lead(run) OVER setting AS next_run
  FROM scored
  WHERE kind IN (SELECT kind FROM scored GROUP BY kind
                 HAVING COUNT(DISTINCT setting) > 1
                    AND (COUNT(*) > COUNT(DISTINCT setting) OR NOT EXISTS (SELECT 1 FROM walk WHERE points > 2)))
  WINDOW setting AS (PARTITION BY kind, setting ORDER BY score DESC, id), whole AS (PARTITION BY kind, setting)
)
SELECT CASE setting WHEN '' THEN 'the same for all' ELSE setting END AS "setting", choices AS "runs", choice AS "best",
       CASE kind WHEN 'decode' THEN decode_tokens_per_s END AS "tokens/s",
       step_us / 1000 AS "step (ms)",
       CASE WHEN kind = 'decode' AND mass_recall < .9995 THEN printf('%.0f', 100 * mass_recall) END AS "mass (%)",
       goodput AS "good requests/s", ttft_p50_ms AS "TTFT p50 (ms)", e2e_p50_ms AS "e2e p50 (ms)",
       CASE kind WHEN 'found' THEN round(score, 1) END AS "prompt found (%)",
       next_choice AS "next",
       CASE kind WHEN 'decode' THEN round(100 * (next_score / score - 1), 1) END AS "next against best (%)",
       tied(run, next_run, CASE WHEN kind = 'decode' THEN 'decode_tokens_per_s'
                                WHEN kind = 'served' THEN CASE WHEN score < 0 THEN 'e2e_p50_ms' ELSE 'goodput' END END) AS "a tie, because",
       CASE WHEN kind = 'decode' AND error_band IS NOT NULL
            THEN printf('%+.0f … %+.0f', 100 * json_extract(error_band, '$[0]'), 100 * json_extract(error_band, '$[1]'))
            WHEN kind = 'decode' THEN 'not known' END AS "error band (%)"
FROM behind WHERE place = 1 ORDER BY id;
