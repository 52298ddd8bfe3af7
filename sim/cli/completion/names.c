#include "cli/completion/names.h"

#include "core/find.h"
#include "core/named.h"
#include "decode/mechanisms.h"
#include "model/model.h"
#include "policy/policy.h"
#include "predict/scenario/ensemble.h"
#include "predict/scenario/scenario_keys.h"
#include "server/server_engine.h"

#include <stdlib.h>
#include <string.h>

static const char *const switches[] = {"yes", "no", NULL};
static const char mechanisms[] = "mechanisms.", sweep[] = "sweep.", hardware[] = "hardware.";

/* ---- files and words ---- */

static void names_files(const struct offer *offer, const struct named_kind *kind)
{
    char **names;
    size_t count;
    struct error unread;
    if (!find_names(kind->folder, kind->suffix, &names, &count, &unread)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        offer_name(offer, names[i], "");
        free(names[i]);
    }
    free(names);
}

void names_models(const struct offer *offer)
{
    names_files(offer, &named_model);
}

void names_machines(const struct offer *offer)
{
    names_files(offer, &named_machine);
}

void names_systems(const struct offer *offer)
{
    names_files(offer, &named_system);
}

void names_trace_profiles(const struct offer *offer)
{
    names_files(offer, &named_trace_profile);
}

void names_traces(const struct offer *offer)
{
    names_files(offer, &named_trace);
    offer_name(offer, ENSEMBLE_NAME, "");
}

void names_workloads(const struct offer *offer)
{
    names_files(offer, &named_workload);
    offer_name(offer, "synthetic:prompt", "=");
    offer_name(offer, "synthetic:lengths", "=");
}

void names_policies(const struct offer *offer)
{
    for (const struct policy_kind *const *policy = policies; *policy != NULL; policy++) {
        offer_name(offer, (*policy)->name, "");
    }
}

void names_dtypes(const struct offer *offer)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        offer_name(offer, dtype_name((enum dtype)i), "");
    }
}

/* ---- values of keys ---- */

static void names_of_mechanism(const struct offer *offer, const char *key)
{
    const struct mechanism_key *row = mechanism_keys;
    while (row->name != NULL && strcmp(row->name, key) != 0) {
        row++;
    }
    if (row->name == NULL) {
        return;
    }
    offer_names(offer, row->type == MECHANISM_SWITCH ? switches : row->values);
    if (row->type == MECHANISM_POLICY) {
        names_policies(offer);
    }
}

static void names_engines(const struct offer *offer)
{
    struct error unread;
    const char *const *names = server_engine_names(&unread);
    if (names != NULL) {
        offer_names(offer, names);
    }
}

static void names_of_part(const struct offer *offer, const char *part)
{
    for (size_t i = 0; named_parts[i] != NULL; i++) {
        if (strcmp(named_parts[i]->what, part) == 0) {
            names_files(offer, named_parts[i]);
        }
    }
}

static void names_of_key(const struct offer *offer, const struct scenario_key *key)
{
    offer_names(offer, key->shape == SCENARIO_SWITCH ? switches : key->words);
    if (key->shape == SCENARIO_NAME && key->named == &named_workload) {
        names_workloads(offer);
    } else if (key->shape == SCENARIO_NAME) {
        names_files(offer, key->named);
    } else if (key->shape == SCENARIO_MACHINE) {
        names_machines(offer);
    } else if (key->shape == SCENARIO_ENGINE) {
        names_engines(offer);
    } else if (key->shape == SCENARIO_TRACE) {
        names_traces(offer);
        names_trace_profiles(offer);
    }
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The values of a key by its path, without "sweep.". */
static void names_of_path(const struct offer *offer, const char *path)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    if (key != NULL) {
        names_of_key(offer, key);
    } else if (begins_with(path, "dtype.")) {
        names_dtypes(offer);
    } else if (begins_with(path, hardware)) {
        names_of_part(offer, path + strlen(hardware));
    } else {
        names_of_mechanism(offer, path + (begins_with(path, mechanisms) ? strlen(mechanisms) : 0));
    }
}

static void names_of_setting(const struct offer *offer)
{
    char path[128];
    const char *part = offer_part(offer);
    part += begins_with(part, sweep) ? strlen(sweep) : 0;
    size_t length = strcspn(part, "=");
    if (length < sizeof path) {
        memcpy(path, part, length);
        path[length] = '\0';
        const struct offer value = {offer->out, offer->word,
                                    (size_t)(part + length + 1 - offer->word)};
        const struct offer item = offer_behind(&value, "[, ");
        names_of_path(&item, path);
    }
}

/* ---- keys ---- */

/* Those of maps are offered once their map is typed: there are many. */
static void names_of_keys(const struct offer *offer, const char *ending)
{
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        bool map = key->shape == SCENARIO_MECHANISMS || key->shape == SCENARIO_SWEEP ||
                   key->shape == SCENARIO_CONFIG;
        offer_name(offer, key->name, map ? "." : ending);
    }
}

static void names_of_mechanisms(const struct offer *offer, const char *ending)
{
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        offer_name(offer, key->name, ending);
    }
}

static void names_of_parts(const struct offer *offer, const char *ending)
{
    for (size_t i = 0; named_parts[i] != NULL; i++) {
        offer_name(offer, named_parts[i]->what, ending);
    }
}

void names_settings(const struct offer *offer)
{
    static const struct {
        const char *map;
        void (*names)(const struct offer *, const char *ending);
    } maps[] = {{mechanisms, names_of_mechanisms}, {hardware, names_of_parts}};
    const char *part = offer_part(offer);
    struct offer inside = *offer;
    if (strchr(part, '=') != NULL) {
        names_of_setting(offer);
        return;
    }
    inside.kept += begins_with(part, sweep) ? strlen(sweep) : 0;
    const char *ending = inside.kept > offer->kept ? "=[" : "=";
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        if (begins_with(offer_part(&inside), maps[i].map)) {
            inside.kept += strlen(maps[i].map);
            maps[i].names(&inside, ending);
            return;
        }
    }
    names_of_keys(&inside, ending);
}

void names_axes(const struct offer *offer)
{
    if (strchr(offer_part(offer), '=') != NULL) {
        names_of_setting(offer);
        return;
    }
    names_of_keys(offer, "");
    names_of_mechanisms(offer, "");
    offer_name(offer, "link", "");
}
