#include "decode/error_band.h"

#include "core/files.h"
#include "core/named.h"
#include "core/name.h"
#include "core/node.h"

#include <math.h>
#include <string.h>

const char *const band_figure_names[BAND_FIGURE_COUNT] = {
    [BAND_RATE] = "tok/s", [BAND_TTFT] = "TTFT", [BAND_TPOT] = "TPOT"};

const char *const error_band_classes[SYSTEM_CLASS_COUNT] = {
    [CLASS_BANDWIDTH_BOUND] = "bandwidth-bound",
    [CLASS_GPU_MANAGED] = "gpu-managed",
    [CLASS_CPU_MANAGED] = "cpu-managed",
    [CLASS_DISK] = "disk",
    [CLASS_DRAFTS] = "drafts",
};

static const char *const band_keys[] = {"figures", "sources", "least", "most", "systems", NULL};

static bool read_systems(const struct node *map, struct error_band *out, struct error *why)
{
    const char *names;
    if (node_get(map, "systems") == NULL) {
        return true;
    }
    if (!node_text(map, "systems", &names, why)) {
        return false;
    }
    if (strlen(names) >= sizeof out->systems) {
        return node_key_error(map, "systems", why, "the names are too long");
    }
    strcpy(out->systems, names);
    return true;
}

static bool read_band(const struct node *map, struct error_band *out, struct error *why)
{
    return node_check_keys(map, band_keys, "band", why) &&
           node_whole(map, "figures", UNIT_COUNT, UINT32_MAX, &out->figures, why) &&
           node_whole(map, "sources", UNIT_COUNT, UINT32_MAX, &out->sources, why) &&
           node_quantity(map, "least", UNIT_TIMES, &out->least, why) &&
           node_quantity(map, "most", UNIT_TIMES, &out->most, why) &&
           ((out->least > 0 && out->most > out->least) ||
            node_error(map, why, "a band needs a 'least' above 0x and a 'most' above that")) &&
           read_systems(map, out, why);
}

const struct node *error_bands_open(struct files *files, struct error *why)
{
    char path[4096];
    if (!find_path("scenarios", "error-bands", "yaml", path, sizeof path, why)) {
        return NULL;
    }
    const struct node *file = files_tree(files, path, why);
    if (file != NULL && file->kind != NODE_MAP) {
        node_error(file, why, "error bands are a map of classes");
        files_drop(files, file);
        return NULL;
    }
    return file;
}

bool error_band_read(const struct node *file, const char *name, struct error_band *out,
                     struct error *why)
{
    const struct node *map = node_get(file, name);
    *out = (struct error_band){0};
    return map == NULL || read_band(map, out, why);
}

bool error_band_know(const struct node *file, double measured, struct error_band *band,
                     struct error *why)
{
    double alike = 0, middle = log(band->least * band->most) / 2;
    double half = log(band->most / band->least) / 2;
    if (!node_quantity(file, "alike", UNIT_SHARE, &alike, why)) {
        return false;
    }
    if (!(alike >= 0 && alike < 1)) {
        node_key_error(file, "alike", why, "'alike' is no correlation");
        return error_expect(why, "at least 0%% and below 100%%");
    }
    middle += alike * (log(measured) - middle);
    half *= sqrt(1 - alike * alike);
    band->least = exp(middle - half);
    band->most = exp(middle + half);
    band->figures++;
    band->sources++;
    return true;
}

void error_band_ends(const struct error_band *band, double ends[2])
{
    ends[0] = band->least - 1;
    ends[1] = band->most - 1;
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
