/* A script's own variables: NAME=value, NAME=(list of words) and what they stand for in later lines. */
#include "predict/command/server_text.h"

#include "core/text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_') {
        length++;
    }
    return length;
}

static struct shell_variable *find(struct shell_variables *in, const char *name, size_t length)
{
    struct shell_variable *at = in->all, *end = at + in->count;
    while (at < end && (strncmp(at->name, name, length) != 0 || at->name[length] != '\0')) {
        at++;
    }
    return at < end ? at : NULL;
}

/* `value` is NULL where a text does not tell it. What there is no room for is not told, either. */
static void keep(struct shell_variables *in, const char *name, size_t length, const char *value,
                 bool list)
{
    struct shell_variable *at = find(in, name, length);
    if (at == NULL && in->count < SHELL_VARIABLES && length < sizeof at->name) {
        at = &in->all[in->count++];
        snprintf(at->name, sizeof at->name, "%.*s", (int)length, name);
    }
    if (at == NULL) {
        in->others = true;
        return;
    }
    at->known = value != NULL && strlen(value) < sizeof at->value;
    at->list = list;
    snprintf(at->value, sizeof at->value, "%s", at->known ? value : "");
}

/* Behind a quoted or plain piece that begins at `at`: up to one of `ends` outside quotes. `computed`, which
 * may be NULL: a shell would expand something in it. */
static const char *piece_end(const char *at, const char *ends, bool *computed)
{
    for (char quote = '\0'; *at != '\0' && (quote != '\0' || strchr(ends, *at) == NULL); at++) {
        bool opens = quote == '\0' && (*at == '\'' || *at == '"');
        quote = opens ? *at : *at == quote ? '\0' : quote;
        if (computed != NULL && quote != '\'' && (*at == '$' || *at == '`')) {
            *computed = true;
        }
        at += *at == '\\' && quote != '\'' && at[1] != '\0';
    }
    return at;
}

/* Take the variables that a command begins with; their values are known only if they `count`. Returns whether
 * it does nothing else. */
static bool take_variables(struct server_text *said, const char *at, bool count)
{
    struct shell_variables *in = &said->variables;
    char word[sizeof in->all->value];
    at += strspn(at, " \t\v");
    if (strncmp(at, "Environment=", 12) == 0) { /* systemd's, whose words are quoted whole */
        for (at += 12; shell_word(&at, word, sizeof word, NULL);) {
            size_t length = name_length(word);
            keep(in, word, length, word[length] == '=' ? word + length + 1 : NULL, false);
        }
        return true;
    }
    while (fnmatch("@(export|readonly|declare) *", at, FNM_EXTMATCH) == 0 || *at == '-') {
        at += strcspn(at, " \t\v");
        at += strspn(at, " \t\v");
    }
    for (size_t length; (length = name_length(at)) > 0; at += strspn(at, " \t\v")) {
        const char *name = at, *equals = at + length;
        bool more = *equals == '+', computed = !count, list;
        equals += more;
        if (*equals != '=') {
            return false;
        }
        char value[sizeof in->all->value] = "", added[sizeof value] = "";
        const struct shell_variable *before = find(in, name, length);
        list = equals[1] == '(';
        at = piece_end(equals + 1 + list, list ? ")" : " \t\v", &computed);
        if (list) {
            bool cut = *at == '\0' || at - equals >= (long)sizeof added;
            computed = computed || cut;
            snprintf(added, sizeof added, "%.*s", cut ? 0 : (int)(at - equals - 2), equals + 2);
            at += *at == ')';
        } else {
            const char *word = equals + 1;
            bool open = at - equals >= (long)sizeof added;
            computed = computed || open;
            computed =
                (at > word && shell_word(&word, added, sizeof added, &open) && open) || computed;
        }
        computed = computed || (said->container && strchr(added, '$') != NULL) ||
                   (more && (before == NULL || !before->known || before->list != list));
        text_append(value, sizeof value, "%s%s%s", more && !computed ? before->value : "",
                    more && list ? " " : "", added);
        computed =
            computed || strlen(value) + 1 >= sizeof value || server_command_starts(said, value);
        for (char *end = value; (end = strchr(end, '\v')) != NULL;) {
            *end = ' '; /* which are not the command's own lines */
        }
        in->others |= strncmp(name, "EnvironmentFile=", 16) == 0;
        keep(in, name, length, computed ? NULL : value, list);
    }
    return *at == '\0' || *at == '#';
}

/* Write a variable's value so that a shell reads it as it is: without quotes, its blanks part words. */
static void write_escaped(const char *value, char quote, FILE *out)
{
    for (; *value != '\0'; value++) {
        if (quote == '\'' && *value == '\'') {
            fputs("'\\'", out);
        } else if (quote != '\'' &&
                   strchr(quote == '"' ? "\"\\$`" : "'\"\\$`|;&><#()", *value) != NULL) {
            fputc('\\', out);
        }
        fputc(*value, out);
    }
}

