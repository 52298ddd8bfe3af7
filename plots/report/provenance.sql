-- The inputs of runs, and the hash of their contents.
, input(place, what, name, hash, id) AS (
  SELECT 1, 'program', 'spillway ' || version, NULL, id FROM ok
  UNION ALL SELECT 2, 'model', model, NULL, id FROM ok
  UNION ALL SELECT 3, 'machine', hardware, profile_hash, id FROM ok
  UNION ALL SELECT 4, 'trace', trace, NULLIF(trace_hash, ''), id FROM ok WHERE trace_source IS NOT NULL
)
SELECT what AS "what", name AS "name", hash AS "hash", COUNT(*) AS "runs"
FROM input GROUP BY place, name, hash ORDER BY place, MIN(id);
