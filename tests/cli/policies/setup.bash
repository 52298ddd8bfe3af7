exec 2>&1
run() {
    spillway simulate --set model=smollm2-135m --set hardware=a40 --set context=3840 --set system=fullattn \
        --set "mechanisms={resident_heads: none, budget: 20%, policy: $1}" "${@:2}"
}
figures() { grep -o '"\(hit_ratio\|mass_recall\|h2d_bytes_per_step\)":[^,]*' | sed 's#\(:0[.]....\)[0-9]*#\1#' | paste -sd ' '; }
tenth='--set mechanisms.retrieval=quest --set mechanisms.selection=10% --set mechanisms.transfer=sm-zero-copy'
