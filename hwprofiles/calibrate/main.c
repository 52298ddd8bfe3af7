/* Measures groups and prints what was found: `spillway-calibrate [GROUP...]`, all without names. */
#include "calibrate/group.h"

#include <stdio.h>
#include <string.h>

static bool is_named(const char *name, int count, char *const *names)
{
    bool named = count == 0;
    for (int i = 0; i < count; i++) {
        named = named || strcmp(names[i], name) == 0;
    }
    return named;
}

static bool measure_group(const struct group *group, struct findings *findings, struct error *why)
{
    struct effort effort = effort_quick;
    effort.seconds *= group->share;
    fprintf(stderr, "%s: %s\n", group->name, group->what);
    return group->run(&effort, 1, findings, why);
}

static void print_finding(const struct finding *finding)
{
    printf("%s: %s%s\n", finding->name, finding->count == 0 ? "absent: " : "", finding->note);
    for (uint32_t i = 0; i < finding->count; i++) {
        const struct found_point *point = &finding->points[i];
        char size[32], median[32], low[32], high[32];
        printf("  %12s %12s  %12s to %12s  %u samples%s, drift %+.1f %%, %u stray\n",
               units_format(point->size, UNIT_COUNT, size, sizeof size),
               units_format(point->median, finding->unit, median, sizeof median),
               units_format(point->p10, finding->unit, low, sizeof low),
               units_format(point->p90, finding->unit, high, sizeof high), point->samples,
               point->precise ? "" : " (not precise)", 100 * point->drift, point->stray);
    }
}

int main(int argc, char **argv)
{
    const struct group *const parts[] = {gpu_groups, host_groups};
    struct findings findings = {.all = NULL};
    struct error why;
    char text[2048];
    bool ok = true;
    for (size_t part = 0; part < 2; part++) {
        for (const struct group *group = parts[part]; ok && group->name != NULL; group++) {
            ok =
                !is_named(group->name, argc - 1, argv + 1) || measure_group(group, &findings, &why);
        }
    }
    for (uint32_t i = 0; i < findings.count; i++) {
        print_finding(&findings.all[i]);
    }
    findings_release(&findings);
    if (!ok) {
        error_format(&why, text, sizeof text);
        fprintf(stderr, "spillway: %s\n", text);
        return (int)why.kind;
    }
    return 0;
}
