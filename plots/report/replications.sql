-- How far the answer spreads over replications: the middle nine tenths of them.
, draw(id, ranges, value) AS (
  SELECT named.id, ranges, CASE kind WHEN 'decode' THEN replications.decode_tokens_per_s ELSE replications.ttft_ms END
  FROM named JOIN replications USING (run)
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY id, ranges ORDER BY value) AS rank, COUNT(*) OVER (PARTITION BY id, ranges) AS count
  FROM draw WHERE value IS NOT NULL
)
SELECT choice AS "run of", setting AS "setting", MAX(count) AS "replications",
       CASE kind WHEN 'decode' THEN 'tokens/s' ELSE 'TTFT (ms)' END AS "of",
       MAX(CASE WHEN rank = 1 + CAST(.05 * (count - 1) + .5 AS INTEGER) THEN value END) AS "5 %",
       MAX(CASE WHEN rank = 1 + CAST(.5 * (count - 1) + .5 AS INTEGER) THEN value END) AS "median",
       MAX(CASE WHEN rank = 1 + CAST(.95 * (count - 1) + .5 AS INTEGER) THEN value END) AS "95 %"
FROM ranked JOIN named USING (id) GROUP BY id, ranges ORDER BY id, ranges;
