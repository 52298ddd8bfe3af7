/* The names of a kind are read from their folder, and, only where no name fits, the further names
 * from every file in it: these are few and small. A model's further names are Hugging Face ids. */
#include "core/named.h"

#include "core/array.h"
#include "core/node.h"
#include "core/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the data folder, which is recognised by two of its folders ---- */

static char data[PATH_MAX]; /* "" if there is none; data_error then says why */
static struct error data_error;

static bool is_folder(const char *base, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    int length = snprintf(path, sizeof path, "%s/%s", base, name);
    return length > 0 && (size_t)length < sizeof path && stat(path, &status) == 0 &&
           S_ISDIR(status.st_mode);
}

static bool holds_data(const char *folder)
{
    return is_folder(folder, "models") && is_folder(folder, "hwprofiles");
}

static void find_once(void)
{
    const char *given = getenv("SPILLWAY_DATA");
    if (given == NULL || given[0] == '\0') {
        /* The folders above the program, nearest first: itself, or one in which an installation has the data. */
        static const char *const places[] = {"", "/share/spillway", "/lib/spillway"};
        enum { PLACES = sizeof places / sizeof *places };
        char folder[PATH_MAX], *slash;
        ssize_t end = readlink("/proc/self/exe", folder, sizeof folder - 1);
        for (folder[end > 0 ? end : 0] = '\0'; (slash = strrchr(folder, '/')) != NULL;) {
            *slash = '\0';
            for (size_t i = 0; i < PLACES; i++) {
                int written = snprintf(data, sizeof data, "%s%s", folder, places[i]);
                if (written > 0 && (size_t)written < sizeof data && holds_data(data)) {
                    return;
                }
            }
        }
        data[0] = '\0';
        error_set(&data_error, NULL, 0, "no data folder near the program");
        error_expect(&data_error, "the folder with 'models' and 'hwprofiles' in $SPILLWAY_DATA");
        return;
    }
    size_t length = strlen(given);
    while (length > 1 && given[length - 1] == '/') {
        length--;
    }
    if (length < sizeof data && holds_data(given)) {
        memcpy(data, given, length);
    } else {
        error_usage(&data_error, NULL, 0, "$SPILLWAY_DATA is '%.150s', which is not a data folder",
                    given);
        error_expect(&data_error, "a folder with 'models' and 'hwprofiles'");
    }
}

const char *find_data(struct error *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_once);
    if (data[0] == '\0') {
        *why = data_error;
        return NULL;
    }
    return data;
}

bool find_path(const char *folder, const char *name, const char *suffix, char *path, size_t size,
               struct error *why)
{
    const char *base = find_data(why);
    if (base == NULL) {
        return false;
    }
    int length = snprintf(path, size, "%s/%s/%s%s%s", base, folder, name,
                          suffix[0] != '\0' ? "." : "", suffix);
    return (length > 0 && (size_t)length < size) ||
           error_set(why, NULL, 0, "the path of '%.100s' in '%s' is too long", name, folder);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool find_names(const char *folder, const char *suffix, char ***names, size_t *count,
                struct error *why)
{
    char path[PATH_MAX];
    struct dirent **files;
    *count = 0;
    *names = NULL;
    if (!find_path(folder, "", "", path, sizeof path, why)) {
        return false;
    }
    int found = scandir(path, &files, NULL, NULL);
    if (found < 0) { /* no such files may ship */
        return errno == ENOENT || error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
    }
    *names = array_zeroed((size_t)found, sizeof **names, why);
    for (int i = 0; i < found; i++) {
        char *file = files[i]->d_name, *dot = strrchr(file, '.');
        char full[PATH_MAX + 256];
        struct stat status; /* a FIFO of a fitting name would be waited for */
        snprintf(full, sizeof full, "%s/%s", path, file);
        if (*names != NULL && dot != NULL && strcmp(dot + 1, suffix) == 0 && file[0] != '.' &&
            stat(full, &status) == 0 && S_ISREG(status.st_mode)) {
            (*names)[*count] = strndup(file, (size_t)(dot - file));
            *count += (*names)[*count] != NULL;
        }
        free(files[i]);
    }
    free(files);
    if (*names != NULL) {
        qsort(*names, *count, sizeof **names, compare_names);
    }
    return *names != NULL;
}

/* ---- kinds ---- */

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

/* Spellings, and their files' names; owned. Without memory some are missing, and their names not found. */
struct spellings {
    struct spelling {
        char *text, *name;
    } * all;
    size_t count, capacity;
};

static void spelling_add(struct spellings *out, const char *text, size_t length, const char *name)
{
    if (length > 0 &&
        array_reserve(&out->all, &out->capacity, out->count + 1, sizeof *out->all, ERROR_UNSEEN)) {
        struct spelling added = {strndup(text, length), strdup(name)};
        out->all[out->count] = added;
        out->count += added.text != NULL && added.name != NULL;
    }
}

/* The further names in the file of `name`: each id as it is, without its organisation, and without both
 * that and the ending of a tuned model, which people leave out. */
static void spellings_add_further(struct spellings *out, const struct named_kind *kind,
                                  const char *name)
{
    static const char tuned[] = "-Instruct";
    char path[PATH_MAX];
    struct node *root = find_path(kind->folder, name, kind->suffix, path, sizeof path, ERROR_UNSEEN)
                            ? node_load(path, ERROR_UNSEEN)
                            : NULL;
    const struct node *list = node_get(root, kind->also);
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const char *text = list->children[i]->kind == NODE_SCALAR ? list->children[i]->text : "";
        const char *slash = strrchr(text, '/'), *base = slash != NULL ? slash + 1 : "";
        size_t length = strlen(base), end = strlen(tuned);
        spelling_add(out, text, strlen(text), name);
        spelling_add(out, base, length, name);
        if (length > end && strcmp(base + length - end, tuned) == 0) {
            spelling_add(out, base, length - end, name);
        }
    }
    node_destroy(root);
}

