-- The heading of miss curves, and the policy that hits most. `opt` knows the future, so it is a bound and does not count.
, best AS (
  SELECT series, AVG(percent) AS percent, MAX(CASE WHEN is_knee THEN share END) AS knee,
         MAX(CASE WHEN is_knee THEN percent END) AS hits
  FROM hit JOIN line USING (series) WHERE layer IS NULL AND series NOT LIKE 'opt%' GROUP BY series ORDER BY place LIMIT 1
)
SELECT (SELECT text FROM title) AS title,
       CASE WHEN COUNT(DISTINCT policy) > 1 THEN 'Which of ' || COUNT(DISTINCT policy) || ' policies hits most, and from what size on?'
            ELSE 'What does ' || MIN(policy_title) || ' hit at each size of its cache?' END AS question,
       (SELECT series || CASE WHEN (SELECT COUNT(*) FROM line) > 1 THEN ' hits most' ELSE ' has its knee' END
               || CASE WHEN knee IS NULL THEN ''
                       ELSE printf(': %.1f %% at its knee, %.1f %% of all blocks', hits, knee) END || '.'
               || CASE WHEN series LIKE 'qsac%' THEN ' It loses attention mass, which curves do not show.' ELSE '' END FROM best) AS answer
FROM drawn GROUP BY NULL;
