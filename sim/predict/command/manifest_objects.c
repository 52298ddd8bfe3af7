/* What a manifest says beside its containers: which of its objects others of it made, and texts that may hold
 * settings, though nothing reads them. */
#include "predict/command/server_text.h"

#include <ctype.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *manifest_text(const struct node *map, const char *path)
{
    const struct node *node = node_find(map, path);
    return node != NULL && node->text != NULL ? node->text : "";
}

const struct node *manifest_first(const struct node *map, const char *const *paths)
{
    const struct node *found = NULL;
    for (; found == NULL && *paths != NULL; paths++) {
        found = strchr(*paths, '/') != NULL ? node_get(map, *paths) : node_find(map, *paths);
    }
    return found;
}

bool manifest_has_key(const struct node *node, const char *pattern)
{
    bool has = node != NULL && node->key != NULL && text_matches(node->key, pattern);
    for (size_t i = 0; !has && node != NULL && i < node->count; i++) {
        has = manifest_has_key(node->children[i], pattern);
    }
    return has;
}

static int compare_ids(const void *one, const void *other)
{
    return strcmp(one, other);
}

void manifest_objects_add(const struct node *root, void **objects)
{
    const struct node *items = node_get(root, "items");
    const char *kind = manifest_text(root, "kind"), *name = manifest_text(root, "metadata.name");
    char *id, **kept;
    if (*kind != '\0' && manifest_has_key(root, "image") &&
        asprintf(&id, "%s/%s", kind, name) >= 0) {
        kept = tsearch(id, objects, compare_ids);
        free(kept != NULL && *kept == id ? NULL : id);
    }
    for (size_t i = 0; items != NULL && i < items->count; i++) {
        manifest_objects_add(items->children[i], objects);
    }
}

/* A ReplicaSet has the name of its Deployment and a hash. */
bool manifest_object_is_made(const struct node *object, void *const *objects)
{
    const struct node *owners = node_find(object, "metadata.ownerReferences");
    bool ended = text_matches(manifest_text(object, "status.phase"), "@(Failed|Succeeded)") ||
                 strcmp(manifest_text(object, "spec.replicas"), "0") == 0;
    bool made = owners != NULL && owners->count > 0 && ended;
    for (size_t i = 0; !made && owners != NULL && i < owners->count; i++) {
        const char *kind = manifest_text(owners->children[i], "kind");
        const char *name = manifest_text(owners->children[i], "name"), *hash = strrchr(name, '-');
        char id[512], deployment[512];
        snprintf(id, sizeof id, "%s/%s", kind, name);
        snprintf(deployment, sizeof deployment, "Deployment/%.*s",
                 hash != NULL ? (int)(hash - name) : 0, name);
        made = tfind(id, objects, compare_ids) != NULL ||
               (strcmp(kind, "ReplicaSet") == 0 && tfind(deployment, objects, compare_ids) != NULL);
    }
    return made;
}

void manifest_settings_find(struct server_text *said, const struct node *node, int before)
{
    static const char applied[] = "kubectl.kubernetes.io/last-applied-configuration";
    bool own = node->key != NULL && strcmp(node->key, applied) == 0;
    char *text = NULL;
    size_t size;
    FILE *out = own || node->kind == NODE_MAP ? NULL : open_memstream(&text, &size);
    if (out != NULL && node->kind == NODE_SCALAR) {
        for (const char *key = node->key, *at = key; key != NULL && *at != '\0'; at++) {
            /* "maxModelLen" is "max_model_len". */
            bool word = isupper((unsigned char)*at) && at > key && islower((unsigned char)at[-1]);
            fprintf(out, "%s%c", word ? "_" : "", word ? tolower((unsigned char)*at) : *at);
        }
        fprintf(out, "%s%s", node->key != NULL && *node->key != '\0' ? ": " : "", node->text);
    }
    for (size_t i = 0; !own && i < node->count; i++) {
        const struct node *child = node->children[i];
        if (child->kind != NODE_SCALAR || node->kind == NODE_MAP) {
            manifest_settings_find(said, child, before);
        } else if (out != NULL) {
            fprintf(out, "%s%s", i > 0 ? " " : "", child->text);
        }
    }
    bool good = out != NULL && fclose(out) == 0;
    for (char *at = text; good && (at = strstr(at, "\\\n")) != NULL;) {
        memcpy(at, " \v", 2);
    }
    int count = said->stray_count;
    said->line = good ? before + node->line : said->line;
    for (char *rest = text, *line; good && (line = strsep(&rest, "\n")) != NULL;) {
        stray_settings_find(said, line);
    }
    for (; count < said->stray_count; count++) { /* in data a list of names explains nothing */
        struct stray_setting *at = &said->strays[count];
        at->kind = at->kind == STRAY_LISTED ? STRAY_STATED : at->kind;
    }
    free(text);
}
