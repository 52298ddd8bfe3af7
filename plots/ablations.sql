-- The beginning of all pictures and tables of ablations: which are drawn, and in what they differ. Each KIND.sql continues
-- with more tables and a SELECT; the rows of a picture are as runs.sql describes them.
, whole AS (
  SELECT ablations.*, model, hardware, gpus, context, batch, CASE WHEN json_valid(scenario) THEN scenario ELSE '{}' END AS scenario,
         CASE trace WHEN 'ensemble' THEN 'the median of three recordings' ELSE trace_source END AS trace_source
  FROM ablations LEFT JOIN runs USING (run) WHERE kind = 'whole'
),
keyed(id, key, value) AS (
  SELECT ablation, key, CAST(value AS TEXT)
  FROM whole, json_each(json_object('system', whole.system, 'base', base, 'model', model, 'hardware', hardware,
                                    'context', context, 'batch', batch)) AS pair
  WHERE value IS NOT NULL
  UNION SELECT ablation, replace(substr(CASE WHEN tree.key IN ('extends', 'name') THEN tree.path ELSE tree.fullkey END, 3), '"', ''),
               CAST(tree.atom AS TEXT)
  FROM whole, json_tree(scenario) AS tree WHERE tree.atom IS NOT NULL
  UNION SELECT ablation, 'mechanisms.policy', policy_words(json_extract(scenario, '$.mechanisms.policy')) FROM whole
  WHERE policy_words(json_extract(scenario, '$.mechanisms.policy')) IS NOT NULL
),
kept(id) AS (
  SELECT id FROM keyed JOIN only ON keyed.key = only.key AND alike(keyed.value, only.value)
  GROUP BY id HAVING COUNT(DISTINCT keyed.key) = (SELECT COUNT(DISTINCT key) FROM only)
),
drawn AS (SELECT * FROM whole WHERE NOT EXISTS (SELECT 1 FROM only) OR ablation IN kept),
-- In what else ablations of one system against one base differ, as words. A policy has its name and its words in `keyed`;
-- the words begin with the name, so they are the greater text.
said(id, system, base, key, value) AS (
  SELECT id, system, base, key, MAX(value) FROM keyed JOIN whole ON whole.ablation = id
  WHERE key NOT LIKE 'mechanisms.policy.%' GROUP BY id, key
),
unlike(id, key, text) AS (
  SELECT id, key, replace(key, 'mechanisms.', '') || ' ' || CASE WHEN key IN ('context', 'batch') THEN value ELSE quantity(value) END
  FROM said AS own
  WHERE EXISTS (SELECT 1 FROM whole AS other WHERE other.system = own.system AND other.base = own.base AND NOT EXISTS (
    SELECT 1 FROM said WHERE said.id = other.ablation AND said.key = own.key AND said.value = own.value))
)
