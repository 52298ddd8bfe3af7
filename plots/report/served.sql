-- Runs of a server, timed or not.
SELECT system AS "system", substr(choice, length(system) + 3) AS "with", setting AS "setting", requests AS "requests",
       CASE WHEN hashed_blocks IS NOT NULL THEN round(100.0 * hit_tokens_gpu / prompt_tokens, 1) END AS "GPU hit (%)",
       CASE WHEN hashed_blocks IS NOT NULL THEN round(100.0 * hit_tokens_host / prompt_tokens, 1) END AS "host hit (%)",
       CASE WHEN hashed_blocks IS NOT NULL THEN round(100.0 * hit_tokens_disk / prompt_tokens, 1) END AS "disk hit (%)",
       CASE WHEN hashed_blocks IS NOT NULL THEN round(100.0 * hit_tokens_pool / prompt_tokens, 1) END AS "pool hit (%)",
       ttft_p50_ms AS "TTFT p50 (ms)", ttft_p99_ms AS "TTFT p99 (ms)",
       tpot_p50_ms AS "TPOT p50 (ms)", tpot_p99_ms AS "TPOT p99 (ms)", e2e_p50_ms AS "e2e p50 (ms)",
       decode_tokens_per_s AS "tokens/s", goodput AS "good requests/s", preemptions AS "put back", run AS "run"
FROM named JOIN seated USING (id) WHERE kind IN ('served', 'found') ORDER BY seat;
