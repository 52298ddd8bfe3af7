/* Fuzzes what servers say: bytes are refused with a reason, or give facts that keep the promises of
 * server_text.h: texts that end, whole numbers above 0, shares up to 1; and options without effect
 * have a text and a line each. */
#include "scenario/server_text.h"

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
    struct server_facts facts;
    struct error why = {.found = ""};
    if (!server_text_read(size > 0 ? (const char *)data : "", size, "fuzz", &facts, &why)) {
        require(why.found[0] != '\0');
        return 0;
    }
    for (int id = 0; id < FACT_COUNT; id++) {
        const struct server_fact *fact = &facts.all[id];
        require(memchr(fact->value, '\0', sizeof fact->value) != NULL &&
                memchr(fact->said, '\0', sizeof fact->said) != NULL && fact->line >= 0);
        bool counts = id == FACT_KV_POOL || id == FACT_MAX_SEQUENCES || id == FACT_BATCHED_TOKENS ||
                      (id >= FACT_TENSOR_PARALLEL && id <= FACT_REPLICAS);
        require(fact->value[0] == '\0' || !counts || whole(fact->value));
        require(fact->value[0] == '\0' || id != FACT_HBM_USABLE ||
                (strtod(fact->value, NULL) > 0 && strtod(fact->value, NULL) <= 1));
    }
    for (int i = 0; i < facts.unused.count && i < SERVER_UNUSED; i++) {
        const struct server_unused_option *option = &facts.unused.all[i];
        require(memchr(option->name, '\0', sizeof option->name) != NULL && option->line > 0);
    }
    return 0;
}
