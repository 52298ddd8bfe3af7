/* Containers of Compose files, of Kubernetes manifests and of Dockerfiles, as the commands that they start.
 *
 * A container is a map with an `image` and words: `command` or `entrypoint` of a service, `command` and
 * `args` of a container of Kubernetes. Its `environment`, or `env`, stands in front, as a shell has it:
 *
 *     image=vllm/vllm-openai:v0.19.0 NAME=value container run vllm/vllm-openai:v0.19.0 --model=Qwen/Qwen3-8B
 *
 * "container run" and what follows it stand there unless the manifest replaces what the image starts. */
#include "predict/command/server_text.h"

#include "core/array.h"
#include "core/quote.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool manifest_named(const char *file, const char *text)
{
    const char *end = strrchr(file, '.');
    bool json = *text == '{' && strstr(text, "\"apiVersion\"") != NULL; /* kubectl get -o json */
    bool begins = text_begins(text, "apiVersion:") || text_begins(text, "services:");
    return json || begins ||
           (end != NULL && (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0));
}

/* A command that is being written, up to the line of the file that it has reached. */
struct container_command {
    FILE *out;
    char *text;
    size_t size;
    int line;
    bool script;  /* the last word was a shell's -c */
    bool service; /* of Compose, which expands variables itself */
};

/* Write what Compose makes of a text: "$$" is '$', and a variable that nobody sets has its default. One
 * without stays; a shell in the container would not read it, either (`escaped`). */
static char *interpolated(const char *text, bool service, bool escaped)
{
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    for (; out != NULL && *text != '\0'; text++) {
        if (*text != '$' || !service) {
            fputc(*text, out);
            continue;
        }
        const char *standard = text + 1 + strcspn(text + 1, ":-}$");
        standard += text_begins(standard, ":-");
        const char *end = standard + strcspn(standard, "}$");
        if (text[1] == '$') {
            fputc(*text++, out);
        } else if (text[1] == '{' && *standard == '-' && *end == '}') {
            fprintf(out, "%.*s", (int)(end - standard - 1), standard + 1);
            text = end;
        } else {
            fputs(escaped ? "\\$" : "$", out);
        }
    }
    return out != NULL && fclose(out) == 0 ? made : NULL;
}

static void write_word(const struct node *word, bool quoted, struct container_command *command)
{
    char *made = interpolated(word->text, command->service, !quoted), quote = '\0';
    const char *text = made != NULL ? made : word->text;
    bool block = !quoted && !command->script && strchr(word->text, '\n') != NULL;
    bool shell = command->script || strstr(text, "sh -") != NULL;
    for (; command->line < word->line + block; command->line++) {
        fputs("\\\n", command->out);
    }
    fputc(command->script ? ';' : ' ', command->out);
    if (quoted) {
        quote_write(QUOTE_SHELL, text, command->out);
    }
    /* Compose splits a text into words, but no shell reads it: outside quotes, a line's end is white space,
     * and there are no comments. */
    for (const char *from = text; !quoted && *from != '\0'; from = text) {
        bool white = quote == '\0' && strchr("\n#", *from) != NULL && !command->script;
        shell_step(&text, &quote);
        fprintf(command->out, "%s%.*s", white || (*from == '$' && !shell) ? "\\" : "",
                (int)(text - from), from);
    }
    free(made);
}

/* What a shell is given behind -c is a text of its own, and so is a command that is no list. */
static void write_words(const struct node *words, struct container_command *command)
{
    if (words != NULL && words->kind == NODE_SCALAR) {
        write_word(words, false, command);
    }
    for (size_t i = 0; words != NULL && i < words->count; i++) {
        const struct node *word = words->children[i];
        if (word->kind == NODE_SCALAR) {
            const char *flag = word->text + (word->text[0] == '-'); /* -c, -lc, -euxc */
            write_word(word, !command->script, command);
            command->script = flag > word->text && strcmp(flag + strspn(flag, "elux"), "c") == 0;
        }
    }
}

static void write_setting(const char *name, const char *value, bool service, FILE *out)
{
    char *made = interpolated(value, service, false);
    fprintf(out, "%s%s", name, name[0] != '\0' ? "=" : "");
    quote_write(QUOTE_SHELL, made != NULL ? made : value, out);
    fputc(' ', out);
    free(made);
}

