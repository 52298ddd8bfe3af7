/* The settings of vLLM and SGLang by their names, and what their values mean for a scenario.
 *
 * What `--from` reads: a setting is a row of server_setting.c, the mark of a log's line one of
 * server_text.c. server_command.c reads a command, server_complete.c says what settings mean
 * together, and server_option.c lists the options that change nothing. */
#ifndef SCENARIO_SERVER_SERVER_SETTING_H
#define SCENARIO_SERVER_SERVER_SETTING_H

#include "scenario/server/server_text.h"

#include <stdbool.h>

/* What a server says without being a key of its own, behind the stated keys. */
enum {
    SAID_BLOCKS = STATED_COUNT,
    SAID_BLOCK_TOKENS,
    SAID_PREFIX,
    SAID_EXPERTS,
    SAID_TIERS,
    SAID_RANKS,
    SAID_RANK_COUNT,
    SAID_DTYPE,
    SAID_EAGER,
    SAID_COUNT
};

enum server_maker { SERVER_UNKNOWN, SERVER_VLLM, SERVER_SGLANG };

/* Everything that was said so far, and where the text is read. A switch has the value "yes" or
 * "no"; the others that of their key. */
struct server_said {
    const char *file;
    int line;
    bool typed;       /* in a command, where 0 is no way to leave a number open */
    int command_line; /* where the command begins; 0: none so far */
    enum server_maker maker;
    struct stated_key all[SAID_COUNT];
    struct server_unused unused;
};

struct server_setting;

/* The setting that has this name; those of a command line without dashes in front, with '_' for
 * '-'. NULL if none has. */
const struct server_setting *server_setting_find(const char *name);
/* Setting number `index`; NULL after the last. */
const struct server_setting *server_setting_at(size_t index);
const char *server_setting_name(const struct server_setting *setting);
/* Does it have no value of its own on a command line? */
bool server_setting_is_switch(const struct server_setting *setting);

/* What its values are, for a message. */
const char *server_setting_expected(const struct server_setting *setting);

/* The option of a command whose name is nearest to `name`, which is none: a used one, or NULL if
 * none is near, or if vLLM or SGLang has an option of this name or one nearer still. */
const char *server_setting_suggest(const char *name);

/* Take the value that the server gives a setting. None, null and "" say nothing. `used` (may be
 * NULL) becomes false if the value is valid but has no counterpart in a scenario. Fails if the
 * value is invalid. */
bool server_setting_take(const struct server_setting *setting, const char *value,
                         struct server_said *said, bool *used, struct error *why);

#endif
