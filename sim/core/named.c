/* The names of a kind are read from their folder, and, only where no name fits, the further names
 * from every file in it: these are few and small. A model's further names are Hugging Face ids. */
#include "core/named.h"

#include "core/find.h"
#include "core/name.h"
#include "core/node.h"
#include "core/text.h"

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
#include "core/machine_parts.def"
const struct named_kind *const named_parts[] = {
#define PART(id, name, ...) &named_##name,
#include "core/machine_parts.def"
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

/* A spelling, and the name of the file that it stands for. Returns whether the walk ends here. */
typedef bool (*spelling_visit)(void *context, const char *spelling, const char *name);

/* A further name: an id as it is, without its organisation, and without both that and the ending of
 * a tuned model, which people leave out. */
static bool visit_further_name(const char *text, const char *name, spelling_visit visit,
                               void *context)
{
    static const char tuned[] = "-Instruct";
    const char *slash = strrchr(text, '/');
    char base[NAMED_SIZE];
    if (visit(context, text, name)) {
        return true;
    }
    text_copy(base, sizeof base, slash != NULL ? slash + 1 : "");
    size_t length = strlen(base), end = strlen(tuned);
    if (length > 0 && visit(context, base, name)) {
        return true;
    }
    if (length <= end || strcmp(base + length - end, tuned) != 0) {
        return false;
    }
    base[length - end] = '\0';
    return visit(context, base, name);
}

/* The further names in the file of `name`. */
static bool visit_further(const struct named_kind *kind, const char *name, spelling_visit visit,
                          void *context)
{
    char path[PATH_MAX];
    struct error unread;
    bool ends = false;
    struct node *root = find_path(kind->folder, name, kind->suffix, path, sizeof path, &unread)
                            ? node_load(path, &unread)
                            : NULL;
    const struct node *list = node_get(root, kind->also);
    for (size_t i = 0; !ends && list != NULL && i < list->count; i++) {
        const struct node *one = list->children[i];
        ends = one->kind == NODE_SCALAR && visit_further_name(one->text, name, visit, context);
    }
    node_destroy(root);
    return ends;
}

/* The names of all files, or their further names. */
static bool visit_spellings(const struct named_kind *kind, bool further, spelling_visit visit,
                            void *context)
{
    char **names;
    size_t count;
    struct error unread;
    bool ends = false;
    if ((further && kind->also == NULL) ||
        !find_names(kind->folder, kind->suffix, &names, &count, &unread)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!ends) {
            ends = further ? visit_further(kind, names[i], visit, context)
                           : visit(context, names[i], names[i]);
        }
        free(names[i]);
    }
    free(names);
    return ends;
}

/* ---- the file of a name ---- */

struct wanted {
    const char *text;
    char *name; /* of the file, NAMED_SIZE */
};

static bool spelling_is_wanted(void *context, const char *spelling, const char *name)
{
    struct wanted *wanted = context;
    bool same = name_same(spelling, wanted->text);
    if (same) {
        text_copy(wanted->name, NAMED_SIZE, name);
    }
    return same;
}

bool named_canonical(const struct named_kind *kind, const char *name, char out[NAMED_SIZE])
{
    char path[PATH_MAX];
    struct error unread;
    struct wanted wanted = {name, out};
    if (name[0] == '\0' || strlen(name) >= NAMED_SIZE || is_path(kind, name)) {
        return false;
    }
    if (strchr(name, '/') == NULL &&
        find_path(kind->folder, name, kind->suffix, path, sizeof path, &unread) &&
        access(path, F_OK) == 0) {
        text_copy(out, NAMED_SIZE, name);
        return true;
    }
    return visit_spellings(kind, false, spelling_is_wanted, &wanted) ||
           visit_spellings(kind, true, spelling_is_wanted, &wanted);
}

/* ---- where there is none ---- */

/* The part behind the last slash. */
static const char *base_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

struct nearest {
    const char *text;
    int distance;
    char spelling[NAMED_SIZE];
};

/* An id is compared with ids, and their organisations may differ. */
static bool note_nearest(void *context, const char *spelling, const char *name)
{
    struct nearest *nearest = context;
    bool alike = (strchr(nearest->text, '/') != NULL) == (strchr(spelling, '/') != NULL);
    int distance = alike ? name_distance(base_of(nearest->text), base_of(spelling)) : NAME_FAR;
    (void)name;
    if (distance < nearest->distance) {
        text_copy(nearest->spelling, sizeof nearest->spelling, spelling);
        nearest->distance = distance;
    }
    return false;
}

static bool list_spelling(void *context, const char *spelling, const char *name)
{
    char *list = context;
    (void)name;
    return !name_list_append(list, NAMED_SIZE, spelling);
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

bool named_expect(const struct named_kind *const *kinds, const char *name, struct error *why)
{
    struct nearest nearest = {.text = name, .distance = NAME_FAR};
    char names[NAMED_SIZE] = "", here[NAMED_SIZE + 16];
    for (size_t k = 0; kinds[k] != NULL; k++) {
        visit_spellings(kinds[k], false, note_nearest, &nearest);
        visit_spellings(kinds[k], true, note_nearest, &nearest);
    }
    if (kinds[0]->list == NULL) { /* they are few */
        visit_spellings(kinds[0], false, list_spelling, names);
    } else {
        snprintf(names, sizeof names, "one of '%s'", kinds[0]->list);
    }
    bool lies = lies_here(kinds[0], name, here, sizeof here);
    error_expect(why, "%s, or the path of %s%s%s%s", names, kinds[0]->path,
                 lies ? ", such as ./" : "", lies ? here : "", lies ? ", which is here" : "");
    return error_nearest(why, nearest.distance != NAME_FAR ? nearest.spelling : NULL);
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

struct best_id {
    const struct named_kind *kind;
    const char *name;
    int likeness; /* so far */
    char *id;     /* NAMED_SIZE */
};

static bool note_id(void *context, const char *spelling, const char *name)
{
    struct best_id *best = context;
    int likes = named_id(spelling, best->kind->suffix) ? likeness(spelling, best->name) : -1;
    (void)name;
    if (likes > best->likeness) {
        text_copy(best->id, NAMED_SIZE, spelling);
        best->likeness = likes;
    }
    return false;
}

/* The id of a file that suits a name best, if one is at least so like it. */
static bool named_best_id(const struct named_kind *kind, const char *canonical, const char *name,
                          int least, char out[NAMED_SIZE])
{
    struct best_id best = {kind, name, least - 1, out};
    visit_further(kind, canonical, note_id, &best);
    return best.likeness >= least;
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