/* NAME=value of a list of texts, of a map, or of maps with `name` and `value`, which may stand elsewhere. */
static void write_environment(const struct node *all, bool service, FILE *out)
{
    for (size_t i = 0; all != NULL && i < all->count; i++) {
        const struct node *one = all->children[i], *name = node_get(one, "name");
        const struct node *value = one->kind == NODE_MAP ? node_get(one, "value") : one;
        bool named = name != NULL && name->kind == NODE_SCALAR;
        if (value != NULL ? value->kind == NODE_SCALAR : node_get(one, "valueFrom") != NULL) {
            write_setting(named              ? name->text
                          : one->key != NULL ? one->key
                                             : "",
                          value != NULL ? value->text : "$(valueFrom)", service, out);
        }
    }
}

static void write_devices(const struct node *map, FILE *out)
{
    static const char *const places[] = {"deploy.resources.reservations.devices", "gpus", "devices",
                                         NULL};
    const struct node *devices = manifest_first(map, places);
    bool listed = false;
    for (size_t i = 0; devices != NULL && i < devices->count; i++) {
        const struct node *device = devices->children[i], *ids = node_get(device, "device_ids");
        const char *count = manifest_text(device, "count");
        bool alone = device->kind == NODE_SCALAR; /* of the container device interface */
        if (ids == NULL && !alone) {
            write_setting("gpus", *count != '\0' ? count : "all", true, out);
        }
        for (size_t j = 0; j < (ids != NULL ? ids->count : alone); j++) {
            const char *text = alone ? device->text : ids->children[j]->text;
            char *made = text != NULL ? interpolated(text, true, false) : NULL;
            if (made != NULL &&
                (!alone || text_matches(made, "@(nvidia.com/gpu=|/dev/nvidia[0-9])*"))) {
                fputs(listed ? "," : "gpus=device=", out);
                quote_write(QUOTE_SHELL, made, out);
                listed = true;
            }
            free(made);
        }
    }
    fputs(listed ? " " : "", out);
}

/* What stands before a container's command: memory and GPUs ("limit" as Kubernetes counts), variables. */
static void write_head(const struct node *map, bool service, FILE *out)
{
    static const char *const limits[][3] = {{"resources.limits", "memory", "limit"},
                                            {"resources.requests", "nvidia.com/gpu", "gpu_limit"},
                                            {"resources.limits", "nvidia.com/gpu", "gpu_limit"},
                                            {"deploy.resources.limits", "memory", "memory"},
                                            {NULL, "mem_limit", "memory"},
                                            {NULL, "runtime", "runtime"},
                                            {NULL, "gpus", "gpus"}};
    write_setting("image", manifest_text(map, "image"), service, out);
    write_setting("service", map->key != NULL ? map->key : "", false, out);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct node *of = limits[i][0] != NULL ? node_find(map, limits[i][0]) : map;
        const struct node *found = node_get(of, limits[i][1]);
        if (found != NULL && found->kind == NODE_SCALAR) {
            write_setting(limits[i][2], found->text, false, out);
        }
    }
    fputs(node_get(map, "profiles") != NULL ? "profile=x " : "", out);
    write_devices(map, out);
    write_environment(node_stated(map, "environment"), service, out);
    write_environment(node_stated(map, "env"), service, out);
}

struct visitor {
    struct server_text *said;
    void **objects;              /* manifest_objects_add() */
    int before;                  /* lines of the file before the document */
    const struct node *replicas; /* of what is visited; NULL: not stated */
};

static bool read_written(struct container_command *command, int line, const struct node *replicas,
                         int replicas_line, struct server_text *said, struct error *why)
{
    fputc('\n', command->out);
    bool good = fclose(command->out) == 0 || error_set(why, said->file, 0, "out of memory");
    if (good) {
        server_text_read_container(said, command->text, line, replicas, replicas_line);
    }
    free(command->text);
    return good;
}

