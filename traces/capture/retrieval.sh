#!/bin/bash
# Measure how retrievals err, for sim/decode/plan/retrieval_errors.def and docs/retrieval.md: for each
# family, on texts that no code was learned from.
#
#   traces/capture/retrieval.sh [OPTION ...]     options of measure_retrieval.py, such as
#                                                --only codes --seed 2
set -eu
. "$(dirname "$0")/prepare.sh"

# A Debian package, a text of it, and the byte from which on it is read. Prose, questions and answers,
# reference, a table, code in three languages: HATA learns from prose, questions and code, too.
perl=/usr/share/perl/5.36.0
learned=(
    perl-modules-5.36 $perl/Locale/Maketext/TPJ13.pod 0
    perl-modules-5.36 $perl/IO/Compress/FAQ.pod 0
    perl-modules-5.36 $perl/pod/perldiag.pod 100000
    perl-modules-5.36 $perl/perl5db.pl 100000
    libpython3.11-minimal /usr/lib/python3.11/argparse.py 20000
    tzdata /usr/share/zoneinfo/tzdata.zi 0
)
measured=(
    debian-policy /usr/share/doc/debian-policy/policy.txt.gz 30000
    libjs-jquery /usr/share/javascript/jquery/jquery.js 20000
    libpng16-16 /usr/share/doc/libpng16-16/libpng-manual.txt.gz 20000
)

places() { # OPTION PACKAGE TEXT OFFSET ...: "OPTION FILE:OFFSET ..."
    local option=$1 text
    shift
    for (( ; $# > 0; )); do
        text=$(find_text "$1" "$2")
        echo "$option" "$text:$3"
        shift 3
    done
}

measure() { # MODEL LAYERS OPTION ...
    local model
    model=$(find_model "$1")
    echo "## $1, layers $2"
    "$work/venv/bin/python" "$capture/measure_retrieval.py" --model "$model" --layers "$2" \
        "${texts[@]}" "${@:3}"
}

prepare
mapfile -t texts < <(places --learn "${learned[@]}" | tr ' ' '\n')
mapfile -t -O ${#texts[@]} texts < <(places --text "${measured[@]}" | tr ' ' '\n')
measure smollm2-135m 1,2,7,12,17,22,27 "$@"
measure qwen2.5-coder-0.5b 1,2,7,12,17,22 "$@"
measure gemma-3-270m 5,11,17 "$@"
