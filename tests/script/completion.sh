#!/bin/bash
# In zsh and fish the script that the program prints offers the same words as in bash, which
# tests/cli/completion tests.
set -u
cd "$(dirname "$0")/../.." || exit 1
program=$(realpath "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. tests/script/tap.bash
mkdir "$scratch/bin" && ln -s "$program" "$scratch/bin/spillway"
export PATH=$scratch/bin:$PATH HOME=$scratch SPILLWAY_DATA=$PWD
spillway completion zsh >"$scratch/zsh"
spillway completion fish >"$scratch/fish"
cat >"$scratch/lines" <<'LINES'
spillway sim -> simulate
spillway trace stats --se -> --selection
spillway simulate --set mechanisms.sync= -> mechanisms.sync=cpu mechanisms.sync=gpu
spillway simulate --set hardw -> hardware=
spillway plan --system vllm,flex -> vllm,flexgen
spillway advise llama-3.1-8b h100-s -> h100-sxm
LINES

# What compadd is told is what zsh offers; files are offered where nothing is.
cat >"$scratch/ask.zsh" <<'ZSH'
compdef() { }
_files() { offered=(FILES) }
compadd() { while [[ $1 != -- ]]; do shift; done; shift; offered+=("$@") }
source $1
words=(${(z)2%% }); [[ $2 == *' ' ]] && words+=('')
CURRENT=$#words offered=()
_spillway
print -r -- $offered
ZSH
zsh_line() { zsh -f "$scratch/ask.zsh" "$scratch/zsh" "$1"; }
fish_line() { fish -N -c "source $scratch/fish; complete -C '$1'" | cut -f 1 | tr '\n' ' ' | sed 's/ $/\n/'; }

offers() { # SHELL
    local line
    while IFS= read -r line; do
        [ "$("$1_line" "${line% -> *}")" = "${line#* -> }" ] || { echo "$line, not $("$1_line" "${line% -> *}")" && return 1; }
    done <"$scratch/lines" >"$scratch/said"
}
# A word for which there is no name is completed as a file.
offers_files() {
    touch "$scratch/some.yaml" && cd "$scratch" &&
        case $1 in
        zsh) [ "$(zsh_line 'spillway simulate so')" = FILES ] ;;
        fish) [ "$(fish_line 'spillway simulate so')" = some.yaml ] ;;
        esac
}
for shell in zsh fish; do
    if command -v $shell >/dev/null; then
        check "${shell}_offers_the_words" offers $shell
        check "${shell}_offers_files" offers_files $shell
    else
        count=$((count + 2))
        echo "ok $((count - 1)) - ${shell}_offers_the_words # SKIP '$shell' is missing"
        echo "ok $count - ${shell}_offers_files # SKIP '$shell' is missing"
    fi
done
echo "1..$count"
exit $failed
