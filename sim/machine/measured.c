#include "machine/measured.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

const char measured_first_line[] =
    "# Measured by 'spillway calibrate'. Figures of your own go into "
    "a new file that extends this one.";
const char measured_last_line[] = "...\n";

uint64_t measured_checksum(const char *text, size_t size)
{
    return XXH64(text, size, 0);
}

/* The lines before the checksum are those of this program. */
static bool check_head(const char *text, size_t size, const char *path, struct error *why)
{
    enum { DIGITS = 16 };
    char head[256], digits[DIGITS + 2];
    size_t length = (size_t)snprintf(
        head, sizeof head, "%s\nprovenance:\n  format: %d\n  checksum: ", measured_first_line,
        MEASURED_FORMAT);
    size_t begin = length + DIGITS + 1;
    if (size < begin || memcmp(text, head, length) != 0) {
        error_set(why, path, 3, "this measured profile has an unknown format");
        return error_expect(why, "format: %d; use the spillway that measured it, or measure again",
                            MEASURED_FORMAT);
    }
    snprintf(digits, sizeof digits, "%016" PRIx64 "\n",
             measured_checksum(text + begin, size - begin));
    if (memcmp(text + length, digits, DIGITS + 1) != 0) {
        error_set(why, path, 4, "this measured profile was changed after it was measured");
        return error_expect(why,
                            "figures of your own in a new file, below 'extends: %.200s'; or "
                            "measure again",
                            path);
    }
    return true;
}

bool measured_check_text(const char *text, size_t size, const char *path, bool *measured,
                         struct error *why)
{
    size_t begin = strlen(measured_first_line), end = strlen(measured_last_line);
    int line = 1;
    *measured = size >= begin && memcmp(text, measured_first_line, begin) == 0;
    if (!*measured) {
        return true;
    }
    if (size > end && text[size - end - 1] == '\n' &&
        memcmp(text + size - end, measured_last_line, end) == 0) {
        return check_head(text, size, path, why);
    }
    for (size_t i = 0; i + 1 < size; i++) {
        line += text[i] == '\n';
    }
    error_set(why, path, line, "this measured profile is cut off");
    return error_expect(why, "a last line '...'; copy it again, or measure again");
}

static bool check_provenance(const struct node *provenance, struct error *why)
{
    if (provenance->kind != NODE_MAP) {
        return node_error(provenance, why, "'provenance' is not a map");
    }
    for (size_t i = 0; i < provenance->count; i++) {
        const struct node *stated = provenance->children[i];
        if (stated->kind != NODE_SCALAR) {
            node_error(stated, why, "'%s' in 'provenance' is not a text", stated->key);
            return error_expect(why, "%s: \"...\"", stated->key);
        }
    }
    return true;
}

bool measured_check_tree(const struct node *profile, bool measured, struct error *why)
{
    const struct node *provenance = node_get(profile, "provenance");
    const struct node *observed = node_get(profile, "observed");
    if (!measured && (provenance != NULL || observed != NULL)) {
        const struct node *stated = provenance != NULL ? provenance : observed;
        node_error(stated, why,
                   "only a measured profile may have '%s'; this one is not, or was changed",
                   stated->key);
        return error_expect(why,
                            "only gpu, link, host and disk; or the profile as it was measured");
    }
    return provenance == NULL || check_provenance(provenance, why);
}
