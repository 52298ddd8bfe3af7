-- Mechanisms that were run for real, and their predictions.
SELECT mechanism AS "mechanism", model AS "model", context AS "tokens", hardware AS "machine", predicted_us AS "predicted (us)",
       measured_us AS "measured (us)", p10_us AS "p10 (us)", p90_us AS "p90 (us)", round(100 * error, 1) AS "error (%)",
       predicted_rank AS "predicted rank", measured_rank AS "measured rank", verdict AS "verdict"
FROM validations ORDER BY validation, predicted_rank, mechanism;
