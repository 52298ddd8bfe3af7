-- The cost of reuse: the share of wanted KV that need not be fetched again, against the attention mass that is attended
-- to. A line is a system; along it the threshold eta varies.
, eta(id, value) AS (
  SELECT id, CAST(json_extract(scenario, '$.mechanisms.policy.eta') AS REAL) FROM ok
  WHERE json_valid(scenario) AND json_extract(scenario, '$.mechanisms.policy.eta') IS NOT NULL
),
-- The name of a policy without its eta.
variant(id, text) AS (
  SELECT id, group_concat(text, ', ')
  FROM (SELECT id, replace(text, printf(', eta %.15g', eta.value), '') AS text
        FROM word LEFT JOIN eta USING (id) WHERE path <> '$.mechanisms.policy.eta' ORDER BY id, path) GROUP BY id
),
point AS (
  SELECT ok.id, 100 * hit_ratio AS hit, 100 * mass_recall AS mass, eta.value AS eta,
         100 * hit_ratio_low AS least_hit, 100 * hit_ratio_high AS most_hit,
         100 * mass_recall_low AS least_mass, 100 * mass_recall_high AS most_mass,
         system || COALESCE(', ' || variant.text, '') AS series
  FROM ok LEFT JOIN variant USING (id) LEFT JOIN eta USING (id)
  WHERE policy = 'qsac' AND hit_ratio IS NOT NULL AND mass_recall IS NOT NULL
),
line(series, place) AS (
  SELECT series, row_number() OVER (ORDER BY MIN(id)) FROM point GROUP BY series
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT * FROM (
  SELECT 'point', place, hit, mass, eta, series, COALESCE(CAST(eta AS TEXT), '')
  FROM point JOIN line USING (series) ORDER BY place, eta)
UNION ALL SELECT * FROM (
  SELECT 'across', place, least_hit, most_hit, mass, '', '' FROM point JOIN line USING (series)
  WHERE least_hit < most_hit ORDER BY place, eta)
UNION ALL SELECT * FROM (
  SELECT 'range', place, hit, least_mass, most_mass, '', '' FROM point JOIN line USING (series)
  WHERE least_mass < most_mass ORDER BY place, eta);
