-- The heading of validations.
SELECT CASE WHEN COUNT(DISTINCT hardware) = 1 THEN MIN(hardware) ELSE COUNT(DISTINCT hardware) || ' machines' END || ', predicted and measured' AS title,
       'Do predictions hold on this machine, for ' || COUNT(DISTINCT mechanism) || ' mechanisms?' AS question,
       'Of ' || COUNT(*) || ', ' || SUM(verdict = 'missed') || ' miss their gate; the largest error is '
         || printf('%+.0f %%', MAX(100 * abs(error))) || '.' AS answer FROM validations GROUP BY NULL;
