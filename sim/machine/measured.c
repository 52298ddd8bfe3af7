#include "machine/measured.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

const char measured_first_line[] =
    "# Measured by 'spillway calibrate'. Figures of your own go into "
    "a new file that extends this one.";

uint64_t measured_checksum(const char *text, size_t size)
{
    return XXH64(text, size, 0);
}

bool measured_check_text(const char *text, size_t size, const char *path, bool *measured,
                         struct error *why)
{
    enum { DIGITS = 16 };
    char head[256], digits[DIGITS + 2] = "";
    size_t first = strlen(measured_first_line);
    size_t length = (size_t)snprintf(
        head, sizeof head, "%s\nprovenance:\n  format: %d\n  checksum: ", measured_first_line,
        MEASURED_FORMAT);
    size_t begin = length + DIGITS + 1;
    *measured = size >= first && memcmp(text, measured_first_line, first) == 0;
    if (size >= begin) {
        snprintf(digits, sizeof digits, "%016" PRIx64 "\n",
                 measured_checksum(text + begin, size - begin));
    }
    if (!*measured || (size >= begin && memcmp(text, head, length) == 0 &&
                       memcmp(text + length, digits, DIGITS + 1) == 0)) {
        return true;
    }
    size_t same = 0; /* what is changed behind the head has no line that is known */
    int line = 1;
    while (same < length && same < size && text[same] == head[same]) {
        line += text[same++] == '\n';
    }
    error_set(why, path, same < length ? line : 0,
              "this measured profile was changed or cut after it was measured");
    return error_expect(why,
                        "the whole file, of this version; figures of your own in a new file, below "
                        "'extends: %.200s'; or measure again",
                        path);
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
    return true;
}
