-- Attention mass by step: what is attended to after the prompt, as the run goes on. A line is a run; long runs are drawn
-- as means over as many steps as keep a line at some 128 points. Recordings differ more than systems do, so all lines
-- show the same one: of the first run with several, the one whose attention mass is in the middle.
, variant(id, text) AS (
  SELECT id, group_concat(text, ', ') FROM (SELECT * FROM word ORDER BY id, path) GROUP BY id
),
first(run) AS (
  SELECT run FROM families JOIN ok USING (run) WHERE families.mass_recall IS NOT NULL ORDER BY ok.id LIMIT 1
),
family(name) AS (
  SELECT family FROM families JOIN first USING (run) WHERE mass_recall IS NOT NULL
  ORDER BY mass_recall, place LIMIT 1
  OFFSET (SELECT COUNT(*) / 2 FROM families JOIN first USING (run) WHERE mass_recall IS NOT NULL)
),
ranged(run, place) AS (SELECT run, place FROM families WHERE family = (SELECT name FROM family)),
curve(run, step, mass) AS (
  SELECT run, step, mass_recall FROM ranged JOIN masses USING (run, place)
  UNION ALL SELECT run, step, mass_recall FROM steps WHERE run NOT IN (SELECT run FROM ranged)
),
length(run, each) AS (SELECT run, 1 + MAX(step) / 128 FROM curve GROUP BY run),
shown AS (
  SELECT ok.id, run, warmup, each, system || COALESCE(', ' || variant.text, '') AS series
  FROM ok JOIN length USING (run) LEFT JOIN variant USING (id) WHERE mass_recall IS NOT NULL
),
line(id, series, place) AS (SELECT id, series, row_number() OVER (ORDER BY id) FROM shown),
point AS (
  SELECT shown.id, AVG(warmup + step + 1) AS x, 100 * AVG(mass) AS mass
  FROM shown JOIN curve USING (run) GROUP BY shown.id, step / each
),
of(text) AS (
  SELECT 'attention mass: ' || CASE WHEN (SELECT COUNT(*) FROM family) = 0 THEN substr(text, length('hit ratios: ') + 1)
    ELSE 'every line with ' || (SELECT name FROM family) || ', one of several recordings; tables have the median over all'
    END
  FROM source
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c,
  text || COALESCE(', with ' || (SELECT name FROM family), '') AS text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM of WHERE text IS NOT NULL
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT * FROM (SELECT 'point', place, x, mass, 0, series, '' FROM point JOIN line USING (id) ORDER BY place, x);
