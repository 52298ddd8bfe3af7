#!/bin/bash
# A profile is measured here, used by a simulation, and validated against miniatures that run here. The clock
# is that of the emulator, which depends on no machine and no load: speeds mean nothing, and are not checked.
set -u
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
number=0

# The program beside the emulated harness. Mechanisms are sampled once: no claim made here depends on the
# number of samples.
mkdir "$scratch/bin"
cp "$(realpath "${PROGRAM:-build/spillway}")" "$scratch/bin/spillway"
harness=$(realpath "${EMULATED:-build/release/spillway-calibrate-emulated}")
cat >"$scratch/bin/spillway-calibrate" <<END
#!/bin/bash
exec "$harness" "\${@//\"seconds\":30.0/\"seconds\":1e-9}"
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
stored() { # every mechanism once, timed, its outputs right
    mechanisms=$(grep -c '^MINIATURE(.*, HOST, ' sim/decode/miniature/miniature.def)
    [ "$(query 'SELECT COUNT(*) FROM validations')" = "$mechanisms" ] &&
        [ "$(query 'SELECT COUNT(*) FROM validations WHERE measured_us > 0 AND predicted_us > 0
            AND p10_us <= measured_us AND measured_us <= p90_us AND output_error < 1e-5
            AND length(verdict) > 0')" = "$mechanisms" ]
}

# Without gathering and policies, which take long: test_host_groups measures every group.
groups=()
for group in machine memory attention kmeans handoff; do
    groups+=(--group "host-$group")
done

# A mechanism that hangs is left out of the next run; those that are left fill the table.
rest_of_the_table() {
    rm -f "$scratch/v.db"
    EMULATOR_FAIL=gather:hang:1,lru:hang:1,qsac:hang:1 "$program" validate --host --quick --model smollm2-135m --context 3840 \
        "$scratch/here.yaml" traces/smollm2-135m.swt --db "$scratch/v.db" >"$scratch/table" 2>&1
    cat "$scratch/table"
    [ "$(grep -c 'not done after 15 s, and killed' "$scratch/table")" = 3 ] &&
        [ "$(query 'SELECT COUNT(*) FROM validations WHERE measured_us > 0')" = $((mechanisms - 3)) ]
}

failed=0
echo 1..5
check host_is_measured_into_a_profile \
    "$program" calibrate --host --quick "${groups[@]}" -o "$scratch/here.yaml"
check simulations_use_the_profile \
    "$program" simulate --set model=smollm2-135m --set system=retroinfer-10pct --set context=3840 \
    --set hardware="$scratch/here.yaml"
check mechanisms_run_beside_their_predictions \
    "$program" validate --host --quick --model smollm2-135m --context 3840 \
    "$scratch/here.yaml" traces/smollm2-135m.swt --db "$scratch/v.db"
check what_ran_is_kept_and_right stored
check three_that_hang_leave_a_table rest_of_the_table
exit $failed
