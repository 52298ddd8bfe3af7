/* What a person should know before they rely on a plan: targets that the error band leaves open,
 * families of recordings that miss them, and what the workload is. */
#include "cli/plan/plan_report.h"

#include "cli/plan/plan_words.h"

#include <string.h>

/* If the error band leaves open whether a run meets a target, say so, with the range. */
static void note_open(const struct search *search, const struct targets *targets,
                      struct runs_notes *notes)
{
    const struct result *result = &search->results[search_shown(search)];
    struct targets open;
    targets_open(targets, result, &open);
    for (uint32_t i = 0; i < open.count; i++) {
        const struct target *target = &open.all[i];
        char low[TARGET_TEXT], high[TARGET_TEXT];
        double least = 0, most = 0;
        target_range(target, result, &least, &most);
        runs_notes_add_note(notes, search->candidate->system,
                            note_target_open(target->text, target_violation(target, result) == 0,
                                             target_format_value(target, least, low),
                                             target_format_value(target, most, high)));
    }
}

/* A target is met if the median family meets it; say where others do not. */
static void note_families(const struct search *search, const struct targets *targets,
                          struct runs_notes *notes)
{
    const struct result *result = &search->results[search->found];
    uint32_t count = result->family_count, met = targets_count_families(targets, result);
    if (met < count) {
        runs_notes_add_note(notes, search->candidate->system, note_families_miss(met, count));
    }
}

void plan_notes_add(const struct planning *planning, const struct targets *targets,
                    struct runs_notes *notes)
{
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        const char *system = search->candidate->system;
        if (search_shown(search) == PLANNING_NONE) {
            continue;
        }
        if (i == planning->winner || i == planning->nearest) {
            note_open(search, targets, notes);
        }
        if (search->found != PLANNING_NONE) {
            note_families(search, targets, notes);
        }
        if (planning->requests > 0) {
            runs_notes_add_note(notes, system, note_requests_extended(planning->requests));
        }
        if (strcmp(search->axis.key, "rate") == 0) {
            runs_notes_add_note(notes, system, note_arrivals_drawn());
        }
        runs_notes_add(notes, &search->results[search_shown(search)]);
    }
}