/* Write the words of the list at `at`, ${NAME[@]}. Returns what follows it; NULL: it stays. */
static const char *write_list(struct server_text *said, const char *at, FILE *out)
{
    bool quoted = *at == '"';
    at += quoted;
    const char *rest = strncmp(at, "${", 2) == 0 ? at + 2 + name_length(at + 2) : at;
    const struct shell_variable *of =
        rest > at ? find(&said->variables, at + 2, (size_t)(rest - at) - 2) : NULL;
    if (strncmp(rest, "[@]}\"", 4 + quoted) != 0 || of == NULL || !of->known || !of->list ||
        (!quoted && strpbrk(of->value, "'\"\\") != NULL)) {
        return NULL;
    }
    fputs(of->value, out);
    return rest + 4 + quoted;
}

static void pass_unset(struct server_text *said, const char *name, size_t length)
{
    char told[64];
    snprintf(told, sizeof told, "$%.*s", (int)(length < sizeof told - 1 ? length : 0), name);
    server_text_pass(said, told, "nothing sets the variable here: its default counts");
}

/* Write what the variable at `at` stands for, in quotes or not. Returns what follows it; NULL: it stays. */
static const char *write_variable(struct server_text *said, const char *at, char quote, FILE *out)
{
    struct shell_variables *in = &said->variables;
    char open = at[1] == '{' || (at[1] == '(' && said->container) ? at[1] : '\0';
    const char *name = at + 1 + (open != '\0'), *rest = name + name_length(name);
    size_t length = (size_t)(rest - name);
    struct shell_variable *of = length > 0 ? find(in, name, length) : NULL;
    if (length == 0 || (quote == '\'' && open != '(') ||
        (open == '\0' && isdigit((unsigned char)*name))) {
        return NULL;
    }
    const char *standard = rest + (*rest == ':');
    if (open == '{' && *standard == '+' && of == NULL && !in->others) { /* "${X:+--option "$X"}" */
        int depth = 1;
        for (rest = standard; *rest != '\0' && depth > 0; rest++) {
            depth += (*rest == '{') - (*rest == '}');
        }
        pass_unset(said, name, length);
        return depth == 0 ? rest : NULL;
    }
    bool defaults = open == '{' && *standard == '-';
    const char *end = defaults ? standard + strcspn(standard, "}$`\"'\\") : rest;
    char text[sizeof of->value];
    if ((of == NULL ? in->others || !defaults : !of->known || of->list) ||
        (open != '\0' && *end != (open == '{' ? '}' : ')')) || end - rest >= (long)sizeof text) {
        return NULL;
    }
    snprintf(text, sizeof text, "%.*s", defaults ? (int)(end - standard - 1) : 0, standard + 1);
    if (of == NULL) {
        pass_unset(said, name, length);
    }
    if (of != NULL) {
        of->used = true;
    }
    bool own = of != NULL && (of->value[0] != '\0' || *rest != ':');
    write_escaped(own ? of->value : text, quote, out);
    return end + (open != '\0');
}

/* Write a command of a shell with its variables' values, up to its end or a comment. A comment within a list is a
 * blank. */
static const char *expand(struct server_text *said, const char *at, FILE *out)
{
    bool list = false;
    for (char quote = '\0', last = ' '; *at != '\0'; last = *at++) {
        const char *rest = quote == '\0' ? write_list(said, at, out) : NULL;
        if (rest != NULL) {
            at = rest - 1;
            continue;
        }
        bool opens = quote == '\0' && (*at == '\'' || *at == '"'), closes = *at == quote;
        quote = opens ? *at : closes ? '\0' : quote;
        if (quote == '\0' && !closes) {
            list = (list || (*at == '(' && last == '=')) && *at != ')';
            if (*at == '#' && strchr(" \t\v", last) != NULL && list) {
                at += strcspn(at, "\v");
            }
            if ((!list && strchr(";&|", *at) != NULL) ||
                (*at == '#' && strchr(" \t\v", last) != NULL) || *at == '\0') {
                return at;
            }
        }
        if (*at == '\\' && quote != '\'' && at[1] != '\0') {
            fputc(*at++, out);
        } else if (*at == '$') {
            rest = write_variable(said, at, quote, out);
            if (rest != NULL) {
                at = rest - 1;
                continue;
            }
        }
        fputc(*at, out);
    }
    return at;
}

static bool is_among(const char *word, const char *words)
{
    char one[72];
    snprintf(one, sizeof one, " %s ", word);
    return strstr(words, one) != NULL;
}

/* Follow branches, loops, functions and texts within the text, and take what a command sets: unless it is
 * `certain` that it runs, or runs here, that is not known. */
