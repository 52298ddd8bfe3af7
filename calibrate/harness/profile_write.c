#include "calibrate/harness/profile_write.h"

#include "core/array.h"
#include "core/text.h"
#include "calibrate/harness/curve_write.h"
#include "machine/measured.h"
#include "machine/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void profile_write_point(const struct finding *finding, const struct found_point *point,
                                FILE *out)
{
    char size[FIGURE_TEXT], drift[FIGURE_TEXT], figures[3][FIGURE_TEXT];
    fprintf(out, "      - [%s, %s, %s, %s, %u, %s, %s, %u]\n",
            size_text(point->size, finding->axis, size),
            figure_text(point->median, finding->unit, figures[0]),
            figure_text(point->p10, finding->unit, figures[1]),
            figure_text(point->p90, finding->unit, figures[2]), point->samples,
            point->precise ? "yes" : "no", figure_text(point->drift, UNIT_SHARE, drift),
            point->stray);
}

static void write_finding(const struct finding *finding, FILE *out)
{
    fprintf(out, "  %s:\n", finding->name);
    if (finding->axis[0] != '\0') {
        fprintf(out, "    axis: %s\n", finding->axis);
    }
    fprintf(out, "    unit: %s\n", unit_word(finding->unit));
    fputs(finding->count > 0 ? "    note: " : "    absent: ", out);
    text_write(finding->note, out);
    fputc('\n', out);
    if (finding->count > 0) {
        fputs("    points:\n", out);
    }
    for (uint32_t i = 0; i < finding->count; i++) {
        profile_write_point(finding, &finding->points[i], out);
    }
}

static int profile_write_compare_names(const void *a, const void *b)
{
    const struct finding *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

/* In the order of their names, not of measurement. */
static bool write_observed(const struct findings *findings, FILE *out, struct error *why)
{
    const struct finding **order = array_zeroed(findings->count, sizeof(struct finding *), why);
    if (order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < findings->count; i++) {
        order[i] = &findings->all[i];
    }
    qsort(order, findings->count, sizeof *order, profile_write_compare_names);
    fputs(findings->count > 0 ? "observed:\n" : "observed: {}\n", out);
    for (uint32_t i = 0; i < findings->count; i++) {
        write_finding(order[i], out);
    }
    free(order);
    return true;
}

static char *observed_text(const struct findings *findings, struct error *why)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        error_set(why, NULL, 0, "out of memory");
        return NULL;
    }
    bool ok = write_observed(findings, out, why);
    if (fclose(out) != 0 && ok) {
        ok = error_set(why, NULL, 0, "out of memory");
    }
    if (!ok) {
        free(text);
        text = NULL;
    }
    return text;
}

static bool read_observed(const struct node *observed, struct findings *out, struct error *why)
{
    for (size_t i = 0; i < (observed != NULL ? observed->count : 0); i++) {
        struct finding finding;
        if (!finding_read(observed->children[i], &finding, why)) {
            return false;
        }
        struct finding *place = findings_add(out, finding.name, finding.axis, finding.unit, why);
        if (place == NULL) {
            finding_release(&finding);
            return false;
        }
        *place = finding;
    }
    return true;
}

/* The findings, rounded as the profile states them. */
static bool profile_write_read_back(const char *text, struct findings *out, struct error *why)
{
    struct node *root = node_parse(text, strlen(text), "observed", why);
    bool ok = root != NULL && read_observed(node_get(root, "observed"), out, why);
    node_destroy(root);
    return ok;
}

static bool write_body(const struct calibration *calibration, const char *observed,
                       const struct findings *rounded, FILE *out, struct error *why)
{
    static const char *const parts[] = {"gpu.", "link.", "host.", "disk."};
    for (size_t fact = 0; fact < FACT_COUNT; fact++) {
        if (calibration->provenance.facts[fact][0] != '\0') {
            fprintf(out, "  %s: ", fact_name((enum fact)fact));
            text_write(calibration->provenance.facts[fact], out);
            fputc('\n', out);
        }
    }
    fputs("extends: ", out);
    text_write(calibration->base, out);
    fputc('\n', out);
    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++) {
        if (!curves_write(rounded, parts[part], out, why)) {
            return false;
        }
    }
    fputs(observed, out);
    fputs("...\n", out);
    return true;
}

