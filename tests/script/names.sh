#!/bin/bash
# A name says which file it is of, in a stack trace, a profile or a search: no two files of code define a
# static function of the same name, or a struct, union or enum of the same tag. Headers count too.
set -eu
cd "$(dirname "$0")/../.."
source tests/script/tap.bash
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
files=$(find sim calibrate -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')

# NAME FILE of each static function that is defined in the files that are given. Its definition begins a line;
# what stands before the name are words, stars and an __attribute__ or a __launch_bounds__.
functions() {
    perl -0777 -ne 's{/\*.*?\*/}{}gs;
        while (/^(?:[A-Z]\w*\s+)?static\s+(?:[\w*:<>]+\s+|\*+|__\w+__\s*\(+[^;{()]*\)+\s*)*?\**(?!__)(\w+)\s*\([^;{=]*\)\s*\{/gm) {
            print "$1 $ARGV\n";
        }' "$@" | sort -u
}

# NAME FILE of each struct, union or enum. One inside another is indented: in C its tag is as wide, in C++
# not.
tags() {
    perl -0777 -ne 's{/\*.*?\*/}{}gs; my $before = $ARGV =~ /\.cuh?$/ ? "(?:static |const )*" : "[^\\n;(]*?";
        while (/^$before\b(?:struct|union|enum)\s+(\w+)\s*\{/gm) { print "$1 $ARGV\n"; }' "$@" | sort -u
}

# once KIND LIST: each name of the list has one file.
once() {
    awk -v kind="$1" '{ files[$1] = files[$1] " " $2; count[$1]++ }
        END { for (name in count) if (count[name] > 1) { print kind " " name ":" files[name]; bad = 1 }; exit bad }' \
        "$2" > "$scratch/said" || { sort -o "$scratch/said" "$scratch/said"; return 1; }
}

functions $files > "$scratch/functions"
tags $files > "$scratch/tags"
echo 1..3
check 'functions and tags are found' test "$(wc -l < "$scratch/functions")" -gt 1000 -a "$(wc -l < "$scratch/tags")" -gt 300
check 'a static function is defined in one file' once function "$scratch/functions"
check 'a tag is defined in one file' once tag "$scratch/tags"
exit $failed
