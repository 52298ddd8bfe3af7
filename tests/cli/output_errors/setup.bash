try() {
    "$@" && status=0 || status=$?
    echo "=> $status" >&2
}
scenario=(--set model=smollm2-135m --set hardware=a40 --set context=1024
          --set 'sweep.system=[fullattn, retroinfer-10pct, litecache]')
exec 2>&1 3>&1
