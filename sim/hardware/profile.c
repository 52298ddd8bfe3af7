/* A profile is a table of curves, one for each row of curves.def, read from a composed machine. */
#include "hardware/profile.h"

#include "hardware/compose.h"
#include "hardware/curve.h"
#include "hardware/locate.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The figure of a curve in a composed machine, NULL when none is stated. */
static const struct node *profile_find_figure(const struct node *machine, const char *name)
{
    char part[16] = "";
    size_t length = strcspn(name, ".");
    memcpy(part, name, length);
    return node_get(node_get(machine, part), name + length + 1);
}

static bool read_curves(struct profile *profile, struct error *why)
{
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const struct node *figure = profile_find_figure(profile->node, curve_kinds[id].name);
        if (figure != NULL && !curve_read(figure, id, &profile->curves[id], why)) {
            return false;
        }
    }
    return true;
}

const char profile_price_key[] = "price_per_hour";
const char profile_gpus_key[] = "gpus";

enum { MOST_GPUS = 1024 };

static bool profile_read_gpus(struct profile *profile, struct error *why)
{
    const struct node *said = node_get(profile->node, profile_gpus_key);
    if (said == NULL) {
        return true;
    }
    if (!node_whole(profile->node, profile_gpus_key, UNIT_COUNT, MOST_GPUS, &profile->gpus, why)) {
        return false;
    }
    return profile->gpus > 0 || (node_error(said, why, "a machine of 0 '%s'", profile_gpus_key),
                                 error_expect(why, "a whole number from 1 to %d", MOST_GPUS));
}

/* Limits of what a GPU may cost; a price outside them is a slip of the unit (cents, or per
 * year). */
static bool profile_read_price(struct profile *profile, struct error *why)
{
    static const double least = 0.001, most = 10000;
    const struct node *said = node_get(profile->node, profile_price_key);
    double *price = &profile->price_per_hour;
    bool read = node_quantity(profile->node, profile_price_key, UNIT_COUNT, price, why);
    if (said == NULL || (read && *price >= least && *price <= most)) {
        return true;
    }
    if (said->kind == NODE_NULL) {
        node_error(said, why, "'%s' is empty", profile_price_key);
    } else if (read) {
        node_error(said, why, "'%s' is '%.80s', which is out of range", profile_price_key,
                   said->text);
    }
    return error_expect(why, "dollars an hour for one GPU, from %g to %g", least, most);
}

bool profile_load(struct files *files, const struct node *hardware, struct profile *out,
                  struct error *why)
{
    *out = (struct profile){0};
    out->node = machine_compose(files, hardware, out->name, sizeof out->name, &out->takeover, why);
    if (out->node == NULL || !read_curves(out, why) || !profile_read_price(out, why) ||
        !profile_read_gpus(out, why)) {
        profile_release(out);
        return false;
    }
    return true;
}

bool profile_load_named(const char *name, struct profile *out, struct error *why)
{
    struct error unused;
    char text[4096];
    if (strlen(name) >= sizeof text) {
        return error_usage(why, NULL, 0, "the name of the machine is too long");
    }
    strcpy(text, name);
    struct node machine = {.kind = NODE_SCALAR, .text = text};
    size_t part = 0;
    bool whole = profile_named(&machine, NULL, &unused);
    while (!whole && part < PART_COUNT && !profile_named(&machine, part_names[part], &unused)) {
        part++;
    }
    if (whole || part == PART_COUNT) {
        return profile_load(NULL, &machine, out, why);
    }
    struct node *node = node_map("hardware", why);
    bool ok = node != NULL && node_set(node, part_names[part], name, why) &&
              profile_load(NULL, node, out, why);
    node_destroy(node);
    return ok;
}

static enum profile_part profile_part_of(const char *name)
{
    enum profile_part part = MACHINE;
    for (int i = 0; name != NULL && i < PART_COUNT; i++) {
        part = strcmp(part_names[i], name) == 0 ? (enum profile_part)i : part;
    }
    return part;
}

bool profile_named(const struct node *name, const char *part, struct error *why)
{
    char path[4096];
    return locate_profile(name, profile_part_of(part), path, sizeof path, why);
}

bool profile_canonical(const char *name, const char *part, char out[NAMED_SIZE])
{
    return locate_canonical(name, profile_part_of(part), out);
}

void profile_release(struct profile *profile)
{
    for (size_t id = 0; id < CURVE_COUNT; id++) {
        curve_release(&profile->curves[id]);
    }
    node_destroy(profile->node);
    *profile = (struct profile){0};
}

bool profile_states(const struct profile *profile, enum curve_id id)
{
    return profile->curves[id].count > 0;
}

void profile_stated_in(const struct profile *profile, enum curve_id id, char *name, size_t size)
{
    const struct node *figure = profile_find_figure(profile->node, curve_kinds[id].name);
    name[0] = '\0';
    if (figure != NULL) {
        append_profile_name(figure->file, name, size);
    }
}

