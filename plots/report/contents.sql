-- What the database holds: tables and how many rows.
SELECT name AS "table", rows AS "rows" FROM (
  SELECT 1 AS place, 'runs' AS name, COUNT(*) AS rows FROM runs UNION ALL
  SELECT 2, 'parts', COUNT(*) FROM parts UNION ALL SELECT 3, 'stalls', COUNT(*) FROM stalls UNION ALL
  SELECT 4, 'layers', COUNT(*) FROM layers UNION ALL SELECT 5, 'steps', COUNT(*) FROM steps UNION ALL
  SELECT 6, 'requests', COUNT(*) FROM requests UNION ALL SELECT 7, 'waits', COUNT(*) FROM waits UNION ALL
  SELECT 8, 'series', COUNT(*) FROM series UNION ALL SELECT 9, 'curves', COUNT(*) FROM curves UNION ALL
  SELECT 10, 'validations', COUNT(*) FROM validations UNION ALL SELECT 11, 'shards', COUNT(*) FROM shards)
WHERE rows > 0 ORDER BY place;
