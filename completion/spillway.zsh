#compdef spillway
# zsh completion for spillway; `spillway completion zsh` prints it.
_spillway() {
    local -a found open
    found=(${(f)"$(${~words[1]} completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    (( $#found )) || { _files; return }
    open=(${(M)found:#*[=.,[]}) found=(${found:#*[=.,[]})
    compadd -Q -- $found
    compadd -Q -S '' -- $open
}
if [ "$funcstack[1]" = _spillway ]; then _spillway "$@"; else compdef _spillway spillway; fi
