-- Time between tokens along a context that grows while it is decoded. A line is a run; a point is the mean of as many
-- steps as keep a line at some 256 points, between the shortest and the longest of them.
, variant(id, text) AS (
  SELECT id, group_concat(text, ', ') FROM (SELECT * FROM word ORDER BY id, path) GROUP BY id
),
shown AS (
  SELECT ok.id, run, context - grows + 1 AS first, 1 + grows / 256 AS each, system || COALESCE(', ' || variant.text, '') AS series
  FROM (SELECT *, CAST(json_extract(scenario, '$.grows') AS INTEGER) AS grows FROM ok WHERE json_valid(scenario)) AS ok
       LEFT JOIN variant USING (id)
  WHERE grows > 0
),
line(id, series, place) AS (SELECT id, series, row_number() OVER (ORDER BY id) FROM shown),
point AS (
  SELECT shown.id, AVG(first + step) AS x, AVG(us) / 1000 AS ms, MIN(us) / 1000 AS least, MAX(us) / 1000 AS most
  FROM shown JOIN steps USING (run) GROUP BY shown.id, step / each
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT * FROM (SELECT 'point', place, x, ms, 0, series, '' FROM point JOIN line USING (id) ORDER BY place, x)
UNION ALL SELECT * FROM (SELECT 'range', place, x, least, most, series, '' FROM point JOIN line USING (id) ORDER BY place, x);
