-- The runs that a report compares: all except those made by a plan or an ablation, which have answers of their own. The
-- values that a plan tried cannot be compared as equals, because some miss its targets. The two ends of an ablation are
-- systems like others, and stay if another study has runs of that system. Runs that an ablation tried on its way to a row
-- have no row themselves: they are recognised as an end's system with other values for two or more mechanisms.
, ablated(run, is_end) AS (
  SELECT run, MAX(kind IN ('base', 'whole')) FROM ablations WHERE run IS NOT NULL GROUP BY run
),
ends(system, scenario) AS (
  SELECT system, scenario FROM runs JOIN ablated USING (run) WHERE is_end AND json_valid(scenario)
),
tried(run) AS (
  SELECT runs.run FROM runs JOIN ends ON ends.system = runs.system AND json_valid(runs.scenario),
         json_each(runs.scenario, '$.mechanisms') AS each
  WHERE each.value IS NOT json_extract(ends.scenario, '$.mechanisms.' || each.key)
  GROUP BY runs.run, ends.scenario HAVING COUNT(*) > 1
),
other(run, system) AS (
  SELECT run, system FROM runs WHERE run NOT IN (SELECT run FROM ablated) AND run NOT IN (SELECT run FROM tried)
    AND run NOT IN (SELECT run FROM plan_points WHERE run IS NOT NULL)
),
chosen(id) AS (
  SELECT rowid FROM runs
  WHERE run IN (SELECT run FROM other)
     OR (run IN (SELECT run FROM ablated WHERE is_end) AND system IN (SELECT system FROM other))
)