static char *body_text(const struct calibration *calibration, size_t *size, struct error *why)
{
    char *body = NULL;
    struct findings rounded = {.all = NULL};
    char *observed = observed_text(&calibration->findings, why);
    FILE *out = observed == NULL ? NULL : open_memstream(&body, size);
    bool ok = out != NULL && profile_write_read_back(observed, &rounded, why) &&
              write_body(calibration, observed, &rounded, out, why);
    if (out != NULL && fclose(out) != 0) {
        ok = error_set(why, NULL, 0, "out of memory");
    }
    if (!ok) {
        free(body);
        body = NULL;
    }
    free(observed);
    findings_release(&rounded);
    return body;
}

bool profile_write(const struct calibration *calibration, FILE *out, struct error *why)
{
    size_t size;
    char *body = body_text(calibration, &size, why);
    if (body == NULL) {
        return false;
    }
    fprintf(out, "%s\nprovenance:\n  format: %d\n  checksum: %016" PRIx64 "\n%s",
            measured_first_line, MEASURED_FORMAT, measured_checksum(body, size), body);
    free(body);
    return true;
}

bool profile_check(const char *profile_name, const char *file, struct error *why)
{
    char text[PATH_MAX];
    text_copy(text, sizeof text, profile_name);
    const struct node name = {.kind = NODE_SCALAR, .file = file, .text = text};
    struct profile profile;
    if (!profile_load(NULL, &name, &profile, why)) {
        return false;
    }
    profile_release(&profile);
    return true;
}

/* Write to the disk, not only to the system's memory. */
bool profile_save(const struct calibration *calibration, const char *path, struct error *why)
{
    FILE *out = fopen(path, "wx");
    if (out == NULL) {
        return error_set(why, path, 0, "cannot be written: %s", strerror(errno));
    }
    bool ok = profile_write(calibration, out, why);
    bool written = fflush(out) == 0 && !ferror(out) && fsync(fileno(out)) == 0;
    written = fclose(out) == 0 && written;
    ok = ok && (written || error_set(why, path, 0, "cannot be written: %s", strerror(errno))) &&
         profile_check(path, "--output", why); /* a path from here, not from the file's folder */
    if (!ok) {
        unlink(path);
    }
    return ok;
}

static bool read_tree(const struct node *root, struct calibration *out, struct error *why)
{
    const char *base = NULL;
    if (!node_text(root, "extends", &base, why)) {
        return false;
    }
    if (base == NULL || strlen(base) >= sizeof out->base) {
        return node_error(root, why, "'extends' is missing, or its name is too long");
    }
    text_copy(out->base, sizeof out->base, base);
    return provenance_read(node_get(root, "provenance"), &out->provenance, why) &&
           read_observed(node_get(root, "observed"), &out->findings, why);
}

bool profile_read(const char *path, struct calibration *out, struct error *why)
{
    size_t size;
    bool measured;
    struct node *root = NULL;
    *out = (struct calibration){.base = ""};
    char *text = node_file(path, &size, why);
    bool ok = text != NULL && measured_check_text(text, size, path, &measured, why) &&
              (measured || error_set(why, path, 0, "not a measured profile")) &&
              (root = node_parse(text, size, path, why)) != NULL &&
              measured_check_tree(root, measured, why) && read_tree(root, out, why);
    node_destroy(root);
    free(text);
    if (!ok) {
        calibration_release(out);
    }
    return ok;
}

void calibration_release(struct calibration *calibration)
{
    findings_release(&calibration->findings);
    *calibration = (struct calibration){.base = ""};
}
