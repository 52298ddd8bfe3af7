/* Names get their canonical spelling here, and are looked up when set. Only `all` reads the folders. */
#include "study/plan/candidates.h"

#include "core/text.h"
#include "decode/mechanism_values.h"
#include "predict/server/serving_memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct candidate_names {
    char **all; /* owned, and each */
    size_t count, capacity;
};

static void names_release(struct candidate_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->all[i]);
    }
    free(names->all);
}

/* Add the first `length` bytes of a text, unless they are there. */
static bool names_add(struct candidate_names *names, const char *name, size_t length,
                      struct error *why)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strncmp(names->all[i], name, length) == 0 && names->all[i][length] == '\0') {
            return true;
        }
    }
    if (!array_reserve(&names->all, &names->capacity, names->count + 1, sizeof *names->all, why)) {
        return false;
    }
    char *copy = strndup(name, length);
    names->all[names->count] = copy;
    names->count += copy != NULL;
    return copy != NULL || error_set(why, NULL, 0, "out of memory: no room for a name");
}

struct set {
    const char *key, *option, *given;
    const struct named_kind *kind;
    bool by_default; /* if nothing is given: all of them */
};

/* Names in their canonical spelling; a path stays as it is. */
static bool split_names(const struct set *set, struct candidate_names *names, struct error *why)
{
    const char *rest = set->given, *name;
    size_t length;
    bool good = true;
    while (good && text_item(&rest, &name, &length)) {
        char one[NAMED_SIZE], canonical[NAMED_SIZE];
        if (length == 0) {
            error_usage(why, set->option, 0, "a name is missing in '%s'", set->given);
            return error_expect(why, "names separated by commas, or all");
        }
        snprintf(one, sizeof one, "%.*s", (int)length, name);
        bool known = length < sizeof one && named_canonical(set->kind, one, canonical);
        good = names_add(names, known ? canonical : name, known ? strlen(canonical) : length, why);
    }
    return good;
}

/* `laid`: the names have to be laid over the scenario, because it does not say them. */
static bool read_set(const struct scenario *scenario, const struct set *set,
                     struct candidate_names *names, bool *laid, struct error *why)
{
    const struct node *said = node_stated(scenario->root, set->key);
    *laid = set->given != NULL || said == NULL;
    if (set->given == NULL &&
        said != NULL) { /* a name, or the map of a machine, which needs none */
        const struct node *extends = node_get(said, "extends");
        const char *name = said->kind == NODE_SCALAR                         ? said->text
                           : extends != NULL && extends->kind == NODE_SCALAR ? extends->text
                                                                             : "as said";
        return names_add(names, name, strlen(name), why);
    }
    if (set->given == NULL && !set->by_default) {
        node_key_error(NULL, set->key, why, "'%s' is missing from the scenario", set->key);
        return error_expect(why, "%s NAME,NAME, or all; or --set %s=NAME", set->option, set->key);
    }
    if (set->given == NULL || strcasecmp(set->given, "all") == 0) {
        return find_names(set->kind->folder, set->kind->suffix, &names->all, &names->count, why);
    }
    return split_names(set, names, why);
}

static bool lay_name(struct scenario *scenario, const struct set *set, const char *name,
                     struct error *why)
{
    struct node *map = node_map(set->option, why);
    struct node *value = map == NULL ? NULL : node_parse(name, strlen(name), set->option, why);
    if (value != NULL) {
        value->line = 0; /* an option has no line */
    }
    bool good = value != NULL && (set->kind != &named_machine || profile_named(value, NULL, why)) &&
                node_put(map, set->key, value, why) && scenario_set(scenario, map, why);
    node_destroy(value);
    node_destroy(map);
    return good;
}

/* The part of a machine that a system keeps prefixes in and its machine does not state; NULL: it
 * states all. A machine that cannot be read is told when its candidate is run. */
