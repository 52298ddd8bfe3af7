/* Settings of the server that stand where nothing reads them: in a sentence, in a list without what marks a
 * log's, in options outside the command. Once all is read, each says what was read, or it is read now, or
 * the text is refused. */
#include "predict/command/server_text.h"

#include <ctype.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WORDS(words) "(^|[[:space:](])(" words ")[,.:;)?!]*([[:space:]]|$)"
enum { LINE_SHELL, LINE_COMMAND, LINE_PROSE, LINE_ADVICE, LINES };
static const char *const line_patterns[LINES] = {
    [LINE_SHELL] = "^(if [[(!]|(then|else|elif|do|export|local|readonly|declare|eval|exec) |set "
                   "-|[A-Za-z_][A-Za-z_0-9]*=)",
    /* Another program's: it begins with a plain word and has options. */
    [LINE_COMMAND] =
        "^[`\"']*([$>%] )?[a-z0-9_./~][A-Za-z0-9_./~-]*([[:space:]]+[^=+(:\"',[:space:]].*)?[[:space:]]-",
    /* Words of a sentence, and of one about settings that do not run so. */
    [LINE_PROSE] = WORDS(
        "a|also|am|an|and|are|as|at|because|been|but|by|did|do|does|for|from|get|got|had|has|have|here|I|if|in|"
        "is|it|its|my|no|not|of|on|only|or|our|same|so|than|that|the|then|there|these|they|this|to|using|was|"
        "we|were|when|which|while|with|without|works?|worked|your?"),
    [LINE_ADVICE] = WORDS(
        "add(ing)?|adjust(ing)?|avoid|can|cannot|capping|chang(e|ing)|clamping|consider(ing)?|could|"
        "decreas(e|ing)|defaults?|deprecated|disable|e\\.g|either|enable|equivalent|example|exceeds|greater|help|"
        "if|ignored|increas(e|ing)|instead|larger|least|less|like|lower(ing)?|may|maximum|might|must|needs?|"
        "please|rais(e|ing)|recommend(ed)?|reduc(e|ing)|replace|required?|requires|set(ting)?|should|smaller|"
        "specify(ing)?|suggest|supports?|supported|than|to|tried|try(ing)?|tune|unless|unsupported|use|want|"
        "will|would"),
};
static regex_t line_kinds[LINES];

static void compile_kinds(void)
{
    for (int i = 0; i < LINES; i++) {
        int words = i >= LINE_PROSE ? REG_ICASE : 0;
        regcomp(&line_kinds[i], line_patterns[i], REG_EXTENDED | REG_NOSUB | words);
    }
}

