-- The names of the mechanisms that are switched together with another, if they are too many for a cell; each list
-- once.
SELECT (1 + length(others) - length(replace(others, ',', ''))) || ' others' AS "with",
       CASE kind WHEN 'alone' THEN 'alone' ELSE 'left out' END AS "what", group_concat(mechanism, ', ') AS "of", others AS "which"
FROM (SELECT * FROM ablations WHERE others LIKE '%,%,%,%' ORDER BY ablation, place)
GROUP BY ablation, kind, others ORDER BY ablation, MIN(place);
