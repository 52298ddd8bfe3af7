#include "scenario/machine_places.h"

#include <string.h>

const struct machine_place machine_places[] = {
    {"hardware", NULL},
    {"hardware.gpu", "gpu"},
    {"hardware.link", "link"},
    {"hardware.host", "host"},
    {"hardware.fabric", "fabric"},
    {NULL, NULL},
};

const struct machine_place *machine_place_find(const char *path, size_t length)
{
    const struct machine_place *place = machine_places;
    while (place->path != NULL &&
           (strlen(place->path) != length || strncmp(place->path, path, length) != 0)) {
        place++;
    }
    return place->path != NULL ? place : NULL;
}
