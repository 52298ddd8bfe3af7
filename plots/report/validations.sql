-- Mechanisms that were run for real, and their predictions.
SELECT mechanism AS "mechanism", model AS "model", context AS "tokens", hardware AS "machine", predicted_us AS "predicted (us)",
       measured_us AS "measured (us)", p10_us AS "p10 (us)", p90_us AS "p90 (us)", round(100 * error, 1) AS "error (%)",
       rank() OVER (PARTITION BY validation ORDER BY predicted_us) AS "predicted rank",
       rank() OVER (PARTITION BY validation ORDER BY measured_us) AS "measured rank", verdict AS "verdict"
FROM validations ORDER BY validation, predicted_us, mechanism;
