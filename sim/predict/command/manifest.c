/* Containers of Compose files, of Kubernetes manifests and of Dockerfiles, as the commands that they start.
 *
 * A container is a map with an `image` and words: `command` or `entrypoint` of a service, `command`
 * and `args` of a container of Kubernetes. Its `environment`, or `env`, stands in front, as a shell
 * has it:
 *
 *     NAME=value container run vllm/vllm-openai:v0.19.0 --model=Qwen/Qwen3-8B
 *
 * The image is a comment where the manifest replaces what it would start. */
#include "predict/command/server_text.h"

#include "core/node.h"
#include "core/quote.h"

#include <stdlib.h>
#include <string.h>

bool manifest_named(const char *file)
{
    const char *end = strrchr(file, '.');
    return end != NULL && (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0);
}

/* A command that is being written: `line` is that of the file which its end stands in. */
struct container_command {
    FILE *out;
    int line;
};

static void write_word(const struct node *word, bool quoted, struct container_command *command)
{
    for (; command->line < word->line; command->line++) {
        fputs("\\\n", command->out);
    }
    fputc(' ', command->out);
    if (quoted) {
        quote_write(QUOTE_SHELL, word->text, command->out);
    } else {
        fputs(word->text, command->out);
    }
}

/* What a shell is given behind -c is a text of its own, and so is a command that is no list. */
static void write_words(const struct node *words, struct container_command *command)
{
    if (words != NULL && words->kind == NODE_SCALAR) {
        write_word(words, false, command);
    }
    static const char *const flags[] = {"-c", "-lc", "-ec", "-xc", "-exc", "-euxc", NULL};
    bool script = false;
    for (size_t i = 0; words != NULL && i < words->count; i++) {
        const struct node *word = words->children[i];
        if (word->kind == NODE_SCALAR) {
            write_word(word, !script, command);
            script = false;
            for (size_t flag = 0; flags[flag] != NULL; flag++) {
                script = script || strcmp(word->text, flags[flag]) == 0;
            }
        }
    }
}

/* NAME=value of a list of such texts, of a map, or of a list of maps with `name` and `value`. */
static void write_environment(const struct node *all, FILE *out)
{
    for (size_t i = 0; all != NULL && i < all->count; i++) {
        const struct node *one = all->children[i], *name = node_get(one, "name");
        const struct node *value = one->kind == NODE_MAP ? node_get(one, "value") : one;
        if (value == NULL || value->kind != NODE_SCALAR) {
            continue;
        }
        if (name != NULL && name->kind == NODE_SCALAR) {
            fprintf(out, "%s=", name->text);
        } else if (one->key != NULL) {
            fprintf(out, "%s=", one->key);
        }
        quote_write(QUOTE_SHELL, value->text, out);
        fputc(' ', out);
    }
}

static const struct node *earlier(const struct node *a, const struct node *b)
{
    return a == NULL || (b != NULL && b->line < a->line) ? b : a;
}

struct visitor {
    manifest_visit *visit;
    void *context;
    int before;                  /* lines of the file before the document */
    const struct node *replicas; /* of what is visited; NULL: not stated */
};

static bool visit_container(const struct node *map, const struct node *image,
                            const struct visitor *visitor, struct error *why)
{
    const struct node *entry = node_stated(map, "entrypoint"), *args = node_stated(map, "args");
    const struct node *command = node_stated(map, "command");
    const struct node *first = earlier(earlier(entry, args), command);
    const struct node *word = first != NULL && first->count > 0 ? first->children[0] : first;
    bool replaces = entry != NULL || (command != NULL && map->key == NULL); /* no service: no key */
    if (first == NULL) {
        return true;
    }
    char *text = NULL;
    size_t size;
    struct container_command written = {.out = open_memstream(&text, &size), .line = word->line};
    if (written.out == NULL) {
        return error_set(why, map->file, map->line, "out of memory");
    }
    write_environment(node_stated(map, "environment"), written.out);
    write_environment(node_stated(map, "env"), written.out);
    if (!replaces) {
        fprintf(written.out, "container run %s", image->text);
    }
    write_words(entry, &written);
    write_words(command, &written);
    write_words(args, &written);
    fprintf(written.out, "\n%s%s\n", replaces ? "# " : "", replaces ? image->text : "");
    bool good = fclose(written.out) == 0 || error_set(why, map->file, map->line, "out of memory");
    /* A service has them itself, as `scale` or in `deploy`; else all around it, such as a Deployment. */
    const struct node *own = node_find(map, "deploy.replicas"), *replicas = visitor->replicas;
    own = own != NULL ? own : node_get(map, "scale");
    replicas = own != NULL && own->kind == NODE_SCALAR ? own : replicas;
    struct manifest_container container = {.line = visitor->before + word->line, .command = text};
    if (replicas != NULL) {
        container.replicas = replicas;
        container.replicas_line = visitor->before + replicas->line;
    }
    good = good && visitor->visit(visitor->context, &container, why);
    free(text);
    return good;
}

