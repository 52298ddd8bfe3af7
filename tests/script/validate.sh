#!/bin/bash
# A profile is measured here, used by a simulation, and validated against miniatures that run here. Its
# speeds depend on the machine and are not checked.
set -u
cd "$(dirname "$0")/../.."
program=$(realpath "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
number=0

# Mechanisms are sampled for three seconds instead of thirty: no claim made here depends on the number of samples.
mkdir "$scratch/bin"
cp "$program" "$scratch/bin/spillway"
cat >"$scratch/bin/spillway-calibrate" <<END
#!/bin/bash
exec "$program-calibrate" "\${@//\"seconds\":30.0/\"seconds\":3.0}"
END
chmod +x "$scratch/bin/spillway-calibrate"
export SPILLWAY_DATA=$PWD
program=$scratch/bin/spillway

check() { # NAME COMMAND...
    number=$((number + 1))
    if "${@:2}" >"$scratch/out" 2>&1; then
        echo "ok $number - $1"
    else
        sed 's/^/# /' "$scratch/out"
        echo "not ok $number - $1"
        failed=1
    fi
}
query() {
    python3 - "$scratch/v.db" "$1" <<'PYTHON'
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])
PYTHON
}
stored() { # every mechanism once, timed, its outputs right, every rank given once
    mechanisms=$(grep -c '^MINIATURE(.*, HOST, ' sim/decode/miniature/miniature.def)
    [ "$(query 'SELECT COUNT(*) FROM validations')" = "$mechanisms" ] &&
        [ "$(query 'SELECT COUNT(*) FROM validations WHERE measured_us > 0 AND predicted_us > 0
            AND profiled_us > 0
            AND p10_us <= measured_us AND measured_us <= p90_us AND output_error < 1e-5
            AND length(verdict) > 0')" = "$mechanisms" ] &&
        [ "$(query 'SELECT COUNT(DISTINCT measured_rank) FROM validations')" = "$mechanisms" ]
}

# Without gathering and policies, which take half a minute: test_host_groups measures every group.
groups=()
for group in machine memory attention kmeans handoff; do
    groups+=(--group "host-$group")
done

failed=0
echo 1..4
check host_is_measured_into_a_profile \
    "$program" calibrate --host --quick "${groups[@]}" -o "$scratch/here.yaml"
check simulations_use_the_profile \
    "$program" simulate --set model=smollm2-135m --set system=retroinfer --set context=3840 \
    --set hardware="$scratch/here.yaml"
check mechanisms_run_beside_their_predictions \
    "$program" validate --host --quick --model smollm2-135m --context 3840 \
    "$scratch/here.yaml" traces/smollm2-135m.swt --db "$scratch/v.db"
check what_ran_is_kept_and_right stored
exit $failed
