/* Loading a plug-in: any fault of its file or its description is an error that names it. */
#include "policy/plugin.h"

#include "core/array.h"
#include "core/files.h"

#include <assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static_assert((int)SPILLWAY_MOST_PARAMS == (int)POLICY_MOST_PARAMS, "a plug-in is as any policy");

static const char symbol[] = "spillway_policy";

bool plugin_is_named(const char *name)
{
    return strncmp(name, PLUGIN_PREFIX, strlen(PLUGIN_PREFIX)) == 0;
}

/* ---- the file ---- */

enum { PLUGIN_FILE_MOST = 1 << 30 }; /* bytes */

/* A library that was cut kills the program when its missing pages are touched. The linker writes the
 * table of sections last. */
static bool plugin_file_is_whole(const char *bytes, size_t size)
{
    Elf64_Ehdr header;
    if (size < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG) != 0 || bytes[EI_CLASS] != ELFCLASS64) {
        return true; /* dlopen() says what is wrong with it */
    }
    if (size < sizeof header) {
        return false;
    }
    memcpy(&header, bytes, sizeof header);
    return header.e_shoff <= INT64_MAX &&
           header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize <= size;
}

/* dlopen() would wait for the writer of a FIFO. `*hash`, never 0, becomes that of its bytes. */
static bool plugin_file_check(const char *path, uint64_t *hash, struct error *why)
{
    size_t size;
    FILE *file = regular_open(path, why);
    if (file == NULL) {
        return false;
    }
    char *bytes = node_stream(file, path, PLUGIN_FILE_MOST, &size, why);
    bool good = bytes != NULL &&
                (plugin_file_is_whole(bytes, size) || error_set(why, path, 0, "is truncated"));
    if (good) {
        *hash = XXH64(bytes, size, 0);
        *hash += *hash == 0;
    }
    free(bytes);
    fclose(file);
    return good;
}

/* Open it by its full path, because dlopen() looks for a bare name elsewhere. */
static bool plugin_open_library(struct plugin *plugin, const char *file, int line,
                                struct error *why)
{
    const char *path = plugin->name + strlen(PLUGIN_PREFIX);
    char full[PATH_MAX];
    struct error fault;
    if (realpath(path, full) == NULL) {
        error_set(why, file, line, "cannot read plug-in '%s': %s", path, strerror(errno));
        return error_expect(why, "the path of a shared library");
    }
    if (!plugin_file_check(full, &plugin->kind.content, &fault)) {
        error_set(why, file, line, "cannot read plug-in '%s': it %s", path, fault.found);
        return error_expect(why, "the path of a whole shared library");
    }
    plugin->library = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    if (plugin->library == NULL) {
        error_set(why, file, line, "cannot load plug-in '%s'", path);
        return error_expect(why, "a shared library: %s", dlerror());
    }
    plugin->api = dlsym(plugin->library, symbol);
    if (plugin->api == NULL) {
        error_set(why, file, line, "plug-in '%s' does not export '%s'", path, symbol);
        return error_expect(why, "the struct that spillway_policy.h describes");
    }
    return true;
}

/* ---- its description ---- */

/* Lower-case letters, digits and '-' or '_': a user can type it and a table can show it. */
static bool plugin_is_word(const char *text)
{
    size_t length = text != NULL ? strnlen(text, 33) : 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (!islower(c) && !isdigit(c) && c != '-' && c != '_') {
            return false;
        }
    }
    return length > 0 && length <= 32;
}

/* Text without line breaks or other control characters. */
static bool is_line(const char *text)
{
    while (text != NULL && *text != '\0' && !iscntrl((unsigned char)*text)) {
        text++;
    }
    return text != NULL && *text == '\0';
}

static bool is_param(const struct spillway_param *param)
{
    return plugin_is_word(param->name) && strcmp(param->name, "name") != 0 &&
           isfinite(param->least) && isfinite(param->most) && param->value >= param->least &&
           param->value <= param->most;
}

static bool take_params(struct plugin *plugin, const char *file, int line, struct error *why)
{
    const struct spillway_param *given = plugin->api->params;
    for (size_t i = 0; given != NULL && given[i].name != NULL; i++) {
        if (i == SPILLWAY_MOST_PARAMS || !is_param(&given[i])) {
            error_set(why, file, line, "parameter %zu of policy '%s' is invalid", i + 1,
                      plugin->kind.name);
            return error_expect(why, "at most %d, each a word with a default in a finite range",
                                SPILLWAY_MOST_PARAMS);
        }
        plugin->params[i] =
            (struct policy_param){given[i].name, given[i].value, given[i].least, given[i].most,
                                  given[i].summary != NULL ? given[i].summary : ""};
    }
    plugin->kind.params = plugin->params;
    return true;
}

static bool take_description(struct plugin *plugin, const char *file, int line, struct error *why)
{
    const struct spillway_policy *api = plugin->api;
    if (api->abi != SPILLWAY_POLICY_ABI) {
        error_set(why, file, line, "policy '%s' was built for ABI %u of spillway_policy.h",
                  plugin->name, api->abi);
        return error_expect(why, "ABI %d: build it with the header of this program",
                            SPILLWAY_POLICY_ABI);
    }
    if (!plugin_is_word(api->name) || !is_line(api->summary) || api->create == NULL ||
        api->access == NULL || api->destroy == NULL) {
        error_set(why, file, line, "policy '%s' has an incomplete or invalid description",
                  plugin->name);
        return error_expect(
            why, "a name in lower-case letters, a one-line summary, create, access and destroy");
    }
    plugin->kind.name = plugin->name;
    plugin->kind.title = api->name;
    plugin->kind.summary = api->summary;
    plugin->kind.needs_queries = api->needs_queries != 0;
    plugin->kind.draws_lots = true; /* it may */
    plugin->kind.size = plugin_size;
    plugin->kind.init = plugin_init;
    plugin->kind.access = plugin_access;
    plugin->kind.holds = api->needs_queries ? NULL : plugin_holds;
    plugin->kind.check = plugin_check;
    plugin->kind.release = plugin_release;
    return take_params(plugin, file, line, why);
}

static void unload(struct plugin *plugin)
{
    if (plugin->library != NULL) {
        dlclose(plugin->library);
    }
    free(plugin);
}

static struct plugin *plugin_load(const char *name, const char *file, int line, struct error *why)
{
    size_t size = strlen(name) + 1;
    struct plugin *plugin = array_zeroed(1, sizeof *plugin + size, why);
    if (plugin == NULL) {
        return NULL;
    }
    memcpy(plugin->name, name, size);
    if (!plugin_open_library(plugin, file, line, why) ||
        !take_description(plugin, file, line, why)) {
        unload(plugin);
        return NULL;
    }
    return plugin;
}

/* ---- the loaded plug-ins ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plugin *loaded;

const struct policy_kind *plugin_find(const char *name, const char *file, int line,
                                      struct error *why)
{
    pthread_mutex_lock(&lock);
    struct plugin *plugin = loaded;
    while (plugin != NULL && strcmp(plugin->name, name) != 0) {
        plugin = plugin->next;
    }
    if (plugin == NULL) {
        plugin = plugin_load(name, file, line, why);
        if (plugin != NULL) {
            plugin->next = loaded;
            loaded = plugin;
        }
    }
    pthread_mutex_unlock(&lock);
    return plugin != NULL ? &plugin->kind : NULL;
}
