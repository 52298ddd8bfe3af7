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

/* The rest of a text, which is still to be read. */
struct rest {
    const char *text;
    size_t size;
    const char *path;
    int line;
};

static bool refuse_cut(const struct rest *rest, int line, struct error *why)
{
    error_set(why, rest->path, line, "this measured profile is cut off");
    return error_expect(why, "a last line '...'; copy it again, or measure again");
}

static bool skip(struct rest *rest, const char *text)
{
    size_t length = strlen(text);
    if (rest->size < length || memcmp(rest->text, text, length) != 0) {
        return false;
    }
    rest->text += length;
    rest->size -= length;
    rest->line += text[length - 1] == '\n';
    return true;
}

static int last_line(const struct rest *rest)
{
    int line = rest->line;
    for (size_t i = 0; i + 1 < rest->size; i++) {
        line += rest->text[i] == '\n';
    }
    return line;
}

static bool measured_curve_is_whole(const struct rest *rest)
{
    size_t length = strlen(measured_last_line);
    return rest->size > length && rest->text[rest->size - length - 1] == '\n' &&
           memcmp(rest->text + rest->size - length, measured_last_line, length) == 0;
}

static bool check_format(struct rest *rest, struct error *why)
{
    char format[32];
    snprintf(format, sizeof format, "  format: %d\n", MEASURED_FORMAT);
    if (skip(rest, format)) {
        return true;
    }
    size_t length = strcspn(rest->text, "\n");
    error_set(why, rest->path, rest->line, "this measured profile has an unknown format: '%.*s'",
              length < 80 ? (int)length : 80, rest->text);
    return error_expect(why, "format: %d; use the spillway that measured it, or measure again",
                        MEASURED_FORMAT);
}

static bool check_checksum(struct rest *rest, struct error *why)
{
    static const char key[] = "  checksum: ";
    enum { DIGITS = 16 };
    char digits[DIGITS + 1];
    int line = rest->line;
    bool stated = skip(rest, key) && rest->size > DIGITS && rest->text[DIGITS] == '\n';
    if (stated) {
        snprintf(digits, sizeof digits, "%016" PRIx64,
                 measured_checksum(rest->text + DIGITS + 1, rest->size - DIGITS - 1));
    }
    if (!stated || memcmp(rest->text, digits, DIGITS) != 0) {
        error_set(why, rest->path, line, "this measured profile was changed after it was measured");
        return error_expect(why,
                            "figures of your own in a new file, below 'extends: %.200s'; or "
                            "measure again",
                            rest->path);
    }
    return true;
}

bool measured_check_text(const char *text, size_t size, const char *path, bool *measured,
                         struct error *why)
{
    struct rest rest = {text, size, path, 1};
    *measured = skip(&rest, measured_first_line);
    if (!*measured) {
        return true;
    }
    if (!measured_curve_is_whole(&rest)) {
        return refuse_cut(&rest, last_line(&rest), why);
    }
    if (!skip(&rest, "\n") || !skip(&rest, "provenance:\n")) {
        return error_set(why, path, rest.line,
                         "this measured profile does not begin with its "
                         "provenance");
    }
    return check_format(&rest, why) && check_checksum(&rest, why);
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
