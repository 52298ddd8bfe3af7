-- What each mechanism saves, alone and added last, and all of them together. If it is switched with many others, only
-- their number is shown: the next table has their names.
SELECT system || ' against ' || base || COALESCE((SELECT ', ' || group_concat(text, ', ') FROM unlike WHERE id = ablation), '') AS "ablation",
       CASE kind WHEN 'base' THEN 'nothing of it' WHEN 'whole' THEN 'all of it' WHEN 'alone' THEN 'alone' ELSE 'left out' END AS "what",
       mechanism AS "mechanism",
       CASE WHEN others LIKE '%,%,%,%' THEN (1 + length(others) - length(replace(others, ',', ''))) || ' others' ELSE others END AS "with",
       step_us / 1000 AS "step (ms)", decode_tokens_per_s AS "tokens/s",
       saves_us / 1000 AS "saves (ms)", gain AS "gain (x)", interaction_us / 1000 AS "beyond the sum (ms)",
       CASE WHEN status <> 'ok' THEN status || COALESCE(': ' || NULLIF(message, ''), '') END AS "why there is no time"
FROM ablations ORDER BY ablation, place;
