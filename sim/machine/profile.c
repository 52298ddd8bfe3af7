/* A profile is a table of curves, one for each row of curves.def, read from a composed machine. */
#include "machine/profile.h"

#include "core/name.h"
#include "machine/compose.h"
#include "machine/curve.h"
#include "machine/locate.h"

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

/* Complain about these figures: the first with their number, and how to state each. */
static bool refuse_without(const struct profile *profile, const bool *missing,
                           const char *needed_by, struct error *why)
{
    char list[sizeof why->expected - 64] = "", one[64], more[48] = "";
    const char *first = NULL;
    size_t count = 0;
    bool fits = true;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const struct curve_kind *kind = &curve_kinds[id];
        if (missing[id]) {
            snprintf(one, sizeof one, "%s: %s", kind->name, unit_example(kind->unit));
            fits = fits && name_list_append(list, sizeof list, one);
            first = count++ == 0 ? kind->name : first;
        }
    }
    if (count > 1) {
        snprintf(more, sizeof more, " and %zu more figure%s", count - 1, count == 2 ? "" : "s");
    }
    error_set(why, NULL, 0, "hardware '%s' does not state '%s'%s, which %s needs", profile->name,
              first, more, needed_by);
    return error_expect(why, "in its file, or in a profile that its parts extend: %s", list);
}

bool profile_require(const struct profile *profile, const enum curve_id *ids, size_t count,
                     const char *needed_by, struct error *why)
{
    bool missing[CURVE_COUNT] = {false}, any = false;
    for (size_t i = 0; i < count; i++) {
        bool absent = !profile_states(profile, ids[i]) && curve_kinds[ids[i]].standard == 0;
        missing[ids[i]] = absent;
        any = any || absent;
    }
    return !any || refuse_without(profile, missing, needed_by, why);
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
