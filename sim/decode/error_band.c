#include "decode/error_band.h"

#include "core/files.h"

#include <math.h>

const char *const band_figure_names[BAND_FIGURE_COUNT] = {
    [BAND_RATE] = "tok/s", [BAND_TTFT] = "TTFT", [BAND_TPOT] = "TPOT"};

const char *const error_band_classes[SYSTEM_CLASS_COUNT] = {
    [CLASS_BANDWIDTH_BOUND] = "bandwidth-bound",
    [CLASS_GPU_MANAGED] = "gpu-managed",
    [CLASS_CPU_MANAGED] = "cpu-managed",
    [CLASS_DISK] = "disk",
    [CLASS_DRAFTS] = "drafts",
};

static const struct node_field band_fields[] = {
    NODE_FIELD("figures", WHOLE, error_band, figures, .unit = UNIT_COUNT, .needed = true),
    NODE_FIELD("sources", WHOLE, error_band, sources, .unit = UNIT_COUNT, .needed = true),
    NODE_FIELD("least", REAL, error_band, least, .unit = UNIT_TIMES, .needed = true),
    NODE_FIELD("most", REAL, error_band, most, .unit = UNIT_TIMES, .needed = true),
    NODE_FIELD("systems", TEXT, error_band, systems),
    {.key = NULL}};

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
    if (map == NULL) {
        return true;
    }
    if (!node_fields_read(map, band_fields, "band", out, why)) {
        return false;
    }
    return (out->least > 0 && out->most > out->least) ||
           node_error(map, why, "a band needs a 'least' above 0x and a 'most' above that");
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

const char *error_band_system(const struct setup *setup)
{
    const struct mechanisms *m = setup->mechanisms;
    bool whole = !mechanisms_offload(m) && !mechanisms_select(m) && !mechanisms_stream_weights(m);
    return whole ? "full attention" : setup->system.name;
}
