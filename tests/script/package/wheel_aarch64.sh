#!/bin/bash
# The wheel for aarch64, in an emulator: its program finds its data, and computes to the last digit what the
# one built for this machine does; a policy in Python answers it. 'make wheel-aarch64' makes the wheel, and
# runs this.
set -u
cd "$(dirname "$0")/../../.." || exit 1
program=$(realpath "${PROGRAM:-build/spillway}")
wheel=$(ls build/spillway_sim-*-manylinux_*_aarch64.whl 2>/dev/null)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. tests/script/tap.bash

echo 1..3
if [ -z "${TEST_WHEEL:-}" ] || [ -z "$wheel" ] || ! command -v qemu-aarch64-static >/dev/null || [ ! -d /usr/aarch64-linux-gnu ]; then
    for name in it_computes_the_same it_advises_the_same it_asks_python; do
        count=$((count + 1))
        echo "ok $count - $name # SKIP 'make wheel-aarch64' does it"
    done
    exit 0
fi
export XDG_CACHE_HOME=/dev/null PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
python3 -m zipfile -e "$wheel" "$scratch/files"
mkdir "$scratch/env" && cp -r "$scratch"/files/*.data/scripts "$scratch/env/bin" && cp -r "$scratch"/files/*.data/data/lib "$scratch/env"
chmod +x "$scratch"/env/bin/*
cat >"$scratch/env/bin/emulated" <<EMULATED
#!/bin/bash
exec qemu-aarch64-static -L /usr/aarch64-linux-gnu $scratch/env/bin/spillway "\$@"
EMULATED
chmod +x "$scratch/env/bin/emulated"

alike() { # WORD...
    "$program" "$@" >"$scratch/here" 2>&1 && "$scratch/env/bin/emulated" "$@" >"$scratch/there" 2>&1
    local status=$?
    diff "$scratch/here" "$scratch/there" >"$scratch/said" && [ $status = 0 ] && [ -s "$scratch/here" ]
}
asks_python() {
    SPILLWAY_PROGRAM=$scratch/env/bin/emulated python3 -c '
import spillway
class Fifo(spillway.Policy):
    def access(self, demand):
        for block in demand.misses:
            if len(self.held) == self.capacity:
                self.evict(next(iter(self.held)))
            self.admit(block)
mine, own = spillway.curve([0, 1, 2, 0, 1, 3, 0, 1], policy=[Fifo, "fifo"], sizes=[3])
assert mine["hit_ratio"] == own["hit_ratio"] == 0.25' >"$scratch/said" 2>&1
}
check it_computes_the_same alike simulate --set model=llama-3-8b --set hardware=a40 --set context=32K --set steps=8 \
    --set 'sweep.system=[vllm, retroinfer, infinigen, clo]' --json
check it_advises_the_same alike advise llama-3.1-8b a40 --context 32K
check it_asks_python asks_python
exit $failed
