/* Line by line. A line with a mark of a server is searched for settings (option_values.c); a line with a
 * server's command is read by its words (server_command.c). */
#include "predict/command/server_text.h"

#include "core/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const known_keys[STATED_KNOWN] = {
#define KEY(id, name) [STATED_##id] = (name),
#define FACT(id, name) KEY(id, name)
#include "predict/command/stated.def"
};

const char *server_text_override(const struct server_text *said, const char *key)
{
    const char *value = NULL;
    size_t length = strlen(key);
    for (uint32_t i = 0; i < said->override_count; i++) {
        const char *text = said->overrides[i];
        bool same = strncmp(text, key, length) == 0 && text[length] == '=';
        value = same ? text + length + 1 : value;
    }
    return value;
}

bool server_text_overrides(const struct server_text *said, const char *key)
{
    return server_text_override(said, key) != NULL;
}

void server_text_pass(struct server_text *said, const char *name, const char *reason)
{
    struct server_unused *of = said->keys.unused, *last = of + SERVER_REASONS - 2;
    while (of < last && of->reason != NULL && of->reason != reason) {
        of++;
    }
    of->reason = reason;
    if (strstr(of->names, name) == NULL) {
        text_append(of->names, sizeof of->names, "%s%s", of->names[0] != '\0' ? ", " : "", name);
    }
}

struct error *server_text_refuse(struct server_text *said, const char *expected, const char *format,
                                 ...)
{
    struct error *all = &said->refused, *last = all->found[0] == '\0' ? all : &said->last_refused;
    char found[sizeof all->found];
    va_list list;
    va_start(list, format);
    vsnprintf(found, sizeof found, format, list);
    va_end(list);
    error_set(last, said->file, said->line, "%s", found);
    bool fits =
        strlen(all->found) + strlen(last->found) + sizeof "; ; and more" < sizeof all->found;
    const char *next = fits ? last->found : "and more";
    if (last != all && strstr(all->found, next) == NULL) {
        text_append(all->found, sizeof all->found, "; %s", next);
        all->expected[0] = all->nearest[0] = '\0';
    }
    if (expected != NULL) {
        error_expect(last, "%s", expected);
    }
    return last;
}

enum { MOST_WRAPPED = 64, TEXT_MOST = 256 << 20 };

/* Note the largest rank that a line states somewhere, or of a process, in its beginning: "(EngineCore_DP1
 * pid=9)", "(Worker_PP1_TP3 pid=9)", "(VllmWorker rank=4 pid=9)", "[2025-10-11 02:15:02 DP1 TP3]". */
static void note_ranks(struct server_text *said, const char *line)
{
    static const struct {
        const char *mark, *behind;                            /* NULL: in a line's beginning */
        int counts, from;                                     /* the first rank's */
    } marks[] = {{" in world size ", "", STATED_REPLICAS, 1}, /* "rank 3 in world size 4" */
                 {"world_size=", " rank=", STATED_REPLICAS, 1},
                 {"Started ", " local engine cores", STATED_DATA_PARALLEL, 1},
                 {"] Engine ", ": ", STATED_DATA_PARALLEL, 0}, /* "Engine 003: Avg" */
                 {"EngineCore_", NULL, STATED_DATA_PARALLEL, 0},
                 {"DP", NULL, STATED_DATA_PARALLEL, 0},
                 {"TP", NULL, STATED_TENSOR_PARALLEL, 0},
                 {"PP", NULL, STATED_PIPELINE_PARALLEL, 0},
                 {"rank=", NULL, STATED_REPLICAS, 0}};
    char head[100];
    bool begins = log_line_begins(said, line);
    snprintf(head, sizeof head, "%s", line);
    head[strcspn(head, "]")] = '\0';
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *behind = marks[i].behind, *at = behind != NULL ? line : begins ? head : "";
        struct server_rank *most = &said->ranks[marks[i].counts];
        for (; (at = strstr(at, marks[i].mark)) != NULL; at++) {
            const char *digits = at + strlen(marks[i].mark);
            size_t length = strspn(digits, "0123456789");
            int rank = atoi(digits) - marks[i].from;
            bool states = behind != NULL ? strstr(digits, behind) != NULL
                                         : length > 0 && length < 5 && at > head &&
                                               strchr(" _(", at[-1]) != NULL &&
                                               strchr(" _)", digits[length]) != NULL;
            if (states && rank > most->rank) {
                *most = (struct server_rank){.rank = rank, .line = said->line};
            }
        }
    }
}

