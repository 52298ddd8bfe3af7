-- The heading of each ablation, with its answer: which mechanism saves most alone, and what all save together.
, most AS (
  SELECT ablation, mechanism, saves_us, row_number() OVER (PARTITION BY ablation ORDER BY saves_us DESC, place) AS rank
  FROM ablations WHERE kind = 'alone' AND status = 'ok'
)
SELECT whole.system || ' against ' || whole.base
         || COALESCE(', ' || model || ' on ' || CASE WHEN gpus > 1 THEN gpus || ' x ' ELSE '' END || hardware || ', ' || context || ' tokens, batch ' || batch, '')
         || COALESCE((SELECT ', ' || group_concat(text, ', ') FROM unlike WHERE id = ablation AND key NOT IN ('model', 'hardware', 'context', 'batch')), '') AS title, 'What does each mechanism of ' || whole.system || ' save?' AS question,
       CASE WHEN whole.gain IS NULL THEN NULL
            ELSE printf('All mechanisms together make a step %.2f times as fast', whole.gain)
              || COALESCE((SELECT CASE WHEN saves_us >= 5 THEN printf('; alone, %s saves most: %.2f ms', mechanism, saves_us / 1000)
                                     ELSE '; alone, none saves time' END FROM most WHERE most.ablation = whole.ablation AND rank = 1), '') || '.' END AS answer
FROM whole ORDER BY ablation LIMIT 6;
