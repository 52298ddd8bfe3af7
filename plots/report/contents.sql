-- The tables of the database, and their numbers of rows.
, held(name, rows) AS (
  SELECT 'runs', COUNT(*) FROM runs UNION ALL SELECT 'parts', COUNT(*) FROM parts
  UNION ALL SELECT 'stalls', COUNT(*) FROM stalls UNION ALL SELECT 'layers', COUNT(*) FROM layers
  UNION ALL SELECT 'steps', COUNT(*) FROM steps UNION ALL SELECT 'requests', COUNT(*) FROM requests
  UNION ALL SELECT 'waits', COUNT(*) FROM waits UNION ALL SELECT 'series', COUNT(*) FROM series
  UNION ALL SELECT 'replications', COUNT(*) FROM replications UNION ALL SELECT 'ablations', COUNT(*) FROM ablations
  UNION ALL SELECT 'plans', COUNT(*) FROM plans UNION ALL SELECT 'plan_points', COUNT(*) FROM plan_points
  UNION ALL SELECT 'curves', COUNT(*) FROM curves UNION ALL SELECT 'curve_points', COUNT(*) FROM curve_points
  UNION ALL SELECT 'validations', COUNT(*) FROM validations
)
SELECT name AS "table", rows AS "rows" FROM held WHERE rows > 0;
