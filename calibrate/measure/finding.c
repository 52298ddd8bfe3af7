#include "calibrate/measure/finding.h"

#include "core/array.h"
#include "core/text.h"
#include "machine/profile.h"

#include <stdlib.h>
#include <string.h>

static struct finding *finding_find(const struct findings *findings, const char *name)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        if (strcmp(findings->all[i].name, name) == 0) {
            return &findings->all[i];
        }
    }
    return NULL;
}

static const struct curve_kind *find_curve(const char *name)
{
    for (size_t id = 0; id < CURVE_COUNT; id++) {
        if (strcmp(curve_kinds[id].name, name) == 0) {
            return &curve_kinds[id];
        }
    }
    return NULL;
}

struct finding *findings_add(struct findings *findings, const char *name, const char *axis,
                             enum unit unit, struct error *why)
{
    struct finding *found = finding_find(findings, name);
    size_t capacity = findings->capacity;
    if (found != NULL) {
        return found;
    }
    if (!array_reserve(&findings->all, &capacity, findings->count + 1, sizeof *findings->all,
                       why)) {
        return NULL;
    }
    findings->capacity = (uint32_t)capacity;
    found = &findings->all[findings->count++];
    const struct curve_kind *curve = find_curve(name);
    *found = (struct finding){.unit = curve != NULL ? curve->unit : unit};
    text_copy(found->name, sizeof found->name, name);
    text_copy(found->axis, sizeof found->axis, curve != NULL ? curve->axis : axis);
    return found;
}

const struct finding *findings_get(const struct findings *findings, const char *name)
{
    return finding_find(findings, name);
}

bool findings_note(struct findings *findings, const char *name, const char *note, struct error *why)
{
    struct finding *found = findings_add(findings, name, "", UNIT_COUNT, why);
    if (found == NULL) {
        return false;
    }
    text_copy(found->note, sizeof found->note, note);
    return true;
}

bool findings_state(struct findings *findings, const char *name, double value, const char *note,
                    struct error *why)
{
    const struct found_point point = {
        .median = value, .p10 = value, .p90 = value, .samples = 1, .precise = true, .drift = 1};
    struct finding *finding = findings_add(findings, name, "", UNIT_COUNT, why);
    return finding != NULL && finding_put(finding, &point, why) &&
           findings_note(findings, name, note, why);
}

bool finding_is_restless(const struct finding *finding)
{
    for (uint32_t i = 0; i < finding->count; i++) {
        if (!finding->points[i].precise && finding->points[i].samples > 1) {
            return true;
        }
    }
    return false;
}

bool finding_is_curve(const struct finding *finding)
{
    return find_curve(finding->name) != NULL;
}

void findings_drop(struct findings *findings, const char *name)
{
    struct finding *found = finding_find(findings, name);
    if (found != NULL) {
        observed_release(found);
        *found = findings->all[--findings->count];
    }
}

bool findings_take(struct findings *to, struct findings *from, struct error *why)
{
    for (uint32_t i = 0; i < from->count; i++) {
        struct finding *moved = &from->all[i];
        struct finding *place = findings_add(to, moved->name, moved->axis, moved->unit, why);
        if (place == NULL) {
            return false;
        }
        observed_release(place);
        *place = *moved;
        *moved = (struct finding){.points = NULL};
    }
    return true;
}

void findings_release(struct findings *findings)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        observed_release(&findings->all[i]);
    }
    free(findings->all);
    *findings = (struct findings){.all = NULL};
}
