/* `spillway completion`: what a shell needs to complete the words of a command.
 *
 * The script of each shell only asks: it runs `spillway completion words -- WORD...` with the words
 * behind the program's name up to the cursor, and offers the lines that this prints, or files if
 * there are none. So all shells offer the same, and a name that is new is offered at once. */
#include "cli/completion/candidates.h"
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"

#include <string.h>

/* bash takes "=" and ":" for ends of words, and replaces only what follows the last one. */
static const char bash[] =
    "# bash completion for spillway; `spillway completion bash` prints it.\n"
    "_spillway() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} word before=\n"
    "    local -a words\n"
    "    read -r -a words <<<\"$line\"\n"
    "    case $line in *[[:space:]]) words+=('') ;; esac\n"
    "    word=${words[${#words[@]}-1]}\n"
    "    mapfile -t COMPREPLY < <(\"${words[0]/#\\~/$HOME}\" completion words -- \"${words[@]:1}\" "
    "2>/dev/null)\n"
    "    case $COMP_WORDBREAKS in *[=:]*) before=${word%\"${word##*[=:]}\"} ;; esac\n"
    "    COMPREPLY=(\"${COMPREPLY[@]#\"$before\"}\")\n"
    "    case ${COMPREPLY[*]} in *[=.,[]) compopt -o nospace 2>/dev/null ;; esac\n"
    "}\n"
    "complete -o default -F _spillway spillway\n";

static const char zsh[] =
    "#compdef spillway\n"
    "# zsh completion for spillway; `spillway completion zsh` prints it.\n"
    "_spillway() {\n"
    "    local -a found open\n"
    "    found=(${(f)\"$(${~words[1]} completion words -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
    "    (( $#found )) || { _files; return }\n"
    "    open=(${(M)found:#*[=.,[]}) found=(${found:#*[=.,[]})\n"
    "    compadd -Q -- $found\n"
    "    compadd -Q -S '' -- $open\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _spillway ]; then _spillway \"$@\"; else compdef _spillway spillway; fi\n";

static const char fish[] = "# fish completion for spillway; `spillway completion fish` prints it.\n"
                           "function __spillway_words\n"
                           "    set -l words (commandline -opc)\n"
                           "    set -l word (commandline -ct)\n"
                           "    $words[1] completion words -- $words[2..-1] \"$word\" 2>/dev/null\n"
                           "end\n"
                           "complete -c spillway -n 'count (__spillway_words) >/dev/null' -f\n"
                           "complete -c spillway -a '(__spillway_words)'\n";

static const struct {
    const char *name, *script; /* NULL: candidates */
} kinds[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}, {"words", NULL}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *completion_kind(size_t index)
{
    return index < KINDS ? kinds[index].name : NULL;
}

static bool completion_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    const char *const *operands = arguments_operands(arguments, &count);
    size_t kind = 0;
    while (strcmp(kinds[kind].name, operands[0]) != 0) {
        kind++;
    }
    if (kinds[kind].script == NULL) {
        candidates_print(arguments->commands, operands + 1, count - 1, stdout);
    } else if (count > 1) {
        error_usage(why, NULL, 0, "'completion %s' takes no argument '%s'", operands[0],
                    operands[1]);
        return error_expect(why, "spillway completion %s", operands[0]);
    } else {
        fputs(kinds[kind].script, stdout);
    }
    return true;
}

static const struct command_option options[] = {{.name = NULL}};

const struct command command_completion = {
    .name = "completion",
    .operands = "[-- WORD...]",
    .least_operands = 1,
    .most_operands = COMMAND_MANY,
    .kind = completion_kind,
    .summary = "print a shell's completion of commands, keys and names, or the words that fit",
    .example = "source <(spillway completion bash)\n"
               "spillway completion words -- simulate --set model=qwen",
    .options = options,
    .run = completion_run,
};