/* Refuse settings of two servers. "docker compose logs" prints names before lines ("NAME  | "), and so do
 * "kubectl logs --prefix" ("[pod/NAME/CONTAINER] ") and stern ("POD-NAME INFO"). */
static void note_log_source(struct server_text *said, const char *line)
{
    char source[sizeof said->source] = "", behind = '\0';
    int unit = 0; /* behind "Nov 30 01:02:03 host NAME[9]:" of a journal */
    sscanf(line, "%*3[A-Za-z] %*2d %*8[0-9:] %*s %63[^][ :][%*d]:%n", source, &unit);
    if (unit == 0) {
        sscanf(line, "%63[^ \t|] %c", source, &behind);
    }
    bool pod = islower((unsigned char)source[0]) && strchr(source, '-') != NULL &&
               strpbrk(source, "=:'\"(") == NULL &&
               (isupper((unsigned char)behind) || behind == '(' || behind == '[');
    bool named = unit > 0 || behind == '|' || pod || text_begins(source, "[pod/");
    if (named && said->source[0] == '\0') {
        memcpy(said->source, source, sizeof source);
    } else if (named && strcmp(said->source, source) != 0) {
        server_text_refuse(said, "the log of one server", "settings of '%s' and of '%s'",
                           said->source, source);
    }
}

void server_text_check_program(struct server_text *said, const struct server_program *program)
{
    const struct server_program *first = said->first != NULL ? said->first : program;
    said->first = first;
    if (strcmp(first->title, program->title) != 0) {
        server_text_refuse(said, "commands and logs of one server",
                           "the line is %s's, and those before are %s's", program->title,
                           first->title);
    }
}

/* Returns whether the line is one of a log that is read. */
static bool read_log(struct server_text *said, const char *line)
{
    const char *failure = shell_is_comment(line) ? NULL : log_saying(said, SAYING_FAILS, line);
    bool read = failure != NULL;
    said->ready = said->ready || log_saying(said, SAYING_READY, line) != NULL;
    if (said->crash == NULL && !said->ready) {
        said->crash = log_saying(said, SAYING_CRASHES, line);
    }
    if (read && said->failure == NULL) { /* the first such line is told */
        said->failed_line = said->line;
        said->failure = failure;
    }
    note_ranks(said, line);
    for (const struct server_program *program = said->programs; !read && program->file != NULL;
         program++) {
        size_t length = program->metrics != NULL ? strlen(program->metrics) : 0;
        bool metric = length > 0 && strncmp(line, program->metrics, length) == 0 &&
                      islower((unsigned char)line[length]); /* none is "vllm: 0.9.2" */
        const char *rest =
            metric ? line + length : server_program_after(program->logs, line, false);
        if (rest != NULL) {
            server_text_check_program(said, program);
            said->program = program;
            said->failure = said->crash = NULL;
            said->logged = true;
            if (log_settings_open(said, line, false)) {
                server_text_refuse(said, "it whole, in one line", "a list of settings is cut off");
            }
            log_settings_read(said, line);
            /* The value of a metric that is a setting itself stands behind its labels. Engines that state a
             * pool are counted. */
            char name[64];
            unsigned engine = 0;
            const char *value = strrchr(rest, ' '), *at = strstr(rest, "engine=\"");
            length = strcspn(rest, "{ ");
            snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), rest);
            const struct server_option *option =
                rest[length] == '{' && value != NULL ? server_option_find(program, name) : NULL;
            if (option != NULL && option->value != SERVER_VALUE_NONE) {
                server_setting_take(option, value + 1, said);
            }
            if (at != NULL && strstr(rest, "num_gpu_blocks=") != NULL &&
                sscanf(at, "engine=\"%3u\"", &engine) == 1 &&
                engine < SERVER_ENGINES_MOST) { /* "-1" */
                said->engines += !said->engine_seen[engine];
                said->engine_seen[engine] = true;
            }
            said->keys.whole =
                said->keys.whole || (!metric && said->keys.all[STATED_MODEL].line == said->line);
            note_log_source(said, line);
            read = true;
        }
    }
    if (failure == NULL) {
        log_sayings_read(said, line);
    }
    return read;
}