/* Tell what of a server's container counts otherwise than it may stand there. */
static void tell_container(struct server_text *said, const struct node *map)
{
    const struct node *resources = node_get(map, "resources");
    const struct {
        bool is;
        const char *name, *reason;
    } notes[] = {{node_stated(map, "image") == NULL, "build",
                  "its version stands elsewhere, --set engine=NAME-N says it"},
                 {manifest_has_key(resources, "@(cpu|memory)") &&
                      !manifest_has_key(resources, "*@(gpu|claims|nvidia)*"),
                  "resources", "it asks for no GPU, but is predicted as a server with GPUs"},
                 {node_get(resources, "claims") != NULL, "resources.claims",
                  "what it claims is taken to be whole GPUs of its own"}};
    for (size_t i = 0; said->command_line > 0 && i < sizeof notes / sizeof *notes; i++) {
        if (notes[i].is) {
            server_text_pass(said, notes[i].name, notes[i].reason);
        }
    }
}

static bool visit_container(const struct node *map, const struct visitor *visitor,
                            struct error *why)
{
    static const char *const own[] = {"deploy.replicas", "scale", NULL};
    static const char *const files[] = {"env_file", "envFrom", "extends.file", NULL};
    static const char reads[] = "@(image|command|args|entrypoint|env|environment|build)";
    struct server_text *said = visitor->said;
    const struct node *entry = node_stated(map, "entrypoint"), *args = node_stated(map, "args");
    const struct node *command = node_stated(map, "command"), *copies = manifest_first(map, own);
    bool service =
        map->key != NULL && args == NULL; /* whose command stands behind the image's own */
    struct container_command written = {.line = map->line, .service = service};
    written.out = open_memstream(&written.text, &written.size);
    if (written.out == NULL) {
        return error_set(why, map->file, map->line, "out of memory");
    }
    write_head(map, service, written.out);
    if (entry == NULL && args == NULL && command == NULL) { /* what the image starts */
        fclose(written.out);
        said->line = visitor->before + map->line;
        struct server_job job;
        struct gpu_user user = gpu_user_of_container(said, &job, written.text);
        gpu_users_keep(said, &user);
        free(written.text);
        return true;
    }
    if (manifest_first(map, files) != NULL) {
        fputs("EnvironmentFile=x ", written.out); /* as systemd calls it */
    }
    if (entry == NULL && (command == NULL || service)) {
        char *image = interpolated(manifest_text(map, "image"), service, false);
        fprintf(written.out, "container run %s", image != NULL ? image : "");
        free(image);
    }
    write_words(entry, &written);
    write_words(command, &written);
    write_words(args, &written);
    /* A service has them itself; else all around it, such as a Deployment. */
    copies = copies != NULL && copies->kind == NODE_SCALAR ? copies : visitor->replicas;
    int before = visitor->before, line = before + (copies != NULL ? copies : map)->line;
    uint64_t servers = said->copies;
    bool good = read_written(&written, before + map->line, copies, line, said, why);
    for (size_t i = 0; said->copies > servers && i < map->count; i++) {
        if (!text_matches(map->children[i]->key, reads)) {
            manifest_settings_find(said, map->children[i], before);
        }
    }
    tell_container(said, map);
    return good;
}

/* Where an object states its copies: the last three as the least of an autoscaler (KServe, Knative). */
#define KNATIVE(name) "autoscaling.knative.dev/" name

static const char *const copies_keys[] = {"replicas",          "parallelism",        "minReplicas",
                                          KNATIVE("minScale"), KNATIVE("min-scale"), NULL};

/* Refuse an object that changes others of the text, or of which several copies run, or part of a server:
 * `replicas` are those that it states, NULL: none. */
