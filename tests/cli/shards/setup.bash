sweep=(--set model=smollm2-135m --set hardware=a40 --set context=3840 --set steps=4
    --set 'sweep={system: [fullattn, clo, litecache], batch: [1, 2, 4]}')
exec 2>&1
bad() { # a run's name has the program in it
    local status=0
    "$@" >said 2>&1 || status=$?
    sed 's/run [0-9a-f]\{16\}/run RUN/' said
    [ $status -eq 0 ] || echo "status $status"
}
