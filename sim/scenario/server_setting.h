/* The settings of vLLM and SGLang by their names, and what their values mean for a scenario. */
#ifndef SCENARIO_SERVER_SETTING_H
#define SCENARIO_SERVER_SETTING_H

#include "scenario/server_text.h"

#include <stdbool.h>

/* What a server says without being a key of its own, behind the facts. */
enum {
    SAID_BLOCKS = FACT_COUNT,
    SAID_BLOCK_TOKENS,
    SAID_PREFIX,
    SAID_EXPERTS,
    SAID_TIERS,
    SAID_RANKS,
    SAID_COUNT
};

enum server_maker { SERVER_UNKNOWN, SERVER_VLLM, SERVER_SGLANG };

/* Everything that was said so far, and where the text is read. A switch has the value "yes" or
 * "no"; the others that of their key. */
struct server_said {
    const char *file;
    int line;
    enum server_maker maker;
    struct server_fact all[SAID_COUNT];
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

/* Take the value that the server gives a setting. None, null and "" say nothing. Fails if the value
 * is invalid. */
bool server_setting_take(const struct server_setting *setting, const char *value,
                         struct server_said *said, struct error *why);

#endif
