#include "study/ablate/difference.h"

#include "core/text.h"
#include "decode/mechanism_values.h"
#include "decode/system.h"

#include <stdlib.h>
#include <string.h>

enum { SAME = DIFFERENCE_MOST };
#define NONE UINT32_MAX

/* Number the groups in which the two differ, in the order of the table. */
static bool find_groups(struct difference *difference, struct error *why)
{
    const char *groups[DIFFERENCE_MOST];
    const struct mechanism_key *key = mechanism_keys;
    for (size_t i = 0; key->name != NULL; i++, key++) {
        uint8_t group = 0;
        difference->of_key[i] = SAME;
        if (mechanism_same(key, difference->base, difference->system)) {
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

uint32_t difference_all(const struct difference *difference)
{
    return (1u << difference->count) - 1;
}

struct mechanisms difference_with(const struct difference *difference, uint32_t set)
{
    struct mechanisms with = *difference->base;
    for (size_t i = 0; mechanism_keys[i].name != NULL; i++) {
        uint8_t mechanism = difference->of_key[i];
        if (mechanism != SAME && (set >> mechanism & 1) != 0) {
            mechanism_take(&mechanism_keys[i], &with, difference->system);
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

/* The first set of `size` others, near base or system, valid both without and with `group`; or NONE. */
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

static bool mechanism_append_value(const struct mechanism_key *key, const struct mechanisms *of,
                                   char *text, size_t size, struct error *why)
{
    char *value = mechanism_text(key, of, why);
    if (value != NULL) {
        text_append(text, size, "%s", value);
    }
    free(value);
    return value != NULL;
}

/* The key that names the group of the one at `row`, or that one, if its head does not change with it. */
static const struct mechanism_key *head_of(const struct difference *difference, size_t row)
{
    size_t head = 0;
    while (strcmp(mechanism_keys[head].name, mechanism_keys[row].group) != 0) {
        head++;
    }
    return &mechanism_keys[difference->of_key[head] == difference->of_key[row] ? head : row];
}

/* Name a mechanism by the first key of each of its groups, and its changes by all. */
static bool name_mechanism(struct difference *difference, uint32_t number, struct error *why)
{
    struct difference_mechanism *to = &difference->mechanisms[number];
    bool good = true;
    for (size_t i = 0; good && mechanism_keys[i].name != NULL; i++) {
        const struct mechanism_key *key = &mechanism_keys[i];
        if (difference->of_key[i] != number) {
            continue;
        }
        if (!name_listed(to->name, key->group)) {
            name_list_add(to->name, sizeof to->name, key->group);
            /* "sync=gpu". The parameters of a policy would be too long. */
            const struct mechanism_key *head = head_of(difference, i);
            bool policy = head->type == MECHANISM_POLICY;
            text_append(to->label, DIFFERENCE_LABEL, "%s%s=%s", to->label[0] != '\0' ? ", " : "",
                        head->name, policy ? difference->system->policy->name : "");
            good = policy || mechanism_append_value(head, difference->system, to->label,
                                                    DIFFERENCE_LABEL, why);
        }
        text_append(to->changes, sizeof to->changes, "%s%s ", to->changes[0] != '\0' ? ", " : "",
                    key->name);
        good = good &&
               mechanism_append_value(key, difference->base, to->changes, sizeof to->changes, why);
        text_append(to->changes, sizeof to->changes, " → ");
        good = good && mechanism_append_value(key, difference->system, to->changes,
                                              sizeof to->changes, why);
    }
    return good;
}

const char *difference_names(const struct difference *difference, uint32_t set, bool labels,
                             char *text, size_t size)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < difference->count; i++) {
        const struct difference_mechanism *mechanism = &difference->mechanisms[i];
        if ((set >> i & 1) != 0) {
            text_append(text, size, "%s%s", text[0] != '\0' ? ", " : "",
                        labels ? mechanism->label : mechanism->name);
        }
    }
    return text;
}

bool difference_find(struct difference *difference, struct error *why)
{
    if (!find_groups(difference, why)) {
        return false;
    }
    /* Join until each can change among some others. This ends: as one, all can change: both systems are valid. */
    for (uint32_t i = 0; i < difference->count;) {
        struct difference_mechanism *mechanism = &difference->mechanisms[i];
        mechanism->least = difference_find_nearest(difference, 1u << i, true);
        if (mechanism->least != NONE) {
            mechanism->most = difference_find_nearest(difference, 1u << i++, false);
        } else {
            /* Merge two mechanisms into the first of them; those after the second move up. */
            uint32_t b = find_partner(difference, i);
            uint8_t first = (uint8_t)(i < b ? i : b), second = (uint8_t)(i < b ? b : i);
            for (size_t key = 0; mechanism_keys[key].name != NULL; key++) {
                uint8_t *of = &difference->of_key[key];
                *of = *of == second                 ? first
                      : *of > second && *of != SAME ? (uint8_t)(*of - 1)
                                                    : *of;
            }
            difference->count--;
            i = 0;
        }
    }
    bool good = true;
    for (uint32_t i = 0; good && i < difference->count; i++) {
        good = name_mechanism(difference, i, why);
    }
    return good;
}
