#!/bin/bash
# What traces/twin_bands.py learns its bands from, and whether they hold.
#
#   traces/twins.sh rows [FOLDER]     writes traces/twins.json to standard output
#   traces/twins.sh held [FOLDER]     prints the tables of docs/bands.md: bands against texts left out
#
# For each family, a profile is fitted to its shipped recording of the policy manual, and recordings
# of other texts and contexts are compared with its twin. They are kept in FOLDER (default
# build/twins) and made where they are missing, two hours on 2 cores. What recording needs comes from
# capture/prepare.sh.
set -euo pipefail

. "$(dirname "$0")/capture/prepare.sh"

mkdir -p "${2:-$root/build/twins}"
folder=$(cd "${2:-$root/build/twins}" && pwd)
program=$(realpath "${PROGRAM:-$root/build/spillway}")

families='smollm2-135m qwen2.5-coder-0.5b gemma-3-270m'
declare -A layers=(
    [smollm2-135m]=2,7,12,17,22,27
    [qwen2.5-coder-0.5b]=2,7,12,17,22
    [gemma-3-270m]=5,11,17
)
declare -A text_of=( # package, text, first byte
    [policy]='debian-policy /usr/share/doc/debian-policy/policy.txt.gz 30000'
    [jquery]='libjs-jquery /usr/share/javascript/jquery/jquery.js 20000'
    [libpng]='libpng16-16 /usr/share/doc/libpng16-16/libpng-manual.txt.gz 20000'
    [slang]='libslang2 /usr/share/doc/libslang2/slang.txt.gz 20000'
    [tarfile]='libpython3.11-stdlib /usr/lib/python3.11/tarfile.py 20000'
    [perldiag]='perl-modules-5.36 /usr/share/perl/5.36.0/pod/perldiag.pod 20000'
    # manual, table, verse, code
    [devref]='developers-reference /usr/share/developers-reference/developers-reference.txt.gz 20000'
    [unicode]='unicode-data /usr/share/unicode/UnicodeData.txt 100000'
    [songs]='fortunes /usr/share/games/fortunes/songs-poems 20000'
    [server]='golang-1.19-src /usr/share/go-1.19/src/net/http/server.go 20000'
    # dictionary, dialogue, table, questions and answers, code in Lisp, tutorial, code in Vim's language,
    # an argument in HTML
    [jargon]='jargon-text /usr/share/doc/jargon-text/jargon.txt.gz 100000'
    [monspeak]='crawl-common /usr/share/crawl/dat/database/monspeak.txt 20000'
    [pciids]='pci.ids /usr/share/misc/pci.ids 20000'
    [perlfaq]='perl-doc /usr/share/perl/5.36.0/pod/perlfaq4.pod 20000'
    [simple]='emacs-el /usr/share/emacs/28.2/lisp/simple.el.gz 20000'
    [usr41]='vim-runtime /usr/share/vim/vim90/doc/usr_41.txt 10000'
    [netrw]='vim-runtime /usr/share/vim/vim90/autoload/netrw.vim 100000'
    [anarchy]='anarchism /usr/share/doc/anarchism/html/secH3.html 20000'
    # treatise, list of changes, header in C, shell script, JSON, chat, aphorisms, German in HTML
    [opticks]='golang-1.19-src /usr/share/go-1.19/src/testdata/Isaac.Newton-Opticks.txt 100000'
    [libcnews]='libc6 /usr/share/doc/libc6/NEWS.gz 20000'
    [sqlite]='libsqlite3-dev /usr/include/sqlite3.h 100000'
    [ltmain]='libtool /usr/share/libtool/build-aux/ltmain.sh 20000'
    [iso3166]='iso-codes /usr/share/iso-codes/json/iso_3166-2.json 20000'
    [knghtbrd]='fortunes /usr/share/games/fortunes/knghtbrd 20000'
    [devil]='dict-devil /usr/share/dictd/devil.dict.dz 50000'
    [faqde]='debian-faq-de /usr/share/doc/debian/FAQ/de/pkg-basics.de.html 2000'
)
# Those of policy and jquery at 3840 tokens ship. The texts that are judged were chosen, and their list
# kept, before any of them was recorded. Eight were judged with the rows of eight others, and failed: they
# became rows, and eight new ones were chosen. The seen ones were looked at while the rule was made.
learned='libpng-3840 slang-3840 policy-1920 policy-7680 devref-3840 unicode-3840 songs-3840 server-3840'
judged_first='jargon monspeak pciids perlfaq simple usr41 netrw anarchy'
learned+=$(printf ' %s-3840' $judged_first)
declare -A learned_too=([gemma-3-270m]='jquery-1920 jquery-7680') # the quickest to record
judged='opticks libcnews sqlite ltmain iso3166 knghtbrd devil faqde'
seen='tarfile perldiag'
left_out="$(printf '%s-3840 ' $judged $seen)$(printf '%s-7680 ' $judged tarfile)"

