-- Commands that measure validations again; they are words of a shell.
SELECT 'spillway validate --host ' || shell_word(hardware) || ' ' || shell_word(trace) || ' --model ' || shell_word(model)
    || ' --context ' || shell_word(context) AS command
FROM validations GROUP BY validation ORDER BY validation LIMIT 12;
