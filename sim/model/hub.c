/* Each file of the data folder's models says in "_huggingface" which repositories have its shape: a
 * base model and those that were tuned from it. A look-up reads all of these small files. */
#include "model/hub.h"

#include "base/array.h"
#include "base/files.h"
#include "base/find.h"
#include "base/name.h"

#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool hub_names(const char *name)
{
    const char *slash = strchr(name, '/'), *dot = strrchr(name, '.');
    bool two_parts = slash != NULL && slash[1] != '\0' && strchr(slash + 1, '/') == NULL;
    bool file = dot != NULL && strcmp(dot, ".json") == 0;
    return two_parts && !file && isalnum((unsigned char)name[0]);
}

/* The ids of all models that were read, for the message about an unknown one. */
struct ids {
    char **names; /* owned, as each of its [count] texts */
    size_t count, capacity;
};

static void ids_release(struct ids *ids)
{
    for (size_t i = 0; i < ids->count; i++) {
        free(ids->names[i]);
    }
    free(ids->names);
}

static bool ids_add(struct ids *ids, const char *name, struct error *why)
{
    if (!array_reserve(&ids->names, &ids->capacity, ids->count + 1, sizeof *ids->names, why)) {
        return false;
    }
    ids->names[ids->count] = strdup(name);
    return ids->names[ids->count++] != NULL || error_set(why, NULL, 0, "out of memory");
}

/* Add the ids that the file `path` lists to `ids`. */
static bool read_ids(struct files *files, const char *path, struct ids *ids, struct error *why)
{
    size_t size;
    char *text = files_text(files, path, &size, why);
    if (text == NULL) {
        return false;
    }
    json_error_t problem;
    json_t *root = json_loadb(text, size, 0, &problem);
    free(text);
    if (root == NULL) {
        return error_set(why, path, problem.line, "not JSON: %s", problem.text);
    }
    const json_t *list = json_object_get(root, "_huggingface");
    bool ok = true;
    for (size_t i = 0; ok && i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        ok = name == NULL ? error_set(why, path, 0, "'_huggingface' lists what is not a text")
                          : ids_add(ids, name, why);
    }
    json_decref(root);
    return ok;
}

static bool lists(const struct ids *ids, size_t first, const char *id)
{
    for (size_t i = first; i < ids->count; i++) {
        if (strcasecmp(ids->names[i], id) == 0) {
            return true;
        }
    }
    return false;
}

static const char *nearest_id(const char *id, struct ids *ids)
{
    struct error ignored;
    if (!array_reserve(&ids->names, &ids->capacity, ids->count + 1, sizeof *ids->names, &ignored)) {
        return NULL;
    }
    ids->names[ids->count] = NULL;
    return name_nearest_of(id, (const char *const *)ids->names);
}

static bool unknown(const char *id, const char *origin, int line, struct ids *ids,
                    struct error *why)
{
    error_input(why, origin, line, "no file and no shipped model is called '%.100s'", id);
    error_expect(why,
                 "a path, or the Hugging Face id of a shipped model ('_huggingface' in models/)");
    return error_nearest(why, nearest_id(id, ids));
}

/* Look through the models `names`; `*found` is their number if none lists `id`. */
static bool search(struct files *files, char *const *names, size_t count, const char *id,
                   struct ids *ids, size_t *found, struct error *why)
{
    for (*found = 0; *found < count; (*found)++) {
        char path[PATH_MAX];
        size_t first = ids->count;
        if (!find_path("models", names[*found], "json", path, sizeof path, why) ||
            !read_ids(files, path, ids, why)) {
            return false;
        }
        if (lists(ids, first, id)) {
            return true;
        }
    }
    return true;
}

bool hub_find(struct files *files, const char *id, const char *origin, int line, char *path,
              size_t size, struct error *why)
{
    struct ids ids = {0};
    char **names;
    size_t count, found;
    if (!find_names("models", "json", &names, &count, why)) {
        return false;
    }
    bool ok = search(files, names, count, id, &ids, &found, why) &&
              (found < count ? find_path("models", names[found], "json", path, size, why)
                             : unknown(id, origin, line, &ids, why));
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
    }
    free(names);
    ids_release(&ids);
    return ok;
}