static const char *lacked_part(const struct candidate *candidate,
                               const struct mechanisms *mechanisms)
{
    const struct serving_tiers tiers = serving_tiers(mechanisms);
    const char *lacked = NULL;
    struct profile profile;
    struct error unseen;
    if (tiers.of[tiers.count - 1] <= TIER_HOST ||
        !profile_load(sources_files(candidate->scenario.sources),
                      node_get(candidate->scenario.root, "hardware"), &profile, &unseen)) {
        return NULL;
    }
    for (uint32_t k = 1; k < tiers.count && lacked == NULL; k++) {
        enum tier_id tier = tiers.of[k];
        bool stated = tier == TIER_HOST || way_stated(&profile, way_between(tier, TIER_HOST));
        lacked = stated ? NULL : tier_kinds[tier].name;
    }
    profile_release(&profile);
    return lacked;
}

/* Leave a candidate out if its preset, or what its machine lacks, is a reason to. */
static bool check_preset(struct candidate *candidate, const struct candidate_options *options,
                         struct error *why)
{
    struct system_info info;
    const struct node *at = node_get(candidate->scenario.root, "system");
    if (at->kind != NODE_SCALAR) {
        return node_error(at, why, "'system' must be a name");
    }
    struct node *preset;
    struct mechanisms *mechanisms = system_load(sources_files(candidate->scenario.sources),
                                                at->text, at, NULL, &info, &preset, why);
    if (mechanisms == NULL) {
        return false;
    }
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        candidate->mechanisms += node_get(preset, key->name) != NULL;
    }
    candidate->traits = (struct system_traits){
        .starts = info.command[0] != '\0' && !info.reference,
        .native = strcmp(info.lossless, "native") == 0,
        .offloads = mechanisms_stream_weights(mechanisms) ||
                    (mechanisms_offload(mechanisms) && !mechanisms_drop(mechanisms)),
        .tiers = mechanisms_host_prefixes(mechanisms)};
    snprintf(candidate->traits.available, sizeof candidate->traits.available, "%s", info.available);
    snprintf(candidate->traits.where, sizeof candidate->traits.where, "%s", info.where);
    node_destroy(preset);
    const char *lacked = lacked_part(candidate, mechanisms);
    bool code = strcmp(info.available, "code") == 0, paper = strcmp(info.available, "paper") == 0;
    bool serves = info.engine[0] != '\0';
    bool idle = serves && mechanisms->prefix != PREFIX_GPU && !candidate->traits.offloads;
    free(mechanisms);
    const char *reason = options->to_serve && info.reference ? "to compare with, not to serve"
                         : !options->allow_paper && paper    ? "exists on paper only"
                         : options->engines && code          ? "research code, no server"
                         : options->unshared && idle         ? "no prompts begin alike here"
                         : !options->allow_lossy && strcmp(info.lossless, "lossy") == 0 ? "lossy"
                                                                                        : "";
    snprintf(candidate->left_out, sizeof candidate->left_out, "%s%s",
             lacked != NULL ? "the machine states no " : reason, lacked != NULL ? lacked : "");
    return true;
}

void candidate_check(struct candidate *candidate, const struct setup *setup,
                     const struct candidate_options *options)
{
    bool lossy = strcmp(setup_lossless(setup), "lossy") == 0;
    candidate->traits.lacks_indexer = candidate->traits.native && !setup_indexes(setup);
    candidate->traits.starts = candidate->traits.starts && !candidate->traits.lacks_indexer;
    if (!options->allow_lossy && (lossy || candidate->traits.lacks_indexer)) {
        snprintf(candidate->left_out, sizeof candidate->left_out,
                 candidate->traits.lacks_indexer ? "for models with an indexer of their own"
                                                 : "lossy");
    }
}

