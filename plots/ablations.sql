-- The beginning of all pictures of ablations: which ablations are drawn. Each KIND.sql continues with more tables and a
-- SELECT of rows as runs.sql describes them.
, whole AS (
  SELECT ablations.*, model, hardware, gpus, context, batch,
         CASE trace WHEN 'ensemble' THEN 'the median of three recordings' ELSE trace_source END AS trace_source
  FROM ablations LEFT JOIN runs USING (run) WHERE kind = 'whole'
),
keyed(id, key, value) AS (
  SELECT ablation, key, CAST(value AS TEXT)
  FROM whole, json_each(json_object('system', whole.system, 'base', base, 'model', model, 'hardware', hardware,
                                    'context', context, 'batch', batch)) AS pair
  WHERE value IS NOT NULL
),
kept(id) AS (
  SELECT id FROM keyed JOIN only USING (key, value)
  WHERE value = list OR (key, list) NOT IN (SELECT key, value FROM keyed)
  GROUP BY id HAVING COUNT(DISTINCT key) = (SELECT COUNT(DISTINCT key) FROM only)
),
drawn AS (SELECT * FROM whole WHERE NOT EXISTS (SELECT 1 FROM only) OR ablation IN kept)
