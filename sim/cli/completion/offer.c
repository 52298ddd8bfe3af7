#include "cli/completion/offer.h"

#include <string.h>

const char *offer_part(const struct offer *offer)
{
    return offer->word + offer->kept;
}

void offer_name(const struct offer *offer, const char *name, const char *ending)
{
    const char *part = offer_part(offer);
    if (strncmp(name, part, strlen(part)) == 0) {
        fprintf(offer->out, "%.*s%s%s\n", (int)offer->kept, offer->word, name, ending);
    }
}

void offer_names(const struct offer *offer, const char *const *names)
{
    for (; names != NULL && *names != NULL; names++) {
        offer_name(offer, *names, "");
    }
}

struct offer offer_behind(const struct offer *offer, const char *separators)
{
    struct offer behind = *offer;
    for (const char *at = offer_part(offer); *at != '\0'; at++) {
        if (strchr(separators, *at) != NULL) {
            behind.kept = (size_t)(at + 1 - offer->word);
        }
    }
    return behind;
}
