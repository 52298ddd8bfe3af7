-- The share of the step in which the GPU's main stream waits, by cause: a row for each cause.
SELECT choice AS "run of", setting AS "setting", step_us / 1000 AS "step (ms)", each.key,
       round(100 * NULLIF(each.value, 0) / step_us, 1)
FROM named JOIN seated USING (id), json_each(COALESCE(stalls_us, '{}')) AS each WHERE step_us > 0 ORDER BY seat, each.id;
