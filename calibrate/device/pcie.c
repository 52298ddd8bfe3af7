#include "calibrate/device/pcie.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PCI Express Base Specification 6.0: transfers a second on a lane, and the line code's share of
 * payload bits (8b/10b, 128b/130b, flits of 242 in 256 bytes). */
static const struct {
    uint32_t generation;
    double gigatransfers, payload;
} generations[] = {
    {1, 2.5, 0.8},        {2, 5, 0.8},          {3, 8, 128.0 / 130},
    {4, 16, 128.0 / 130}, {5, 32, 128.0 / 130}, {6, 64, 242.0 / 256},
};

#define GENERATIONS (sizeof generations / sizeof *generations)

uint32_t pcie_generation(const char *speed)
{
    char *end;
    double gigatransfers = strtod(speed, &end);
    while (isspace((unsigned char)*end)) {
        end++;
    }
    for (size_t i = 0; strncmp(end, "GT/s", 4) == 0 && i < GENERATIONS; i++) {
        if (generations[i].gigatransfers == gigatransfers) {
            return generations[i].generation;
        }
    }
    return 0;
}

double pcie_rate(struct pcie_link link)
{
    for (size_t i = 0; i < GENERATIONS; i++) {
        if (generations[i].generation == link.generation) {
            return generations[i].gigatransfers * 1e9 * generations[i].payload / 8 * link.lanes;
        }
    }
    return 0;
}

static bool pcie_read_line(const char *root, const char *device, const char *name, char *text,
                           int size)
{
    char path[512];
    text[0] = '\0';
    if (snprintf(path, sizeof path, "%s/bus/pci/devices/%s/%s", root, device, name) >=
        (int)sizeof path) {
        return false;
    }
    FILE *file = fopen(path, "r");
    bool ok = file != NULL && fgets(text, size, file) != NULL;
    if (file != NULL) {
        fclose(file);
    }
    return ok;
}

static bool read_link(const char *root, const char *device, const char *which,
                      struct pcie_link *link)
{
    char name[32], speed[64], width[64];
    snprintf(name, sizeof name, "%s_link_speed", which);
    bool ok = pcie_read_line(root, device, name, speed, sizeof speed);
    snprintf(name, sizeof name, "%s_link_width", which);
    ok = ok && pcie_read_line(root, device, name, width, sizeof width);
    if (ok) {
        unsigned long lanes = strtoul(width, NULL, 10);
        *link = (struct pcie_link){pcie_generation(speed), lanes <= 32 ? (uint32_t)lanes : 0};
    }
    return ok && link->generation > 0 && link->lanes > 0;
}

bool pcie_read(const char *root, const char *device, struct pcie_link *now, struct pcie_link *most)
{
    *now = *most = (struct pcie_link){0, 0};
    if (read_link(root, device, "current", now) && read_link(root, device, "max", most)) {
        return true;
    }
    *now = *most = (struct pcie_link){0, 0};
    return false;
}

char *pcie_format(struct pcie_link link, char *text, size_t size)
{
    if (link.generation == 0 || link.lanes == 0) {
        snprintf(text, size, "not known");
    } else {
        snprintf(text, size, "generation %u, %u lane%s", link.generation, link.lanes,
                 link.lanes == 1 ? "" : "s");
    }
    return text;
}
