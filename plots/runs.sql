-- What all pictures begin with: the runs that have a time, and what tells them apart.
--
-- A key of the scenario is told when runs differ in it; a mechanism, when runs of one system do.
-- Each KIND.sql goes on with more tables and a SELECT, whose rows are what KIND.gp reads:
--   kind   what the row is
--   y, a, b, c   numbers
--   text, name   texts
WITH
ok AS (SELECT rowid AS id, * FROM runs WHERE status = 'ok' AND step_us > 0),
leaf(id, system, path, key, value) AS (
  SELECT ok.id, ok.system, tree.fullkey, tree.key, tree.atom
  FROM ok, json_tree(CASE WHEN json_valid(ok.scenario) THEN ok.scenario ELSE '{}' END) AS tree
  WHERE tree.atom IS NOT NULL AND tree.fullkey <> '$.system'
),
told(path) AS (
  SELECT path FROM leaf WHERE path NOT LIKE '$.mechanisms.%'
  GROUP BY path HAVING COUNT(DISTINCT value) > 1 OR COUNT(*) < (SELECT COUNT(*) FROM ok)
  UNION
  SELECT path FROM leaf WHERE path LIKE '$.mechanisms.%'
  GROUP BY path, system HAVING COUNT(DISTINCT value) > 1
    OR COUNT(*) < (SELECT COUNT(*) FROM ok WHERE ok.system = leaf.system)
),
word(id, path, text) AS (
  SELECT id, path,
    CASE
      WHEN key IN ('model', 'hardware', 'extends', 'trace', 'gpu', 'link', 'host') THEN value
      WHEN path = '$.context' AND value % 1024 = 0 THEN (value / 1024) || 'K tokens'
      WHEN path = '$.context' THEN value || ' tokens'
      ELSE key || ' ' || value
    END
  FROM leaf JOIN told USING (path)
),
title(text) AS (
  SELECT ltrim(
      CASE WHEN COUNT(DISTINCT model) = 1 THEN MIN(model) ELSE '' END ||
      CASE WHEN COUNT(DISTINCT hardware) = 1 THEN ' on ' || MIN(hardware) ELSE '' END ||
      CASE WHEN COUNT(DISTINCT context) = 1 THEN ', ' || MIN(context) || ' tokens' ELSE '' END ||
      CASE WHEN COUNT(DISTINCT batch) = 1 THEN ', batch ' || MIN(batch) ELSE '' END, ', ')
  FROM ok
),
source(text) AS (
  SELECT 'hit ratios: ' || group_concat(trace_source, '; ')
  FROM (SELECT DISTINCT trace_source FROM ok WHERE trace_source IS NOT NULL)
)
