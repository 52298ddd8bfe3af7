/* Plug-ins: loading one, where any fault of its file or its description is an error that names it; and
 * its caches behind the interface of any other policy.
 *
 * Its answers are checked against an account of what it holds: a flag for each block, changed only by
 * valid admissions and evictions. The first invalid one, or a number of hits that disagrees with the
 * account, breaks the instance: it is not called again, and plugin_check() reports the reason.
 *
 * A plug-in is loaded once and stays for the life of the process. A crash, exit() or an endless loop in the
 * user's code is the user's to debug: the process ends, or does not, as any other would. */
#include "policy/policy.h"

#include "core/files.h"
#include "policy/spillway_policy.h"

#include <assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static_assert((int)SPILLWAY_MOST_PARAMS == (int)POLICY_MOST_PARAMS, "a plug-in is as any policy");

struct plugin {
    struct policy_kind kind; /* as a row of the table; its name is "plugin:PATH" */
    const struct spillway_policy *api;
    struct policy_param params[SPILLWAY_MOST_PARAMS + 1];
    void *library; /* of dlopen() */
    struct plugin *next;
    char name[]; /* owned text behind kind.name */
};

/* ---- a cache ---- */

struct spillway_cache {
    struct policy base;
    const struct spillway_policy *api;
    const char *name;
    void *instance; /* NULL for a capacity of 0, which needs no plug-in */
    uint32_t blocks, query_heads;
    bool *held;            /* [blocks] */
    uint32_t *wanted_at;   /* [blocks] the last call that wanted the block ... */
    uint32_t *admitted_at; /* ... and the last one that admitted it */
    float *mass;           /* [blocks] scratch */
    uint32_t ask;          /* number of this call, from 1 */
    uint32_t admitted, evicted;
    bool broken;
    struct error broke; /* the first fault */
};

#define break_promise(cache, ...)                                                                  \
    ((cache)->broken = (cache)->broken || !error_set(&(cache)->broke, NULL, 0, __VA_ARGS__))

static void plugin_policy_admit(struct spillway_cache *cache, uint32_t block)
{
    if (block >= cache->blocks) {
        break_promise(cache, "admits block %u, of %u", block, cache->blocks);
    } else if (cache->wanted_at[block] != cache->ask) {
        break_promise(cache, "admits block %u, which is not wanted", block);
    } else if (cache->held[block] || cache->admitted_at[block] == cache->ask) {
        break_promise(cache, "admits block %u, which it %s", block,
                      cache->held[block] ? "holds" : "admitted in this step before");
    } else {
        cache->held[block] = true;
        cache->admitted_at[block] = cache->ask;
        cache->admitted++;
        cache->base.held++;
    }
}

static void plugin_policy_evict(struct spillway_cache *cache, uint32_t block)
{
    if (block >= cache->blocks) {
        break_promise(cache, "evicts block %u, of %u", block, cache->blocks);
    } else if (!cache->held[block]) {
        break_promise(cache, "evicts block %u, which it does not hold", block);
    } else {
        cache->held[block] = false;
        cache->evicted++;
        cache->base.held--;
    }
}

static void check_answer(struct spillway_cache *cache, const struct spillway_answer *answer,
                         uint32_t wanted, uint32_t hit)
{
    uint64_t most = (uint64_t)cache->blocks + cache->query_heads;
    if (answer->reused > (cache->api->needs_queries != 0)) {
        break_promise(cache, "reuses what it holds without comparing queries");
    } else if (answer->reused && (cache->admitted > 0 || cache->evicted > 0)) {
        break_promise(cache, "reuses what it holds and changes it");
    } else if (answer->hit > wanted) {
        break_promise(cache, "answers %u hits where %u blocks are wanted", answer->hit, wanted);
    } else if (answer->hit != (answer->reused ? wanted : hit)) {
        break_promise(cache, "answers %u hits of %u wanted blocks and holds %u of them",
                      answer->hit, wanted, hit);
    } else if (cache->base.held > cache->base.capacity) {
        break_promise(cache, "holds %u blocks in a cache of %u", cache->base.held,
                      cache->base.capacity);
    } else if (answer->lookups > most || answer->updates > most) {
        break_promise(cache, "looks up %u and updates %u of %u blocks", answer->lookups,
                      answer->updates, cache->blocks);
    }
}

/* Call the plug-in for units[first, first + wanted) of a demand. Of a whole one it sees recorded units. */
static void plugin_policy_ask(struct spillway_cache *cache, const struct demand *demand,
                              uint32_t first, uint32_t wanted, struct outcome *outcome)
{
    bool whole = wanted == demand->wanted && demand->recorded > wanted;
    const struct spillway_demand demanded = {
        .blocks = demand->units + first,
        .mass = demand->recorded > 0 ? cache->mass + first : NULL,
        .wanted = wanted,
        .recorded = whole ? demand->recorded : wanted,
        .query = demand->query,
        .query_stride = (uint64_t)demand->query_stride * demand->head_dim,
    };
    struct spillway_answer answer = {
        .cache = cache, .admit = plugin_policy_admit, .evict = plugin_policy_evict};
    uint32_t hit = 0;
    cache->ask++;
    for (uint32_t i = first; i < first + wanted; i++) {
        cache->wanted_at[demand->units[i]] = cache->ask;
        hit += cache->held[demand->units[i]];
    }
    cache->admitted = cache->evicted = 0;
    if (cache->instance != NULL && !cache->broken) {
        cache->api->access(cache->instance, &demanded, &answer);
        check_answer(cache, &answer, wanted, hit);
    }
    outcome->hit += cache->broken ? 0 : answer.hit;
    outcome->admitted += cache->admitted;
    outcome->evicted += cache->evicted;
    outcome->lookups += answer.lookups;
    outcome->updates += answer.updates;
    outcome->reused = answer.reused;
}