/* Of the servers that started, one after the other, whose log this is, the last one counts: forget what the
 * log said of those before. What a command says holds for all. Each start has some lines once, in their
 * order; data-parallel ranks behind the first, "EngineCore_DP1", have their own. */
static void begin_server(struct server_text *said, const char *line)
{
    static const char form[] = "[0-9][0-9]-[0-9][0-9][ T][0-9][0-9]:[0-9][0-9]:[0-9][0-9]*";
    const char *rank = strstr(line, "EngineCore_"), *time = line;
    bool again = false, other = rank != NULL && atoi(rank + strcspn(rank, "0123456789")) > 0;
    const struct server_program *program = said->programs;
    for (; program->file != NULL && !other && !shell_is_comment(line); program++) {
        size_t i = 0, count = program->once != NULL ? program->once->count : 0;
        while (i < count && strstr(line, program->once->children[i]->text) == NULL) {
            i++;
        }
        if (i < count) {
            while (*time != '\0' && time < line + 100 && !text_matches(time, form)) {
                time++;
            }
            time = time < line + 100 ? time : "";
            bool earlier = *time != '\0' && strncmp(time, said->started, 14) < 0;
            again = again || i < said->once;
            said->backwards = i < said->once && (earlier || said->backwards);
            said->once = i + 1;
            snprintf(said->started, sizeof said->started, "%.14s", time);
        }
    }
    if (!again) {
        return;
    }
    for (int i = 0; i < STATED_MOST; i++) {
        if (!said->keys.all[i].typed) {
            said->keys.all[i].value[0] = '\0';
        }
    }
    if (said->command_line == 0) {
        memset(said->keys.unused, 0, sizeof said->keys.unused);
        said->refused.found[0] = '\0';
        said->keys.fits_length = false;
        said->stray_count = 0;
    }
    memset(said->ranks, 0, sizeof said->ranks);
    memset(said->needs, 0, sizeof said->needs);
    memset(said->pools, 0, sizeof said->pools);
    said->failure = said->crash = NULL;
    said->ready = false;
    said->keys.starts += said->keys.starts == 0 ? 2 : 1;
    said->keys.start_line = said->line;
}

/* Does the line end in a comment: has it a '#' at its begin, or in a shell behind a blank? */
static bool ends_in_comment(const char *line, const char *end, bool shell)
{
    const char *first = line + strspn(line, " \t"), *at = first;
    for (char quote = '\0'; shell && at < end; shell_step(&at, &quote)) {
        if (*at == '#' && quote == '\0' && (at == first || strchr(" \t", at[-1]) != NULL)) {
            break;
        }
    }
    return at < end && *at == '#';
}

/* Where a comment behind a backslash ends the line, "--port 80 \  # as usual", its beginning behind that:
 * what people write is meant to go on. */
static const char *before_comment(const char *line, const char *end)
{
    const char *at = shell_is_comment(line) ? end : line;
    for (; (at = memchr(at, '\\', (size_t)(end - at))) != NULL; at++) {
        const char *next = at + 1 + strspn(at + 1, " \t");
        if (next > at + 1 && next < end && *next == '#') {
            return at + 1;
        }
    }
    return end;
}

/* Take characters as a page's source has them, and the blank that no line ends at, as they are typed; and the
 * ends of its marks as blanks. */
static void take_marks(char *text, size_t *size)
{
    enum { LONGEST = 8 };
    static const char marks[] = /* each with what it stands for, or a blank */
        " &#39;' &#x27;' &apos;' &quot;\" &#34;\" &#45;- &lt;< &gt;> &nbsp; &#160; \xc2\xa0 "
        "&#8211;\xe2\x80\x93 &#8212;\xe2\x80\x94 &amp;&";
    char *to = text;
    for (const char *from = text, *end = text + *size; from < end;) {
        size_t left = (size_t)(end - from), most = left < LONGEST ? left : LONGEST;
        const char *stop = *from == '&'                    ? memchr(from, ';', most)
                           : text_begins(from, "\xc2\xa0") ? from + 1
                                                           : NULL;
        size_t length = stop != NULL ? (size_t)(stop + 1 - from) : 0;
        const char *mark = length > 0 ? memmem(marks, sizeof marks - 1, from, length) : NULL;
        const char *closes = text_begins(from, "</") ? from + 2 : "";
        size_t name = strspn(closes, "abcdefghijklmnopqrstuvwxyz");
        if (name > 0 && closes[name] == '>') { /* "--tensor-parallel-size 2</code>" */
            from = closes + name + 1;
            *to++ = ' ';
        } else if (mark != NULL) {
            size_t means = strcspn(mark + length, " ");
            to = mempcpy(to, means > 0 ? mark + length : " ", means > 0 ? means : 1);
            from += length;
        } else {
            *to++ = *from++;
        }
    }
    *size = (size_t)(to - text);
    *to = '\0';
}

