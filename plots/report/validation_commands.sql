-- Commands that measure validations again; names are quoted for a shell.
SELECT 'spillway validate --host ''' || replace(hardware, '''', '''\''''') || ''' ''' || replace(trace, '''', '''\''''')
    || ''' --model ''' || replace(model, '''', '''\''''') || ''' --context ' || context AS command
FROM validations GROUP BY validation ORDER BY validation LIMIT 12;