static void follow(struct server_text *said, const char *command, bool certain)
{
    struct shell_variables *in = &said->variables;
    char word[64] = "";
    const char *at = command + strspn(command, " \t\v");
    snprintf(word, sizeof word, "%.*s", (int)(strcspn(at, " \t\v") % sizeof word), at);
    in->depth += is_among(word, " if case for while until select ( ");
    in->depth += strchr(at, '{') != NULL &&
                 (strstr(at, "()") != NULL || *at == '{' || strcmp(word, "function") == 0);
    in->depth -= in->depth > 0 && is_among(word, " fi esac done } ) ");
    const char *here = strstr(at, "<<");
    if (in->until[0] != '\0' && strcmp(word, in->until) == 0) {
        in->depth -= in->depth > 0;
        in->until[0] = '\0';
    } else if (in->until[0] == '\0' && here != NULL && here[2] != '<') {
        here += 2 + strspn(here + 2, "- '\"");
        snprintf(in->until, sizeof in->until, "%.*s", (int)(name_length(here) % sizeof in->until),
                 here);
        in->depth += in->until[0] != '\0';
    }
    certain = certain && in->depth == 0 && said->branches == 0 && said->loops == 0;
    if (is_among(word, " eval ") || (is_among(word, " source . ") &&
                                     fnmatch("*@(activate|conda.sh)*", at, FNM_EXTMATCH) != 0)) {
        in->others = true;
        for (int i = 0; i < in->count; i++) {
            in->all[i].known = false;
        }
    }
    if (take_variables(said, at, certain)) {
        return;
    }
    take_variables(said, at, false);
    bool sets =
        is_among(word, " read mapfile readarray getopts for select unset printf let while ") ||
        strncmp(at, "((", 2) == 0;
    for (size_t length; *at != '\0'; at += length > 0 ? length : 1) {
        length = name_length(at);
        const char *rest = at + length + (at[length] == ':' || at[length] == '+');
        bool named = length > 0 && find(in, at, length) != NULL;
        if (length > 0 && (*rest == '=' || (named && *rest == '[') ||
                           (sets && (named || isupper((unsigned char)*at))))) {
            keep(in, at, length, NULL, false);
        }
    }
}

/* Behind the variables of a container and "bash -c". */
static const char *container_script(const char *line)
{
    char word[4096];
    const char *at = line;
    while (shell_word(&at, word, sizeof word, NULL)) {
        size_t name = name_length(word), length = strlen(word);
        if (word[0] == '-' && word[length - 1] == 'c') {
            return at;
        }
        if (word[0] != '-' && word[name] != '=' && fnmatch("*sh", word, 0) != 0) {
            break;
        }
    }
    return line;
}

void shell_variables_of_container(struct server_text *said, const char *line)
{
    memset(&said->variables, 0, sizeof said->variables);
    said->container = true;
    take_variables(said, line, true);
}

char *shell_expanded(struct server_text *said, const char *line)
{
    char *text = NULL;
    size_t size, begins = 0;
    FILE *out = open_memstream(&text, &size);
    bool certain = true;
    while (out != NULL && *line != '\0' && *line != '#') {
        line = expand(said, line, out);
        fflush(out);
        const char *piece = text + begins;
        piece = said->container ? container_script(piece) : piece;
        char next = *line;
        follow(said, piece, certain);
        /* "A=1 && ...", but not "test && A=1" */
        certain = next == ';' || (next == '&' && certain &&
                                  find(&said->variables, piece, name_length(piece)) != NULL);
        while (*line != '\0' && strchr(";&|", *line) != NULL) {
            fputc(*line++, out);
        }
        fflush(out);
        begins = size;
    }
    if (out != NULL) {
        fputs(line, out);
    }
    return out != NULL && fclose(out) == 0 ? text : NULL;
}

bool shell_variable_is_used(struct server_text *said, const char *name)
{
    const struct shell_variable *of = find(&said->variables, name, strlen(name));
    return of != NULL && of->used;
}

bool shell_variable_is_open(const char *line)
{
    char word[4096];
    bool open = false;
    const char *at = line + strspn(line, " \t");
    at += strncmp(at, "export ", 7) == 0 ? 7 : strncmp(at, "declare -a ", 11) == 0 ? 11 : 0;
    at += name_length(at);
    at += *at == '+';
    if (strncmp(at, "=(", 2) != 0) {
        return *at == '=' && shell_word(&at, word, sizeof word, &open) && open;
    }
    for (at += 2; *(at = piece_end(at, "#)\n", NULL)) == '\n' || *at == '#';) {
        bool comment = *at == '#' && strchr(" \t\n(", at[-1]) != NULL;
        at += comment ? strcspn(at, "\n") : 1;
    }
    return *at == '\0';
}