bool candidates_create(const struct scenario *scenario, const struct candidate_options *options,
                       struct candidate **out, uint32_t *count, struct error *why)
{
    const struct set system = {"system", "--system", options->systems, &named_system, true};
    const struct set machine = {"hardware", "--hardware", options->machines, &named_machine, false};
    struct candidate_names systems = {.count = 0}, machines = {.count = 0};
    bool lay_system, lay_machine;
    *out = NULL;
    *count = 0;
    bool good = read_set(scenario, &system, &systems, &lay_system, why) &&
                read_set(scenario, &machine, &machines, &lay_machine, why) &&
                (*out = array_zeroed(systems.count * machines.count, sizeof **out, why)) != NULL;
    for (size_t i = 0; good && i < systems.count * machines.count; i++) {
        const char *on = machines.all[i / systems.count], *of = systems.all[i % systems.count];
        struct candidate *candidate = &(*out)[(*count)++];
        candidate->system = text_duplicate(of, why);
        candidate->machine = text_duplicate(on, why);
        good = scenario_copy(scenario, &candidate->scenario, why) && candidate->system != NULL &&
               candidate->machine != NULL &&
               (!lay_system || lay_name(&candidate->scenario, &system, of, why)) &&
               (!lay_machine || lay_name(&candidate->scenario, &machine, on, why)) &&
               check_preset(candidate, options, why);
    }
    /* The machine of a server whose file states its pool, if it can only be this one. */
    struct node *own = *count > 0 ? sources_pool(scenario->sources)->setting : NULL;
    if (good && own != NULL && machines.count == 1 && node_get(own, "hardware") == NULL) {
        good = node_put(own, "hardware", node_get((*out)[0].scenario.root, "hardware"), why);
    }
    good = good && prices_set(options->prices, *out, *count, why);
    names_release(&systems);
    names_release(&machines);
    if (!good) {
        candidates_destroy(*out, *count);
        *out = NULL;
        *count = 0;
    }
    return good;
}

void candidates_destroy(struct candidate *candidates, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(candidates[i].system);
        free(candidates[i].machine);
        scenario_release(&candidates[i].scenario);
    }
    free(candidates);
}

const char *candidate_name(const struct candidate *candidate)
{
    bool is_word = strcmp(candidate->system, "none") == 0;
    return is_word ? "vllm without prefix caching" : candidate->system;
}

bool candidates_refuse(const struct candidate *candidates, struct error *why)
{
    error_usage(why, "--system", 0, "every system is left out: %s (%s)", candidates[0].system,
                candidates[0].left_out);
    return error_expect(why, "--allow lossy,paper, or another system");
}

bool prices_set(const char *prices, struct candidate *candidates, uint32_t count, struct error *why)
{
    static const char option[] = "--price";
    const char *item;
    size_t length;
    bool good = true;
    while (good && prices != NULL && text_item(&prices, &item, &length)) {
        char text[512], canonical[NAMED_SIZE];
        double dollars;
        bool there = false;
        snprintf(text, sizeof text, "%.*s", (int)length, item);
        char *equals = length < sizeof text ? strrchr(text, '=') : NULL;
        if (equals == NULL || equals == text) {
            error_usage(why, option, 0, "'%.80s' is no price", text);
            return error_expect(why, "MACHINE=DOLLARS, such as a40=0.44, separated by commas");
        }
        *equals = '\0';
        const char *machine = named_canonical(&named_machine, text, canonical) ? canonical : text;
        good = units_parse(equals + 1, UNIT_COUNT, NULL, 0, option, &dollars, why);
        for (uint32_t i = 0; good && i < count; i++) {
            if (strcmp(candidates[i].machine, machine) == 0) {
                there = true;
                good = node_set(candidates[i].scenario.root, "hardware.price_per_hour", equals + 1,
                                why);
            }
        }
        if (good && !there) {
            error_usage(why, option, 0, "'%s' is none of the machines", machine);
            return error_expect(why, "one of them, such as %s", candidates[0].machine);
        }
    }
    return good;
}
