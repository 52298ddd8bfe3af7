-- Timed runs of a server, and the keys in which they differ.
, variant(id, text) AS (
  SELECT id, group_concat(text, ', ') FROM (SELECT * FROM word ORDER BY id, path) GROUP BY id
)
SELECT run, COALESCE(variant.text, '') FROM ok LEFT JOIN variant USING (id) WHERE ttft_ms IS NOT NULL ORDER BY id;
