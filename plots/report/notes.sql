-- The notes of runs, and what their hit ratios rest on.
, note(id, system, text) AS (
  SELECT ok.id, system, json_extract(each.value, '$.text')
  FROM ok, json_each(notes) AS each
  WHERE status = 'ok'
  UNION ALL
  SELECT id, system, 'hit ratio: ' || trace_source FROM ok WHERE trace_source IS NOT NULL
)
SELECT text AS "note", COUNT(DISTINCT id) AS "runs", group_concat(DISTINCT system) AS "of"
FROM note GROUP BY text ORDER BY MIN(id), text;
