/* A script's own variables: NAME=value, NAME=(list of words) and what they stand for in later lines. */
#include "predict/command/server_text.h"

#include "core/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *shell_server_variable(struct server_text *said, const char *text,
                                  struct shell_variable **of)
{
    for (; (text = strchr(text, '$')) != NULL; text++) {
        bool open = text[1] == '{';
        const char *name = text + 1 + open, *rest = name + shell_name(name);
        *of = rest > name ? find(&said->variables, name, (size_t)(rest - name)) : NULL;
        rest += open && text_matches(rest, "[[][@*]]*") ? 3 : 0;
        if (*of != NULL && (*of)->serves && (!open || *rest == '}')) {
            return rest + open;
        }
    }
    return NULL;
}

/* Take the variables that a command begins with; their values are known only if they `count`. Returns whether
 * it does nothing else. */
static bool take_variables(struct server_text *said, const char *at, bool count)
{
    struct shell_variables *in = &said->variables;
    enum { VALUE = sizeof in->all->value };
    at += text_begins(at, "Environment=") ? 12 : 0; /* systemd's, whose words are quoted whole */
    while (text_matches(at, "@(export|readonly|declare) *") || *at == '-') {
        at += strcspn(at, " \t\v");
        at += strspn(at, " \t\v");
    }
    for (; *at != '\0' && *at != '#'; at += strspn(at, " \t\v")) {
        char word[VALUE + 64], value[VALUE] = "";
        const char *from = at;
        size_t length = shell_name(at + (strchr("\"'", *at) != NULL)), more = at[length] == '+';
        bool list = text_begins(at + length + more, "=("), computed = !count;
        at += list ? length + more + 2 : 0;
        for (char quote = '\0';
             *at != '\0' && (quote != '\0' || strchr(list ? ")" : " \t\v", *at) == NULL);) {
            computed = computed || (quote != '\'' && (*at == '$' || *at == '`'));
            shell_step(&at, &quote);
            computed = computed || (quote != '\0' && *at == '\0');
        }
        if (list) {
            computed = computed || *at == '\0';
            snprintf(word, sizeof word, "%.*s", (int)(at - from), from);
            at += *at == ')';
        } else if (length == 0 || !shell_word(&from, word, sizeof word)) {
            return false;
        }
        char *added = word + length + more + 1 + list;
        if (word[length + more] != '=') {
            return false;
        }
        struct shell_variable *before = find(in, word, length), *behind;
        computed = computed || (said->container && strchr(added, '$') != NULL) ||
                   (more && (before == NULL || !before->known || before->list != list));
        text_append(value, sizeof value, "%s%s%s", more && !computed ? before->value : "",
                    more && list ? " " : "", added);
        bool serves = server_command_starts(said, value) ||
                      shell_server_variable(said, value, &behind) != NULL ||
                      (before != NULL && before->serves && (more || !count));
        computed = computed || strlen(value) + 1 >= sizeof value || serves;
        for (char *end = value; (end = strchr(end, '\v')) != NULL;) {
            *end = ' '; /* which are not the command's own lines */
        }
        in->others |= text_begins(word, "EnvironmentFile=");
        keep(in, word, length, computed ? NULL : value, list);
        before = find(in, word, length);
        if (before != NULL) {
            before->serves = serves;
        }
    }
    return true;
}

static void pass_unset(struct server_text *said, const char *name, size_t length)
{
    char told[64];
    snprintf(told, sizeof told, "$%.*s", (int)(length < sizeof told - 1 ? length : 0), name);
    server_text_pass(said, told, "nothing sets the variable here: its default counts");
}

static void expand(struct server_text *said, const char *at, const char *end, FILE *out);

/* Write what stands for a variable that is set, "${X:+--option "$X"}", whose name ends at `rest`. Returns what
 * follows; NULL: it stays. */
static const char *write_alternative(struct server_text *said, struct shell_variable *of,
                                     const char *name, const char *rest, FILE *out)
{
    const char *begins = rest + (*rest == ':') + 1, *end = begins;
    char inner[sizeof of->value];
    int depth = 1;
    for (; *end != '\0' && depth > 0 && end - begins + 1 < (long)sizeof inner; end++) {
        depth += (*end == '{') - (*end == '}');
    }
    if (depth > 0) {
        return NULL;
    }
    snprintf(inner, sizeof inner, " %.*s", (int)(end - begins - 1), begins);
    if (of == NULL) {
        pass_unset(said, name, (size_t)(rest - name));
    } else if (of->value[0] != '\0' || *rest != ':') {
        of->used = true;
        expand(said, inner + 1, inner + strlen(inner), out);
    }
    return end;
}

/* Write what the variable at `at` stands for, in quotes or not; of a list, ${NAME[@]} or "${NAME[@]}", its
 * words. Returns what follows it; NULL: it stays. */
