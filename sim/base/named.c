/* The names of a kind are read from their folder, and, only where no name fits, the further names
 * from every file in it: these are few and small. A model's further names are Hugging Face ids. */
#include "base/named.h"

#include "base/array.h"
#include "base/find.h"
#include "base/name.h"
#include "base/node.h"
#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char list_models[] = "spillway list models",
                  list_hardware[] = "spillway list hardware",
                  list_traces[] = "spillway list traces";

const struct named_kind named_model = {"model",        "models",    "json",
                                       "_huggingface", list_models, "a config.json"};
const struct named_kind named_machine = {"hardware", "hwprofiles",  "yaml",
                                         "also",     list_hardware, "a profile"};
#define PART(id, name, folder, also)                                                               \
    const struct named_kind named_##name = {#name, "hwprofiles/" folder, "yaml",                   \
                                            also,  list_hardware,        "a profile"};
#include "base/machine_parts.def"
const struct named_kind *const named_parts[] = {
#define PART(id, name, ...) &named_##name,
#include "base/machine_parts.def"
    NULL};
const struct named_kind named_system = {"system", "scenarios/systems",     "yaml",
                                        "also",   "spillway list systems", "a preset"};
const struct named_kind named_trace = {"trace", "traces", "swt", NULL, list_traces, "a recording"};
const struct named_kind named_trace_profile = {"trace profile", "traces",         "yaml", NULL,
                                               list_traces,     "a trace profile"};
const struct named_kind named_workload = {
    "workload", "traces/requests",
    "jsonl",    NULL,
    NULL,       "a file of requests, or synthetic:prompt=1000,output=200"};

bool named_by_path(const char *name, const char *suffix)
{
    const char *dot = strrchr(name, '.');
    return strchr(name, '/') != NULL || (dot != NULL && strcmp(dot + 1, suffix) == 0);
}

bool named_id(const char *name, const char *suffix)
{
    const char *slash = strchr(name, '/'), *dot = strrchr(name, '.');
    bool two_parts = slash != NULL && slash[1] != '\0' && strchr(slash + 1, '/') == NULL;
    bool file = dot != NULL && strcmp(dot + 1, suffix) == 0;
    return two_parts && !file && isalnum((unsigned char)name[0]);
}

/* A path, unless it is an id and nothing lies there. */
static bool is_path(const struct named_kind *kind, const char *name)
{
    struct stat status;
    bool id = kind == &named_model && named_id(name, kind->suffix) && stat(name, &status) != 0;
    return !id && named_by_path(name, kind->suffix);
}

/* ---- all spellings of a kind ---- */

/* A spelling, and the name of the file that it stands for. */
struct named_spelling {
    char *text, *name;
};

struct spellings {
    struct named_spelling *all;
    size_t count, capacity;
};

static void spellings_release(struct spellings *spellings)
{
    for (size_t i = 0; i < spellings->count; i++) {
        free(spellings->all[i].text);
        free(spellings->all[i].name);
    }
    free(spellings->all);
}

static bool spellings_add(struct spellings *spellings, const char *text, const char *name,
                          struct error *why)
{
    if (!array_reserve(&spellings->all, &spellings->capacity, spellings->count + 1,
                       sizeof *spellings->all, why)) {
        return false;
    }
    struct named_spelling added = {strdup(text), strdup(name)};
    spellings->all[spellings->count++] = added;
    return (added.text != NULL && added.name != NULL) || error_set(why, NULL, 0, "out of memory");
}

/* Add a further name: an id as it is, without its organisation, and without both that and the
 * ending of a tuned model, which people leave out. */
static bool add_further_name(const char *text, const char *name, struct spellings *spellings,
                             struct error *why)
{
    static const char tuned[] = "-Instruct";
    const char *slash = strrchr(text, '/');
    char base[NAMED_SIZE];
    if (slash == NULL) {
        return spellings_add(spellings, text, name, why);
    }
    size_t length = strlen(slash + 1);
    bool ends = length > strlen(tuned) && strcmp(slash + 1 + length - strlen(tuned), tuned) == 0;
    snprintf(base, sizeof base, "%.*s", ends ? (int)(length - strlen(tuned)) : 0, slash + 1);
    return spellings_add(spellings, text, name, why) &&
           spellings_add(spellings, slash + 1, name, why) &&
           (!ends || spellings_add(spellings, base, name, why));
}

/* Add the further names in the file of `name`. */
static bool add_further(const struct named_kind *kind, const char *name,
                        struct spellings *spellings, struct error *why)
{
    char path[PATH_MAX];
    struct node *root = find_path(kind->folder, name, kind->suffix, path, sizeof path, why)
                            ? node_load(path, why)
                            : NULL;
    const struct node *list = root != NULL ? node_get(root, kind->also) : NULL;
    bool good = true;
    for (size_t i = 0; good && list != NULL && i < list->count; i++) {
        const struct node *one = list->children[i];
        good = one->kind != NODE_SCALAR || add_further_name(one->text, name, spellings, why);
    }
    node_destroy(root);
    return good;
}

