-- The heading of each ablation, with its answer: which mechanism saves most alone, and what all save together.
, whole AS (SELECT * FROM ablations WHERE kind = 'whole'),
most AS (
  SELECT ablation, mechanism, saves_us, row_number() OVER (PARTITION BY ablation ORDER BY saves_us DESC, place) AS rank
  FROM ablations WHERE kind = 'alone' AND status = 'ok'
)
SELECT whole.system || ' against ' || whole.base
         || COALESCE((SELECT ', ' || model || ' on ' || CASE WHEN gpus > 1 THEN gpus || ' x ' ELSE '' END || hardware || ', ' || context || ' tokens, batch ' || batch FROM runs WHERE runs.run = whole.run), '') AS title, 'What does each mechanism of ' || whole.system || ' save?' AS question,
       CASE WHEN whole.gain IS NULL THEN NULL
            ELSE printf('All mechanisms together make a step %.2f times as fast', whole.gain)
              || COALESCE((SELECT printf('; alone, %s saves most: %.2f ms', mechanism, saves_us / 1000) FROM most WHERE most.ablation = whole.ablation AND rank = 1), '') || '.' END AS answer
FROM whole ORDER BY ablation LIMIT 6;
