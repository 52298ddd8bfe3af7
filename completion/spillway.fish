# fish completion for spillway; `spillway completion fish` prints it.
function __spillway_words
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    $words[1] completion words -- $words[2..-1] "$word" 2>/dev/null
end
complete -c spillway -n 'count (__spillway_words) >/dev/null' -f
complete -c spillway -a '(__spillway_words)'
