#include "study/ablate/difference.h"

#include "core/text.h"
#include "decode/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAME = DIFFERENCE_MOST };
#define NONE UINT32_MAX

/* ---- groups of keys ---- */

/* Number the groups in which the two differ, in the order of the table. */
static bool find_groups(struct difference *difference, struct error *why)
{
    const char *groups[DIFFERENCE_MOST];
    const struct mechanism_key *key = mechanism_keys;
    for (size_t i = 0; key->name != NULL; i++, key++) {
        uint8_t group = 0;
        difference->of_key[i] = SAME;
        if (mechanism_same(key, &difference->base, &difference->system)) {
            continue;
        }
        while (group < difference->count && strcmp(groups[group], key->group) != 0) {
            group++;
        }
        if (group == difference->count && difference->count == DIFFERENCE_MOST) {
            return error_set(why, NULL, 0, "the systems differ in more than %d mechanisms",
                             DIFFERENCE_MOST);
        }
        groups[group] = key->group;
        difference->count += group == difference->count;
        difference->of_key[i] = group;
    }
    return true;
}

/* ---- sets ---- */

uint32_t difference_all(const struct difference *difference)
{
    return (1u << difference->count) - 1;
}

struct mechanisms difference_with(const struct difference *difference, uint32_t set)
{
    struct mechanisms with = difference->base;
    for (size_t i = 0; mechanism_keys[i].name != NULL; i++) {
        uint8_t mechanism = difference->of_key[i];
        if (mechanism != SAME && (set >> mechanism & 1) != 0) {
            mechanism_take(&mechanism_keys[i], &with, &difference->system);
        }
    }
    return with;
}

const char *difference_refusal(const struct difference *difference, uint32_t set)
{
    struct mechanisms with = difference_with(difference, set);
    const char *key;
    return mechanisms_contradiction(&with, &key);
}

/* The next larger set with the same number of mechanisms (Gosper); the empty set has none. */
static uint32_t next_of_size(uint32_t set)
{
    uint32_t low = set & -set, up = set + low;
    return set == 0 ? NONE : up | (set ^ up) / low >> 2;
}

/* The first set of `size` others, added near the base or removed near the system, that is valid
 * both without and with `group`; NONE if there is no such set. */
static uint32_t find_of_size(const struct difference *difference, uint32_t group, uint32_t size,
                             bool to_base)
{
    uint32_t all = difference_all(difference), others = (1u << size) - 1;
    for (; others <= all; others = next_of_size(others)) {
        uint32_t set = to_base ? others : all & ~others & ~group;
        if ((others & group) == 0 && difference_refusal(difference, set) == NULL &&
            difference_refusal(difference, set | group) == NULL) {
            return set;
        }
    }
    return NONE;
}

static uint32_t difference_find_nearest(const struct difference *difference, uint32_t group,
                                        bool to_base)
{
    uint32_t set = NONE;
    for (uint32_t size = 0; set == NONE && size < difference->count; size++) {
        set = find_of_size(difference, group, size, to_base);
    }
    return set;
}

/* ---- mechanisms that change together ---- */

/* Merge two mechanisms into the first of them; those after the second move up. */
static void difference_join(struct difference *difference, uint32_t a, uint32_t b)
{
    uint8_t first = (uint8_t)(a < b ? a : b), second = (uint8_t)(a < b ? b : a);
    for (size_t i = 0; mechanism_keys[i].name != NULL; i++) {
        uint8_t *of = &difference->of_key[i];
        *of = *of == second ? first : *of > second && *of != SAME ? (uint8_t)(*of - 1) : *of;
    }
    difference->count--;
}

/* The partner with which a mechanism that cannot change alone needs the fewest others. */
static uint32_t find_partner(const struct difference *difference, uint32_t mechanism)
{
    for (uint32_t size = 0; size + 1 < difference->count; size++) {
        for (uint32_t i = 0; i < difference->count; i++) {
            uint32_t group = 1u << i | 1u << mechanism;
            if (i != mechanism && find_of_size(difference, group, size, true) != NONE) {
                return i;
            }
        }
    }
    return mechanism == 0 ? 1 : 0;
}

/* Join until each can change among some others. This ends: joined into one, all can change, because
 * both systems are valid. */