static void plugin_access(struct policy *policy, const struct demand *demand,
                          struct outcome *outcome)
{
    struct spillway_cache *cache = (struct spillway_cache *)policy;
    bool batch = policy->order == POLICY_BATCH || cache->api->needs_queries;
    uint32_t size = batch || demand->wanted == 0 ? demand->wanted : 1;
    for (uint32_t i = 0; i < demand->recorded; i++) {
        cache->mass[i] = trace_mass[demand->mass[i]];
    }
    uint32_t first = demand->wanted;
    do {
        first -= size;
        plugin_policy_ask(cache, demand, first, size, outcome);
    } while (first > 0);
    outcome->missed = demand->wanted - outcome->hit;
    outcome->inserts = outcome->admitted;
    outcome->attended =
        outcome->reused ? demand_set(demand, cache->held, cache->base.held) : demand_wanted(demand);
}

static bool plugin_holds(const struct policy *policy, uint32_t block)
{
    return ((const struct spillway_cache *)policy)->held[block];
}

static bool plugin_check(const struct policy *policy, struct error *why)
{
    const struct spillway_cache *cache = (const struct spillway_cache *)policy;
    if (!cache->broken) {
        return true;
    }
    error_set(why, NULL, 0, "policy '%s' %s", cache->name, cache->broke.found);
    return error_expect(why, "answers that agree with what it admitted and evicted");
}

static void plugin_release(struct policy *policy)
{
    struct spillway_cache *cache = (struct spillway_cache *)policy;
    if (cache->instance != NULL) {
        cache->api->destroy(cache->instance);
    }
}

static bool plugin_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct spillway_cache *cache = (struct spillway_cache *)policy;
    const struct plugin *plugin = (const struct plugin *)policy->kind;
    if (plugin->api->needs_queries && env->capacity < env->wanted) {
        error_set(why, NULL, 0, "policy '%s' has a cache of %u blocks, but a head wants %u",
                  plugin->name, env->capacity, env->wanted);
        return error_expect(why, "a budget of at least the selection ('1x')");
    }
    cache->api = plugin->api;
    cache->name = plugin->name;
    cache->blocks = env->blocks;
    cache->query_heads = env->query_heads;
    cache->held = arrays_add(&policy->arrays, env->blocks, sizeof *cache->held, why);
    cache->wanted_at = arrays_add(&policy->arrays, env->blocks, sizeof *cache->wanted_at, why);
    cache->admitted_at = arrays_add(&policy->arrays, env->blocks, sizeof *cache->admitted_at, why);
    cache->mass = arrays_add(&policy->arrays, env->blocks, sizeof *cache->mass, why);
    if (policy->arrays.failed || env->capacity == 0) {
        return true;
    }
    const struct spillway_env given = {
        .blocks = env->blocks,
        .capacity = env->capacity,
        .wanted = env->wanted,
        .query_heads = env->query_heads,
        .head_dim = env->head_dim,
        .importance = env->importance,
        .values = env->values,
        .seed = env->seed,
    };
    char reason[SPILLWAY_MOST_REASON] = "";
    cache->instance = cache->api->create(&given, reason);
    reason[sizeof reason - 1] = '\0';
    return cache->instance != NULL ||
           (error_set(why, NULL, 0, "policy '%s' cannot create a cache of %u blocks", cache->name,
                      env->capacity),
            error_expect(why, "%s", reason));
}

bool plugin_is_named(const char *name)
{
    return strncmp(name, PLUGIN_PREFIX, strlen(PLUGIN_PREFIX)) == 0;
}

/* ---- the file ---- */

enum { PLUGIN_FILE_MOST = 1 << 30 }; /* bytes */

/* A library that was cut kills the program at its missing pages. The table of sections is written last. */
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
    char *bytes = file != NULL ? node_stream(file, path, PLUGIN_FILE_MOST, &size, why) : NULL;
    bool good = bytes != NULL &&
                (plugin_file_is_whole(bytes, size) || error_set(why, path, 0, "is truncated"));
    if (good) {
        *hash = XXH64(bytes, size, 0);
        *hash += *hash == 0;
    }
    free(bytes);
    if (file != NULL) {
        fclose(file);
    }
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
    plugin->api = dlsym(plugin->library, "spillway_policy");
    if (plugin->api == NULL) {
        error_set(why, file, line, "plug-in '%s' does not export 'spillway_policy'", path);
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

static bool take_params(struct plugin *plugin, const char *file, int line, struct error *why)
{
    const struct spillway_param *given = plugin->api->params;
    for (size_t i = 0; given != NULL && given[i].name != NULL; i++) {
        const struct spillway_param *param = &given[i];
        if (i == SPILLWAY_MOST_PARAMS || !plugin_is_word(param->name) ||
            strcmp(param->name, "name") == 0 || !isfinite(param->least) || !isfinite(param->most) ||
            !(param->value >= param->least && param->value <= param->most)) {
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
    const char *end = api->summary; /* without line breaks or other control characters */
    while (end != NULL && *end != '\0' && !iscntrl((unsigned char)*end)) {
        end++;
    }
    if (!plugin_is_word(api->name) || end == NULL || *end != '\0' || api->create == NULL ||
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
    plugin->kind.size = sizeof(struct spillway_cache);
    plugin->kind.init = plugin_init;
    plugin->kind.access = plugin_access;
    plugin->kind.holds = api->needs_queries ? NULL : plugin_holds;
    plugin->kind.check = plugin_check;
    plugin->kind.release = plugin_release;
    return take_params(plugin, file, line, why);
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
        if (plugin->library != NULL) {
            dlclose(plugin->library);
        }
        free(plugin);
        return NULL;
    }
    return plugin;
}

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
