#include "decode/error_band.h"

#include "core/files.h"
#include "core/find.h"
#include "core/name.h"
#include "core/node.h"
#include "model/sharding.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIGURES_OF(server, machines)                                                               \
    server " tok/s" machines, server " TTFT" machines, server " TPOT" machines
#define BANDS_OF(server)                                                                           \
    FIGURES_OF(server, ""), FIGURES_OF(server, " (NVLink)"), FIGURES_OF(server, " (PCIe)")

const char *const error_band_names[ERROR_BAND_COUNT + 1] = {
    "bandwidth-bound",
    "gpu-managed",
    "cpu-managed",
    "disk",
    "drafts",
    BANDS_OF("dense server"),
    BANDS_OF("MoE server"),
    BANDS_OF("saturated dense server"),
    BANDS_OF("saturated MoE server"),
};

static_assert(CLASS_BANDWIDTH_BOUND == 0 && CLASS_GPU_MANAGED == 1 && CLASS_CPU_MANAGED == 2 &&
                  CLASS_DISK == 3 && CLASS_DRAFTS == 4 && SYSTEM_CLASS_COUNT == 5,
              "the first names are in the order of the classes");

int error_band_of_server(struct band_server server)
{
    int kind = 2 * (int)server.load + server.experts;
    int machines = kind * (int)BAND_MACHINES_COUNT + (int)server.machines;
    return SYSTEM_CLASS_COUNT + machines * (int)BAND_FIGURE_COUNT + (int)server.figure;
}

static const char *const band_keys[] = {"rows",   "factor", "machines", "systems",
                                        "stands", "median", "below",    NULL};

static bool read_names(const struct node *map, const char *key, char *out, size_t size,
                       struct error *why)
{
    const char *names;
    if (!node_text(map, key, &names, why)) {
        return false;
    }
    if (strlen(names) >= size) {
        return node_key_error(map, key, why, "the names are too long");
    }
    strcpy(out, names);
    return true;
}

static bool read_fallen(const struct node *map, struct error_band *out, struct error *why)
{
    bool stands = true;
    bool good = node_bool(map, "stands", &stands, why) &&
                node_quantity(map, "median", UNIT_TIMES, &out->median, why) &&
                node_whole(map, "below", UNIT_COUNT, UINT32_MAX, &out->below, why);
    out->falls = !stands;
    return good;
}

static bool read_band(const struct node *map, struct error_band *out, struct error *why)
{
    /* A server's figures name no systems. */
    return node_check_keys(map, band_keys, "band", why) &&
           node_whole(map, "rows", UNIT_COUNT, UINT32_MAX, &out->rows, why) &&
           node_quantity(map, "factor", UNIT_TIMES, &out->factor, why) &&
           (out->factor >= 1 || node_error(map, why, "a band needs a 'factor' of at least 1x")) &&
           read_names(map, "machines", out->machines, sizeof out->machines, why) &&
           (node_get(map, "systems") == NULL ||
            read_names(map, "systems", out->systems, sizeof out->systems, why)) &&
           read_fallen(map, out, why);
}

bool error_band_load(struct files *files, struct error_band out[ERROR_BAND_COUNT],
                     struct error *why)
{
    char path[4096];
    memset(out, 0, ERROR_BAND_COUNT * sizeof *out);
    if (!find_path("scenarios", "error-bands", "yaml", path, sizeof path, why)) {
        return false;
    }
    const struct node *file = files_tree(files, path, why);
    bool good = file != NULL && node_check_keys(file, error_band_names, "error bands", why);
    for (int i = 0; good && i < ERROR_BAND_COUNT; i++) {
        const struct node *map = node_get(file, error_band_names[i]);
        good = map == NULL || read_band(map, &out[i], why);
    }
    files_drop(files, file);
    return good;
}

bool error_band_stands(const struct error_band *band)
{
    return band->rows > 0 && !band->falls;
}

void error_band_ends(const struct error_band *band, double ends[2])
{
    ends[0] = 1 / band->factor - 1;
    ends[1] = band->factor - 1;
}

void error_band_machine(const struct setup *setup, char *text, size_t size)
{
    uint32_t gpus = model_gpus(&setup->model);
    if (gpus > 1) {
        snprintf(text, size, "%" PRIu32 " %s", gpus, setup->profile.name);
    } else {
        snprintf(text, size, "%s", setup->profile.name);
    }
}

bool error_band_covers(const struct error_band *band, const char *machine)
{
    return name_listed(band->machines, machine);
}

const char *error_band_system(const struct setup *setup)
{
    const struct mechanisms *m = &setup->mechanisms;
    bool whole = !mechanisms_offload(m) && !mechanisms_select(m) && m->weights >= 1;
    return whole ? "full attention" : setup->system.name;
}

bool error_band_covers_system(const struct error_band *band, const char *system)
{
    return name_listed(band->systems, system);
}
