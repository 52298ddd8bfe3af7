/* Fuzzes what servers say: bytes are refused with a reason, or give keys that keep the promises of
 * server_text.h: texts that end, whole numbers above 0, shares up to 1; and options without effect
 * have a text and a line each. */
#include "predict/command/server_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static bool whole(const char *text)
{
    return text[0] != '0' && strspn(text, "0123456789") == strlen(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stated_keys keys;
    struct error why = {.found = ""};
    FILE *in = fmemopen((void *)data, size, "r");
    require(in != NULL || size == 0);
    bool manifest =
        size > 0 && strchr("ask", (char)data[0]) != NULL; /* apiVersion, services, kind */
    bool read =
        in != NULL && server_text_read(in, manifest ? "fuzz.yaml" : "fuzz", NULL, 0, &keys, &why);
    if (in != NULL) {
        fclose(in);
    }
    if (!read) {
        require(size == 0 || why.found[0] != '\0');
        return 0;
    }
    for (int id = 0; id < STATED_MOST; id++) {
        const struct stated_key *key = &keys.all[id];
        require(memchr(key->value, '\0', sizeof key->value) != NULL &&
                memchr(key->said, '\0', sizeof key->said) != NULL && key->line >= 0);
        bool counts = id == STATED_KV_TOKENS || id == STATED_KV_BLOCKS ||
                      id == STATED_MAX_SEQUENCES || id == STATED_BATCHED_TOKENS ||
                      (id >= STATED_TENSOR_PARALLEL && id <= STATED_REPLICAS);
        require(key->value[0] == '\0' || !counts || whole(key->value));
        require(key->value[0] == '\0' || id != STATED_HBM_USABLE ||
                (strtod(key->value, NULL) > 0 && strtod(key->value, NULL) <= 1));
    }
    for (const struct server_unused *of = keys.unused; of->reason != NULL; of++) {
        require(memchr(of->names, '\0', sizeof of->names) != NULL);
    }
    return 0;
}
