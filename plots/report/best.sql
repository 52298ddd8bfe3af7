-- For each setting: the number of runs, the best run, the second best and why the two tie, if they do, the best that
-- attends to all of the attention mass, the one with the shortest step, and the one with the least HBM among those within
-- 5 % of the best.
, lossy(id) AS (SELECT id FROM scored WHERE lossless = 'lossy' OR mass_recall < .9995),
placed_first AS (
  SELECT *, MAX(score) OVER setting AS most,
         row_number() OVER (PARTITION BY kind, setting ORDER BY score DESC, id) AS place,
         row_number() OVER (PARTITION BY kind, setting ORDER BY id IN lossy, score DESC, id) AS place_lossless,
         row_number() OVER (PARTITION BY kind, setting ORDER BY step_us, id) AS place_step
  FROM scored WINDOW setting AS (PARTITION BY kind, setting)
),
frugal AS (
  SELECT *, row_number() OVER (PARTITION BY kind, setting ORDER BY score < .95 * most, hbm_bytes, id) AS place_hbm
  FROM placed_first
)
SELECT kind, setting, COUNT(*) AS choices, MAX(score) AS score,
       CASE kind WHEN 'decode' THEN 'tokens a second' WHEN 'found' THEN '% of the prompts found'
                 WHEN 'served' THEN CASE WHEN MAX(score) < 0 THEN 'ms to the last token at the median'
                                         ELSE 'requests a second that meet the objectives' END END AS measure,

       MAX(CASE place WHEN 1 THEN run END) AS best, MAX(CASE place WHEN 1 THEN choice END) AS best_name,
       MAX(CASE place WHEN 2 THEN run END) AS next, MAX(CASE place WHEN 2 THEN choice END) AS next_name,
       tied(MAX(CASE place WHEN 1 THEN run END), MAX(CASE place WHEN 2 THEN run END),
            CASE kind WHEN 'decode' THEN 'decode_tokens_per_s' WHEN 'served' THEN CASE WHEN MAX(score) < 0 THEN 'e2e_p50_ms' ELSE 'goodput' END END) AS tie,
       MAX(CASE WHEN place_lossless = 1 AND id NOT IN lossy THEN run END) AS lossless,
       MAX(CASE place_lossless WHEN 1 THEN choice END) AS lossless_name,
       MAX(CASE place_step WHEN 1 THEN run END) AS quickest, MAX(CASE place_step WHEN 1 THEN choice END) AS quickest_name,
       MAX(CASE place_hbm WHEN 1 THEN run END) AS frugal, MAX(CASE place_hbm WHEN 1 THEN choice END) AS frugal_name
FROM frugal GROUP BY kind, setting ORDER BY MIN(id);