static bool visit_below(const struct node *node, struct visitor visitor, struct error *why)
{
    const struct node *image = node_stated(node, "image"), *replicas = node_get(node, "replicas");
    const struct node *size = node_find(node, "leaderWorkerTemplate.size");
    if (size != NULL && size->kind == NODE_SCALAR && strcmp(size->text, "1") != 0) {
        error_set(why, node->file, visitor.before + size->line,
                  "a server on %s machines is not modelled", size->text);
        return error_expect(why, "a server on one machine");
    }
    if (replicas != NULL && replicas->kind == NODE_SCALAR) {
        visitor.replicas = replicas;
    }
    if (image != NULL && image->kind == NODE_SCALAR) {
        return visit_container(node, image, &visitor, why);
    }
    bool good = true;
    for (size_t i = 0; good && i < node->count; i++) {
        const char *key = node->children[i]->key;
        /* What x-... holds is for anchors: Compose itself reads none of it. */
        good = (key != NULL && strncmp(key, "x-", 2) == 0) ||
               visit_below(node->children[i], visitor, why);
    }
    return good;
}

bool manifest_read(const char *text, const char *file, manifest_visit *visit, void *context,
                   struct error *why)
{
    struct visitor visitor = {.visit = visit, .context = context};
    size_t length;
    bool good = true;
    for (const char *at = text; good && *at != '\0'; at += length) {
        at += strncmp(at, "---", 3) == 0 ? 3 : 0;
        const char *next = strstr(at, "\n---");
        length = next != NULL ? (size_t)(next - at) + 1 : strlen(at);
        struct node *root = node_parse(at, length, file, why);
        why->line += root == NULL ? visitor.before : 0;
        good = root != NULL && visit_below(root, visitor, why);
        node_destroy(root);
        for (size_t i = 0; i < length; i++) {
            visitor.before += at[i] == '\n';
        }
    }
    return good;
}

/* ---- Dockerfiles ---- */

bool dockerfile_named(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash != NULL ? slash + 1 : file;
    return strcasestr(name, "dockerfile") != NULL || strcasestr(name, "containerfile") != NULL;
}

/* What stands behind an instruction's name; NULL if the line has another. */
static char *instruction(char *line, const char *name)
{
    size_t length = strlen(name);
    line += strspn(line, " \t");
    bool is = strncasecmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == '\t');
    return is ? line + length + strspn(line + length, " \t") : NULL;
}

/* A list of words, or a shell's text. */
static bool write_instruction(const char *value, const char *file, struct container_command *to,
                              struct error *why)
{
    bool list = value != NULL && value[0] == '[';
    struct node *words = list ? node_parse(value, strlen(value), file, why) : NULL;
    write_words(words, to);
    if (value != NULL && !list) {
        fprintf(to->out, " %s", value);
    }
    node_destroy(words);
    return !list || words != NULL;
}

/* The image of "--platform=linux/amd64 IMAGE AS STAGE", in place. */
static char *stage_image(char *from)
{
    while (strncmp(from, "--", 2) == 0) {
        from += strcspn(from, " \t");
        from += strspn(from, " \t");
    }
    from[strcspn(from, " \t\r")] = '\0';
    return from;
}

/* The last of each counts, and a stage forgets the command of the one before. In `text`, which is changed,
 * '\v' stands for the end of a line that a backslash joined to the next. */
bool dockerfile_read(char *text, const char *file, manifest_visit *visit, void *context,
                     struct error *why)
{
    char *image = "", *entry = NULL, *args = NULL, *written = NULL, *found;
    struct manifest_container container = {.line = 0};
    struct container_command to = {.line = 1};
    size_t size, joined = 0;
    if ((to.out = open_memstream(&written, &size)) == NULL) {
        return error_set(why, file, 0, "out of memory");
    }
    int number = 1;
    for (char *line; (line = strsep(&text, "\n")) != NULL; number += 1 + (int)joined) {
        bool before = entry != NULL || args != NULL;
        joined = 0;
        for (char *at = line; (at = strchr(at, '\v')) != NULL; joined++) {
            *at = ' ';
        }
        if ((found = instruction(line, "FROM")) != NULL) {
            image = stage_image(found);
            entry = args = NULL;
            before = false;
            container.line = 0;
        } else if ((found = instruction(line, "ENV")) != NULL) {
            size_t name = strcspn(found, " =");
            fprintf(to.out, found[name] == ' ' ? "%.*s=%s " : "%.*s%s ", (int)name, found,
                    found + name + (found[name] == ' '));
        } else if ((found = instruction(line, "ENTRYPOINT")) != NULL) {
            entry = found;
        } else if ((found = instruction(line, "CMD")) != NULL) {
            args = found;
        }
        container.line = !before && (entry != NULL || args != NULL) ? number : container.line;
    }
    fprintf(to.out, entry != NULL ? "" : "container run %s", image);
    bool good = write_instruction(entry, file, &to, why) && write_instruction(args, file, &to, why);
    fprintf(to.out, "\n# %s\n", entry != NULL ? image : "");
    good = (fclose(to.out) == 0 || error_set(why, file, 0, "out of memory")) && good;
    container.command = written;
    good = good && (container.line == 0 || visit(context, &container, why));
    free(written);
    return good;
}
