-- What ablations are about: which mechanism saves most by itself, and all together.
, whole AS (SELECT * FROM ablations WHERE kind = 'whole' ORDER BY ablation LIMIT 1),
most AS (
  SELECT mechanism, saves_us FROM ablations
  WHERE kind = 'alone' AND status = 'ok' AND ablation = (SELECT ablation FROM whole) ORDER BY saves_us DESC, place LIMIT 1
)
SELECT whole.system || ' against ' || whole.base
         || COALESCE((SELECT ', ' || model || ' on ' || hardware || ', ' || context || ' tokens, batch ' || batch FROM runs WHERE runs.run = whole.run), '') AS title, 'What does each mechanism of ' || whole.system || ' save?' AS question,
       CASE WHEN whole.gain IS NULL THEN NULL
            ELSE printf('All together make a step %.2f times as fast', whole.gain)
              || COALESCE((SELECT printf('; %s alone saves most of it, %.2f ms', mechanism, saves_us / 1000) FROM most), '') || '.' END AS answer
FROM whole;
