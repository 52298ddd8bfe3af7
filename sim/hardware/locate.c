/* A name that contains '/' or ends in .yaml is a path, relative to the file that states it. Other
 * names are looked up in the data folder. The name of a part is looked up among the files of that
 * part, and then among the machines, whose part is meant. */
#include "hardware/locate.h"

#include "base/array.h"
#include "base/find.h"
#include "base/name.h"
#include "base/named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const part_names[PART_COUNT] = {
    [PART_GPU] = "gpu",
    [PART_LINK] = "link",
    [PART_HOST] = "host",
    [PART_FABRIC] = "fabric",
};

static const char *const part_folders[PART_COUNT] = {
    [PART_GPU] = "hwprofiles/gpus",
    [PART_LINK] = "hwprofiles/links",
    [PART_HOST] = "hwprofiles/hosts",
    [PART_FABRIC] = "hwprofiles/fabrics",
};

static const char machines[] = "hwprofiles";
static const char suffix[] = "yaml";

/* Length of NAME in NAME.yaml, 0 for any other name. */
static size_t bare_length(const char *name)
{
    size_t length = strlen(name);
    size_t end = sizeof suffix; /* with the dot, without the final zero */
    bool ends =
        length > end && name[length - end] == '.' && strcmp(name + length - end + 1, suffix) == 0;
    return ends ? length - end : 0;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
    }
    free(names);
}

/* Add the names in a folder to the array, which keeps a NULL at its end. */
static bool append_names(const char *folder, char ***names, size_t *count, size_t *capacity,
                         struct error *why)
{
    char **found;
    size_t more;
    if (!find_names(folder, suffix, &found, &more, why)) {
        return false;
    }
    if (!array_reserve(names, capacity, *count + more + 1, sizeof **names, why)) {
        free_names(found, more);
        return false;
    }
    if (more > 0) {
        memcpy(*names + *count, found, more * sizeof *found);
    }
    *count += more;
    (*names)[*count] = NULL;
    free(found);
    return true;
}

/* Complain that `name` does not exist, and list the valid names. */
static bool refuse_name(const struct node *name, enum part part, struct error *why)
{
    char **names = NULL;
    size_t count = 0, capacity = 0;
    bool listed =
        part == MACHINE || append_names(part_folders[part], &names, &count, &capacity, why);
    if (listed && append_names(machines, &names, &count, &capacity, why)) {
        node_error(name, why, "unknown %s '%s'", part == MACHINE ? "hardware" : part_names[part],
                   name->text);
        name_expect(name->text, (const char *const *)names, why);
    }
    free_names(names, count);
    return false;
}

bool locate_profile(const struct node *name, enum part part, char *path, size_t size,
                    struct error *why)
{
    if (strchr(name->text, '/') != NULL || bare_length(name->text) > 0) {
        return named_from(name->text, name->file, path, size) ||
               node_error(name, why, "the path '%.80s...' is too long", name->text);
    }
    if (part != MACHINE) {
        if (!find_path(part_folders[part], name->text, suffix, path, size, why)) {
            return false;
        }
        if (access(path, F_OK) == 0) {
            return true;
        }
    }
    return find_path(machines, name->text, suffix, path, size, why) &&
           (access(path, F_OK) == 0 || refuse_name(name, part, why));
}

bool located_in_data(const char *path, enum part part)
{
    struct error unused;
    char name[256] = "", shipped[4096];
    append_profile_name(path, name, sizeof name);
    return find_path(part_folders[part], name, suffix, shipped, sizeof shipped, &unused) &&
           strcmp(path, shipped) == 0;
}

void append_profile_name(const char *name, char *text, size_t size)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash != NULL ? slash + 1 : name;
    size_t length = bare_length(base);
    length = length > 0 ? length : strlen(base);
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s", used > 0 ? "+" : "", (int)length, base);
}
