-- The heading of runs: their setting, the question, and how many have no result.
, key(place, name) AS (
  SELECT row_number() OVER (ORDER BY path), replace(replace(replace(replace(substr(path, 3), '"', ''), 'mechanisms.', ''), '.extends', ''), '_', ' ')
  FROM told
),
asked(text) AS (
  SELECT group_concat(name, ', ') FILTER (WHERE place <= 4) || CASE WHEN COUNT(*) > 4 THEN ' and ' || (COUNT(*) - 4) || ' more' ELSE '' END FROM key
),
counts AS (
  SELECT COUNT(DISTINCT system) AS systems, MIN(system) AS system, COUNT(*) AS runs,
         SUM(kind = '') AS missing, SUM(kind IN ('served', 'found')) AS served FROM named
)
SELECT COALESCE(NULLIF((SELECT text FROM title), ''), runs || CASE runs WHEN 1 THEN ' run' ELSE ' runs' END) AS title,
       CASE WHEN systems > 1 THEN 'Which of ' || systems || ' systems ' || CASE WHEN served > 0 THEN 'serves best' ELSE 'decodes fastest' END
            WHEN served > 0 THEN 'How well does ' || system || ' serve'
            ELSE 'How fast does ' || system || ' decode' END
         || COALESCE(', and how does that change with ' || (SELECT text FROM asked), '') || '?' AS question,
       NULLIF(CASE WHEN missing > 0 THEN missing || ' of ' || runs || CASE runs WHEN 1 THEN ' run has' ELSE ' runs have' END || ' no result; the table of runs says why.' ELSE '' END
              || CASE WHEN apart > 0
                      THEN ' ' || apart || CASE apart WHEN 1 THEN ' run' ELSE ' runs' END || ' made by ' || rtrim(CASE WHEN EXISTS (SELECT 1 FROM plans) THEN 'plans and ' ELSE '' END || CASE WHEN EXISTS (SELECT 1 FROM ablations) THEN 'ablations' ELSE '' END, ' and') || CASE apart WHEN 1 THEN ' is' ELSE ' are' END || ' not compared with the others.' ELSE '' END, '') AS missing
FROM counts, (SELECT (SELECT COUNT(*) FROM runs) - (SELECT COUNT(*) FROM chosen) AS apart) WHERE runs > 0;
