/* Loading a profile in a test, from the text of its description. */
#ifndef TEST_LOAD_PROFILE_H
#define TEST_LOAD_PROFILE_H

#include "base/node.h"
#include "hardware/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Load what `text` (YAML, or a name) says, known as "x.yaml" in messages. */
static inline bool load(const char *text, struct profile *out, struct error *why)
{
    struct node *node = node_parse(text, strlen(text), "x.yaml", why);
    bool loaded = node != NULL && profile_load(node, out, why);
    node_destroy(node);
    return loaded;
}

static inline struct profile load_well(const char *text)
{
    struct profile profile;
    struct error why;
    if (!load(text, &profile, &why)) {
        char message[1024];
        error_format(&why, message, sizeof message);
        fail_msg("%s: %s", text, message);
    }
    return profile;
}

static inline double value_of(const struct profile *profile, enum curve_id id)
{
    struct trust trust = {BASIS_MEASURED, false};
    return profile_value(profile, id, 0, &trust);
}

#endif