static void join_all(struct difference *difference)
{
    for (uint32_t i = 0; i < difference->count;) {
        struct difference_mechanism *mechanism = &difference->mechanisms[i];
        mechanism->least = difference_find_nearest(difference, 1u << i, true);
        if (mechanism->least != NONE) {
            mechanism->most = difference_find_nearest(difference, 1u << i++, false);
        } else {
            difference_join(difference, i, find_partner(difference, i));
            i = 0;
        }
    }
}

/* ---- names ---- */

static bool difference_print_value(const struct mechanism_key *key, const struct mechanisms *of,
                                   FILE *out, struct error *why)
{
    char *text = mechanism_text(key, of, why);
    if (text != NULL) {
        fputs(text, out);
    }
    free(text);
    return text != NULL;
}

/* "syncs 1 → 0". */
static bool print_change(const struct difference *difference, size_t row, FILE *out,
                         struct error *why)
{
    const struct mechanism_key *key = &mechanism_keys[row];
    fprintf(out, "%s ", key->name);
    bool good = difference_print_value(key, &difference->base, out, why);
    fputs(" → ", out);
    return good && difference_print_value(key, &difference->system, out, why);
}

/* Print the key that names the group, or the one at `row` if that does not change, and its new
 * value: "sync=gpu". The parameters of a policy would be too long. */
static bool print_label(const struct difference *difference, size_t row, FILE *out,
                        struct error *why)
{
    const char *group = mechanism_keys[row].group;
    size_t head = 0;
    while (strcmp(mechanism_keys[head].name, group) != 0) {
        head++;
    }
    head = difference->of_key[head] == difference->of_key[row] ? head : row;
    const struct mechanism_key *key = &mechanism_keys[head];
    fprintf(out, "%s=", key->name);
    return key->type == MECHANISM_POLICY
               ? fputs(difference->system.policy->name, out) >= 0
               : difference_print_value(key, &difference->system, out, why);
}

static bool print_name(const struct difference *difference, size_t row, FILE *out,
                       struct error *why)
{
    (void)difference;
    (void)why;
    return fputs(mechanism_keys[row].group, out) >= 0;
}

/* Is `row` the first key of its group that the mechanism has in the table? */
static bool opens_group(const struct difference *difference, size_t row)
{
    for (size_t i = 0; i < row; i++) {
        if (difference->of_key[i] == difference->of_key[row] &&
            strcmp(mechanism_keys[i].group, mechanism_keys[row].group) == 0) {
            return false;
        }
    }
    return true;
}

typedef bool (*print_row)(const struct difference *difference, size_t row, FILE *out,
                          struct error *why);

/* Print the mechanism's keys, or the first of each of its groups, separated by ", ". */
static char *print_keys(const struct difference *difference, uint32_t mechanism, bool all,
                        print_row print, struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why);
    for (size_t i = 0; good && mechanism_keys[i].name != NULL; i++) {
        if (difference->of_key[i] == mechanism && (all || opens_group(difference, i))) {
            fputs(ftell(file.out) > 0 ? ", " : "", file.out);
            good = print(difference, i, file.out, why);
        }
    }
    return text_close(&file, good, why);
}

static bool name_all(struct difference *difference, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < difference->count; i++) {
        struct difference_mechanism *mechanism = &difference->mechanisms[i];
        good = (mechanism->name = print_keys(difference, i, false, print_name, why)) != NULL &&
               (mechanism->label = print_keys(difference, i, false, print_label, why)) != NULL &&
               (mechanism->changes = print_keys(difference, i, true, print_change, why)) != NULL;
    }
    return good;
}

const char *difference_names(const struct difference *difference, uint32_t set, bool labels,
                             char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < difference->count && used < size; i++) {
        const struct difference_mechanism *mechanism = &difference->mechanisms[i];
        if ((set >> i & 1) != 0) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     labels ? mechanism->label : mechanism->name);
        }
    }
    return text;
}

bool difference_find(const struct mechanisms *base, const struct mechanisms *system,
                     struct difference *out, struct error *why)
{
    *out = (struct difference){.base = *base, .system = *system};
    if (!find_groups(out, why)) {
        return false;
    }
    join_all(out);
    return name_all(out, why);
}

void difference_release(struct difference *difference)
{
    for (uint32_t i = 0; i < difference->count; i++) {
        free(difference->mechanisms[i].name);
        free(difference->mechanisms[i].label);
        free(difference->mechanisms[i].changes);
    }
    difference->count = 0;
}
