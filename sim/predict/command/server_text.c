/* Line by line. A line with a mark of a server is searched for settings (option_values.c); a line with a
 * server's command is read by its words (server_command.c). */
#include "predict/command/server_text.h"

#include "core/text.h"
#include "server/server_engine.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
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

struct error *server_text_refuse(struct server_text *said, const char *format, ...)
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
    return last;
}

enum { MOST_WRAPPED = 64, TEXT_MOST = 256 << 20 };

/* ---- lines ------------------------------------------------------------------------------- */

/* Note the largest rank of a process in the line's beginning: "(EngineCore_DP1 pid=9)", "(Worker_PP1_TP3
 * pid=9)", "(VllmWorker rank=4 pid=9)", "[2025-10-11 02:15:02 DP1 TP3]". */
static void note_ranks(struct server_text *said, const char *line)
{
    static const struct {
        const char *mark;
        int counts;
    } marks[] = {{"EngineCore_", STATED_DATA_PARALLEL},
                 {"DP", STATED_DATA_PARALLEL},
                 {"TP", STATED_TENSOR_PARALLEL},
                 {"PP", STATED_PIPELINE_PARALLEL},
                 {"rank=", STATED_REPLICAS}};
    static const struct {
        const char *mark, *behind;                              /* the number, somewhere */
        int counts, from;                                       /* the first rank's */
    } numbers[] = {{" in world size ", "", STATED_REPLICAS, 1}, /* "rank 3 in world size 4" */
                   {"world_size=", " rank=", STATED_REPLICAS, 1},
                   {"Started ", " local engine cores", STATED_DATA_PARALLEL, 1},
                   {"] Engine ", ": ", STATED_DATA_PARALLEL, 0}}; /* "Engine 003: Avg" */
    char head[100];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *at = strstr(line, numbers[i].mark);
        struct server_rank *most = &said->ranks[numbers[i].counts];
        int rank = at != NULL ? atoi(at + strlen(numbers[i].mark)) - numbers[i].from : 0;
        if (rank > most->rank && strstr(at, numbers[i].behind) != NULL) {
            *most = (struct server_rank){.rank = rank, .line = said->line};
        }
    }
    snprintf(head, sizeof head, "%s", line);
    head[strcspn(head, "]")] = '\0';
    if (!log_line_begins(said, line)) {
        return;
    }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        for (const char *at = head; (at = strstr(at, marks[i].mark)) != NULL; at++) {
            const char *digits = at + strlen(marks[i].mark);
            size_t length = strspn(digits, "0123456789");
            struct server_rank *most = &said->ranks[marks[i].counts];
            int rank = length > 0 && length < 5 && strchr(" _)", digits[length]) != NULL
                           ? atoi(digits)
                           : 0;
            if (rank > most->rank && at > head && strchr(" _(", at[-1]) != NULL) {
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
    sscanf(line, "%63[^ \t|] %c", source, &behind);
    bool pod = islower((unsigned char)source[0]) && strchr(source, '-') != NULL &&
               strpbrk(source, "=:'\"(") == NULL &&
               (isupper((unsigned char)behind) || behind == '(' || behind == '[');
    bool named = behind == '|' || pod || strncmp(source, "[pod/", 5) == 0;
    if (named && said->source[0] == '\0') {
        memcpy(said->source, source, sizeof source);
    } else if (named && strcmp(said->source, source) != 0) {
        error_expect(server_text_refuse(said, "settings of '%s' and of '%s'", said->source, source),
                     "the log of one server");
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
        const char *rest = metric ? line + length : server_program_after(program->logs, line);
        if (rest != NULL) {
            said->program = program;
            said->failure = said->crash = NULL;
            said->logged = true;
            if (log_settings_open(said, line, false)) {
                error_expect(server_text_refuse(said, "a list of settings is cut off"),
                             "it whole, in one line");
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
            while (*time != '\0' && time < line + 100 && fnmatch(form, time, 0) != 0) {
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
        memset(said->ranks, 0, sizeof said->ranks);
        memset(said->needs, 0, sizeof said->needs);
    }
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
        bool joins = c == '\n' && used > 1 &&
                     (text[used - 1] == '\\' ||
                      (text[used - 2] == ' ' && strchr("`^", text[used - 1]) != NULL)) &&
                     !ends_in_comment(text + line, text + used, *comments == '\0');
        if (joins) {
            text[used - 1] = ' ';
            joins = strncmp(text + i + 1 + strspn(text + i + 1, " \t"), "```", 3) != 0;
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

/* The text is changed. */
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
         * them behind it: they count lines. Quotes that a typesetter made, or that JSON escaped, are plain
         * ones again. */
        const char *list = log_settings_behind(said, text);
        size_t ends = 0;
        char *to = list != NULL ? text + (list - text) : end;
        for (const char *from = to; *from != '\0'; from++) {
            unsigned char mark = strncmp(from, "\xe2\x80", 2) == 0 ? (unsigned char)from[2] : 0;
            bool joined = *from == '\v', quotes = mark >= 0x98 && mark <= 0x9d;
            ends += joined;
            if (quotes) {
                *to++ = mark < 0x9c ? '\'' : '"';
                from += 2;
            } else if (!joined && strncmp(from, "\\\"", 2) != 0) {
                *to++ = *from;
            }
        }
        memset(to, '\v', ends);
        to[ends] = '\0';
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
        for (; text < end; text++) {
            said->line += *text == '\v';
        }
        said->line++;
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
    user = gpu_user_of_container(said, command);
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
        error_expect(
            server_text_refuse_at(said, replicas_line, "'replicas' is '%s'", replicas->text),
            "--set replicas=N, the number of copies that run");
    }
    user.server = found;
    gpu_users_keep(said, &user);
    if (found && copies > 1 && user.devices[0] != '\0') { /* Compose gives each the same */
        gpu_users_keep(said, &user);
    }
    said->copies += found ? copies : 0;
    said->copies_line = found ? replicas_line : said->copies_line;
}

/* ---- facts that are no keys of scenarios become keys ---- */

#define OF(id) (&said->keys.all[STATED_##id])

static bool is_stated(const struct stated_key *key)
{
    return key->value[0] != '\0';
}

static uint64_t stated_number(const struct stated_key *key, uint64_t unsaid)
{
    return is_stated(key) ? strtoull(key->value, NULL, 10) : unsaid;
}

/* The same, or what --set says. */
static uint64_t counted(const struct server_text *said, int id)
{
    const struct stated_key *key = &said->keys.all[id];
    const char *set = server_text_override(said, key->key);
    return set != NULL ? strtoull(set, NULL, 10) : stated_number(key, 1);
}

static void set(struct stated_key *key, const struct stated_key *from, const char *value)
{
    snprintf(key->value, sizeof key->value, "%s", value);
    memmove(key->said, from->said, sizeof key->said);
    key->line = from->line;
}

static void set_number(struct stated_key *key, const struct stated_key *from, uint64_t number,
                       const char *unit)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64 "%s", number, unit);
    set(key, from, text);
}

static bool says(const struct stated_key *key, const char *value)
{
    return strcmp(key->value, value) == 0;
}

/* Where all GPUs are counted in tensor_parallel, as SGLang does, data_parallel are servers of their
 * own, unless the ranks share the layers outside attention: shared_ranks says so, and rank_count,
 * which counts these ranks apart. */
static void complete_ranks(struct server_text *said)
{
    struct stated_key *data = OF(DATA_PARALLEL), *shared = OF(SHARED_RANKS),
                      *apart = OF(RANK_COUNT);
    if (stated_number(apart, 1) > 1) {
        if (is_stated(data)) {
            set(OF(REPLICAS), data, data->value);
        }
        set(data, apart, apart->value);
        set(shared, apart, "yes");
    }
    uint64_t tensor = stated_number(OF(TENSOR_PARALLEL), 1), ranks = stated_number(data, 1);
    bool shares = says(shared, "yes");
    if (ranks <= 1) {
        if (shared->typed && shares) {
            server_text_pass(
                said, shared->said,
                "it divides nothing without --dp-size N (up to 0.4.2, N is that of --tp-size)");
        }
        shared->value[0] = '\0';
    } else if (!shares) {
        set(OF(REPLICAS), data, data->value);
        data->value[0] = '\0';
    } else if (tensor % ranks == 0) {
        set_number(OF(TENSOR_PARALLEL), OF(TENSOR_PARALLEL), tensor / ranks, "");
    } else {
        error_expect(server_text_refuse_at(said, data->line, "%u ranks divide %u GPUs",
                                           (unsigned)ranks, (unsigned)tensor),
                     "a tp that is a multiple of the ranks of --enable-dp-attention");
    }
    /* A command states a step's limits of all ranks that share layers (srt/server_args.py,
     * chunked_prefill_size and max_running_requests); a log those of each. */
    for (struct stated_key *key = OF(MAX_SEQUENCES); key <= OF(BATCHED_TOKENS); key++) {
        uint64_t whole = stated_number(key, 0);
        if (ranks > 1 && shares && key->typed && whole >= ranks) {
            set_number(key, key, whole / ranks, "");
        }
    }
}

/* A server says its pool in one way or several, the user maybe in another: the first that is there counts. */
static void complete_pool(struct server_text *said)
{
    struct stated_key *tokens = OF(KV_TOKENS), *bytes = OF(KV_BYTES);
    const struct stated_key *keys = OF(ALLOCATED_KEYS), *values = OF(ALLOCATED_VALUES);
    bool known = false;
    if (!is_stated(tokens) && is_stated(OF(ALLOCATED))) {
        set(tokens, OF(ALLOCATED), OF(ALLOCATED)->value);
    }
    if (is_stated(tokens) && is_stated(bytes) && !bytes->typed) {
        set(OF(KV_MEMORY), bytes, bytes->value);
    }
    if (is_stated(keys)) {
        char sum[32];
        snprintf(sum, sizeof sum, "%.15gGiB",
                 strtod(keys->value, NULL) + strtod(values->value, NULL));
        set(OF(KV_MEMORY), keys, sum);
    }
    for (struct stated_key *key = tokens; key <= bytes; key++) {
        known = known || server_text_overrides(said, key->key);
    }
    for (struct stated_key *key = tokens; key <= bytes; key++) {
        bool counts = !known || server_text_overrides(said, key->key);
        key->value[0] = counts ? key->value[0] : '\0';
        known = known || is_stated(key);
    }
}

/* A size of each rank, or of each engine, becomes that of all: data-parallel ranks are engines. */
static void complete_size(struct server_text *said, const struct stated_key *each,
                          struct stated_key *whole)
{
    char *unit, text[64];
    const struct stated_key *from = is_stated(whole) ? whole : each;
    uint64_t gpus = from == whole ? 1
                                  : counted(said, STATED_TENSOR_PARALLEL) *
                                        counted(said, STATED_PIPELINE_PARALLEL);
    double number = strtod(from->value, &unit);
    if (is_stated(from)) {
        snprintf(text, sizeof text, "%.15g%s",
                 number * (double)(counted(said, STATED_DATA_PARALLEL) * gpus), unit);
        set(whole, from, text);
    }
}

/* Refuse host memory that the container, or the job, does not give the server's `gpus`. */
static void check_memory(struct server_text *said, const struct stated_key *key, uint64_t gpus)
{
    double bytes = 0, most = said->job.number[JOB_MEMORY];
    struct error unread;
    if (most > 0 && is_stated(key) &&
        units_parse(key->value, UNIT_BYTES, said->file, 0, "", &bytes, &unread) &&
        bytes * (double)gpus > most) {
        error_expect(server_text_refuse_at(said, said->job.line[JOB_MEMORY],
                                           "'%s' is %s, more than the memory of its container",
                                           key->said, key->value),
                     "less than %.4g GiB, or the text without that limit", most / (1 << 30));
    }
}

/* The system that keeps prefixes outside the GPU, how much of them, and whether the GPU keeps some, too. */
static void complete_tiers(struct server_text *said)
{
    struct stated_key *system = OF(SYSTEM), *host = OF(HOST);
    uint64_t block = stated_number(OF(BLOCK_TOKENS), said->program->block);
    /* Forget what another system alone has, and settings of drafts without a method. */
    const char *name = is_stated(system) ? system->value : said->program->system;
    for (struct stated_key *key = said->keys.all; key < said->keys.all + STATED_MOST; key++) {
        bool counts = key->of == NULL || strcmp(key->of, name) == 0 ||
                      (strcmp(key->of, "drafts") == 0 && is_stated(OF(DRAFT_METHOD)));
        if (is_stated(key) && !counts) {
            server_text_pass(said, key->said,
                             "only a server with its connector or drafts reads it");
            key->value[0] = '\0';
        }
    }
    /* A connector's default counts where the text would say another size: not in a log, nor beside a file of
     * variables. */
    const struct stated_key *each = OF(HOST_EACH), *file = OF(HOST_UNSAID);
    bool usual = is_stated(each) && each->implied && (is_stated(file) || !each->typed);
    if ((usual || says(file, "yes")) && !is_stated(host) &&
        !server_text_overrides(said, "host_memory")) {
        error_expect(server_text_refuse_at(said, system->line,
                                           "the size of its host memory is not stated here"),
                     "--set host_memory=N, that of all GPUs");
    }
    complete_size(said, each, host);
    complete_size(said, OF(DISK_EACH), OF(DISK));
    check_memory(said, host, 1);
    check_memory(said, OF(WEIGHTS_OUTSIDE),
                 counted(said, STATED_TENSOR_PARALLEL) * counted(said, STATED_PIPELINE_PARALLEL));
    if (!is_stated(system) && is_stated(host)) {
        set(system, host, said->program->tiered);
    }
    if (says(OF(GPU_PREFIXES), "no")) {
        bool tiers = is_stated(system);
        set(tiers ? OF(PREFIX) : system, OF(GPU_PREFIXES), tiers ? "host" : "none");
    }
    if (block != said->program->block) {
        set_number(OF(PREFIX_BLOCK), OF(BLOCK_TOKENS), block, "tok");
    }
}

/* Refuse a log whose lines stand newest first, or tell more than its settings do: ranks of processes,
 * drafts. */
static void check_lines(struct server_text *said)
{
    if (said->backwards) {
        error_expect(server_text_refuse_at(said, said->keys.start_line,
                                           "lines of an earlier start stand behind a later one's"),
                     "lines in the order in which they were written: tac FILE");
    }
    uint64_t data = counted(said, STATED_DATA_PARALLEL);
    uint64_t tensor = counted(said, STATED_TENSOR_PARALLEL);
    uint64_t stages = counted(said, STATED_PIPELINE_PARALLEL);
    const uint64_t known[STATED_MAX_SEQUENCES] = {
        [STATED_DATA_PARALLEL] = data * counted(said, STATED_REPLICAS),
        [STATED_TENSOR_PARALLEL] = tensor,
        [STATED_PIPELINE_PARALLEL] = stages,
        [STATED_REPLICAS] = data * tensor * stages}; /* of one server */
    for (int id = 0; id < STATED_MAX_SEQUENCES; id++) {
        int rank = said->ranks[id].rank;
        if (rank > 0 && (uint64_t)rank >= known[id]) {
            error_expect(
                server_text_refuse_at(said, said->ranks[id].line,
                                      "a process has rank %d, but the text states %u in all", rank,
                                      (unsigned)known[id]),
                "--set %s=N%s", known_keys[id == STATED_REPLICAS ? STATED_TENSOR_PARALLEL : id],
                id == STATED_DATA_PARALLEL ? ", or --set replicas=N" : "");
        }
    }
    bool shared = says(OF(SHARED_RANKS), "yes") && said->program->ranks_in_tensor;
    server_job_check(said, tensor, shared ? 1 : data, stages);
    const struct server_need *at = said->needs; /* for what a line says, another states a key */
    for (; at < said->needs + SERVER_NEEDS && at->says != NULL; at++) {
        const char *need = node_get(at->says, "needs")->text;
        bool drafts = strncmp(need, "drafts", 6) == 0;
        bool stated = server_text_overrides(said, need) ||
                      (drafts && server_text_overrides(said, "drafts")) ||
                      (strcmp(need, known_keys[STATED_EXPERT_PARALLEL]) == 0 &&
                       says(OF(WHOLE_EXPERTS), "yes"));
        for (int i = 0; !stated && i < STATED_MOST; i++) {
            const struct stated_key *key = &said->keys.all[i];
            stated = is_stated(key) && strcmp(key->key, need) == 0;
        }
        if (!stated) {
            error_expect(server_text_refuse_at(said, at->line, "'%s', but no line states '%s'",
                                               at->says->key, need),
                         "%s--set %s=VALUE%s", drafts ? "--set drafts=none, or " : "", need,
                         drafts ? " and the others of drafts" : "");
        }
    }
}

/* The preset; and of a program whose logs do not state its version, the latest that is known. */
static bool complete_program(struct server_text *said, struct error *why)
{
    const struct server_program *program = said->program;
    struct stated_key own = {.line = 0}, *engine = OF(ENGINE);
    snprintf(own.said, sizeof own.said, "%s", program->title);
    if (!is_stated(OF(SYSTEM))) {
        set(OF(SYSTEM), &own, program->system);
    }
    const struct server_worded *worded = &said->worded[program - said->programs];
    if (strncmp(engine->value, program->file, strlen(program->file)) != 0) {
        engine->value[0] = '\0'; /* another program's */
        said->line = 0;
        server_text_state_version(said, program, worded->stated);
    }
    said->line = worded->line;
    if (!is_stated(engine) && server_text_state_version(said, program, worded->version) &&
        worded->other[0] != '\0' && strcmp(worded->other, worded->version) != 0) {
        server_text_pass(said, worded->other, "another version in words; the first counts");
    }
    const char *latest = "";
    if (!is_stated(engine) && !server_text_overrides(said, "engine")) {
        latest = program->versions == NULL ? server_engine_latest(program->file, why) : "";
        set(engine, &own, latest != NULL ? latest : "");
        server_text_pass(said, "version",
                         program->versions != NULL
                             ? server_version_unsaid
                             : "no line states it, so the latest counts (--set engine=NAME-N)");
    }
    return latest != NULL;
}

static bool stated_complete(struct server_text *said, struct error *why)
{
    enum { BLOCK = 16 }; /* of a tier, unless pages are no whole ones */
    const struct stated_key *tree = OF(DRAFT_TREE), *page = OF(PAGE_TOKENS);
    const struct stated_key *servers = OF(API_SERVERS), *drafter = OF(DRAFTER);
    if (said->keys.fits_length) { /* of a log, the length before it was fitted */
        OF(REQUEST_TOKENS)->value[0] = '\0';
    }
    for (struct stated_key *key = said->keys.all; key < said->keys.all + STATED_MOST; key++) {
        if (key->value[0] == '-' && server_text_overrides(said, key->key)) {
            key->value[0] = '\0';
        } else if (key->value[0] == '-') { /* in a log, and no later line says more */
            error_expect(
                server_text_refuse_at(said, key->line, "'%s' is %s", key->said, key->value),
                "a number above 0: without it a server is not modelled");
        }
    }
    if (said->engines > 1 && !is_stated(OF(DATA_PARALLEL))) { /* its ranks */
        const struct stated_key of = {.said = "engines of its metrics",
                                      .line = OF(KV_BLOCKS)->line};
        set_number(OF(DATA_PARALLEL), &of, said->engines, "");
    }
    if (said->program->ranks_in_tensor) {
        complete_ranks(said);
    }
    said->copies_line = said->urls > said->copies ? said->urls_line : said->copies_line;
    said->copies = said->urls > said->copies ? said->urls : said->copies;
    if (said->copies > 1) { /* of a server that may be several itself */
        const struct stated_key copies = {.said = "replicas", .line = said->copies_line};
        set_number(OF(REPLICAS), &copies, said->copies * stated_number(OF(REPLICAS), 1), "");
    }
    complete_tiers(said);
    if (is_stated(tree)) {
        error_expect(server_text_refuse_at(said, tree->line,
                                           "'%s': a tree of drafts is not modelled", tree->said),
                     "1");
    }
    uint64_t tokens = stated_number(page, 1);
    bool tiered = says(OF(SYSTEM), said->program->tiered);
    if (is_stated(page) && tiered) {
        set_number(OF(PREFIX_UNIT), page, tokens, "tok");
    }
    if (tiered ? tokens % BLOCK != 0 && is_stated(page) : tokens > 1) {
        set_number(OF(PREFIX_BLOCK), page, tokens, "tok");
    }
    if (is_stated(servers) && stated_number(servers, 1) != stated_number(OF(DATA_PARALLEL), 1)) {
        error_expect(
            server_text_refuse_at(said, servers->line,
                                  "'%s' is %s: a rank has one process that reads and sends texts",
                                  servers->said, servers->value),
            "the command without it");
    }
    if (is_stated(drafter) && !is_stated(OF(DRAFT_METHOD))) { /* it is a model */
        set(OF(DRAFT_METHOD), drafter, "model");
    }
    if (is_stated(drafter) && says(OF(DRAFT_METHOD), "model")) {
        set(OF(DRAFT_MODEL), drafter, drafter->value);
    }
    complete_pool(said);
    if (says(OF(WHOLE_EXPERTS), "yes")) {
        set_number(OF(EXPERT_PARALLEL), OF(WHOLE_EXPERTS),
                   counted(said, STATED_TENSOR_PARALLEL) * counted(said, STATED_DATA_PARALLEL), "");
    }
    if (stated_number(OF(DATA_PARALLEL), 1) == 1) { /* one rank alone exchanges nothing */
        OF(EXPERT_EXCHANGE)->value[0] = '\0';
    }
    for (struct stated_key *key = OF(DATA_PARALLEL); key <= OF(EXPERT_PARALLEL); key++) {
        key->value[0] = says(key, "1") ? '\0' : key->value[0]; /* the default */
    }
    return complete_program(said, why);
}

/* ---- the whole text ---------------------------------------------------------------------- */

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

/* No line states a server. */
static bool refuse_serverless(const struct server_text *said, bool manifest, struct error *why)
{
    if (said->stray_count > 0) {
        error_set(why, said->file, said->strays[0].line, "options of a server without its command");
        return error_expect(
            why, "'vllm serve MODEL', or what else starts it, and the options as it has them");
    }
    error_set(why, said->file, 0,
              manifest ? "no container of it starts a server" : "no line is a server's");
    return error_expect(
        why, "%s",
        manifest
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
    if (text != NULL && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
        free(text);
        error_set(why, file, 0, "the text is in UTF-16");
        return error_expect(why, "UTF-8: iconv -f UTF-16 -t UTF-8");
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
        check_lines(&said);
        ok = stated_complete(&said, why);
    }
    if (ok && said.machine != NULL) {
        error_expect(server_text_refuse_at(&said, said.machine_line, "'%s': %s", said.machine,
                                           said.machine_reason),
                     "the text of a server on whole GPUs of NVIDIA, as they are");
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