static bool manifest_check_object(const struct node *node, const struct visitor *visitor,
                                  const struct node *replicas, struct error *why)
{
    static const char changes[] = "@(replicas|images|patches*|transformers|components|name?fix)";
    static const char *const mosts[] = {"maxReplicas", "maxReplicaCount", /* KEDA */
                                        KNATIVE("maxScale"), KNATIVE("max-scale"), NULL};
    const struct node *most = manifest_first(node, mosts);
    const struct node *least = manifest_first(node, copies_keys + 2);
    const struct node *knative = manifest_first(node, copies_keys + 3);
    const char *size = manifest_text(node, "leaderWorkerTemplate.size");
    const char *kind = manifest_text(node, "kind");
    const char *at_once = manifest_text(node, "containerConcurrency");
    const char *highest = most != NULL && most->text != NULL ? most->text : "";
    const char *lowest = least != NULL && least->text != NULL ? least->text : "";
    bool loops = manifest_has_key(node, "*@(docker|podman)_container") && /* of Ansible */
                 manifest_has_key(node, "@(loop|with_*)");
    bool scaled = node_get(node, "scaleTargetRef") != NULL ||
                  (knative != NULL && knative->text != NULL && atoi(knative->text) > 1) ||
                  strcmp(highest, *highest != '\0' ? lowest : "") != 0;
    bool daemon = strcmp(kind, "DaemonSet") == 0 ||
                  strcmp(manifest_text(node, "deploy.mode"), "global") == 0; /* of Compose */
    const char *copies = loops    ? "a loop starts several copies"
                         : scaled ? "an autoscaler decides how many copies run"
                         : daemon ? "a copy runs on each node"
                                  : NULL;
    const struct {
        bool is;
        const struct node *at; /* NULL: the object */
        const char *found, *expected;
    } rows[] = {
        {strcmp(kind, "Kustomization") == 0 && manifest_has_key(node, changes), NULL,
         "a Kustomization changes what stands here", "what 'kubectl kustomize' prints"},
        {*size != '\0' && strcmp(size, "1") != 0, node_find(node, "leaderWorkerTemplate.size"),
         "a server on %s machines is not modelled", "a server on one machine"},
        {*at_once != '\0' && strcmp(at_once, "0") != 0, node_get(node, "containerConcurrency"),
         "'containerConcurrency': requests that wait before the server are not modelled",
         "0, or the text without it"},
        {copies != NULL && !server_text_overrides(visitor->said, "replicas"), replicas, copies,
         "--set replicas=N, the number of them"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].is) {
            int line = (rows[i].at != NULL ? rows[i].at : node)->line;
            error_set(why, node->file, visitor->before + line, rows[i].found, size);
            return error_expect(why, "%s", rows[i].expected);
        }
    }
    return true;
}

static bool visit_below(const struct node *node, struct visitor visitor, struct error *why)
{
    if (node->kind == NODE_SCALAR ||
        (node->kind == NODE_LIST && node->count > 0 && node->children[0]->kind == NODE_SCALAR)) {
        manifest_settings_find(visitor.said, node, visitor.before);
        return true;
    }
    const struct node *image = node_stated(node, "image");
    const struct node *replicas = manifest_first(node, copies_keys);
    if (manifest_object_is_made(node, visitor.objects)) {
        return true;
    }
    if (!manifest_check_object(node, &visitor, replicas, why)) {
        return false;
    }
    if (replicas != NULL && replicas->kind == NODE_SCALAR) {
        visitor.replicas = replicas;
    }
    if (image != NULL ? image->kind == NODE_SCALAR : node_get(node, "build") != NULL) {
        return visit_container(node, &visitor, why);
    }
    bool good = true;
    for (size_t i = 0; good && i < node->count; i++) {
        const char *key = node->children[i]->key;
        /* What x-... holds is for anchors: Compose itself reads none of it. */
        good =
            (key != NULL && text_begins(key, "x-")) || visit_below(node->children[i], visitor, why);
    }
    return good;
}

/* Twice: objects of all documents tell which others made. A Secret's values may be to be filled in. */
bool manifest_read(struct server_text *said, const char *text, int before, bool within,
                   struct error *why)
{
    void *objects = NULL;
    bool good = true;
    size_t length;
    log_sayings_find(said, text, before + 1);
    said->container = true;
    for (int pass = 0; good && pass < 2; pass++) {
        struct visitor visitor = {.said = said, .objects = &objects, .before = before};
        for (const char *at = text; good && *at != '\0'; at += length) {
            at += text_begins(at, "---") ? 3 : 0;
            const char *next = strstr(at, "\n---");
            length = next != NULL ? (size_t)(next - at) + 1 : strlen(at);
            struct node *root = node_parse(at, length, said->file, why);
            good = root != NULL || within || text_begins(at, "kind: Secret") ||
                   memmem(at, length, "\nkind: Secret", 13) != NULL;
            if (!good) {
                why->line += visitor.before;
            } else if (root != NULL && pass == 0) {
                manifest_objects_add(root, &objects);
            } else if (root != NULL) {
                good = visit_below(root, visitor, why);
            }
            node_destroy(root);
            visitor.before += server_text_count(at, at + length, '\n');
        }
    }
    tdestroy(objects, free);
    return good;
}

