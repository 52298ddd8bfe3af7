-- A sentence for each kind of runs that have several settings and several systems: which system is best in how many of
-- them, how often it ties with the next run, and for decode steps the same among runs that attend to everything.
, entered AS (
  SELECT *, lossless = 'lossy' OR COALESCE(mass_recall, 1) < .9995 AS loses FROM scored
  WHERE kind IN (SELECT kind FROM scored GROUP BY kind HAVING COUNT(DISTINCT setting) > 1 AND COUNT(DISTINCT system) > 1)
),
ordered AS (
  SELECT *, row_number() OVER setting AS place, lead(run) OVER setting AS next_run,
         row_number() OVER (PARTITION BY kind, setting ORDER BY loses, score DESC, id) AS place_lossless
  FROM entered WINDOW setting AS (PARTITION BY kind, setting ORDER BY score DESC, id)
),
won(kind, lossless, system, count, ties) AS (
  SELECT kind, 0, system, COUNT(*),
         COUNT(tied(run, next_run, CASE WHEN kind = 'decode' THEN 'decode_tokens_per_s' WHEN score < 0 THEN 'e2e_p50_ms' ELSE 'goodput' END))
  FROM ordered WHERE place = 1 GROUP BY kind, system
  UNION ALL
  SELECT kind, 1, system, COUNT(*), 0 FROM ordered WHERE place_lossless = 1 AND NOT loses AND kind = 'decode' GROUP BY system
),
told_of(kind, lossless, text) AS (
  SELECT kind, lossless, group_concat(system || ' in ' || count || CASE ties WHEN 0 THEN '' ELSE ' (' || ties || ' ties)' END, ', ')
  FROM (SELECT * FROM won ORDER BY kind, lossless, count DESC, system) GROUP BY kind, lossless
)
SELECT CASE kind WHEN 'decode' THEN 'Fastest' ELSE 'Best' END || ' of ' || (SELECT COUNT(DISTINCT system) FROM entered WHERE kind = told_of.kind)
       || ' systems, in ' || (SELECT COUNT(DISTINCT setting) FROM entered WHERE kind = told_of.kind) || ' settings: ' || text
       || COALESCE('; of runs that attend to everything: ' || (SELECT text FROM told_of AS other WHERE other.kind = told_of.kind AND lossless
                   AND EXISTS (SELECT 1 FROM ordered WHERE kind = told_of.kind AND place = 1 AND loses)), '') || '.' AS answer
FROM told_of WHERE NOT lossless ORDER BY kind DESC;