/* Add the names of all files, or their further names. */
static bool add_spellings(const struct named_kind *kind, bool further, struct spellings *spellings,
                          struct error *why)
{
    char **names;
    size_t count;
    struct error unread;
    if (!find_names(kind->folder, kind->suffix, &names, &count, why)) {
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        good = good && (further || spellings_add(spellings, names[i], names[i], why));
        if (good && further) {
            add_further(kind, names[i], spellings, &unread);
        }
        free(names[i]);
    }
    free(names);
    return good;
}

/* ---- the one that is meant ---- */

static bool find_same(const struct spellings *spellings, const char *name, char out[NAMED_SIZE])
{
    for (size_t i = 0; i < spellings->count; i++) {
        if (name_same(spellings->all[i].text, name)) {
            snprintf(out, NAMED_SIZE, "%s", spellings->all[i].name);
            return true;
        }
    }
    return false;
}

static bool find_spelt(const struct named_kind *kind, bool further, const char *name,
                       char out[NAMED_SIZE])
{
    struct spellings spellings = {0};
    struct error unread;
    bool found =
        add_spellings(kind, further, &spellings, &unread) && find_same(&spellings, name, out);
    spellings_release(&spellings);
    return found;
}

bool named_canonical(const struct named_kind *kind, const char *name, char out[NAMED_SIZE])
{
    char path[PATH_MAX];
    struct error unread;
    if (name[0] == '\0' || strlen(name) >= NAMED_SIZE || is_path(kind, name)) {
        return false;
    }
    if (strchr(name, '/') == NULL &&
        find_path(kind->folder, name, kind->suffix, path, sizeof path, &unread) &&
        access(path, F_OK) == 0) {
        snprintf(out, NAMED_SIZE, "%s", name);
        return true;
    }
    return find_spelt(kind, false, name, out) ||
           (kind->also != NULL && find_spelt(kind, true, name, out));
}

/* ---- what to say otherwise ---- */

/* The part behind the last slash. */
static const char *base_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

/* How far a spelling is from the given name: of ids, the organisation may be another one. */
static size_t named_distance_of(const char *given, const char *text)
{
    if ((strchr(given, '/') != NULL) != (strchr(text, '/') != NULL)) {
        return NAME_FAR;
    }
    size_t whole = name_distance(given, text), part = name_distance(base_of(given), base_of(text));
    return whole < part ? whole : part;
}

/* Of each file, the spelling nearest to the given name. */
static void named_find_near(const struct spellings *spellings, const char *given,
                            struct name_near *near)
{
    for (size_t i = 0; i < spellings->count; i++) {
        size_t best = named_distance_of(given, spellings->all[i].text);
        bool beaten = false;
        for (size_t j = 0; best != NAME_FAR && !beaten && j < spellings->count; j++) {
            size_t other = strcmp(spellings->all[i].name, spellings->all[j].name) == 0
                               ? named_distance_of(given, spellings->all[j].text)
                               : NAME_FAR;
            beaten = other < best || (other == best && j < i);
        }
        name_near_add(near, spellings->all[i].text, beaten ? NAME_FAR : best);
    }
}

/* Does a file of this name, or of the name with the suffix, lie in the working directory? */
static bool lies_here(const struct named_kind *kind, const char *name, char *here, size_t size)
{
    if (name[0] == '\0' || strchr(name, '/') != NULL) {
        return false;
    }
    snprintf(here, size, "%s", name);
    if (access(here, F_OK) != 0) {
        text_append(here, size, ".%s", kind->suffix);
    }
    return access(here, F_OK) == 0;
}

/* "'spillway list models', or the path of a config.json"; where no command prints the names, they
 * are few, and stand here themselves. */
static void say_all(const struct named_kind *kind, const struct spellings *spellings,
                    const char *name, char *text, size_t size)
{
    char here[NAMED_SIZE + 16];
    text[0] = '\0';
    if (kind->list != NULL) {
        text_append(text, size, "'%s'", kind->list);
    }
    for (size_t i = 0; kind->list == NULL && i < spellings->count; i++) {
        text_append(text, size, "%s%s", i > 0 ? ", " : "", spellings->all[i].text);
    }
    text_append(text, size, ", or the path of %s", kind->path);
    if (lies_here(kind, name, here, sizeof here)) {
        text_append(text, size, ", such as ./%s, which is here", here);
    }
}

