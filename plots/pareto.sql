-- Throughput over step latency, for runs of several batches. A run is on the front if no other run beats it: none has as
-- many tokens a second, as short a step, as little HBM and as much attention mass, and is better in one of these. A run
-- with an unknown mass counts as 0. Machines compete, but runs that do another work do not: each setting has a front.
, task(id, text) AS (
  SELECT id, group_concat(text, ', ')
  FROM (SELECT * FROM word
        WHERE path IN ('$.model', '$.context', '$.contexts', '$.prompt', '$.output', '$.steps', '$.warmup', '$.trace')
        ORDER BY id, path)
  GROUP BY id
),
run(id, rate, ms, hbm, mass, known, system, setting, condition) AS (
  SELECT id, decode_tokens_per_s, tpot_ms, hbm_bytes, COALESCE(mass_recall, 0), mass_recall IS NOT NULL, system, COALESCE(task.text, ''),
         ltrim(CASE WHEN (SELECT COUNT(DISTINCT hardware) FROM ok) > 1 THEN hardware ELSE '' END || COALESCE(', ' || task.text, ''), ', ')
  FROM ok LEFT JOIN task USING (id)
  WHERE decode_tokens_per_s IS NOT NULL AND hbm_bytes IS NOT NULL
    AND (SELECT COUNT(DISTINCT batch) FROM ok) > 1
),
front(id) AS (
  SELECT id FROM run WHERE NOT EXISTS (
    SELECT 1 FROM run AS other
    WHERE other.setting = run.setting AND other.rate >= run.rate AND other.ms <= run.ms AND other.hbm <= run.hbm AND other.mass >= run.mass
      AND (other.rate > run.rate OR other.ms < run.ms OR other.hbm < run.hbm OR other.mass > run.mass))
),
-- No two lines have the same color and symbol: a color is a system and a symbol a machine or setting, as far as there
-- are enough of both.
named(system, color) AS (SELECT system, row_number() OVER (ORDER BY MIN(id)) FROM run GROUP BY system),
marked(condition, symbol) AS (SELECT condition, row_number() OVER (ORDER BY MIN(id)) FROM run GROUP BY condition),
apart(yes) AS (SELECT MAX(color) <= 7 AND (SELECT MAX(symbol) FROM marked) BETWEEN 2 AND 5 FROM named),
line(system, condition, place, color, symbol) AS (
  SELECT system, condition, place, CASE WHEN yes THEN color ELSE place END, CASE WHEN yes THEN symbol ELSE place END
  FROM (SELECT system, condition, row_number() OVER (ORDER BY MIN(id)) AS place FROM run GROUP BY system, condition)
  JOIN named USING (system) JOIN marked USING (condition) JOIN apart
),
entry(color, symbol, text) AS (
  SELECT color, 0, system FROM named JOIN apart WHERE yes
  UNION ALL SELECT 0, symbol, condition FROM marked JOIN apart WHERE yes
  UNION ALL SELECT color, symbol, system || CASE condition WHEN '' THEN '' ELSE ', ' || condition END FROM line JOIN apart WHERE NOT yes
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'settings', COUNT(DISTINCT setting), 0, 0, 0, '', '' FROM run
UNION ALL SELECT * FROM (SELECT 'line', place, color, symbol, 0, '', '' FROM line ORDER BY place)
UNION ALL SELECT 'entry', row_number() OVER (ORDER BY symbol = 0 DESC, color, symbol), color, symbol, 0, text, '' FROM entry
UNION ALL SELECT * FROM (
  SELECT 'point', place, ms, rate, hbm / 1073741824.0, system, CASE WHEN id IN front THEN 'front' ELSE '-' END
  FROM run JOIN line USING (system, condition) ORDER BY place, ms, rate)
-- The mass of runs on the front, beside the step; a run whose mass is not known is left out.
UNION ALL SELECT * FROM (
  SELECT 'mass', place, ms, 100 * mass, hbm / 1073741824.0, system, CASE WHEN id IN front THEN 'front' ELSE '-' END
  FROM run JOIN line USING (system, condition) WHERE known AND (SELECT MIN(mass) FROM run WHERE known) < 1 ORDER BY place, ms, mass)
UNION ALL SELECT * FROM (
  SELECT 'range', place, tpot_ms_low, tpot_ms_high, rate, '', 'step'
  FROM run JOIN line USING (system, condition) JOIN ok USING (id) WHERE id IN front AND tpot_ms_low < tpot_ms_high ORDER BY place, ms)
UNION ALL SELECT * FROM (
  SELECT 'range', place, decode_tokens_per_s_low, decode_tokens_per_s_high, ms, '', 'rate'
  FROM run JOIN line USING (system, condition) JOIN ok USING (id) WHERE id IN front AND decode_tokens_per_s_low < decode_tokens_per_s_high ORDER BY place, ms)
UNION ALL SELECT * FROM (
  SELECT 'range', place, 100 * mass_recall_low, 100 * mass_recall_high, ms, '', 'mass'
  FROM run JOIN line USING (system, condition) JOIN ok USING (id) WHERE id IN front AND mass_recall_low < mass_recall_high ORDER BY place, ms);