/* Is the text between the two of the kind? Within quotes that begin a word it says nothing. */
static bool is_of_kind(int kind, const char *from, const char *to)
{
    char plain[2048], quote = '\0';
    size_t length = 0;
    for (const char *at = from; at < to && length + 1 < sizeof plain; at++) {
        bool begins = quote == '\0' && (at == from || strchr(" \t\v(", at[-1]) != NULL);
        bool ends = quote != '\0' && *at == quote;
        quote = begins && (*at == '"' || *at == '\'') ? *at : ends ? '\0' : quote;
        plain[length] = *at;
        length += kind < LINE_PROSE || (quote == '\0' && !ends);
    }
    plain[length] = '\0';
    return regexec(&line_kinds[kind], plain, 0, NULL, 0) == 0;
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
        return strcasecmp(value, "true") == 0 || strcasecmp(value, "false") == 0;
    case SERVER_VALUE_WORD:
        for (size_t i = 0; !named && i < option->words->count; i++) {
            const char *pattern = option->words->children[i]->key;
            named = strcmp(pattern, "*") != 0 && text_matches(value, pattern);
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
    snprintf(plain, sizeof plain, "%s", name + strspn(name, "-"));
    server_option_plain(plain);
    bool dashed = *name == '-', compound = strchr(plain, '_') != NULL;
    const struct server_option *option = dashed ? server_option_find(program, plain) : NULL;
    for (size_t i = 0; !dashed && option == NULL && i < program->option_count; i++) {
        const struct server_option *row = &program->options[i];
        bool counts = row->value != SERVER_VALUE_NONE ? compound || (named && row->sets != NULL)
                                                      : named && compound;
        option = counts && strcmp(row->name, plain) == 0 ? row : NULL;
    }
    /* A rank is a process's, and a letter may be anything. */
    bool other = (!dashed && strstr(plain, "_rank") != NULL) || plain[1] == '\0' ||
                 option == NULL || option->harmless;
    return other || (option->sets != NULL && strcmp(option->sets, "model") == 0) ? NULL : option;
}

/* A line's kind holds for all its settings. That of a sentence, too. */
struct stray_line {
    const char *line, *end, *from, *stop; /* the sentence, whose end may be the line's: NULL */
    bool log, shell, prose, passed, advised;
};

/* What the setting at `word`, behind all earlier ones of the line, is; `bare`: without dashes, and `named` as
 * above. */
static enum stray_kind kind_of(const struct server_text *said, struct stray_line *in,
                               const char *word, bool bare, bool named)
{
    const char *before = in->from, *line = in->line, *end = in->end;
    if (before == NULL) {
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, compile_kinds);
        in->log = strstr(line, ".py:") != NULL || log_line_begins(said, line);
        in->shell = !in->log && is_of_kind(LINE_SHELL, line, end);
        bool other = !in->log && !in->shell;
        in->prose = other && is_of_kind(LINE_PROSE, line, end);
        in->passed = (other && !in->prose && is_of_kind(LINE_COMMAND, line, end)) ||
                     strstr(line, "add_argument") != NULL ||
                     strstr(line, "Mamba Cache is allocated") != NULL || /* what it came to */
                     strstr(line, "FlashInfer resolved") != NULL ||
                     strstr(line, "Received request") != NULL; /* whose prompt may say anything */
        in->from = line;
        in->stop = strstr(line, ". ");
    }
    while (in->stop != NULL && in->stop < word) {
        in->from = in->stop + 2;
        in->stop = strstr(in->from, ". ");
    }
    if (in->from != before) {
        in->advised =
            *line == '|' || /* a table's row */
            (!in->shell && is_of_kind(LINE_ADVICE, in->from, in->stop != NULL ? in->stop : end));
    }
    return in->passed || (in->log && in->advised)     ? STRAY_NONE
           : in->advised                              ? STRAY_TOLD
           : bare && (named || in->log) && !in->prose ? STRAY_LISTED
                                                      : STRAY_STATED;
}

/* Copy the value that begins at `at`, in quotes that the text is in. */
static void copy_value(const char *at, struct stray_setting *out)
{
    server_setting_copy(at, out->value, sizeof out->value);
    out->value[strcspn(out->value, "'\"")] = '\0';
}

/* Keep it if it is new. Where there is no room, in the place of an advice. */
static void keep_new(struct server_text *said, struct stray_setting kept)
{
    bool keep = kept.kind != STRAY_NONE;
    int place = said->stray_count;
    for (int i = 0; keep && i < said->stray_count; i++) {
        const struct stray_setting *old = &said->strays[i];
        keep = old->option != kept.option || old->kind != kept.kind ||
               strcmp(old->value, kept.value) != 0;
        place = place == STRAYS && old->kind == STRAY_TOLD && kept.kind != STRAY_TOLD ? i : place;
    }
    if (keep && place < STRAYS) {
        said->strays[place] = kept;
        said->stray_count += place == said->stray_count;
    }
}

