-- What validations are about.
SELECT CASE WHEN COUNT(DISTINCT hardware) = 1 THEN MIN(hardware) ELSE COUNT(DISTINCT hardware) || ' machines' END || ', predicted and measured' AS title,
       'Do predictions hold on this machine, for ' || COUNT(DISTINCT mechanism) || ' mechanisms?' AS question,
       'Of ' || COUNT(*) || ', ' || SUM(verdict = 'missed') || ' lie further off than they may; the largest error is '
         || printf('%+.0f %%', MAX(100 * abs(error))) || '.' AS answer FROM validations GROUP BY NULL;
