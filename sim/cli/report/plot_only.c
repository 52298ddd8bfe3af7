/* A key or a value that nothing has is an error, never a selection of nothing. */
#include "cli/report/plot_statement.h"

#include "core/array.h"
#include "core/name.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 512 }; /* a longer value is checked as a whole only */

/* Names that a query gave, with room for the final NULL. */
struct names {
    char **names;
    size_t count, capacity;
};

static void plot_only_release(struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->names[i]);
    }
    free(names->names);
}

static bool plot_only_add_name(uint32_t count, const char *const *columns,
                               const char *const *values, void *context, struct error *why)
{
    struct names *names = context;
    (void)count;
    (void)columns;
    if (!array_reserve(&names->names, &names->capacity, names->count + 2, sizeof *names->names,
                       why)) {
        return false;
    }
    char *copy = strdup(values[0]);
    if (copy == NULL) {
        return error_set(why, NULL, 0, "out of memory: no room for a name");
    }
    names->names[names->count++] = copy;
    names->names[names->count] = NULL;
    return true;
}

/* What the statement gives if it ends with this SELECT. The caller releases the names. */
static bool ask(const struct plot_statement *statement, const char *end, struct store *store,
                struct names *names, struct error *why)
{
    *names = (struct names){.names = NULL};
    char *text = plot_statement_ending(statement, end, why);
    bool ok = text != NULL && store_query(store, text, plot_only_add_name, names, why);
    free(text);
    return ok;
}

static bool has_name(const struct names *names, const char *name, size_t length)
{
    bool has = false;
    for (size_t i = 0; i < names->count; i++) {
        has = has ||
              (strlen(names->names[i]) == length && memcmp(names->names[i], name, length) == 0);
    }
    return has;
}

static bool check_key(const char *text, const struct names *keys, struct error *why)
{
    char given[64] = "";
    size_t length = strcspn(text, "=");
    strncat(given, text, length < sizeof given ? length : sizeof given - 1);
    if (text[length] == '\0') {
        error_usage(why, NULL, 0, "--only: '%s' has no '='", text);
        return error_expect(why, "KEY=VALUE");
    }
    if (has_name(keys, text, length)) {
        return true;
    }
    error_usage(why, NULL, 0, "--only: nothing in the database has a key '%s'", given);
    return keys->count > 0 && name_expect(given, (const char *const *)keys->names, why);
}

/* ---- values ---- */

/* Name the values of the key, or, of what looks like another key's value, how to write that. */
static bool refuse_value(const char *key, const char *value, const struct names *keys,
                         const struct plot_statement *statement, struct store *store,
                         struct error *why)
{
    struct names values;
    const char *one[] = {key};
    struct plot_statement ending = {
        .begin = statement->begin, .only = one, .only_count = 1, .only_whole = true};
    if (!ask(&ending, "SELECT DISTINCT value FROM keyed WHERE key IN (SELECT key FROM only)", store,
             &values, why)) {
        plot_only_release(&values);
        return false;
    }
    error_usage(why, NULL, 0, "--only: nothing that can be drawn has '%s' as its '%.*s'", value,
                (int)strcspn(key, "="), key);
    if (has_name(keys, value, strcspn(value, "=")) && strchr(value, '=') != NULL) {
        error_expect(why, "each key with an --only of its own: --only %s", value);
    } else if (values.count > 0) {
        name_expect(value, (const char *const *)values.names, why);
    }
    plot_only_release(&values);
    return false;
}

/* Does anything have this KEY=VALUE, whose value is taken as a whole? */
static bool find_value(const char *pair, const struct plot_statement *statement,
                       struct store *store, bool *found, struct error *why)
{
    struct names values;
    const char *one[] = {pair};
    struct plot_statement whole = {
        .begin = statement->begin, .only = one, .only_count = 1, .only_whole = true};
    bool ok = ask(&whole, "SELECT value FROM keyed JOIN only USING (key, value) LIMIT 1", store,
                  &values, why);
    *found = values.count > 0;
    plot_only_release(&values);
    return ok;
}

/* Each value of KEY=VALUE,...; a text that something has as a whole is one value. */
static bool check_values(const char *text, const struct names *keys,
                         const struct plot_statement *statement, struct store *store,
                         struct error *why)
{
    size_t length = strcspn(text, "=") + 1, size;
    const char *rest = text + length, *item;
    bool found;
    if (!find_value(text, statement, store, &found, why)) {
        return false;
    }
    while (!found && text_item(&rest, &item, &size)) {
        char pair[TEXT];
        bool has = false;
        int written = snprintf(pair, sizeof pair, "%.*s%.*s", (int)length, text, (int)size, item);
        if (written < 0 || (size_t)written >= sizeof pair ||
            !find_value(pair, statement, store, &has, why) ||
            (!has && !refuse_value(pair, pair + length, keys, statement, store, why))) {
            return false;
        }
    }
    return true;
}

bool plot_only_check(const struct plot_statement *statement, struct store *store, struct error *why)
{
    struct names keys;
    if (statement->only_count == 0) {
        return true;
    }
    bool ok = ask(statement, "SELECT DISTINCT key FROM keyed ORDER BY key", store, &keys, why);
    for (uint32_t i = 0; ok && i < statement->only_count; i++) {
        ok = check_key(statement->only[i], &keys, why);
    }
    for (uint32_t i = 0; ok && i < statement->only_count; i++) {
        ok = check_values(statement->only[i], &keys, statement, store, why);
    }
    plot_only_release(&keys);
    return ok;
}
