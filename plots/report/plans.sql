-- The candidates of a plan, and their verdicts. If there are several plans, each is named by its goal.
SELECT CASE WHEN (SELECT COUNT(DISTINCT plan) FROM plans) > 1 THEN goal || ' for ' || targets END AS "plan",
       system AS "system", hardware AS "machine", verdict AS "verdict", COALESCE(value, '-') AS "value",
       tried || ' of ' || count AS "values tried", message AS "why", note AS "how sure", run AS "run"
FROM plans ORDER BY plan, place;
