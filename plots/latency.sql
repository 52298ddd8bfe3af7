, variant(id, text) AS (
  SELECT id, group_concat(text, ', ') FROM (SELECT * FROM word ORDER BY id, path) GROUP BY id
),
-- Runs that differ in the same keys are adjacent, in the order of their seats.
grouped AS (
  SELECT ok.*, seat, COALESCE(variant.text, '') AS variant,
         MIN(seat) OVER (PARTITION BY COALESCE(variant.text, '')) AS first_seat
  FROM ok JOIN seated USING (id) LEFT JOIN variant USING (id) WHERE step_us > 0
),
bar AS (
  SELECT *, row_number() OVER (ORDER BY first_seat, seat)
            + (variant <> '') * 1.3 * dense_rank() OVER (ORDER BY first_seat) AS y
  FROM grouped
),
part AS (
  SELECT bar.y, each.id AS part, each.key AS name, each.value / 1000 AS ms,
         SUM(each.value) OVER (PARTITION BY bar.id ORDER BY each.id) / 1000 AS upto
  FROM bar, json_each(bar.parts_us) AS each
)
SELECT 'title' AS kind, 0 AS y, 0 AS a, 0 AS b, 0 AS c, text, '' AS name FROM title
UNION ALL SELECT 'source', 0, 0, 0, 0, text, '' FROM source WHERE text IS NOT NULL
UNION ALL SELECT 'group', MIN(y) - 1, 0, 0, 0, variant, '' FROM bar WHERE variant <> '' GROUP BY first_seat
UNION ALL SELECT 'bar', y, step_us / 1000, decode_tokens_per_s, 0, system, '' FROM bar
UNION ALL SELECT 'range', y, step_us_low / 1000, step_us_high / 1000, 0, '', '' FROM bar WHERE step_us_low < step_us_high
UNION ALL SELECT * FROM (
  SELECT 'part', y, upto - ms, upto, part, name, '' FROM part WHERE ms > 0 ORDER BY part, y);
