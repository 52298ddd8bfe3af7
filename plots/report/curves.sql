-- Miss curves of all heads: the knee, and a policy's hit ratio there and at its largest size.
SELECT series AS "policy", round(MAX(CASE WHEN is_knee THEN share END), 1) AS "knee (% of all blocks)",
       round(MAX(CASE WHEN is_knee THEN percent END), 1) AS "hit at the knee (%)",
       round(MAX(share), 1) AS "largest size (% of all blocks)", round(MAX(percent), 1) AS "hit there (%)", COUNT(*) AS "sizes"
FROM hit WHERE layer IS NULL GROUP BY series ORDER BY (SELECT place FROM line WHERE line.series = hit.series);
