-- The keys in which runs differ, each with its first dozen values, in the order of their seats.
, value(key, path, text, first_at) AS (
  SELECT 'system', '', system, MIN(id) FROM ok GROUP BY system HAVING (SELECT COUNT(DISTINCT system) FROM ok) > 1
  UNION ALL
  SELECT replace(replace(substr(path, 3), '"', ''), '.extends', ''), path, spelled.text, MIN(seat)
  FROM leaf JOIN spelled USING (path, value) JOIN seated USING (id) GROUP BY path, value
),
counted AS (
  SELECT *, row_number() OVER (PARTITION BY path ORDER BY first_at, text) AS place FROM value
)
SELECT key AS "key", COUNT(*) AS "values",
       group_concat(text, CASE path WHEN '$.mechanisms.policy' THEN '; ' ELSE ', ' END) FILTER (WHERE place <= 12)
         || CASE WHEN COUNT(*) > 12 THEN ' and ' || (COUNT(*) - 12) || ' more' ELSE '' END AS "which"
FROM (SELECT * FROM counted ORDER BY path, place) GROUP BY path ORDER BY path;