/* Write "name: NAME" and "value: text" of two lines as NAME=text, which a shell has. */
static void join_settings(char *text)
{
    static const char letters[] = "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (char *line = text, *next; (next = strchr(line, '\n')) != NULL; line = next + 1) {
        char *name = line + strspn(line, " \t-"), *value = next + 1 + strspn(next + 1, " \t");
        bool named = text_begins(name, "name: ") && text_begins(value, "value: ");
        name += named ? 6 + strspn(name + 6, " \"'") : 0;
        value += named ? 7 + strspn(value + 7, " ") : 0;
        size_t length = strspn(name, letters), size = strcspn(value, "\n");
        bool alone = named && length > 0 &&
                     strspn(name + length, "\"' \t\r") == (size_t)(next - name) - length;
        if (alone && (strchr("\"'", *value) != NULL || strcspn(value, " \r\n") == size)) {
            char *end = value + size;
            memset(line, ' ', (size_t)(name - line));
            name[length] = '=';
            memmove(name + length + 1, value, size);
            memset(name + length + 1 + size, ' ', (size_t)(end - name) - length - 1 - size);
            end[-1] = '\n'; /* the value's line is empty */
            next = end[0] == '\n' ? end : end - 1;
        }
    }
}

bool manifest_read_within(struct server_text *said, char *text, struct error *why)
{
    char *whole = text;
    bool good = true;
    int line = 0; /* those before `text` */
    for (char *open = text, *close; good && (open = strchr(open, '`')) != NULL;
         open =
             close + strspn(close, "`")) { /* code between marks: "```yaml", or some lines in "`" */
        bool fence = text_begins(open, "```");
        char *body = fence ? open + strcspn(open, "\n") : open + 1;
        close = strstr(body, fence ? "```" : "`");
        if (close == NULL) {
            break;
        }
        line += server_text_count(text, body, '\n');
        text = body;
        int before = said->command_line;
        *close = '\0';
        if (strchr(body, '\n') != NULL && strstr(body, "image:") != NULL &&
            (strstr(body, "command:") != NULL || strstr(body, "args:") != NULL ||
             strstr(body, "entrypoint:") != NULL)) {
            good = manifest_read(said, body, line, true, why);
        }
        *close = '`';
        for (char *at = body; said->command_line != before && at < close; at++) {
            *at = *at == '\n' ? '\n' : ' '; /* read */
        }
    }
    join_settings(whole);
    said->container = false;
    memset(&said->blocks, 0, sizeof said->blocks);
    memset(&said->variables, 0, sizeof said->variables);
    said->line = 1;
    return good;
}

bool dockerfile_named(const char *file, const char *text)
{
    const char *slash = strrchr(file, '/'), *name = slash != NULL ? slash + 1 : file;
    return strcasestr(name, "dockerfile") != NULL || strcasestr(name, "containerfile") != NULL ||
           text_begins(text, "FROM ") || text_begins(text, "ENTRYPOINT ");
}

/* What stands behind an instruction's name; NULL if the line has another. */
static char *instruction(char *line, const char *name)
{
    size_t length = strlen(name);
    line += strspn(line, " \t");
    bool is = strncasecmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == '\t');
    return is ? line + length + strspn(line + length, " \t") : NULL;
}

/* A list of words, which may have several lines, or a shell's text. */
static bool write_instruction(char *value, const char *file, struct container_command *to,
                              struct error *why)
{
    bool list = value != NULL && value[0] == '[';
    for (char *at = value; list && (at = strchr(at, '\v')) != NULL;) {
        *at = '\n';
    }
    struct node *words = list ? node_parse(value, strlen(value), file, why) : NULL;
    write_words(words, to);
    if (value != NULL && !list) {
        fprintf(to->out, " %s", value);
    }
    node_destroy(words);
    return !list || words != NULL;
}

/* What the last stage starts, and in which of the lines that begins. */
struct image_stage {
    char image[256], *entry, *args;
    size_t line;
};

/* "FROM --platform=linux/amd64 IMAGE AS NAME". */
static bool begins_stage(char *line, char image[256], char name[256])
{
    const char *from = instruction(line, "FROM");
    while (from != NULL && text_begins(from, "--")) {
        from += strcspn(from, " \t");
        from += strspn(from, " \t");
    }
    image[0] = name[0] = '\0';
    return from != NULL && sscanf(from, "%255s %*s %255s", image, name) > 0;
}

