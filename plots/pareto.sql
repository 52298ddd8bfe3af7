-- Throughput over step latency, for runs of several batches. A run is on the front if no other run beats it: none has as
-- many tokens a second, as short a step, as little HBM and as much attention mass, and is better in one of these. A run
-- with an unknown mass counts as 0.
, run(id, rate, ms, hbm, mass, known, series) AS (
  SELECT id, decode_tokens_per_s, tpot_ms, hbm_bytes, COALESCE(mass_recall, 0), mass_recall IS NOT NULL,
         system || CASE WHEN (SELECT COUNT(DISTINCT hardware) FROM ok) > 1 THEN ', ' || hardware ELSE '' END
  FROM ok
  WHERE decode_tokens_per_s IS NOT NULL AND hbm_bytes IS NOT NULL
    AND (SELECT COUNT(DISTINCT batch) FROM ok) > 1
),
front(id) AS (
  SELECT id FROM run WHERE NOT EXISTS (
    SELECT 1 FROM run AS other
    WHERE other.rate >= run.rate AND other.ms <= run.ms AND other.hbm <= run.hbm AND other.mass >= run.mass
      AND (other.rate > run.rate OR other.ms < run.ms OR other.hbm < run.hbm OR other.mass > run.mass))
),
line(series, place) AS (
  SELECT series, row_number() OVER (ORDER BY MIN(id)) FROM run GROUP BY series
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT * FROM (
  SELECT 'point', place, ms, rate, hbm / 1073741824.0, series, CASE WHEN id IN front THEN 'front' ELSE '-' END
  FROM run JOIN line USING (series) ORDER BY place, ms, rate)
-- The mass of runs on the front, beside the step; a run whose mass is not known is left out.
UNION ALL SELECT * FROM (
  SELECT 'mass', place, ms, 100 * mass, hbm / 1073741824.0, series, CASE WHEN id IN front THEN 'front' ELSE '-' END
  FROM run JOIN line USING (series) WHERE known AND (SELECT MIN(mass) FROM run WHERE known) < 1 ORDER BY place, ms, mass)
UNION ALL SELECT * FROM (
  SELECT 'range', place, tpot_ms_low, tpot_ms_high, rate, '', 'step'
  FROM run JOIN line USING (series) JOIN ok USING (id) WHERE id IN front AND tpot_ms_low < tpot_ms_high ORDER BY place, ms)
UNION ALL SELECT * FROM (
  SELECT 'range', place, decode_tokens_per_s_low, decode_tokens_per_s_high, ms, '', 'rate'
  FROM run JOIN line USING (series) JOIN ok USING (id) WHERE id IN front AND decode_tokens_per_s_low < decode_tokens_per_s_high ORDER BY place, ms)
UNION ALL SELECT * FROM (
  SELECT 'range', place, 100 * mass_recall_low, 100 * mass_recall_high, ms, '', 'mass'
  FROM run JOIN line USING (series) JOIN ok USING (id) WHERE id IN front AND mass_recall_low < mass_recall_high ORDER BY place, ms);