# Record what is missing of "MODEL TEXT-CONTEXT" lines, as many at once as there are processors, each in
# one thread. What they need is fetched before.
record_missing() {
    local model recording out package text offset model_at text_at options=()
    while read -r model recording; do
        out=$folder/$model-$recording.swt
        [ ! -e "$out" ] || continue
        prepare </dev/null
        read -r package text offset <<<"${text_of[${recording%-*}]}"
        model_at=$(find_model "$model" </dev/null) text_at=$(find_text "$package" "$text" </dev/null)
        options=(--model "$model_at" --text "$text_at" --offset "$offset" --context "${recording#*-}"
            --steps 128 --layers "${layers[$model]}" --threads 1 -o "$out")
        printf '%s\n' "${options[@]}"
    done >"$folder/missing"
    [ ${#options[@]} -gt 0 ] || return 0
    say "recording $(($(wc -l <"$folder/missing") / ${#options[@]})) texts into $folder"
    xargs -d '\n' -n ${#options[@]} -P "$(nproc)" "$work/venv/bin/python" "$capture/capture.py" \
        <"$folder/missing" >>"$folder/log" 2>&1 || { say "see $folder/log" && exit 1; }
}

# One JSON object a recording of model $1, the fitted one first; then come the recordings in $2, and
# what the other options name.
compare() {
    local model=$1 checks=() recording
    for recording in $2; do
        checks+=(--check "$folder/$model-$recording.swt")
    done
    shift 2
    "$program" trace fit "$model" --json "${checks[@]}" "$@"
}

# What $1 prints for each model, behind the model's name.
with_model() {
    local model
    for model in $families; do
        "$1" "$model" | tr ' ' '\n' | grep . | sed "s/^/$model /"
    done
}

# The recordings of model $1 that make rows, beside those that ship.
to_learn() { echo $learned ${learned_too[$1]:-}; }

print_rows() {
    record_missing < <(with_model to_learn)
    for model in $families; do
        compare "$model" "$(to_learn "$model")" --check "$model-code" \
            --layers "${layers[$model]}"
    done | python3 -c '
import json, sys
reports = [json.loads(line) for line in sys.stdin]
figures = [name for name, value in reports[0].items() if isinstance(value, dict)]
print("{\"figures\": " + json.dumps(figures) + ",\n\"recordings\": [")
for number, report in enumerate(reports):
    row = {"model": report["model"], "text": report["text"], "context": report["context"],
           "fitted": report["fitted_context"], "layers": report["layers"]}
    for key in "recording", "twin":
        row[key] = [round(report[name][key], 4) for name in figures]
    print(json.dumps(row) + ("," if number + 1 < len(reports) else ""))
print("]}")
'
}

# Those at the context of the fit and at twice that.
to_judge() { printf '%s\n' $left_out $learned ${learned_too[$1]:-} | grep -v -e -1920; }

print_held() {
    record_missing < <(with_model to_judge)
    for model in $families; do
        compare "$model" "$(to_judge "$model")" --check "$model-code" --layers "${layers[$model]}"
    done | python3 -B "$root/traces/twin_held.py" $judged -- $seen
}

case ${1:-} in
rows) print_rows ;;
held) print_held ;;
*) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
