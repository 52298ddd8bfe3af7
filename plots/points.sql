-- The beginning of all pictures of miss curves: which curve is drawn as which line, and its points. Each KIND.sql
-- continues with more tables and a SELECT of rows as runs.sql describes them.
, keyed(id, key, value) AS (
  SELECT curve, key, CAST(value AS TEXT)
  FROM curves, json_each(json_patch(parameters, json_object(
    'source', source, 'policy', policy, 'selection', selection, 'order', step_order))) AS pair
  WHERE value IS NOT NULL
),
kept(id) AS (
  SELECT id FROM keyed JOIN only ON keyed.key = only.key AND alike(keyed.value, only.value)
  GROUP BY id HAVING COUNT(DISTINCT keyed.key) = (SELECT COUNT(DISTINCT key) FROM only)
),
drawn AS (SELECT * FROM curves WHERE NOT EXISTS (SELECT 1 FROM only) OR curve IN kept),
-- A plug-in is called by the name that it gives itself, unless another policy has it.
called(curve, text) AS (
  SELECT curve, CASE WHEN (SELECT COUNT(DISTINCT policy) FROM drawn AS other WHERE other.policy_title = drawn.policy_title) > 1
                     THEN policy ELSE policy_title END FROM drawn
),
-- A label names the source, selection or order if curves differ in it.
label(curve, series) AS (
  SELECT curve, called.text
    || COALESCE((SELECT ', ' || group_concat(key || ' ' || printf('%.15g', value), ', ') FROM json_each(parameters)), '')
    || CASE WHEN (SELECT COUNT(DISTINCT source_hash) FROM drawn) > 1 THEN ', ' || source ELSE '' END
    || CASE WHEN (SELECT COUNT(DISTINCT selection) FROM drawn) > 1 AND selection IS NOT NULL
         THEN ', ' || printf('%g', 100 * selection) || '% wanted' ELSE '' END
    || CASE WHEN (SELECT COUNT(DISTINCT step_order) FROM drawn) > 1 THEN ', ' || step_order ELSE '' END
  FROM drawn JOIN called USING (curve)
),
hit(curve, series, layer, head, share, percent, is_knee) AS (
  SELECT curve, series, layer, head, 100.0 * size / blocks, 100 - 100.0 * misses / accesses, size IS knee
  FROM drawn JOIN label USING (curve) JOIN curve_points USING (curve) WHERE accesses > 0
),
-- Best first, in the range where curves differ, so that the legend has the order of the lines.
line(series, place) AS (
  SELECT series, row_number() OVER (
    ORDER BY AVG(CASE WHEN share BETWEEN 10 AND 50 THEN percent END) DESC, series)
  FROM hit WHERE layer IS NULL GROUP BY series
),
title(text) AS (
  SELECT CASE WHEN COUNT(DISTINCT source_hash) = 1 THEN MIN(source) ELSE COUNT(DISTINCT source_hash) || ' sources' END
    || CASE WHEN COUNT(DISTINCT selection) = 1
         THEN ', a cache a head, ' || printf('%g', 100 * MIN(selection)) || '% of the context wanted' ELSE '' END
    || CASE WHEN COUNT(DISTINCT step_order) = 1 AND MIN(step_order) = 'batch' THEN ', a step at a time'
            WHEN COUNT(DISTINCT step_order) = 1 THEN ', one by one' ELSE '' END
  FROM drawn
),
source(text) AS (
  SELECT '100%: ' || group_concat(text, '; ')
  FROM (SELECT DISTINCT blocks || ' blocks' || CASE unit_tokens WHEN 1 THEN ' of a token' ELSE COALESCE(' of ' || unit_tokens || ' tokens', '') END AS text FROM drawn)
)
