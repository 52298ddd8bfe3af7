exec 2>&1
export XDG_CACHE_HOME=$PWD/cache
question=(--set model=smollm2-135m --set context=3840 --set trace=smollm2-135m --json
    --set 'sweep.system=[retroinfer-10pct, clo]' --set steps=3 --set warmup=3)
ask() {
    spillway simulate "${question[@]}" "$@"
}
kept() {
    sqlite3 cache/spillway/replays.db 'select count(*) from kept' 2>/dev/null || echo no
}
