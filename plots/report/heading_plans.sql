-- The heading of each plan: its targets, and its answer.
, asked AS (
  SELECT plan, MAX(goal) AS goal, MAX(targets) AS targets, MAX(answer) AS answer,
         COUNT(DISTINCT system) AS systems, MIN(system) AS system FROM plans GROUP BY plan
),
place AS (
  SELECT plan, MIN(model) AS model, MIN(runs.hardware) AS hardware, COUNT(DISTINCT runs.hardware) AS machines,
         CASE WHEN COUNT(DISTINCT gpus) = 1 AND MIN(gpus) > 1 THEN MIN(gpus) || ' x ' ELSE '' END AS gpus,
         CASE WHEN COUNT(DISTINCT context) = 1 THEN ', ' || MIN(context) || ' tokens' ELSE '' END AS tokens
  FROM plan_points JOIN runs USING (run) GROUP BY plan
)
SELECT COALESCE(model || ' on ' || CASE machines WHEN 1 THEN gpus || hardware ELSE machines || ' machines' END || tokens, 'a plan') AS title,
       'What is the ' || goal || ' for ' || targets || ', ' || CASE systems WHEN 1 THEN 'with ' || system ELSE 'among ' || systems || ' systems' END || '?' AS question,
       answer || '.' AS answer
FROM asked LEFT JOIN place USING (plan) ORDER BY asked.plan LIMIT 6;
