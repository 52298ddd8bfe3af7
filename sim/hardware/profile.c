/* A profile is a table of curves, one for each row of curves.def, read from a composed machine. */
#include "hardware/profile.h"

#include "hardware/compose.h"
#include "hardware/curve.h"
#include "hardware/locate.h"

#include <assert.h>
#include <string.h>

/* The figure of a curve in a composed machine, NULL when none is stated. */
static const struct node *find_figure(const struct node *machine, const char *name)
{
    char part[16] = "";
    size_t length = strcspn(name, ".");
    memcpy(part, name, length);
    return node_get(node_get(machine, part), name + length + 1);
}

static bool read_curves(struct profile *profile, struct error *why)
{
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const struct node *figure = find_figure(profile->node, curve_kinds[id].name);
        if (figure != NULL && !curve_read(figure, id, &profile->curves[id], why)) {
            return false;
        }
    }
    return true;
}

const char profile_price_key[] = "price_per_hour";

/* Limits of what a GPU may cost; a price outside them is a slip of the unit (cents, or per
 * year). */
static bool read_price(struct profile *profile, struct error *why)
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
    out->node = machine_compose(files, hardware, out->name, sizeof out->name, why);
    if (out->node == NULL || !read_curves(out, why) || !read_price(out, why)) {
        profile_release(out);
        return false;
    }
    return true;
}

bool profile_named(const struct node *name, const char *part, struct error *why)
{
    char path[4096];
    enum part kind = MACHINE;
    for (int i = 0; part != NULL && i < PART_COUNT; i++) {
        kind = strcmp(part_names[i], part) == 0 ? (enum part)i : kind;
    }
    return locate_profile(name, kind, path, sizeof path, why);
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

double profile_value(const struct profile *profile, enum curve_id id, double size,
                     struct trust *trust)
{
    const struct curve *curve = &profile->curves[id];
    if (curve->count == 0 && curve_kinds[id].standard > 0) {
        return curve_kinds[id].standard;
    }
    assert(curve->count > 0);
    struct trust read = {curve->basis, false};
    double value = curve_value(curve, size, &read.extrapolated);
    trust_add(trust, read);
    return value;
}

bool profile_require(const struct profile *profile, const enum curve_id *ids, size_t count,
                     const char *needed_by, struct error *why)
{
    for (size_t i = 0; i < count; i++) {
        const struct curve_kind *kind = &curve_kinds[ids[i]];
        if (!profile_states(profile, ids[i]) && kind->standard == 0) {
            return error_set(why, NULL, 0, "hardware '%s' does not state '%s' (%s), which %s needs",
                             profile->name, kind->name, kind->what, needed_by);
        }
    }
    return true;
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
