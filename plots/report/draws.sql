-- The draws of each run. If the ranges of a machine changed between studies, each version stands apart.
SELECT choice, setting, named.id || ' ' || ranges AS draws,
       CASE kind WHEN 'decode' THEN 'tokens/s' ELSE 'TTFT (ms)' END AS unit,
       CASE kind WHEN 'decode' THEN replications.decode_tokens_per_s ELSE replications.ttft_ms END AS value
FROM named JOIN replications USING (run)
WHERE CASE kind WHEN 'decode' THEN replications.decode_tokens_per_s ELSE replications.ttft_ms END IS NOT NULL
ORDER BY named.id, ranges, replication;
