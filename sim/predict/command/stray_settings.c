/* Settings of the server that stand where nothing reads them: in a sentence, in a list without what marks a
 * log's, in options outside the command. Once all is read, each says what was read, or it is read now, or
 * the text is refused. */
#include "predict/command/server_text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- lines ------------------------------------------------------------------------------- */

/* Words that a sentence has and no command or list of settings. */
static const char prose[] =
    " a also am an and are as at because been but by did do does for from get got had has have here i if in is "
    "it its my no not of on only or our same so than that the then there these they this to using was we "
    "were when which while with without work works worked you your ";

/* Words of a sentence about settings that do not run so. */
static const char advice[] =
    " add adding adjust adjusting avoid can cannot capping change changing clamping consider considering "
    "could decrease decreasing default defaults deprecated disable e.g either enable equivalent example "
    "exceeds greater help if ignored increase increasing instead larger least less like lower lowering "
    "may maximum might must need needs please raise raising recommend recommended reduce reducing replace "
    "require required requires set setting should smaller specify specifying suggest support supports "
    "supported than to tried try trying tune unless unsupported use want will would ";

/* Has the text a word of the list outside quotes? A word of several letters counts as it is written in it. */
static bool has_word(const char *text, const char *end, const char *list)
{
    char word[16], quote = '\0';
    for (const char *at = text; at < end;) {
        bool begins = at == text || strchr(" \t\v(", at[-1]) != NULL;
        bool opens = quote == '\0' && begins && (*at == '"' || *at == '\'');
        quote = opens ? *at : *at == quote ? '\0' : quote;
        size_t length = strspn(at, ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (length == 0 || quote != '\0' || !begins || length > sizeof word - 3) {
            at += length > 0 ? length : 1;
            continue;
        }
        snprintf(word, sizeof word, " %.*s", (int)length, at);
        at += length;
        length = strlen(word) - (word[strlen(word) - 1] == '.');
        word[length] = ' ';
        word[length + 1] = '\0';
        for (char *letter = word; *letter != '\0'; letter++) {
            *letter = (char)tolower((unsigned char)*letter);
        }
        if (strchr(" \t\v,.:;)?!", *at) != NULL && strstr(list, word) != NULL) {
            return true;
        }
    }
    return false;
}

/* Is it a line of a server's log? */
static bool is_log(const char *line)
{
    static const char *const marks[] = {".py:", "INFO", "WARN", "DEBUG", "ERROR"};
    bool log = fnmatch("[[]20[0-9][0-9]-*", line, 0) == 0;
    for (size_t i = 0; !log && i < sizeof marks / sizeof *marks; i++) {
        log = strstr(line, marks[i]) != NULL;
    }
    return log;
}

/* Does the line begin with one of a shell's own words, or set a variable? */
static bool is_shell(const char *line)
{
    static const char *const begins[] = {"if [[(!]*",
                                         "then *",
                                         "else *",
                                         "elif *",
                                         "do *",
                                         "export *",
                                         "local *",
                                         "readonly *",
                                         "declare *",
                                         "set -*",
                                         "eval *",
                                         "exec *",
                                         "[A-Za-z_]*[A-Z_a-z0-9]=*"};
    bool shell = false;
    for (size_t i = 0; !shell && i < sizeof begins / sizeof *begins; i++) {
        const char *equals = strchr(line, '=');
        bool sets = strchr(begins[i], '=') != NULL;
        shell = fnmatch(begins[i], line, 0) == 0 &&
                (!sets || strcspn(line, " \t\v") > (size_t)(equals - line));
    }
    return shell;
}

/* Is the line another program's command? It begins with a plain word and has options. */
static bool is_command(const char *line)
{
    line += strspn(line, " \t\v`\"'");
    line += fnmatch("[$>%] *", line, 0) == 0 ? 2 : 0;
    size_t length =
        strspn(line, "_./0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
    const char *next = line + length + strspn(line + length, " \t");
    return length > 0 && strchr("-ABCDEFGHIJKLMNOPQRSTUVWXYZ", line[0]) == NULL &&
           strchr("=+(:\"',", *next) == NULL && strstr(line, " -") != NULL;
}

/* ---- settings ---------------------------------------------------------------------------- */

/* Copy a value's word: in quotes, or up to what ends it; a number has commas. */
static void copy_word(const char *at, char *out, size_t size)
{
    size_t length = 0;
    at += strspn(at, "'\"`*(");
    for (const char *ends = " \t\v\n,;)}]|'\"`*";
         at[length] != '\0' &&
         (strchr(ends, at[length]) == NULL ||
          (at[length] == ',' && length > 0 && isdigit((unsigned char)at[length - 1]) &&
           isdigit((unsigned char)at[length + 1])));) {
        length++;
    }
    length -= length > 0 && strchr(".:?!", at[length - 1]) != NULL; /* a sentence ends */
    snprintf(out, size, "%.*s", (int)length, at);
}

/* May the option have the value? `named` tells that it stands behind '=', ':' or an option with dashes. */
static bool may_be(const struct server_option *option, const char *value, bool named)
{
    const char *digit = value + (*value == '-');
    bool number = isdigit((unsigned char)digit[*digit == '.']);
    bool word = isalnum((unsigned char)value[0]) && strcmp(value, "None") != 0;
    switch (option->value) {
    case SERVER_VALUE_NONE:
    case SERVER_VALUE_TEXT:
        return named && word;
    case SERVER_VALUE_JSON:
        return named && value[0] == '{';
    case SERVER_VALUE_SWITCH:
    case SERVER_VALUE_SWITCH_OFF:
        return strcasecmp(value, "true") == 0 || strcasecmp(value, "false") == 0;
    case SERVER_VALUE_WORD:
        for (size_t i = 0; !named && i < option->words->count; i++) {
            const char *pattern = option->words->children[i]->key;
            named = strcmp(pattern, "*") != 0 && fnmatch(pattern, value, 0) == 0;
        }
        return named && word;
    case SERVER_VALUE_NAME:
        return false;
    default:
        return number;
    }
}

/* The program's option of the name, if it may change an answer. Without dashes a name is one of settings in a
 * list: a log has many measures whose names a pattern would fit. */
static const struct server_option *option_that_counts(const struct server_program *program,
                                                      const char *name, bool named)
{
    char plain[64];
    const char *typed = name + strspn(name, "-");
    snprintf(plain, sizeof plain, "%s", typed);
    for (char *at = plain; *at != '\0'; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    const struct server_option *option = NULL;
    bool dashed = typed > name, compound = strchr(plain, '_') != NULL;
    for (size_t i = 0; !dashed && option == NULL && i < program->option_count; i++) {
        const struct server_option *row = &program->options[i];
        bool is = row->name[0] == plain[0] && strcmp(row->name, plain) == 0;
        bool counts = row->value != SERVER_VALUE_NONE ? compound || (named && row->sets != NULL)
                                                      : named && compound;
        option = is && counts ? row : NULL;
    }
    option = dashed ? server_option_find(program, plain) : option;
    bool model = option != NULL && option->sets != NULL && strcmp(option->sets, "model") == 0;
    return option == NULL || option->harmless || model ? NULL : option;
}

/* Keep it for each program that has the option: which one's text it is may be told by a later line. An option
 * of a command that lost its value stands outside it, too, unless the text `explains` it. */
static void keep_stray(struct server_text *said, const struct stray_setting *found, bool named,
                       bool explains)
{
    bool dashed = found->name[0] == '-';
    for (size_t i = 0; i < said->program_count; i++) {
        struct stray_setting kept = *found;
        kept.program = &said->programs[i];
        kept.option = option_that_counts(kept.program, found->name, named);
        if (kept.option == NULL) {
            continue;
        }
        bool flag = dashed && server_setting_is_switch(kept.option);
        if (flag && !may_be(kept.option, kept.value, named)) {
            snprintf(kept.value, sizeof kept.value, "true");
        }
        if (!may_be(kept.option, kept.value, named || dashed)) {
            kept.value[0] = '\0';
        }
        bool keep = (kept.value[0] != '\0' || (dashed && !explains && kept.kind == STRAY_STATED)) &&
                    said->stray_count < STRAYS;
        for (int j = 0; keep && j < said->stray_count; j++) {
            const struct stray_setting *old = &said->strays[j];
            keep = old->option != kept.option || old->kind != kept.kind ||
                   strcmp(old->value, kept.value) != 0;
        }
        if (keep) {
            said->strays[said->stray_count++] = kept;
        }
    }
}

/* The end of the sentence that begins at `from`. */
static const char *sentence_end(const char *from)
{
    const char *stop = strstr(from, ". ");
    return stop != NULL ? stop + 2 : from + strlen(from);
}

void stray_settings_find(struct server_text *said, const char *line)
{
    line += strspn(line, " \t\v>");
    while (*line == '#') { /* whose own backslash joins nothing */
        line += strcspn(line, "\v");
        line += strspn(line, " \t\v");
    }
    const char *from = line, *to = sentence_end(line);
    for (const char *at = line; *at != '\0';) {
        static const char letters[] =
            "_-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const char *word = at, *name = at + strspn(at, "-"), *after = name + strspn(name, letters);
        char before = ' ';
        if (at > line) {
            before = at[-1];
        }
        at = after > word ? after : word + 1;
        struct stray_setting found = {.line = said->line};
        snprintf(found.name, sizeof found.name, "%.*s", (int)(after - word), word);
        after += strspn(after, "'\"`*");
        bool named = *after == '=' || *after == ':', compound = strpbrk(found.name, "_-") != NULL;
        if (strchr(" \t\v\"'`=(,[{|*:", before) == NULL || !islower((unsigned char)*name) ||
            name > word + 2 || (!named && !compound)) {
            continue;
        }
        bool known = false;
        for (size_t i = 0; !known && i < said->program_count; i++) {
            known = option_that_counts(&said->programs[i], found.name, named) != NULL;
        }
        if (!known) {
            continue;
        }
        after += named;
        copy_word(after + strspn(after, named ? " \t\v" : " \t\v|"), found.value,
                  sizeof found.value);
        bool log = is_log(line), shell = !log && is_shell(line), table = *line == '|';
        bool sentence = !log && !shell && has_word(line, line + strlen(line), prose);
        if (strstr(line, "add_argument") != NULL ||
            (!log && !shell && !sentence && is_command(line))) {
            return;
        }
        while (word >= to) {
            from = to;
            to = sentence_end(from);
        }
        bool advised = table || (!shell && has_word(from, to, advice));
        found.kind = advised                                       ? STRAY_TOLD
                     : name == word && (named || log) && !sentence ? STRAY_LISTED
                                                                   : STRAY_STATED;
        if (!advised || !log) {
            keep_stray(said, &found, named, before == '`');
        }
    }
}

/* ---- what was read ----------------------------------------------------------------------- */

/* Is the value the one with which the key need not be stated, or an option not in use? */
static bool is_usual(const struct server_option *option, const char *value)
{
    static const char *const off[] = {"1", "0", "None", "null", "none", "False", "false"};
    bool usual = option->usual != NULL && strcmp(value, option->usual) == 0;
    for (size_t i = option->value == SERVER_VALUE_NONE; i < sizeof off / sizeof *off; i++) {
        usual = usual || strcmp(value, off[i]) == 0;
    }
    return usual;
}

/* Read the setting alone, as if nothing else were said. Returns whether it is one that is not modelled. */
static bool try_alone(struct server_text *said, const struct stray_setting *at,
                      struct stated_keys *alone)
{
    struct stated_keys keys = said->keys;
    struct error refused = said->refused, last = said->last_refused;
    bool fails = at->value[0] == '\0';
    for (int i = 0; i < STATED_MOST; i++) {
        said->keys.all[i].value[0] = '\0';
    }
    said->refused.found[0] = '\0';
    if (at->option->value == SERVER_VALUE_NONE || at->option->value == SERVER_VALUE_JSON) {
        fails = fails || !is_usual(at->option, at->value);
    } else if (!fails) {
        server_setting_take(at->option, at->value, said);
        fails = said->refused.found[0] != '\0';
    }
    *alone = said->keys;
    said->keys = keys;
    said->refused = refused;
    said->last_refused = last;
    return fails;
}

/* What a setting says that nothing else did is taken if it stands in a list. */
static void settle_stray(struct server_text *said, const struct stray_setting *at)
{
    struct stated_keys alone;
    struct stated_key *all = said->keys.all;
    said->line = at->line;
    bool unlike = try_alone(said, at, &alone), unsaid = false, named = false, pool = false;
    for (int i = 0; i < STATED_MOST; i++) {
        bool stated = all[i].value[0] != '\0';
        pool = pool || (stated && i >= STATED_KV_TOKENS && i <= STATED_KV_BYTES);
        named = named || (stated && strcmp(all[i].said, at->option->name) == 0);
    }
    /* Another program's list may have words of its own for what is read: "quantization: Int4". */
    bool listed = at->kind == STRAY_LISTED;
    bool told = at->kind == STRAY_TOLD || (listed && (said->command_line > 0 || (unlike && named)));
    for (int i = 0; i < STATED_MOST; i++) {
        const char *is = all[i].value, *says = alone.all[i].value;
        bool same = says[0] == '\0' || strcmp(is, says) == 0 ||
                    server_text_overrides(said, alone.all[i].key) ||
                    (is[0] == '\0' && is_usual(at->option, says)) ||
                    (pool && i >= STATED_KV_TOKENS && i <= STATED_KV_BYTES);
        unlike = unlike || (!same && is[0] != '\0');
        unsaid = unsaid || !same;
        alone.all[i].value[0] = same ? '\0' : says[0];
    }
    if (!unlike && !unsaid) {
    } else if (told) {
        server_text_pass(said, at->name, "nothing reads the line in which it stands");
    } else if (!unlike && listed) {
        for (int i = 0; i < STATED_MOST; i++) {
            all[i] = alone.all[i].value[0] != '\0' ? alone.all[i] : all[i];
        }
    } else if (at->name[0] == '-' && said->command_line > 0) {
        error_expect(server_text_refuse(said, "'%s' stands outside the command", at->name),
                     "one command with all its options");
    } else {
        const char *key = at->option->sets;
        error_expect(server_text_refuse(said, "'%s' stands in a line that nothing reads", at->name),
                     "%s%s%sthe text without it", key != NULL ? "--set " : "",
                     key != NULL ? key : "", key != NULL ? "=VALUE, or " : "");
    }
}

void stray_settings_settle(struct server_text *said)
{
    for (int i = 0; i < said->stray_count; i++) {
        if (said->strays[i].program == said->program) {
            settle_stray(said, &said->strays[i]);
        }
    }
}