/* Read the stage that begins in a line, or lines without one, behind the one that it is built on; the last of
 * each instruction counts, and an ENTRYPOINT ends the CMD of an earlier stage, a shell's any
 * (docs.docker.com). Variables are written. */
static void read_stage(char *const *lines, size_t begins, int depth, struct image_stage *out,
                       FILE *variables)
{
    enum { DEEPEST = 100 };
    char image[256], name[256], *found;
    out->line = begins; /* without a command of its own */
    begins_stage(lines[begins], out->image, name);
    for (size_t i = depth < DEEPEST ? begins : 0; i-- > 0;) {
        if (begins_stage(lines[i], image, name) && strcasecmp(name, out->image) == 0) {
            read_stage(lines, i, depth + 1, out, variables);
            break;
        }
    }
    const char *inherited = out->args;
    for (size_t i = begins + (out->image[0] != '\0');
         lines[i] != NULL && instruction(lines[i], "FROM") == NULL; i++) {
        if ((found = instruction(lines[i], "ENV")) != NULL) {
            fprintf(variables, "%s ", found);
        } else if ((found = instruction(lines[i], "ENTRYPOINT")) != NULL) {
            bool alone = out->args == inherited;
            out->args = alone ? NULL : out->args;
            out->line = alone ? i : out->line;
            out->entry = found;
        } else if ((found = instruction(lines[i], "CMD")) != NULL) {
            out->line = out->entry == NULL ? i : out->line;
            out->args = found;
        }
    }
}

/* A line with the values of variables that ARG and ENV set in it, or before it; NULL: out of memory. */
static char *line_expanded(struct server_text *said, char *line)
{
    char *rest = instruction(line, "ENV"), *made = NULL;
    rest = rest != NULL ? rest : instruction(line, "ARG");
    if (rest != NULL) { /* "ENV NAME value", as it was once */
        size_t length = strcspn(rest, " =");
        rest[length] = rest[length] == ' ' ? '=' : rest[length];
    } else if (instruction(line, "FROM") == NULL && instruction(line, "RUN") == NULL) {
        return strdup(line);
    }
    rest = rest != NULL ? rest : line;
    char *expanded = shell_expanded(said, rest);
    bool good =
        expanded != NULL && asprintf(&made, "%.*s%s", (int)(rest - line), line, expanded) >= 0;
    free(expanded);
    return good ? made : NULL;
}

/* In `text`, which is changed, '\v' stands for the end of a line that a backslash joined to the next. */
bool dockerfile_read(struct server_text *said, char *text, struct error *why)
{
    struct image_stage stage = {.entry = NULL};
    struct container_command to = {.line = 1, .out = open_memstream(&to.text, &to.size)};
    char **lines = array_zeroed(strlen(text) + 2, sizeof *lines, why), image[256], name[256];
    size_t begins = 0;
    bool good = lines != NULL && to.out != NULL;
    log_sayings_find(said, text, 1);
    for (size_t i = 0; good && text != NULL; i++) {
        lines[i] = line_expanded(said, strsep(&text, "\n"));
        good = lines[i] != NULL;
        begins = good && begins_stage(lines[i], image, name) ? i : begins;
    }
    int number = 1;
    if (good) {
        read_stage(lines, begins, 0, &stage, to.out);
        bool runs_shell = stage.entry != NULL && stage.entry[0] != '[';
        fprintf(to.out, stage.entry != NULL ? "image=%s " : "container run %s", stage.image);
        good = write_instruction(stage.entry, said->file, &to, why) &&
               write_instruction(runs_shell ? NULL : stage.args, said->file, &to, why);
    } else {
        error_set(why, said->file, 0, "out of memory");
    }
    for (size_t i = 0; i < stage.line; i++) {
        number += 1 + server_text_count(lines[i], strchr(lines[i], '\0'), '\v');
    }
    good = to.out != NULL && read_written(&to, number, NULL, number, said, why) && good;
    said->line = 1;
    for (size_t i = 0; lines != NULL && lines[i] != NULL; i++) {
        if (instruction(lines[i], "RUN") != NULL) { /* what is installed replaces the image's */
            server_text_read_version(said, lines[i]);
        }
        said->line += 1 + server_text_count(lines[i], strchr(lines[i], '\0'), '\v');
        free(lines[i]);
    }
    free(lines);
    return good;
}
