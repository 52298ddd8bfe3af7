-- The values that the other candidates of plans tried, as in plan_points.sql.
, judged AS (
  SELECT plan, place, liked, MIN(met) AS met FROM plan_points GROUP BY plan, place, liked
)
SELECT CASE WHEN (SELECT COUNT(DISTINCT plan) FROM plans) > 1 THEN goal || ' for ' || targets END AS "plan",
       system AS "system", hardware AS "machine", COALESCE(plan_points.value, '-') AS "value",
       CASE WHEN NOT judged.met THEN 'no'
            ELSE 'yes' END AS "meets all",
       plan_points.run AS "run", target, figure || CASE WHEN plan_points.met THEN '' ELSE ' ✗' END
FROM plans JOIN plan_points USING (plan, place) JOIN judged USING (plan, place, liked)
WHERE verdict <> 'wins'
ORDER BY plan, place, liked, instr(targets, target);
