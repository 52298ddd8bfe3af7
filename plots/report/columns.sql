-- Every column of the database's first dozen runs that have one: a row for each column, a column for each run.
-- Parts, shares and notes have tables of their own.
SELECT cell.key AS "column", what AS "what it is", choice || CASE WHEN setting <> '' THEN ', ' || setting ELSE '' END || ' (' || run || ')', value
FROM (SELECT id, choice, setting, run, dense_rank() OVER (ORDER BY seat) AS rank FROM named JOIN seated USING (id))
JOIN cell USING (id) WHERE value IS NOT NULL AND value NOT GLOB '[{[]*' AND rank <= 12 ORDER BY place, rank;
