#include "calibrate/measure/provenance.h"

#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* `decides`: two measurements match only if they are equal in this fact. Date and progress may
 * differ. */
static const struct {
    const char *name;
    bool decides;
} rows[FACT_COUNT] = {
    [FACT_SPILLWAY] = {"spillway", true},
    [FACT_DATE] = {"date", false},
    [FACT_EFFORT] = {"effort", true},
    [FACT_SEED] = {"seed", true},
    [FACT_GROUPS] = {"groups", false},
    [FACT_RESTLESS] = {"restless", false},
    [FACT_FROM] = {"from", true},
    [FACT_NOT_MEASURED] = {"not_measured", false},
    [FACT_GPU] = {"gpu", true},
    [FACT_DRIVER] = {"driver", true},
    [FACT_TOOLKIT] = {"toolkit", true},
    [FACT_LINK] = {"link", false}, /* its generation now falls when the GPU idles */
    [FACT_CPU] = {"cpu", true},
    [FACT_CORES] = {"cores", true},
    [FACT_NUMA] = {"numa_nodes", true},
    [FACT_CLOCKS_START] = {"clocks_start", false},
    [FACT_CLOCKS_END] = {"clocks_end", false},
};

const char *fact_name(enum fact fact)
{
    return rows[fact].name;
}

void provenance_set(struct provenance *provenance, enum fact fact, const char *format, ...)
{
    char text[sizeof provenance->facts[0]];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    error_drop_partial(text, strlen(text));
    memcpy(provenance->facts[fact], text, sizeof text);
}

/* The place of a word in a list of words; NULL if the list does not have it. */
static char *provenance_find_word(char *list, const char *word)
{
    size_t length = strlen(word);
    for (char *at = list; *at != '\0';) {
        size_t here = strcspn(at, " ");
        if (here == length && memcmp(at, word, length) == 0) {
            return at;
        }
        at += here + (at[here] == ' ');
    }
    return NULL;
}

bool provenance_has(const struct provenance *provenance, enum fact fact, const char *word)
{
    return provenance_find_word((char *)provenance->facts[fact], word) != NULL;
}

bool provenance_add(struct provenance *provenance, enum fact fact, const char *word)
{
    char *text = provenance->facts[fact];
    size_t used = strlen(text);
    if (provenance_has(provenance, fact, word)) {
        return false;
    }
    snprintf(text + used, sizeof provenance->facts[0] - used, "%s%s", used > 0 ? " " : "", word);
    return true;
}

void provenance_drop(struct provenance *provenance, enum fact fact, const char *word)
{
    char *text = provenance->facts[fact], *at = provenance_find_word(text, word);
    if (at == NULL) {
        return;
    }
    char *rest = at + strlen(word);
    if (*rest == ' ') {
        rest++;
    } else if (at > text) {
        at--; /* the space before the last word */
    }
    memmove(at, rest, strlen(rest) + 1);
}

bool provenance_read(const struct node *node, struct provenance *out, struct error *why)
{
    const char *keys[FACT_COUNT + 3] = {"format", "checksum"};
    *out = (struct provenance){.facts = {""}};
    for (size_t fact = 0; fact < FACT_COUNT; fact++) {
        keys[fact + 2] = rows[fact].name;
    }
    if (!node_check_keys(node, NAMES(keys), "provenance", why)) {
        return false;
    }
    for (size_t fact = 0; fact < FACT_COUNT; fact++) {
        const char *text = "";
        if (!node_text(node, rows[fact].name, &text, why)) {
            return false;
        }
        if (strlen(text) >= sizeof out->facts[fact]) {
            return node_key_error(node, rows[fact].name, why, "'%s' is too long", rows[fact].name);
        }
        text_copy(out->facts[fact], sizeof out->facts[fact], text);
    }
    return true;
}

bool provenance_matches(const struct provenance *a, const struct provenance *b, enum fact *differs)
{
    for (size_t fact = 0; fact < FACT_COUNT; fact++) {
        if (rows[fact].decides && strcmp(a->facts[fact], b->facts[fact]) != 0) {
            *differs = (enum fact)fact;
            return false;
        }
    }
    return true;
}
