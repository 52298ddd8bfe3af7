exec 2>&1
trace=$SOURCE/traces/smollm2-135m.swt