int server_text_count(const char *from, const char *end, char mark)
{
    int count = 0;
    for (; from < end; from++) {
        count += *from == mark;
    }
    return count;
}

/* Make blanks of bytes that no text has, and join lines that end with a backslash, or as PowerShell and cmd
 * have it, to the next, unless a comment or code in Markdown ends there: '\v' stands for the end of one.
 * Lines between them that begin with one of `comments` are dropped. Returns the text. */
static char *text_joined(char *text, size_t size, const char *comments)
{
    size_t used = 0, command = 0, line = 0;
    bool docker = strcmp(comments, "#") == 0; /* takes blanks behind a backslash */
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        size_t end = used;
        while (c == '\n' && docker && end > 1 && strchr(" \t", text[end - 1]) != NULL) {
            end--;
        }
        used = end > 0 && text[end - 1] == '\\' ? end : used;
        if (c == '\n' && *comments == '\0') {
            used = (size_t)(before_comment(text + line, text + used) - text);
        }
        bool joins = c == '\n' && used > 1 &&
                     (text[used - 1] == '\\' ||
                      (text[used - 2] == ' ' && strchr("`^", text[used - 1]) != NULL)) &&
                     !ends_in_comment(text + line, text + used, *comments == '\0');
        if (joins) {
            text[used - 1] = ' ';
            joins = !text_begins(text + i + 1 + strspn(text + i + 1, " \t"), "```");
        }
        if (c != '\r' || text[i + 1] != '\n') {
            text[used++] = joins ? '\v' : c == '\0' || c == '\v' || c == '\r' ? ' ' : c;
        }
        while (joins && i + 1 < size &&
               strspn(text + i + 1 + strspn(text + i + 1, " \t"), comments) > 0) {
            i += 1 + strcspn(text + i + 1, "\n");
            text[used++] = '\v';
        }
        line = c == '\n' ? used : line;
        command = c == '\n' && !joins ? used : command;
        /* A shell's prompt for a continued line, "> ", is no redirection: an option stands behind it, or the
         * command has a prompt, too. */
        const char *next = text + i + 1, *rest = next + (joins && i < size ? strspn(next, ">") : 0);
        size_t gap = rest > next ? strspn(rest, " \t") : 0;
        bool prompt = gap > 0 && (rest[gap] == '-' || strchr("$>%", text[command]) != NULL);
        i += prompt ? (size_t)(rest - next) + gap : 0;
    }
    text[used] = '\0';
    return text;
}

/* A line that is whole. What an engine that crashed repeats of its settings says nothing new. */
static void read_line(struct server_text *said, char *line)
{
    if (said->once > 0 && log_saying(said, SAYING_REPEATS, line) != NULL) {
        return;
    }
    begin_server(said, line);
    server_text_read_version(said, line);
    said->taken[0] = '\0';
    bool log = false, router = server_router_read(said, line);
    if (!router && !server_command_read(said, line)) {
        server_command_read_variables(said, line);
        log = read_log(said, line);
        if (!log) {
            stray_settings_find(said, line);
        }
    }
    if (!router && !log) {
        stray_variables_find(said, line);
    }
}

