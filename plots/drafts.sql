-- What drafts gain: tokens a second over those of the same run without drafts, by batch; a line for each system and each
-- number of tokens that a step yields.
, word_beside(id, text) AS (
  SELECT id, group_concat(text, ', ')
  FROM (SELECT * FROM word WHERE path <> '$.batch' AND path NOT LIKE '$.drafts%' ORDER BY id, path) GROUP BY id
),
setting(id, text) AS (SELECT ok.id, system || COALESCE(', ' || word_beside.text, '') FROM ok LEFT JOIN word_beside USING (id)),
point AS (
  SELECT own.id, own.batch, own.decode_tokens_per_s / none.decode_tokens_per_s AS gain,
         setting.text || ', ' || own.drafts || CASE own.drafts WHEN 1 THEN ' draft' ELSE ' drafts' END
         || printf(', %.3g tokens a step', own.step_tokens) AS series
  FROM ok AS own JOIN setting USING (id)
  JOIN setting AS same ON same.text = setting.text JOIN ok AS none ON none.id = same.id AND none.batch = own.batch
  WHERE own.drafts > 0 AND none.drafts IS NULL AND none.decode_tokens_per_s > 0
),
line(series, place) AS (SELECT series, row_number() OVER (ORDER BY MIN(id)) FROM point GROUP BY series)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'line', place, 0, 0, 0, series, '' FROM line
UNION ALL SELECT * FROM (
  SELECT 'point', place, batch, gain, 0, series, '' FROM point JOIN line USING (series) ORDER BY place, batch);