double profile_value(const struct profile *profile, enum curve_id id, double size,
                     struct trust *trust)
{
    const struct curve *curve = &profile->curves[id];
    if (profile->reads != NULL) {
        profile->reads->of[id] = true;
        return 1;
    }
    if (curve->count == 0 && curve_kinds[id].standard > 0) {
        return curve_kinds[id].standard;
    }
    assert(curve->count > 0);
    struct trust read = {curve->basis, false,
                         curve->basis == BASIS_ASSUMED ? curve_kinds[id].name : NULL};
    double value = curve_value(curve, size, &read.extrapolated);
    trust_add(trust, read);
    return value;
}

size_t profile_reads_list(const struct profile_reads *reads, enum curve_id ids[CURVE_COUNT])
{
    size_t count = 0;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        if (reads->of[id]) {
            ids[count++] = id;
        }
    }
    return count;
}

double profile_time(const struct profile *profile, enum curve_id id, double size,
                    struct trust *trust)
{
    const struct curve *curve = &profile->curves[id];
    double time = profile_value(profile, id, size, trust);
    if (profile->reads != NULL || curve->count < 2 || size <= curve->size[curve->count - 1]) {
        return time;
    }
    const double *sizes = &curve->size[curve->count - 2], *times = &curve->value[curve->count - 2];
    double slope = (times[1] - times[0]) / (sizes[1] - sizes[0]);
    return time + (slope > 0 ? slope * (size - sizes[1]) : 0);
}

/* Does the profile lack a curve in whose place nothing else is read? */
static bool lacks(const struct profile *profile, enum curve_id id)
{
    const struct curve_kind *kind = &curve_kinds[id];
    return !profile_states(profile, id) && kind->standard == 0 && !kind->optional;
}

/* Add a line on each of these curves: "gpu.topk (such as 30us, by elements): top-k over ..." */
static void name_curves(const bool *named, struct error *why)
{
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const struct curve_kind *kind = &curve_kinds[id];
        if (named[id]) {
            error_item(why, "    %s (such as %s%s%s): %s", kind->name, unit_example(kind->unit),
                       kind->axis[0] != '\0' ? ", by " : "", kind->axis, kind->what);
        }
    }
}

/* Find the curves that the profile lacks besides those `needed`, in the same parts of the machine:
 * whoever completes a part for one system asks about the next one soon. Returns their number. */
static size_t find_others(const struct profile *profile, const bool *needed, bool *others)
{
    size_t count = 0;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const char *name = curve_kinds[id].name;
        for (enum curve_id one = 0; one < CURVE_COUNT && !needed[id]; one++) {
            bool same_part = strncmp(name, curve_kinds[one].name, strcspn(name, ".") + 1) == 0;
            others[id] = others[id] || (needed[one] && same_part && lacks(profile, id));
        }
        count += others[id];
    }
    return count;
}

/* The first of the needed curves, and how many more there are: where a message has one line, that
 * is all of it. */
static void name_first(const struct profile *profile, const bool *needed, const char *needed_by,
                       struct error *why)
{
    const char *first = NULL;
    char more[48] = "";
    size_t count = 0;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        first = needed[id] && first == NULL ? curve_kinds[id].name : first;
        count += needed[id];
    }
    if (count > 1) {
        snprintf(more, sizeof more, " and %zu more figure%s", count - 1, count == 2 ? "" : "s");
    }
    error_set(why, NULL, 0, "hardware '%s' does not state '%s'%s, which %s needs", profile->name,
              first, more, needed_by);
}

bool profile_require(const struct profile *profile, const enum curve_id *ids, size_t count,
                     const char *needed_by, struct error *why)
{
    bool needed[CURVE_COUNT] = {false}, others[CURVE_COUNT] = {false}, missing = false;
    for (size_t i = 0; i < count; i++) {
        bool absent = !profile_states(profile, ids[i]) && curve_kinds[ids[i]].standard == 0;
        needed[ids[i]] = absent;
        missing = missing || absent;
    }
    if (!missing) {
        return true;
    }
    name_first(profile, needed, needed_by, why);
    name_curves(needed, why);
    if (find_others(profile, needed, others) > 0) {
        error_item(why, "  nor what other systems need:");
        name_curves(others, why);
    }
    return error_expect(why, "these figures in its file, or in a profile that its parts extend");
}

bool profile_require_basis(const struct profile *profile, const enum curve_id *ids, size_t count,
                           enum basis least, struct error *why)
{
    for (size_t i = 0; i < count; i++) {
        const struct curve *curve = &profile->curves[ids[i]];
        if (curve->count > 0 && curve->basis > least) {
            error_set(why, NULL, 0, "'%s' of hardware '%s' is %s: %s", curve_kinds[ids[i]].name,
                      profile->name, basis_name(curve->basis), curve->source);
            return error_expect(why, "%s%s", basis_name(least),
                                least == BASIS_MEASURED ? "" : " or better");
        }
    }
    return true;
}