static void server_text_read_lines(struct server_text *said, char *text)
{
    while (*text != '\0') {
        /* A quote of a command, or a log's list, goes on in the next lines, unless none of them closes it. */
        char *first = strchrnul(text, '\n'), *end = first;
        bool open = true;
        for (int more = 0; open && more < MOST_WRAPPED; more++) {
            char c = *end;
            *end = '\0';
            open = server_command_is_open(said, text) || log_settings_open(said, text, true);
            *end = c;
            more = c == '\0' ? MOST_WRAPPED : more;
            end = open && c != '\0' ? strchrnul(end + 1, '\n') : end;
        }
        end = open ? first : end;
        char *next = end + (*end != '\0');
        *end = '\0';
        for (char *at = text; (at = strchr(at, '\n')) != NULL;) {
            *at = '\v';
        }
        /* Take the ends of lines out of a log's list of settings, within whose words they may stand, and put
         * them behind it: they count lines. Quotes that a typesetter made, or that JSON or CSV escaped, are
         * plain ones again. */
        const char *list = log_settings_behind(said, text);
        size_t ends = 0;
        char *to = list != NULL ? text + (list - text) : end;
        for (const char *from = to; *from != '\0'; from++) {
            unsigned char mark = text_begins(from, "\xe2\x80") ? (unsigned char)from[2] : 0;
            bool joined = *from == '\v', quotes = mark >= 0x98 && mark <= 0x9d;
            bool again = text_begins(from, "\"\"") && /* as CSV has it; none is "" itself */
                         (isalnum((unsigned char)from[2]) || isalnum((unsigned char)from[-1]));
            ends += joined;
            if (quotes) {
                *to++ = mark < 0x9c ? '\'' : '"';
                from += 2;
            } else if (!joined && !again && !text_begins(from, "\\\"")) {
                *to++ = *from;
            }
        }
        memset(to, '\v', ends);
        memset(to + ends, '\0', (size_t)(end - to) - ends);
        char *expanded = shell_expanded(said, text), *line = expanded != NULL ? expanded : text;
        /* A command that is code within a sentence, `vllm serve MODEL`, is a line of its own. */
        char *code = strchr(line, '`'), *close = code != NULL ? strchr(code + 1, '`') : NULL;
        if (close != NULL && (code == line || code[-1] == ' ') && code[1] != '`') {
            *close = '\0';
            bool command = server_command_starts(said, code);
            *close = command ? '\n' : '`';
            *code = command ? ' ' : '`';
        }
        read_line(said, line);
        free(expanded);
        said->line += 1 + server_text_count(text, end, '\v');
        text = next;
    }
}

static void forget_keys(struct stated_keys *keys)
{
    *keys = (struct stated_keys){.starts = 0};
    for (int i = 0; i < STATED_KNOWN; i++) {
        keys->all[i].key = known_keys[i];
    }
}

void server_text_read_container(struct server_text *said, char *command, int line,
                                const struct node *replicas, int replicas_line)
{
    struct server_text before = *said;
    struct gpu_user user;
    uint64_t copies = 1;
    forget_keys(&said->keys);
    said->line = line;
    said->command_line = 0;
    memset(&said->blocks, 0, sizeof said->blocks);
    shell_variables_of_container(said, command);
    user = gpu_user_of_container(said, &said->job, command);
    server_text_read_lines(said, text_joined(command, strlen(command), ""));
    bool found = said->command_line > 0, second = found && before.command_line > 0;
    bool same = before.keys.fits_length == said->keys.fits_length;
    for (int id = 0; id < STATED_MOST; id++) {
        struct stated_key *was = &before.keys.all[id], *is = &said->keys.all[id];
        if (id >= STATED_ROUTING &&
            id <= STATED_BALANCE_REL) { /* of a router, wherever it stands */
            *is = was->value[0] != '\0' ? *was : *is;
            *was = *is;
        }
        same = same && was->key == is->key && strcmp(was->value, is->value) == 0;
    }
    if (second && !same) {
        server_command_second(said, before.command_line, said->command_line);
    } else if (second || !found) {
        before.refused = said->refused;
        before.urls = said->urls;
        before.urls_line = said->urls_line;
        *said = before;
    }
    if (found && replicas != NULL && !server_text_overrides(said, "replicas") &&
        (!units_parse_whole(replicas->text, UNIT_COUNT, UINT32_MAX, NULL, 0, "replicas", &copies,
                            ERROR_UNSEEN) ||
         copies == 0)) {
        server_text_refuse_at(said, replicas_line,
                              "--set replicas=N, the number of copies that run",
                              "'replicas' is '%s'", replicas->text);
    }
    user.server = found;
    gpu_users_keep(said, &user);
    if (found && copies > 1 && user.devices[0] != '\0') { /* Compose gives each the same */
        gpu_users_keep(said, &user);
    }
    said->copies += found ? copies : 0;
    said->copies_line = found ? replicas_line : said->copies_line;
}

