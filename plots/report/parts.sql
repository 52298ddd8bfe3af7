-- The step along its critical path, by part: a row for each part.
SELECT choice AS "run of", setting AS "setting", step_us / 1000 AS "step (ms)", each.key, NULLIF(each.value, 0) / 1000
FROM named JOIN seated USING (id), json_each(COALESCE(parts_us, '{}')) AS each WHERE step_us > 0 ORDER BY seat, each.id;