void stray_settings_find(struct server_text *said, const char *line)
{
    static const char letters[] =
        "_-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    line += strspn(line, " \t\v>");
    while (*line == '#') { /* whose own backslash joins nothing */
        line += strcspn(line, "\v");
        line += strspn(line, " \t\v");
    }
    struct stray_line in = {.line = line, .end = line + strlen(line)};
    char before = ' ';
    for (const char *word = line, *next; *word != '\0'; before = next[-1], word = next) {
        const char *name = word + strspn(word, "-"), *after = name + strspn(name, letters);
        size_t length = (size_t)(after - word);
        next = length > 0 ? after : word + 1;
        after += length > 0 ? strspn(after, "'\"`*") : 0;
        bool named = *after == '=' || *after == ':',
             compound = memchr(word, '_', length) != NULL || memchr(word, '-', length) != NULL;
        if (!islower((unsigned char)*name) || (!named && !compound) || name > word + 2 ||
            strchr(" \t\v\"'`=(,[{|*:;", before) == NULL) {
            continue;
        }
        struct stray_setting found = {.line = said->line};
        snprintf(found.name, sizeof found.name, "%.*s", (int)length, word);
        after += named;
        after += strspn(after, named ? " \t\v`*(" : " \t\v|`*(");
        after += !named && text_matches(after, "[tTaAioO][osft] *") ? 3 : 0; /* "to 8", "of 8" */
        /* A later line may tell whose text it is. */
        for (found.program = said->programs; found.program->file != NULL; found.program++) {
            found.option = option_that_counts(found.program, found.name, named);
            if (found.option != NULL) {
                copy_value(after, &found);
                found.kind = kind_of(said, &in, word, name == word, named);
                bool dashed = name > word, flag = dashed && server_setting_is_switch(found.option);
                if (flag && !may_be(found.option, found.value, named)) {
                    snprintf(found.value, sizeof found.value, "true");
                } else if (!may_be(found.option, found.value, named || dashed)) {
                    found.value[0] = '\0';
                }
                /* An option of a command that lost its value stands outside it, too, unless the text explains
                 * it. */
                if (found.value[0] != '\0' ||
                    (dashed && before != '`' && found.kind == STRAY_STATED)) {
                    keep_new(said, found);
                }
            }
        }
    }
}

/* The program's variable of the name, if it may change an answer: one that is read before a pattern. */
static const struct server_option *variable_that_counts(const struct server_program *program,
                                                        const char *name)
{
    const struct server_option *found = NULL;
    for (size_t i = 0; i < program->option_count; i++) {
        const struct server_option *row = &program->options[i];
        bool read = row->value != SERVER_VALUE_NONE, was = found != NULL;
        if (strncmp(row->flag, name, 2) == 0 && (!was || (read && found->reason != NULL)) &&
            text_matches(name, row->name)) {
            found = row;
        }
    }
    return found == NULL || found->harmless ? NULL : found;
}

/* NAME=value or NAME: value that is glued to something or in quotes, "setenv NAME 1", "name: NAME" of a
 * manifest, "NAME is set to 1". One that has no value is told, and so is one in a sentence that advises it.
 * */
void stray_variables_find(struct server_text *said, const char *line)
{
    static const char letters[] = "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    bool comment = shell_is_comment(line);
    struct stray_line in = {.line = line, .end = line + strlen(line)};
    const char *word = line + strcspn(line, letters + 11), *at, *after;
    for (; *word != '\0'; word = at + strcspn(at, letters + 11)) {
        char name[sizeof said->strays->name + 2], before = word > line ? word[-1] : ' ';
        size_t length = strspn(word, letters);
        at = word + length;
        bool within = isalnum((unsigned char)before) || islower((unsigned char)*at) ||
                      memchr(word, '_', length) == NULL || length + 3 > sizeof name;
        bool used = before == '.' || (before == '{' && word - line > 1 && word[-2] == '$') ||
                    (before == '$' && *at != '='); /* "1.NAME=2" of a list is none */
        used = used && !(before == '.' && word - line > 1 && isdigit((unsigned char)word[-2]));
        snprintf(name, sizeof name, " %.*s ", (int)(within ? 0 : length), word);
        if (within || used || said->taken[0] == '*' || strstr(said->taken, name) != NULL) {
            continue;
        }
        after = at + strspn(at, "'\"`*])");
        after += after[strspn(after, " \t")] == '=' ? strspn(after, " \t") : 0;
        bool equals = *after == '=', named = equals || *after == ':';
        after += named;
        after += strspn(after, " \t\v`*(");
        while (!named && text_matches(after, "@(is|was|set|to|of|as) *")) {
            after += strcspn(after, " ") + 1;
        }
        struct stray_setting found = {.line = said->line};
        const char *value = found.value;
        copy_value(after, &found);
        if (!equals && !text_matches(value, "@([0-9/]*|[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])")) {
            found.value[0] = '\0';
        }
        snprintf(found.name, sizeof found.name, "%.*s", (int)length, word);
        for (found.program = said->programs; found.program->file != NULL; found.program++) {
            found.option = variable_that_counts(found.program, found.name);
            if (found.option == NULL) {
                continue;
            }
            if (in.from == NULL && server_command_starts(said, line)) {
                in.from = line; /* which is no other program's */
            }
            found.kind = comment ? STRAY_TOLD : kind_of(said, &in, word, false, named);
            char head[16]; /* "name: " */
            int most = word - line < 8 ? (int)(word - line) : 8;
            snprintf(head, sizeof head, "%.*s", most, word - most);
            bool set = text_matches(head, "*name?([\"']): ?([\"'])") || text_begins(line, "read ");
            if (*value == '\0' &&
                (!set || node_get(found.option->words, "*") != NULL)) { /* most change nothing */
                found.kind = in.log || found.kind == STRAY_NONE ? STRAY_NONE : STRAY_TOLD;
            }
            keep_new(said, found);
        }
    }
}