static const char *write_variable(struct server_text *said, const char *at, char quote, FILE *out)
{
    struct shell_variables *in = &said->variables;
    bool quoted = quote == '\0' && *at == '"';
    at += quoted;
    if (*at != '$') {
        return NULL;
    }
    char open = at[1] == '{' || (at[1] == '(' && said->container) ? at[1] : '\0';
    const char *name = at + 1 + (open != '\0'), *rest = name + shell_name(name);
    size_t length = (size_t)(rest - name);
    struct shell_variable *of = length > 0 ? find(in, name, length) : NULL;
    if (length == 0 || (quote == '\'' && open != '(') ||
        (open == '\0' && isdigit((unsigned char)*name))) {
        return NULL;
    }
    if (quote == '\0' && open == '{' && strncmp(rest, "[@]}\"", 4 + quoted) == 0) {
        bool written =
            of != NULL && of->known && of->list && (quoted || strpbrk(of->value, "'\"\\") == NULL);
        fputs(written ? of->value : "", out);
        return written ? rest + 4 + quoted : NULL;
    }
    const char *standard = rest + (*rest == ':');
    if (open == '{' && *standard == '+' && (of == NULL ? !in->others : of->known && !of->list)) {
        return write_alternative(said, of, name, rest, out);
    }
    bool defaults = open == '{' && *standard == '-';
    bool own = of != NULL && (of->value[0] != '\0' || *rest != ':');
    standard += defaults;
    char mark =
        defaults && strchr(quote == '\0' ? "\"'" : "\"", *standard) != NULL ? *standard : '\0';
    standard += mark != '\0'; /* the default has quotes of its own */
    const char *stop = standard + strcspn(standard, "}$`\"'\\");
    const char *end = defaults ? stop + (mark != '\0') : rest;
    if (quoted || (of == NULL ? in->others || !defaults : !of->known || of->list) ||
        (mark != '\0' && *stop != mark) || (open != '\0' && *end != (open == '{' ? '}' : ')'))) {
        return NULL;
    }
    if (of == NULL) {
        pass_unset(said, name, length);
    } else {
        of->used = true;
    }
    if (mark != '\0' && quote == '\0' && !own) { /* its blanks part no words */
        fprintf(out, "%c%.*s%c", mark, (int)(stop - standard), standard, mark);
        return end + 1;
    }
    /* So that a shell reads it as it is: without quotes, its blanks part words. */
    stop = own ? of->value + strlen(of->value) : stop;
    for (const char *value = own ? of->value : standard; value < stop; value++) {
        const char *marks = quote == '"' ? "\"\\$`" : quote == '\'' ? "" : "'\"\\$`|;&><#()";
        bool apostrophe = quote == '\'' && *value == '\'', escaped = strchr(marks, *value) != NULL;
        fprintf(out, "%s%c", apostrophe ? "'\\'" : escaped ? "\\" : "", *value);
    }
    return end + (open != '\0');
}

/* Write a command of a shell with its variables' values. A comment within a list is a blank. */
static void expand(struct server_text *said, const char *at, const char *end, FILE *out)
{
    for (char quote = '\0'; at < end;) {
        const char *from = at,
                   *rest = strchr("$\"", *at) != NULL ? write_variable(said, at, quote, out) : NULL;
        if (rest != NULL) {
            at = rest;
        } else if (quote == '\0' && *at == '#' && strchr(" \t\v", from[-1]) != NULL) {
            at += strcspn(at, "\v");
        } else {
            shell_step(&at, &quote);
            at += strcspn(at, "$\"'\\#;&|\n");
            fwrite(from, 1, (size_t)(at - from), out);
        }
    }
}

/* Take what a command sets: unless it is `certain` that it runs, and runs here, that is not known. */
static void follow(struct server_text *said, const char *at, bool certain)
{
    struct shell_variables *in = &said->variables;
    char word[64];
    size_t length = strcspn(at, " \t\v");
    snprintf(word, sizeof word, "%.*s", (int)(length % sizeof word), at);
    if (strcmp(word, "eval") == 0 ||
        (text_matches(word, "@(source|.)") && !text_matches(at, "*@(activate|conda.sh)*"))) {
        in->others = true;
        for (int i = 0; i < in->count; i++) {
            in->all[i].known = false;
        }
    }
    if (take_variables(said, at, certain && said->blocks.open[0] == '\0')) {
        return;
    }
    bool sets = text_begins(at, "((") ||
                text_matches(word, "@(read|mapfile|readarray|getopts|for|select|unset|printf|let)");
    for (; *at != '\0'; at += length > 0 ? length : 1) {
        length = shell_name(at);
        const char *rest = at + length + (at[length] == ':' || at[length] == '+');
        bool named = length > 0 && find(in, at, length) != NULL;
        if (length > 0 && (*rest == '=' || (named && *rest == '[') ||
                           (sets && (named || isupper((unsigned char)*at))))) {
            keep(in, at, length, NULL, false);
        }
    }
}

void shell_variables_of_container(struct server_text *said, const char *line)
{
    memset(&said->variables, 0, sizeof said->variables);
    said->container = said->variables.container = true;
    take_variables(said, line + strspn(line, " "), true);
}

char *shell_expanded(struct server_text *said, const char *line)
{
    char *text = NULL;
    size_t size, begins = 0;
    FILE *out = open_memstream(&text, &size);
    char *counted = server_job_counted(said, line);
    const char *at = line = counted != NULL ? counted : line, *end;
    said->before = said->blocks;
    for (bool certain = true; out != NULL && shell_command(&said->blocks, &at, &end);
         at = line = end) {
        fwrite(line, 1, (size_t)(at - line), out);
        fflush(out);
        begins = size;
        expand(said, at, end, out);
        fflush(out);
        if (!said->variables.container) { /* behind the container's own */
            follow(said, text + begins, certain);
        }
        said->variables.container = false;
        /* "A=1 && ...", but not "test && A=1" */
        certain = *end == ';' ||
                  (*end == '&' && certain &&
                   find(&said->variables, text + begins, shell_name(text + begins)) != NULL);
    }
    if (out != NULL) {
        fputs(line, out);
    }
    free(counted);
    return out != NULL && fclose(out) == 0 ? text : NULL;
}

bool shell_variable_is_used(struct server_text *said, const char *name)
{
    const struct shell_variable *of = find(&said->variables, name, strlen(name));
    return of != NULL && of->used;
}