/* The names of all files, or their further names. */
static struct spellings spellings_of(const struct named_kind *kind, bool further)
{
    struct spellings out = {.count = 0};
    char **names;
    size_t count;
    bool found = (!further || kind->also != NULL) &&
                 find_names(kind->folder, kind->suffix, &names, &count, ERROR_UNSEEN);
    for (size_t i = 0; found && i < count; i++) {
        if (further) {
            spellings_add_further(&out, kind, names[i]);
        } else {
            spelling_add(&out, names[i], strlen(names[i]), names[i]);
        }
        free(names[i]);
    }
    free(found ? names : NULL);
    return out;
}

static void spellings_release(struct spellings *spellings)
{
    for (size_t i = 0; i < spellings->count; i++) {
        free(spellings->all[i].text);
        free(spellings->all[i].name);
    }
    free(spellings->all);
}

bool named_canonical(const struct named_kind *kind, const char *name, char out[NAMED_SIZE])
{
    char path[PATH_MAX];
    if (name[0] == '\0' || strlen(name) >= NAMED_SIZE || is_path(kind, name)) {
        return false;
    }
    bool found = strchr(name, '/') == NULL &&
                 find_path(kind->folder, name, kind->suffix, path, sizeof path, ERROR_UNSEEN) &&
                 access(path, F_OK) == 0;
    if (found) {
        text_copy(out, NAMED_SIZE, name);
    }
    for (int further = 0; further < 2 && !found; further++) {
        struct spellings spellings = spellings_of(kind, further);
        for (size_t i = 0; i < spellings.count && !found; i++) {
            found = name_same(spellings.all[i].text, name);
            text_copy(out, NAMED_SIZE, found ? spellings.all[i].name : "");
        }
        spellings_release(&spellings);
    }
    return found;
}

/* ---- where there is none ---- */

/* The part behind the last slash. */
static const char *base_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

bool named_expect(const struct named_kind *const *kinds, const char *name, struct error *why)
{
    char names[NAMED_SIZE] = "", nearest[NAMED_SIZE] = "";
    int least = NAME_FAR;
    for (size_t k = 0; kinds[k] != NULL; k++) {
        for (int further = 0; further < 2; further++) {
            struct spellings spellings = spellings_of(kinds[k], further);
            for (size_t i = 0; i < spellings.count; i++) {
                /* An id is compared with ids, and their organisations may differ. */
                const char *text = spellings.all[i].text;
                bool alike = (strchr(name, '/') != NULL) == (strchr(text, '/') != NULL);
                int distance = alike ? name_distance(base_of(name), base_of(text)) : NAME_FAR;
                if (distance < least) {
                    text_copy(nearest, sizeof nearest, text);
                    least = distance;
                }
                if (kinds[0]->list == NULL) { /* they are few */
                    name_list_append(names, sizeof names, text);
                }
            }
            spellings_release(&spellings);
        }
    }
    if (kinds[0]->list != NULL) {
        snprintf(names, sizeof names, "one of '%s'", kinds[0]->list);
    }
    error_expect(why, "%s, or the path of %s", names, kinds[0]->path);
    return error_nearest(why, least != NAME_FAR ? nearest : NULL);
}

/* Was such a file left out of a small package, whose list ELSEWHERE has lines "NAME BYTES"? `why` says so. */
static bool named_left_out(const struct named_kind *kind, const char *name, const char *file,
                           int line, struct error *why)
{
    char path[PATH_MAX], row[PATH_MAX], found[256];
    uint64_t bytes = 0;
    bool good = false;
    FILE *list = find_path(kind->folder, "ELSEWHERE", "", path, sizeof path, ERROR_UNSEEN)
                     ? fopen(path, "r")
                     : NULL;
    while (list != NULL && !good && fgets(row, sizeof row, list) != NULL) {
        good = sscanf(row, "%255s %" SCNu64, found, &bytes) == 2 && name_same(found, name);
    }
    if (list != NULL) {
        fclose(list);
    }
    if (!good) {
        return false;
    }
    error_input(why, file, line, "the %s '%.100s' is not in this package", kind->what, found);
    error_expect(why, "%s/%s.%s of Spillway's source (%.1f MB) by its path, or copied to %.200s/%s",
                 kind->folder, found, kind->suffix, (double)bytes / 1e6, find_data(ERROR_UNSEEN),
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
    error_input(why, file, line, "unknown %s '%.100s'", kind->what, name);
    error_key(why, kind->what);
    return named_expect(kinds, name, why);
}

/* The id of a file that suits a name best, if one is at least so like it. */
static bool named_best_id(const struct named_kind *kind, const char *canonical, const char *name,
                          int least, char out[NAMED_SIZE])
{
    struct spellings spellings = {.count = 0};
    int best = least - 1;
    spellings_add_further(&spellings, kind, canonical);
    for (size_t i = 0; i < spellings.count; i++) {
        const char *id = spellings.all[i].text;
        const char *last = base_of(id);
        size_t length = strlen(last), typed = strlen(name);
        /* Its last part ends so (a fine-tune's has more behind it), or begins so, or it contains it. */
        int likes = !named_id(id, kind->suffix)                                       ? -1
                    : length >= typed && strcasecmp(last + length - typed, name) == 0 ? 3
                    : strncasecmp(last, name, typed) == 0                             ? 2
                                                          : strcasestr(id, name) != NULL;
        if (likes > best) {
            text_copy(out, NAMED_SIZE, id);
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