/* Is the value the one with which the key need not be stated? */
static bool is_usual(const struct server_option *option, const char *value)
{
    return server_setting_is_usual(option, value) ||
           (option->sets != NULL && strstr(option->sets, "parallel") != NULL &&
            strcmp(value, "1") == 0);
}

static void refuse_stray(struct server_text *said, const struct stray_setting *at, bool variable)
{
    const char *key = at->option->sets;
    if (variable) {
        error_expect(
            server_text_refuse(said, NULL, "'%s' is set in a way that is not read", at->name),
            "%s=VALUE, as a shell has it", at->name);
    } else if (at->name[0] == '-' && said->command_line > 0) {
        server_text_refuse(said, "one command with all its options",
                           "'%s' stands outside the command", at->name);
    } else {
        error_expect(
            server_text_refuse(said, NULL, "'%s' stands in a line that nothing reads", at->name),
            "%s%s%sthe text without it", key != NULL ? "--set " : "", key != NULL ? key : "",
            key != NULL ? "=VALUE, or " : "");
    }
}

void stray_settings_settle(struct server_text *said)
{
    struct stated_key *all = said->keys.all;
    const struct stray_setting *end = said->strays + said->stray_count;
    for (const struct stray_setting *at = said->strays; at < end; at++) {
        bool variable = isupper((unsigned char)at->name[0]); /* which is told whoever reads it */
        if (at->program != said->program && !variable) {
            continue;
        }
        said->line = at->line;
        struct server_text alone = *said; /* as if nothing else were said */
        bool unlike = at->value[0] == '\0', unsaid = false, named = false, pool = false;
        for (int i = 0; i < STATED_MOST; i++) {
            bool stated = all[i].value[0] != '\0';
            pool = pool || (stated && i >= STATED_KV_TOKENS && i <= STATED_KV_BYTES);
            named = named || (stated && strcmp(all[i].said, at->option->name) == 0);
            alone.keys.all[i].value[0] = '\0';
        }
        alone.refused.found[0] = '\0';
        alone.program = at->program;
        if (at->option->value == SERVER_VALUE_NONE || at->option->value == SERVER_VALUE_JSON) {
            unlike = unlike || !is_usual(at->option, at->value);
        } else if (!unlike) {
            server_setting_take(at->option, at->value, &alone);
            unlike = alone.refused.found[0] != '\0'; /* it is not modelled */
        }
        /* Another program's list may have words of its own for what is read: "quantization: Int4". */
        bool listed = at->kind == STRAY_LISTED;
        bool told =
            at->kind == STRAY_TOLD || (listed && (said->command_line > 0 || (unlike && named)));
        for (int i = 0; i < STATED_MOST; i++) {
            const char *is = all[i].value, *says = alone.keys.all[i].value;
            bool same = says[0] == '\0' || strcmp(is, says) == 0 ||
                        server_text_overrides(said, alone.keys.all[i].key) ||
                        (is[0] == '\0' && is_usual(at->option, says)) ||
                        (pool && i >= STATED_KV_TOKENS && i <= STATED_KV_BYTES);
            unlike = unlike || (!same && is[0] != '\0');
            unsaid = unsaid || !same;
            alone.keys.all[i].value[0] = same ? '\0' : says[0];
        }
        if (!unlike && !unsaid) {
        } else if (told) {
            server_text_pass(said, at->name, "nothing reads the line in which it stands");
        } else if (!unlike && listed) {
            for (int i = 0; i < STATED_MOST; i++) {
                all[i] = alone.keys.all[i].value[0] != '\0' ? alone.keys.all[i] : all[i];
            }
        } else {
            refuse_stray(said, at, variable);
        }
    }
}
