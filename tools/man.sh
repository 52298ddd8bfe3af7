#!/bin/bash
# Print the man page: the help of the program, and of each of its commands, as they stand.
#
#   tools/man.sh build/spillway
set -euo pipefail
help() { # WORD...: in a block whose lines stay
    printf '.nf\n'
    "${program[@]}" "$@" --help | sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/"
    printf '.fi\n'
}
program=("$@")
printf '.TH SPILLWAY 1 "" "%s"\n' "$("$@" --version | cut -d , -f 1)"
printf '.SH NAME\nspillway \\- %s\n.SH SYNOPSIS\n' "$("$@" --help | sed -n '1s/^spillway //p')"
help
printf '.SH COMMANDS\n'
"$@" --help | sed -n '/^commands:/,/^$/s/^  \([a-z][a-z ]\{1,13\}\) .*/\1/p' | sed 's/ *$//' | while read -r command; do
    printf '.SS spillway %s\n' "$command"
    help $command
done
cat <<'END'
.SH EXIT STATUS
0: success; 1: failure; 2: invalid request.
.SH ENVIRONMENT
.TP
.B SPILLWAY_DATA
The folder of models, hwprofiles, engines, scenarios, traces and plots. By default the program looks in the folders
above its own.
END
