-- What the figures of each system rest on: shares of its step time by basis, the least and the most over its runs.
, level(basis, rank) AS (VALUES ('assumed', 1), ('datasheet', 2), ('published', 3), ('measured', 4)),
worst(system, basis, rank) AS (
  SELECT system, level.basis, MIN(level.rank) FROM named JOIN level USING (basis) WHERE status = 'ok' GROUP BY system
),
worst_hits(system, basis, rank) AS (
  SELECT system, level.basis, MIN(level.rank) FROM named JOIN level ON level.basis = trace_basis WHERE status = 'ok' GROUP BY system
),
share(id, name, percent) AS (
  SELECT named.id, each.key, 100 * each.value FROM named, json_each(COALESCE(basis_share, '{}')) AS each
),
range(system, name, text) AS (
  SELECT system, name, CASE WHEN MAX(percent) < .5 THEN NULL
                            WHEN round(MIN(percent)) = round(MAX(percent)) THEN printf('%.0f', MAX(percent))
                            ELSE printf('%.0f–%.0f', MIN(percent), MAX(percent)) END
  FROM share JOIN named USING (id) GROUP BY system, name
)
SELECT named.system AS "system", COUNT(*) AS "runs", worst.basis AS "worst basis",
       (SELECT text FROM range WHERE range.system = named.system AND name = 'measured') AS "measured (% of time)",
       (SELECT text FROM range WHERE range.system = named.system AND name = 'published') AS "published (% of time)",
       (SELECT text FROM range WHERE range.system = named.system AND name = 'datasheet') AS "datasheet (% of time)",
       (SELECT text FROM range WHERE range.system = named.system AND name = 'assumed') AS "assumed (% of time)",
       SUM(extrapolated) AS "extrapolated runs",
       COALESCE(MIN(NULLIF(substr(
           CASE WHEN ttft_band IS NOT NULL THEN printf(', TTFT %+.0f … %+.0f',
                100 * json_extract(ttft_band, '$[0]'), 100 * json_extract(ttft_band, '$[1]')) ELSE '' END ||
           CASE WHEN tpot_band IS NOT NULL THEN printf(', TPOT %+.0f … %+.0f',
                100 * json_extract(tpot_band, '$[0]'), 100 * json_extract(tpot_band, '$[1]')) ELSE '' END ||
           CASE WHEN error_band IS NOT NULL THEN printf(', %s%+.0f … %+.0f', CASE WHEN requests > 0 THEN 'tok/s ' ELSE '' END,
                100 * json_extract(error_band, '$[0]'), 100 * json_extract(error_band, '$[1]')) ELSE '' END, 3), '')),
                'not known') AS "error band (%)",
       worst_hits.basis AS "basis of hits", MIN(available) AS "available in", CASE WHEN MAX(lossless = 'lossy') THEN 'lossy' WHEN MAX(lossless = 'native') THEN 'native' ELSE 'exact' END
         || CASE WHEN MAX(lossless = 'lossy') OR MIN(mass_recall) IS NULL OR MIN(mass_recall) >= .9995 THEN ''
                 ELSE printf(', %.0f %% of the mass', 100 * MIN(mass_recall)) END AS "output"
FROM named LEFT JOIN worst USING (system) LEFT JOIN worst_hits USING (system)
WHERE status = 'ok' GROUP BY named.system ORDER BY MIN(named.id);
