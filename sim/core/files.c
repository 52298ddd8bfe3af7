/* A list of paths with their bytes: a command reads some ten files. */
#include "core/files.h"

#include "core/array.h"
#include "core/node.h"
#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct kept {
    char *path, *text;
    size_t size;
    struct node *tree; /* of the text; NULL until somebody asked for it */
};

struct files {
    struct kept *all; /* [count] owned */
    size_t count, capacity;
    pthread_mutex_t lock; /* of all of the above */
};

struct files *files_create(struct error *why)
{
    struct files *files = array_zeroed(1, sizeof *files, why);
    if (files != NULL) {
        pthread_mutex_init(&files->lock, NULL);
    }
    return files;
}

void files_destroy(struct files *files)
{
    if (files == NULL) {
        return;
    }
    for (size_t i = 0; i < files->count; i++) {
        free(files->all[i].path);
        free(files->all[i].text);
        node_destroy(files->all[i].tree);
    }
    free(files->all);
    pthread_mutex_destroy(&files->lock);
    free(files);
}

/* The file, read unless it was: one that cannot be read is not kept, and the next caller tries again. */
static struct kept *files_keep(struct files *files, const char *path, struct error *why)
{
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->all[i].path, path) == 0) {
            return &files->all[i];
        }
    }
    if (!array_reserve(&files->all, &files->capacity, files->count + 1, sizeof *files->all, why)) {
        return NULL;
    }
    struct kept *kept = &files->all[files->count];
    *kept = (struct kept){.path = text_duplicate(path, why)};
    if (kept->path == NULL || (kept->text = node_file(path, &kept->size, why)) == NULL) {
        free(kept->path);
        return NULL;
    }
    files->count++;
    return kept;
}

char *files_text(struct files *files, const char *path, size_t *size, struct error *why)
{
    if (files == NULL) {
        return node_file(path, size, why);
    }
    pthread_mutex_lock(&files->lock);
    const struct kept *kept = files_keep(files, path, why);
    char *copy = kept == NULL ? NULL : array_zeroed(kept->size + 1, 1, why);
    if (copy != NULL) {
        memcpy(copy, kept->text, kept->size);
        *size = kept->size;
    }
    pthread_mutex_unlock(&files->lock);
    return copy;
}

const struct node *files_tree(struct files *files, const char *path, struct error *why)
{
    if (files == NULL) {
        return node_load(path, why);
    }
    pthread_mutex_lock(&files->lock);
    struct kept *kept = files_keep(files, path, why);
    if (kept != NULL && kept->tree == NULL) {
        kept->tree = node_parse(kept->text, kept->size, path, why);
    }
    const struct node *tree = kept != NULL ? kept->tree : NULL;
    pthread_mutex_unlock(&files->lock);
    return tree;
}

void files_drop(const struct files *files, const struct node *tree)
{
    if (files == NULL) {
        node_destroy((struct node *)tree);
    }
}

FILE *regular_open(const char *path, struct error *why)
{
    struct stat info;
    int opened = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool regular = opened >= 0 && fstat(opened, &info) == 0 && S_ISREG(info.st_mode);
    FILE *file = regular ? fdopen(opened, "rb") : NULL;
    if (file == NULL && opened >= 0 && !regular) {
        error_set(why, path, 0, "is not a regular file");
    } else if (file == NULL) {
        error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
    }
    if (file == NULL && opened >= 0) {
        close(opened);
    }
    return file;
}