bool named_expect(const struct named_kind *const *kinds, const char *name, struct error *why)
{
    struct spellings spellings = {0};
    struct error unread;
    struct name_near near = {.count = 0};
    char all[300];
    bool good = true;
    for (size_t k = 0; good && kinds[k] != NULL; k++) {
        good = add_spellings(kinds[k], false, &spellings, &unread) &&
               (kinds[k]->also == NULL || add_spellings(kinds[k], true, &spellings, &unread));
    }
    if (good) {
        named_find_near(&spellings, name, &near);
        say_all(kinds[0], &spellings, name, all, sizeof all);
        near.count = kinds[0]->list == NULL && near.count > 1 ? 1 : near.count;
        if (kinds[0]->list == NULL) {
            error_expect(why, "%s", all);
            error_nearest(why, near.count > 0 ? near.names[0] : NULL);
        } else {
            name_near_expect(&near, all, why);
        }
    }
    spellings_release(&spellings);
    return false;
}

/* Was a file of this name left out of a package? If so, `why` says where it is. */
static bool named_left_out(const struct named_kind *kind, const char *name, const char *file,
                           int line, struct error *why)
{
    char found[NAMED_SIZE];
    uint64_t bytes;
    struct error unread;
    if (!find_left_out(kind->folder, name, found, sizeof found, &bytes)) {
        return false;
    }
    error_input(why, file, line, "the %s '%.100s' is not in this package", kind->what, found);
    error_expect(why, "%s/%s.%s of Spillway's source (%.1f MB) by its path, or copied to %.200s/%s",
                 kind->folder, found, kind->suffix, (double)bytes / 1e6, find_data(&unread),
                 kind->folder);
    return true;
}

bool named_file(const struct named_kind *kind, const char *name, const char *file, int line,
                char *path, size_t size, struct error *why)
{
    char canonical[NAMED_SIZE];
    const struct named_kind *const kinds[] = {kind, NULL};
    if (is_path(kind, name)) {
        if (strchr(name, '/') == NULL && access(name, F_OK) != 0) {
            error_input(why, file, line, "no file '%.100s' here", name);
            return named_expect(kinds, name, why);
        }
        int length = snprintf(path, size, "%s", name);
        return (length > 0 && (size_t)length < size) ||
               error_input(why, file, line, "the path of this %s is too long", kind->what);
    }
    if (find_data(why) == NULL) {
        return false;
    }
    if (named_canonical(kind, name, canonical)) {
        return find_path(kind->folder, canonical, kind->suffix, path, size, why);
    }
    if (named_left_out(kind, name, file, line, why)) {
        return false;
    }
    if (named_id(name, kind->suffix)) {
        error_input(why, file, line, "no file and no shipped %s is called '%.100s'", kind->what,
                    name);
    } else {
        error_input(why, file, line, "unknown %s '%.100s'", kind->what, name);
    }
    error_key(why, kind->what);
    return named_expect(kinds, name, why);
}

/* How well an id suits what was typed: its last part ends so (3: a fine-tune's has more behind it), or
 * begins so (2), or it contains it (1). */
static int likeness(const char *id, const char *name)
{
    const char *slash = strrchr(id, '/');
    const char *last = slash != NULL ? slash + 1 : id;
    size_t length = strlen(last), typed = strlen(name);
    bool ends = length >= typed && strcasecmp(last + length - typed, name) == 0;
    return ends ? 3 : strncasecmp(last, name, typed) == 0 ? 2 : strcasestr(id, name) != NULL;
}

/* The id of a file that suits a name best, if one is at least so like it. */
static bool named_best_id(const struct named_kind *kind, const char *canonical, const char *name,
                          int least, char out[NAMED_SIZE])
{
    struct spellings spellings = {.count = 0};
    struct error unread;
    int best = least - 1;
    add_further(kind, canonical, &spellings, &unread);
    for (size_t i = 0; i < spellings.count; i++) {
        const char *text = spellings.all[i].text;
        int likes = named_id(text, kind->suffix) ? likeness(text, name) : -1;
        if (likes > best) {
            text_copy(out, NAMED_SIZE, text);
            best = likes;
        }
    }
    spellings_release(&spellings);
    return best >= least;
}

bool named_first_id(const struct named_kind *kind, const char *name, char out[NAMED_SIZE])
{
    char canonical[NAMED_SIZE];
    return named_canonical(kind, name, canonical) && named_best_id(kind, canonical, name, 0, out);
}

bool named_id_of(const struct named_kind *kind, const char *canonical, const char *name,
                 char out[NAMED_SIZE])
{
    return named_best_id(kind, canonical, base_of(name), 1, out);
}

bool named_from(const char *path, const char *file, char *out, size_t size)
{
    const char *slash = file != NULL && strncmp(file, "--", 2) != 0 ? strrchr(file, '/') : NULL;
    int folder = slash != NULL && path[0] != '/' ? (int)(slash + 1 - file) : 0;
    int length = snprintf(out, size, "%.*s%s", folder, folder > 0 ? file : "", path);
    return length >= 0 && (size_t)length < size;
}
