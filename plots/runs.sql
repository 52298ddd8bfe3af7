-- A part that pictures and tables of runs share: the keys in which the candidates differ. An earlier file defines
-- `candidate`.
--
-- A key of the scenario is named if runs differ in it; a mechanism, if runs of one system do.
-- Each KIND.sql continues with more tables and a SELECT, whose rows KIND.gp reads:
--   kind   what the row is
--   y, a, b, c   numbers
--   text, name   texts
-- Keys as --only names them: those of the scenario; a profile or a policy by its own key.
, keyed(id, key, value) AS (
  SELECT candidate.id,
         replace(substr(CASE WHEN tree.key IN ('extends', 'name') THEN tree.path ELSE tree.fullkey END, 3), '"', ''),
         CAST(tree.atom AS TEXT)
  FROM candidate, json_tree(CASE WHEN json_valid(candidate.scenario) THEN candidate.scenario ELSE '{}' END) AS tree
  WHERE tree.atom IS NOT NULL AND EXISTS (SELECT 1 FROM only)
  UNION SELECT candidate.id, 'mechanisms.policy', policy_words(json_extract(scenario, '$.mechanisms.policy'))
  FROM candidate WHERE EXISTS (SELECT 1 FROM only) AND json_valid(scenario) AND policy_words(json_extract(scenario, '$.mechanisms.policy')) IS NOT NULL
),
kept(id) AS (
  SELECT id FROM keyed JOIN only ON keyed.key = only.key AND alike(keyed.value, only.value)
  GROUP BY id HAVING COUNT(DISTINCT keyed.key) = (SELECT COUNT(DISTINCT key) FROM only)
),
-- Of a scenario, `keys` has what may differ: the parameters of a made-up workload are keys of their own.
ok AS (
  SELECT *, CASE WHEN NOT json_valid(scenario) THEN '{}' WHEN json_valid(made) THEN json_set(scenario, '$.workload', json(made)) ELSE scenario END AS keys
  FROM (SELECT *, CASE WHEN json_valid(scenario) AND json_extract(scenario, '$.workload') LIKE 'synthetic:%' THEN
               '{"' || replace(replace(substr(json_extract(scenario, '$.workload'), 11), '=', '":"'), ',', '","') || '"}' END AS made
        FROM candidate WHERE NOT EXISTS (SELECT 1 FROM only) OR id IN kept)
),
-- A policy is one key, whose value is the name that tables give it, if runs of a system differ in the policy's name or in
-- which parameters they set. If they differ only in the value of a parameter, as along eta, that is the key.
policed(id, system, words, shape) AS (
  SELECT own.id, system, COALESCE(policy_words(policy), MAX(CASE part.key WHEN 'name' THEN part.atom END)
                              || COALESCE(group_concat(', ' || part.key || ' ' || part.atom, '') FILTER (WHERE part.key <> 'name'), ''), policy),
         COALESCE(group_concat(CASE part.key WHEN 'name' THEN part.atom ELSE part.key END), policy)
  FROM (SELECT id, system, json_extract(scenario, '$.mechanisms.policy') AS policy FROM ok WHERE json_valid(scenario)) AS own
       LEFT JOIN json_each(CASE json_valid(policy) WHEN 1 THEN policy END) AS part
  GROUP BY own.id
),
one_policy(yes) AS (SELECT EXISTS (SELECT 1 FROM policed GROUP BY system HAVING COUNT(DISTINCT shape) > 1)),
-- One name of a machine with the same keys in its place has several profiles if its file was changed between the runs.
machine(id, system, profile_hash, text) AS (
  SELECT id, system, profile_hash, CASE WHEN json_valid(scenario) THEN json_extract(scenario, '$.hardware') END FROM ok
),
-- The values that a key has in the runs of a system, without those runs: a page of ten thousand runs has a million.
form(system, path, value) AS (
  SELECT DISTINCT ok.system, tree.fullkey, tree.atom
  FROM ok, one_policy, json_tree(ok.keys) AS tree
  WHERE tree.atom IS NOT NULL AND tree.fullkey <> '$.system' AND NOT (yes AND tree.fullkey || '.' LIKE '$.mechanisms.policy.%')
  UNION
  SELECT system, '$.mechanisms.policy', words FROM policed, one_policy WHERE yes AND words IS NOT NULL
  UNION
  SELECT system, '$.profile', '#' || substr(profile_hash, 1, 6) FROM machine
  WHERE text IN (SELECT text FROM machine GROUP BY text HAVING COUNT(DISTINCT profile_hash) > 1)
),
-- The keys that runs of a system have, a line each; and those that some of its runs lack.
shape(system, paths) AS (
  SELECT DISTINCT ok.system, char(10) || (
    SELECT group_concat(tree.fullkey, char(10)) FROM json_tree(ok.keys) AS tree
    WHERE tree.atom IS NOT NULL) || char(10)
  FROM ok
),
lacked(path) AS (
  SELECT DISTINCT path FROM form JOIN shape ON shape.system IS form.system, one_policy
  WHERE COALESCE(instr(paths, char(10) || path || char(10)), 0) = 0 AND path <> '$.profile' AND NOT (yes AND path = '$.mechanisms.policy')
  UNION
  SELECT '$.mechanisms.policy' FROM policed, one_policy WHERE yes AND words IS NULL
),
-- A preset may name its server engine, and what follows from that; the system's name then says it already. The mean
-- context follows from the prompt where each prompt has one, and is then no key of its own.
follows(path) AS (
  SELECT '$.context'
  FROM (SELECT COUNT(DISTINCT prompt) AS prompts, COUNT(DISTINCT context) AS contexts, COUNT(DISTINCT prompt || ' ' || context) AS pairs,
               COUNT(prompt) = COUNT(*) AS every
        FROM (SELECT COALESCE(json_extract(keys, '$.workload.prompt'), json_extract(keys, '$.prompt')) AS prompt, json_extract(keys, '$.context') AS context FROM ok))
  WHERE every AND prompts = contexts AND prompts = pairs
  UNION ALL
  SELECT path FROM (SELECT path, system, COUNT(*) AS count FROM form
                    WHERE replace(path, '"', '') IN ('$.engine', '$.compile', '$.batched_tokens', '$.hbm_usable', '$.max_sequences')
                    GROUP BY path, system)
  GROUP BY path HAVING MAX(count) = 1
),
told(path) AS (
  SELECT path FROM form WHERE path NOT LIKE '$.mechanisms.%' AND path NOT IN follows
  GROUP BY path HAVING COUNT(DISTINCT value) > 1 OR path IN lacked OR COUNT(DISTINCT system) < (SELECT COUNT(DISTINCT system) FROM ok)
  UNION
  SELECT path FROM form WHERE path LIKE '$.mechanisms.%'
  GROUP BY path, system HAVING COUNT(*) > 1 OR path IN lacked
),
leaf(id, system, path, key, value) AS (
  SELECT ok.id, ok.system, tree.fullkey, tree.key, tree.atom
  FROM ok, one_policy, json_tree(ok.keys) AS tree
  WHERE tree.atom IS NOT NULL AND tree.fullkey IN told AND NOT (yes AND tree.fullkey || '.' LIKE '$.mechanisms.policy.%')
  UNION ALL
  SELECT id, system, '$.mechanisms.policy', 'policy', words FROM policed, one_policy
  WHERE yes AND words IS NOT NULL AND '$.mechanisms.policy' IN told
  UNION ALL
  SELECT id, system, '$.profile', 'profile', '#' || substr(profile_hash, 1, 6) FROM machine
  WHERE '$.profile' IN told AND text IN (SELECT text FROM machine GROUP BY text HAVING COUNT(DISTINCT profile_hash) > 1)
),
-- A value as tables print it, if that distinguishes all values of its key; else as the scenario has it.
-- A plug-in is called by the name that it gives itself, which a note of its runs states; its parameters follow.
plugged(value, text) AS (
  SELECT leaf.value, MIN(json_extract(note.value, '$.name') || substr(leaf.value, instr(leaf.value || ', ', ', ')))
  FROM leaf JOIN ok USING (id), json_each(ok.notes) AS note
  WHERE leaf.value LIKE 'plugin:%' AND json_extract(note.value, '$.note') = 'plugin' GROUP BY leaf.value
),
spelled(path, value, text) AS MATERIALIZED (
  SELECT path, value, CASE WHEN COUNT(*) OVER (PARTITION BY path, shown) = 1 THEN shown ELSE value END
  FROM (SELECT DISTINCT path, value, COALESCE(plugged.text, CASE WHEN value GLOB '*.*' AND value NOT GLOB '*[^0-9.]*' THEN printf('%.12g', value) END,
                                              quantity(value)) AS shown
        FROM leaf LEFT JOIN plugged USING (value))
),
-- The possible axes of runs, the likeliest first: the budget, keys with numbers, others. Values in several units (7500ns
-- and 15us) are drawn in one; names have none.
walkable(path, place, numbers, name, unit) AS MATERIALIZED (
  SELECT path, row_number() OVER (ORDER BY path <> '$.mechanisms.budget', MIN(value GLOB '[0-9]*') DESC, path),
         MIN(value GLOB '[0-9]*'),
         replace(replace(replace(substr(path, 3), '"', ''), 'mechanisms.', ''), '.extends', ''),
         CASE WHEN MIN(value GLOB '[0-9]*') = 0 THEN ''
              WHEN COUNT(DISTINCT ltrim(value, '0123456789.e+- ')) < 2 THEN ltrim(MIN(value), '0123456789.e+- ')
              WHEN MIN(value) LIKE '%B/s' THEN 'GB/s' WHEN MIN(value) LIKE '%s' THEN 'us' ELSE 'B' END
  FROM leaf GROUP BY path
),
-- A search tries values in its own order. Runs that differ only along the likeliest axis are therefore sorted by value,
-- among the places (seats) that they have in the database.
alike(id, text) AS (
  SELECT id, group_concat(path || '=' || value, ';')
  FROM (SELECT leaf.* FROM leaf JOIN walkable USING (path) WHERE place > 1 ORDER BY id, path) GROUP BY id
),
sought AS MATERIALIZED (
  SELECT id, ok.system || COALESCE(';' || alike.text, '') AS line,
         CASE walkable.path WHEN '$.mechanisms.budget' THEN cache_bytes ELSE magnitude(value) END AS x
  FROM ok JOIN leaf USING (id) JOIN walkable USING (path) LEFT JOIN alike USING (id)
  WHERE walkable.place = 1 AND numbers
),
moved(id, seat) AS (
  SELECT own.id, other.id
  FROM (SELECT *, row_number() OVER (PARTITION BY line ORDER BY x, id) AS place FROM sought) AS own
  JOIN (SELECT *, row_number() OVER (PARTITION BY line ORDER BY id) AS place FROM sought) AS other USING (line, place)
),
seated(id, seat) AS MATERIALIZED (SELECT id, COALESCE(seat, id) FROM ok LEFT JOIN moved USING (id)),
word(id, path, text) AS (
  SELECT id, path,
    CASE
      WHEN key IN ('model', 'hardware', 'extends', 'trace', 'gpu', 'link', 'host') THEN value
      WHEN path = '$.context' AND value % 1024 = 0 THEN (value / 1024) || 'K tokens'
      WHEN path = '$.context' THEN value || ' tokens'
      ELSE key || ' ' || spelled.text
    END
  FROM leaf JOIN spelled USING (path, value)
),
-- Machines that differ only in their parts, as a40 and a40+pcie5-x16, share the name before the plus.
machine(text) AS (
  SELECT CASE WHEN COUNT(DISTINCT hardware) = 1 THEN MIN(hardware)
              WHEN COUNT(DISTINCT substr(hardware, 1, instr(hardware || '+', '+') - 1)) = 1
              THEN MIN(substr(hardware, 1, instr(hardware || '+', '+') - 1)) END
  FROM ok
),
title(text) AS (
  SELECT ltrim(
      CASE WHEN COUNT(DISTINCT model) = 1 THEN MIN(model) ELSE '' END ||
      CASE WHEN COUNT(DISTINCT gpus) = 1 AND MIN(gpus) > 1 THEN ' on ' || MIN(gpus) || COALESCE(' x ' || machine.text, ' GPUs')
           ELSE COALESCE(' on ' || machine.text, '') END ||
      CASE WHEN COUNT(DISTINCT context) = 1 THEN ', ' || MIN(context) || ' tokens' ELSE '' END ||
      CASE WHEN COUNT(DISTINCT batch) = 1 THEN ', batch ' || MIN(batch) ELSE '' END, ', ')
  FROM ok, machine
),
-- A recording that is carried to several lengths is named once, with the least and the most of them.
carried(id, trace_source, at) AS (
  SELECT MIN(id), CASE trace WHEN 'ensemble' THEN 'the median of three recordings' ELSE trace_source END AS named,
         CASE trace WHEN 'ensemble' THEN 0 ELSE instr(trace_source, '→') END
  FROM ok WHERE trace_source IS NOT NULL GROUP BY named
),
source(text) AS (
  SELECT 'hit ratios: ' || group_concat(text, '; ')
  FROM (SELECT substr(trace_source, 1, at) || CASE WHEN at = 0 OR COUNT(*) = 1 THEN substr(MIN(trace_source), at + 1)
               ELSE MIN(CAST(substr(trace_source, at + 1) AS INTEGER)) || '…' || MAX(CAST(substr(trace_source, at + 1) AS INTEGER)) || ' tokens' END AS text
        FROM carried GROUP BY CASE at WHEN 0 THEN trace_source ELSE substr(trace_source, 1, at) END ORDER BY MIN(id))
)