/* Refuse the log of a server that failed. If a command stands beside it, that is told instead. */
static bool check_failure(struct server_text *said, struct error *why)
{
    if (said->failure != NULL && said->command_line > 0 && !said->logged) {
        server_text_pass(said, said->failure,
                         "a server failed so; the command is computed as it stands");
    } else if (said->failure != NULL) {
        error_set(why, said->file, said->failed_line, "the server failed: '%s'", said->failure);
        return error_expect(why, "the log of one that started");
    }
    if (said->crash != NULL && said->logged) {
        server_text_pass(
            said, said->crash,
            "the server failed so before it was ready; computed is what its settings give");
    }
    return true;
}

static bool refuse_serverless(const struct server_text *said, bool manifest, struct error *why)
{
    bool options = said->stray_count > 0 && !manifest;
    error_set(why, said->file, options ? said->strays[0].line : 0,
              options    ? "options of a server without its command"
              : manifest ? "no container of it starts a server"
                         : "no line is a server's");
    return error_expect(
        why, "%s",
        options ? "'vllm serve MODEL', or what else starts it, and the options as it has them"
        : manifest
            ? "an 'image' with a server's 'command' or 'args'; of a Helm chart what 'helm template' "
              "prints; of others (KServe's model, Ray Serve, a script in a ConfigMap) the command of "
              "a server, in a file of its own"
            : "the start-up log of a server, a command such as 'vllm serve MODEL', or its /metrics");
}

bool server_text_read(FILE *in, const char *file, const char *const *overrides, uint32_t count,
                      struct stated_keys *out, struct error *why)
{
    struct server_text said = {
        .file = file, .line = 1, .overrides = overrides, .override_count = count};
    size_t size;
    char *text = node_stream(in, file, TEXT_MOST, &size, why);
    forget_keys(&said.keys);
    if (text != NULL && (text_begins(text, "\xff\xfe") || text_begins(text, "\xfe\xff"))) {
        free(text);
        error_set(why, file, 0, "the text is in UTF-16");
        return error_expect(why, "UTF-8: iconv -f UTF-16 -t UTF-8");
    }
    if (text != NULL) {
        take_marks(text, &size);
    }
    said.programs = text != NULL ? server_programs(why) : NULL;
    bool ok = said.programs != NULL;
    bool manifest = ok && manifest_named(file, text);
    if (manifest) {
        ok = manifest_read(&said, text, 0, false, why);
    } else if (ok && dockerfile_named(file, text)) {
        ok = dockerfile_read(&said, text_joined(text, size, "#"), why);
    } else if (ok) {
        bool unit = strstr(text, "\nExecStart=") != NULL; /* of systemd */
        ok = manifest_read_within(&said, text, why);
        text = text_joined(text, size, unit ? "#;" : "");
        text = log_unwrapped(&said, text);
        log_sayings_find(&said, text, 1);
        server_text_read_lines(&said, text);
    }
    free(text);
    ok = ok && check_failure(&said, why);
    if (ok && said.program != NULL) {
        stray_settings_settle(&said);
        ok = stated_complete(&said, why);
    }
    if (ok && said.machine != NULL) {
        server_text_refuse_at(&said, said.machine_line,
                              "the text of a server on whole GPUs of NVIDIA, as they are",
                              "'%s': %s", said.machine, said.machine_reason);
    }
    if (ok && said.refused.found[0] != '\0') {
        *why = said.refused;
        return false;
    }
    if (ok && said.program == NULL) {
        return refuse_serverless(&said, manifest, why);
    }
    said.keys.whole = said.keys.whole || said.command_line > 0;
    said.keys.says_prefixes = said.keys.all[STATED_GPU_PREFIXES].value[0] != '\0';
    for (int i = STATED_FACTS; i < STATED_KNOWN; i++) {
        said.keys.all[i].value[0] = '\0';
    }
    *out = said.keys;
    return ok;
}
