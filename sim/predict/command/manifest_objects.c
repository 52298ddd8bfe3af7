/* What a manifest says beside its containers: which of its objects others of it made, and texts that may hold
 * settings, though nothing reads them. */
#include "predict/command/server_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool states(const struct node *node, const char *text)
{
    return node != NULL && node->text != NULL && strcmp(node->text, text) == 0;
}

bool manifest_has_key(const struct node *node, const char *pattern)
{
    bool has = node->key != NULL && text_matches(node->key, pattern);
    for (size_t i = 0; !has && i < node->count; i++) {
        has = manifest_has_key(node->children[i], pattern);
    }
    return has;
}

/* Does the document, or a list of it, have the object, with containers of its own? */
static bool has_object(const struct node *node, const char *kind, const char *name)
{
    const struct node *items = node_get(node, "items");
    bool has = states(node_get(node, "kind"), kind) &&
               states(node_find(node, "metadata.name"), name) && manifest_has_key(node, "image");
    for (size_t i = 0; !has && items != NULL && i < items->count; i++) {
        has = has_object(items->children[i], kind, name);
    }
    return has;
}

/* A ReplicaSet has the name of its Deployment and a hash. */
bool manifest_object_is_made(const struct node *object, const struct manifest_document *all)
{
    const struct node *owners = node_find(object, "metadata.ownerReferences");
    const struct node *phase = node_find(object, "status.phase");
    bool made = owners != NULL && owners->count > 0 &&
                (states(phase, "Failed") || states(phase, "Succeeded") ||
                 states(node_find(object, "spec.replicas"), "0"));
    for (size_t i = 0; owners != NULL && i < owners->count; i++) {
        const struct node *kind = node_get(owners->children[i], "kind");
        const struct node *name = node_get(owners->children[i], "name");
        bool named = kind != NULL && kind->text != NULL && name != NULL && name->text != NULL;
        for (const struct manifest_document *at = all; named && !made && at->root != NULL; at++) {
            char deployment[256];
            const char *hash = strrchr(name->text, '-');
            snprintf(deployment, sizeof deployment, "%.*s",
                     hash != NULL ? (int)(hash - name->text) : 0, name->text);
            made = has_object(at->root, kind->text, name->text) ||
                   (states(kind, "ReplicaSet") && has_object(at->root, "Deployment", deployment));
        }
    }
    return made;
}

/* "maxModelLen" as "max_model_len", and ": " behind it. */
static void write_key(const char *key, FILE *out)
{
    for (const char *at = key; *at != '\0'; at++) {
        bool word = isupper((unsigned char)*at) && at > key && islower((unsigned char)at[-1]);
        fprintf(out, "%s%c", word ? "_" : "", word ? tolower((unsigned char)*at) : *at);
    }
    fputs(*key != '\0' ? ": " : "", out);
}

/* Keep what may be settings in lines of the text. In data a list of names and values explains nothing. */
static void find_in_lines(struct server_text *said, char *text)
{
    int before = said->stray_count;
    for (char *at = text; (at = strstr(at, "\\\n")) != NULL;) {
        memcpy(at, " \v", 2);
    }
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        stray_settings_find(said, line);
    }
    for (int i = before; i < said->stray_count; i++) {
        struct stray_setting *at = &said->strays[i];
        at->kind = at->kind == STRAY_LISTED ? STRAY_STATED : at->kind;
    }
}

void manifest_settings_find(struct server_text *said, const struct node *node, int before)
{
    static const char applied[] = "kubectl.kubernetes.io/last-applied-configuration";
    bool own = node->key != NULL && strcmp(node->key, applied) == 0;
    char *text = NULL;
    size_t size;
    FILE *out = own || node->kind == NODE_MAP ? NULL : open_memstream(&text, &size);
    if (out != NULL) {
        write_key(node->kind == NODE_SCALAR && node->key != NULL ? node->key : "", out);
        fputs(node->kind == NODE_SCALAR ? node->text : "", out);
    }
    for (size_t i = 0; !own && i < node->count; i++) {
        const struct node *child = node->children[i];
        if (child->kind != NODE_SCALAR || node->kind == NODE_MAP) {
            manifest_settings_find(said, child, before);
        } else if (out != NULL) {
            fprintf(out, "%s%s", i > 0 ? " " : "", child->text);
        }
    }
    if (out != NULL && fclose(out) == 0) {
        said->line = before + node->line;
        find_in_lines(said, text);
    }
    free(text);
}

void manifest_container_settings_find(struct server_text *said, const struct node *map, int before)
{
    static const char read[] = "@(image|command|args|entrypoint|env|environment|build)";
    for (size_t i = 0; i < map->count; i++) {
        if (!text_matches(map->children[i]->key, read)) {
            manifest_settings_find(said, map->children[i], before);
        }
    }
}
