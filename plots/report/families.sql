-- Runs with the demands of each family of recordings alone, and which is the fastest with them, or within 2 % of it.
SELECT system AS "system", substr(choice, length(system) + 3) AS "with", setting AS "setting", family AS "recording", round(100 * of_family.hit_ratio, 1) AS "hit (%)",
       round(100 * of_family.mass_recall, 1) AS "mass (%)", of_family.step_us / 1000 AS "step (ms)",
       of_family.decode_tokens_per_s AS "tokens/s",
       CASE WHEN of_family.decode_tokens_per_s IS NULL OR COUNT(of_family.decode_tokens_per_s) OVER own = 1 OR of_family.decode_tokens_per_s < .98 * MAX(of_family.decode_tokens_per_s) OVER own THEN NULL
            WHEN of_family.decode_tokens_per_s < MAX(of_family.decode_tokens_per_s) OVER own THEN 'tie'
            ELSE 'fastest' END AS "with this recording"
FROM named JOIN seated USING (id) JOIN families AS of_family USING (run)
WINDOW own AS (PARTITION BY setting, place) ORDER BY seat, place;
