# bash completion for spillway; `spillway completion bash` prints it.
# bash takes "=" and ":" for ends of words, and replaces only what follows the last one.
_spillway() {
    local line=${COMP_LINE:0:COMP_POINT} word before=
    local -a words
    read -r -a words <<<"$line"
    case $line in *[[:space:]]) words+=('') ;; esac
    word=${words[${#words[@]}-1]}
    mapfile -t COMPREPLY < <("${words[0]/#\~/$HOME}" completion words -- "${words[@]:1}" 2>/dev/null)
    case $COMP_WORDBREAKS in *[=:]*) before=${word%"${word##*[=:]}"} ;; esac
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
    case ${COMPREPLY[*]} in *[=.,[]) compopt -o nospace 2>/dev/null ;; esac
}
complete -o default -F _spillway spillway
