#include "predict/command/shell_words.h"

#include <ctype.h>
#include <string.h>

static bool ends_command(const char *at)
{
    bool redirected = isdigit((unsigned char)*at) && (at[1] == '>' || at[1] == '<');
    return *at == '\0' || redirected || strchr("|;&><#\n", *at) != NULL;
}

/* Does the character behind this backslash stand for itself? */
static bool is_escape(const char *at, char quote)
{
    return at[0] == '\\' && at[1] != '\0' &&
           (quote == '\0' || (quote == '"' && strchr("\\\"$`", at[1]) != NULL));
}

bool shell_word_open(const char **at, char *out, size_t size, bool *open)
{
    size_t length = 0;
    char quote = '\0';
    *at += strspn(*at, " \t\v");
    *open = false;
    if (ends_command(*at)) {
        return false;
    }
    for (; **at != '\0' && (quote != '\0' || strchr(" \t\v\n|;&><", **at) == NULL); (*at)++) {
        bool escape = is_escape(*at, quote);
        bool opens = quote == '\0' && (**at == '\'' || **at == '"'), closes = **at == quote;
        quote = opens ? **at : closes ? '\0' : quote;
        *at += escape;
        if (!opens && !closes && length + 1 < size) {
            out[length++] = **at;
        }
    }
    out[length] = '\0';
    *open = quote != '\0';
    return true;
}

bool shell_word(const char **at, char *out, size_t size)
{
    bool open;
    return shell_word_open(at, out, size, &open);
}
