-- Where the time of requests goes: a panel per run, with a bar for each fiftieth of its requests, quickest first. A bar is
-- the mean of their time from arrival to end; its parts are what they waited for.
, variant(id, text) AS (
  SELECT id, group_concat(text, ', ') FROM (SELECT * FROM word ORDER BY id, path) GROUP BY id
),
panel(id, run, place, series) AS (
  SELECT id, run, row_number() OVER (ORDER BY id), system || COALESCE(', ' || variant.text, '')
  FROM ok LEFT JOIN variant USING (id) WHERE run IN (SELECT run FROM waits)
),
ranked AS (
  SELECT panel.run, place, request,
         ((row_number() OVER (PARTITION BY panel.run ORDER BY end_ms - arrived_ms, request) - 1) * 50)
           / COUNT(*) OVER (PARTITION BY panel.run) AS bar
  FROM panel JOIN requests USING (run) WHERE end_ms IS NOT NULL
),
size(place, bar, count) AS (SELECT place, bar, COUNT(*) FROM ranked GROUP BY place, bar),
wait(place, bar, name, s) AS (
  SELECT place, bar, name, SUM(ms) / 1000 / count
  FROM ranked JOIN waits USING (run, request) JOIN size USING (place, bar) GROUP BY place, bar, name
),
-- From the bottom up, in the order in which a request meets them.
cause(name, level) AS (
  VALUES ('api', 0), ('queue', 1), ('load', 2), ('prefill', 3), ('preempted', 4), ('others', 5), ('decode', 6)
),
stacked AS (
  SELECT place, bar, wait.name, s, SUM(s) OVER (PARTITION BY place, bar ORDER BY COALESCE(level, 7), wait.name) AS upto
  FROM wait LEFT JOIN cause USING (name)
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '-' AS name FROM title
UNION ALL SELECT 'panel', place, 0, 0, 0, series, '-' FROM panel
UNION ALL SELECT * FROM (
  SELECT 'box', place, 2 * bar, upto - s, upto, name, '-' FROM stacked WHERE s > 0
  ORDER BY COALESCE((SELECT level FROM cause WHERE cause.name = stacked.name), 7), name, place, bar);
