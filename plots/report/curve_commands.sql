-- Commands that print the miss curves again; they are words of a shell.
, whole AS (
  SELECT curve, source, selection, step_order, policy, parameters,
         EXISTS (SELECT 1 FROM curves AS part WHERE part.source = curves.source AND part.head IS NOT NULL) AS heads,
         EXISTS (SELECT 1 FROM curves AS part WHERE part.source = curves.source AND part.layer IS NOT NULL) AS layers,
         (SELECT group_concat(size) FROM (SELECT size FROM curve_points WHERE curve_points.curve = curves.curve ORDER BY size)) AS sizes
  FROM curves WHERE layer IS NULL
),
named AS (
  SELECT *, '{name: ' || policy || (SELECT COALESCE(group_concat(', ' || key || ': ' || printf('%.15g', value), ''), '') FROM json_each(parameters)) || '}' AS choice
  FROM whole
)
SELECT 'spillway curve ' || shell_word(source) || group_concat(' --policy ' || shell_word(choice), '')
    || CASE WHEN length(sizes) < 400 THEN ' --sizes ' || shell_word(sizes) ELSE '' END
    || CASE WHEN heads THEN ' --by head' WHEN layers THEN ' --by layer' ELSE '' END
    || COALESCE(' --selection ' || printf('%.15g', selection), '')
    || CASE WHEN selection IS NULL THEN '' ELSE ' --order ' || shell_word(step_order) END AS command
FROM (SELECT * FROM named ORDER BY choice)
GROUP BY source, selection, step_order, sizes, heads, layers ORDER BY MIN(choice), sizes LIMIT 12;
