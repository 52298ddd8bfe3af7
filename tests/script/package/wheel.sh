#!/bin/bash
# The Python wheel: its programs need the C library alone, no later one than its name says, and find the data
# that came with them. With TEST_WHEEL=1 ('make test-wheel') it is also installed in a bare virtual
# environment, and in a folder that has a C library and Python and nothing else (chroot); it answers there,
# and is removed without a trace.
set -u
cd "$(dirname "$0")/../../.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. tests/script/tap.bash

skip() { # REASON NAME
    count=$((count + 1))
    echo "ok $count - $2 # SKIP $1"
}
echo 1..6
for tool in python3 readelf; do
    command -v $tool >/dev/null && continue
    for name in a_wheel_is_built its_record_holds its_programs_find_their_data a_missing_recording_is_explained; do
        skip "'$tool' is missing" $name
    done
    skip "'$tool' is missing" a_bare_environment_answers
    skip "'$tool' is missing" a_bare_c_library_answers
    exit 0
done

build() {
    make -s wheel >"$scratch/said" 2>&1 || return
    wheel=$(realpath build/spillway_sim-*-manylinux_*_"$(uname -m)".whl) && python3 -m zipfile -e "$wheel" "$scratch/files"
}
# As pip would: every file with its hash, and no other.
record() {
    python3 - "$scratch/files" >"$scratch/said" <<'PYTHON'
import base64, csv, hashlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
record, = root.glob("*.dist-info/RECORD")
listed = {}
for name, digest, size in csv.reader(record.open()):
    listed[name] = digest, size
for path in root.rglob("*"):
    name = path.relative_to(root).as_posix()
    if path.is_file() and path != record:
        data = path.read_bytes()
        digest = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert listed.pop(name) == (digest, str(len(data))), name
assert list(listed) == [record.relative_to(root).as_posix()], listed
PYTHON
}
# Laid out as in an environment.
lay_out() {
    mkdir "$scratch/env" && cp -r "$scratch"/files/*.data/scripts "$scratch/env/bin" &&
        cp -r "$scratch"/files/*.data/data/lib "$scratch/env" && chmod +x "$scratch"/env/bin/*
}
finds_data() {
    lay_out && (cd / && env -i XDG_CACHE_HOME=/dev/null "$scratch/env/bin/spillway" advise llama-3.1-8b a40 --context 8K) \
        >"$scratch/said" 2>&1 && grep -q '^run ' "$scratch/said"
}
left_out() {
    env -i "$scratch/env/bin/spillway" trace info smollm2-135m-code >"$scratch/said" 2>&1
    [ $? = 2 ] && grep -q "'smollm2-135m-code' is not in this package" "$scratch/said" &&
        grep -q "traces/smollm2-135m-code.swt of Spillway's source (3.5 MB)" "$scratch/said"
}
check a_wheel_is_built build
check its_record_holds record
check its_programs_find_their_data finds_data
check a_missing_recording_is_explained left_out

# What runs in an environment, whose folder is $1: install, first verdict, module, removal. $2: the wheel.
cat >"$scratch/inside" <<'INSIDE'
set -eu
cd "$1"
python3 -m venv venv
find venv | sort >before
export XDG_CACHE_HOME=$1/cache
began=$SECONDS
venv/bin/pip install -q --no-index --disable-pip-version-check "$2"
venv/bin/spillway advise llama-3.1-8b h100-sxm >verdict
echo "install and first verdict took $((SECONDS - began)) s"
grep '^run ' verdict
venv/bin/python -c '
import spillway
rows = spillway.simulate(model="llama-3-8b", hardware="a40", system=["vllm", "retroinfer"], context="8K", steps=4)
assert [row["status"] for row in rows] == ["ok", "ok"]
class Fifo(spillway.Policy):
    def access(self, demand):
        for block in demand.misses:
            if len(self.held) == self.capacity:
                self.evict(next(iter(self.held)))
            self.admit(block)
mine, own = spillway.curve([0, 1, 2, 0, 1, 3, 0, 1], policy=[Fifo, "fifo"], sizes=[3])
assert mine["hit_ratio"] == own["hit_ratio"] == 0.25'
ls cache
[ "$(ls cache)" = spillway ]
venv/bin/pip uninstall -qy --disable-pip-version-check spillway-sim
find venv | sort >after
diff <(grep -v '^venv/include' before) <(grep -v '^venv/include' after) # pip itself removes its empty folder there
INSIDE
bare_environment() {
    mkdir "$scratch/bare" && env -i PATH="$PATH" HOME="$scratch/bare" \
        bash "$scratch/inside" "$scratch/bare" "$wheel" >"$scratch/said" 2>&1
}
# A root folder with Python, what its modules load, and the tools of the script above.
make_root() {
    local root=$1 base tool
    base=$(python3 -c 'import sys; print(sys.base_prefix)')
    mkdir -p "$root"/{proc,dev,tmp,try,bin} "$root$base"
    (cd "$base" && tar -c --exclude=test --exclude=site-packages --exclude=__pycache__ --exclude='*.a' \
        bin/python3* lib/python3*) | tar -x -C "$root$base"
    ln -s "$base/bin/python3" "$root/bin/python3"
    for tool in bash find sort grep ls diff; do cp "$(command -v $tool)" "$root/bin"; done
    find "$root" -type f \( -name '*.so*' -o -perm -u+x \) -exec ldd {} + 2>/dev/null | awk '$3 ~ "^/" { print $3 } $1 ~ "^/lib.*ld-" { print $1 }' |
        sort -u | xargs -I {} cp -L --parents {} "$root"
    cp "$scratch/inside" "$wheel" "$root/tmp"
}
bare_c_library() {
    local root=$scratch/root
    make_root "$root" 2>"$scratch/said" || return
    ! find "$root" -name 'libgsl*' -o -name 'libyaml*' -o -name cc -o -name gcc | grep . >"$scratch/said" || return
    unshare -rm bash -c 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' "$root" \
        /bin/python3 -c 'import os; os.execve("/bin/bash", ["bash", "/tmp/inside", "/try", os.sys.argv[1]],
            {"PATH": "/bin", "HOME": "/try"})' "/tmp/${wheel##*/}" >"$scratch/said" 2>&1
}
if [ -z "${TEST_WHEEL:-}" ]; then
    skip "'make test-wheel' does it" a_bare_environment_answers
    skip "'make test-wheel' does it" a_bare_c_library_answers
    exit $failed
fi
check a_bare_environment_answers bare_environment
sed 's/^/# /' "$scratch/said"
export PATH=$PATH:/usr/sbin:/sbin
if unshare -rm true 2>/dev/null; then
    check a_bare_c_library_answers bare_c_library
    sed 's/^/# /' "$scratch/said"
else
    skip "chroot is not permitted here" a_bare_c_library_answers
fi
exit $failed
