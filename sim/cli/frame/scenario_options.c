/* A server's keys become overrides, as if they were typed before the others. */
#include "cli/frame/scenario_options.h"

#include "core/array.h"
#include "core/text.h"
#include "cli/frame/message.h"
#include "predict/command/server_text.h"
#include "predict/scenario/scenario_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "model=..." */
typedef char override_text[sizeof((struct stated_key *)0)->value + 64];

static void print_key(const char *file, const struct stated_key *key, const char *text)
{
    if (key->line > 0) {
        message_note("%s:%d: %s (%s)", file, key->line, text, key->said);
    } else {
        message_note("%s: %s (%s)", file, text, key->said);
    }
}

/* Options that cannot change the answer share a line. */
static void print_harmless(const char *file, const struct server_unused *unused)
{
    char names[SERVER_UNUSED * (sizeof unused->all[0].name + 2)] = "";
    for (int i = 0; i < unused->count && i < SERVER_UNUSED; i++) {
        if (unused->all[i].harmless) {
            text_append(names, sizeof names, "%s%s", names[0] != '\0' ? ", " : "",
                        unused->all[i].name);
        }
    }
    if (names[0] != '\0') {
        message_note("%s: do not change the answer: %s", file, names);
    }
}

static void print_unused(const char *file, const struct server_unused *unused)
{
    for (int i = 0; i < unused->count && i < SERVER_UNUSED; i++) {
        const struct server_unused_option *option = &unused->all[i];
        if (!option->harmless) {
            message_note("%s:%d: not used: %s", file, option->line, option->name);
        }
    }
    if (unused->count > SERVER_UNUSED) {
        message_note("%s: not used: %d more options", file, unused->count - SERVER_UNUSED);
    }
    print_harmless(file, unused);
}

static bool scenario_options_read_keys(const char *file, struct stated_keys *out, struct error *why)
{
    FILE *in = fopen(file, "r");
    if (in == NULL) {
        return error_set(why, file, 0, "cannot be opened: %s", strerror(errno));
    }
    bool ok = server_text_read(in, file, out, why);
    fclose(in);
    return ok;
}

/* Add what a server's file says to the overrides. */
static bool lay_server(const char *file, override_text texts[STATED_MOST], const char **all,
                       uint32_t *count, struct error *why)
{
    struct stated_keys keys;
    if (!scenario_options_read_keys(file, &keys, why)) {
        return false;
    }
    for (int id = 0; id < STATED_MOST; id++) {
        const struct stated_key *key = &keys.all[id];
        if (key->value[0] != '\0') {
            snprintf(texts[id], sizeof texts[id], "%s=%s", key->key, key->value);
            print_key(file, key, texts[id]);
            all[(*count)++] = texts[id];
        }
    }
    print_unused(file, &keys.unused);
    return true;
}

bool scenario_from_arguments(const struct arguments *arguments, struct scenario *out,
                             struct error *why)
{
    override_text texts[STATED_MOST];
    const char *server = arguments_shared(arguments, "--from");
    uint32_t file_count, set_count, count = 0;
    const char *const *files = arguments_operands(arguments, &file_count);
    const char *const *sets =
        arguments_all(arguments, arguments_number(arguments, "--set"), &set_count);
    const char **all = array_zeroed(STATED_MOST + set_count, sizeof *all, why);
    bool ok = all != NULL && (server == NULL || lay_server(server, texts, all, &count, why));
    for (uint32_t i = 0; ok && i < set_count; i++) {
        all[count++] = sets[i];
    }
    ok = ok && scenario_load(files, file_count, all, count, out, why);
    free(all);
    return ok;
}

/* ---- help ------------------------------------------------------------------------------- */

void scenario_print_keys(FILE *out)
{
    fputs("keys of a scenario (a YAML map):\n", out);
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        fprintf(out, "  %-16s %s; e.g. %s\n", key->name, key->summary, key->example);
    }
}
