#include "cli/plan/plan_winner.h"

#include "answer/figures.h"
#include "cli/frame/output.h"
#include "answer/table.h"
#include "cli/plan/scenario_yaml.h"
#include "cli/runs/explain.h"
#include "study/plan/server_command.h"

#include <inttypes.h>
#include <stdio.h>

enum { POOL_NOTE = 256 };

bool plan_nearest_explain(const struct planning *planning, struct error *why)
{
    if (planning->nearest == PLANNING_NONE) {
        return true;
    }
    const struct quest *quest = &planning->quests[planning->nearest];
    if (!quest->results[quest->nearest].cells[COLUMN_STEP].set) {
        return true;
    }
    struct scenario nearest;
    bool good = quest_scenario(quest, planning->maximise, quest->nearest, &nearest, why) &&
                explain_print(&nearest, planning->runs, why);
    scenario_release(&nearest);
    return good;
}

/* KV that stays in HBM is on the host, too. */
static void note_host_pool(const struct result *result)
{
    char note[POOL_NOTE], bytes[ANSWER_SIZE];
    const char *held = answer_column(result, COLUMN_DRAM_KV, ANSWER_BYTES, bytes);
    if (result->cells[COLUMN_RESIDENT_SHARE].set && held != NULL) {
        snprintf(note, sizeof note,
                 "the host's pool holds all KV, also what stays in HBM: at least %s", held);
        fputc('\n', stdout);
        table_line("note: ", note, stdout);
    }
}

/* Print the command that starts its server, if it has one. */
static bool plan_winner_print_command(const struct scenario *point, const struct result *result,
                                      struct error *why)
{
    char command[SERVER_COMMAND], note[POOL_NOTE];
    uint64_t pool;
    if (!server_command(point, result, command, &pool, why)) {
        return false;
    }
    if (command[0] != '\0') {
        printf("\nits server:\n\n%s\n", command);
    }
    note_host_pool(result);
    if (pool > 0) {
        snprintf(note, sizeof note,
                 "the KV pool is computed (%" PRIu64 " tokens); a real server may have less. Plan "
                 "again with what its start-up log says: --from LOG, or --set kv_pool_tokens=N",
                 pool);
        fputc('\n', stdout);
        table_line("note: ", note, stdout);
    }
    return true;
}

static bool plan_winner_write_scenario(const struct node *scenario, const char *path,
                                       struct error *why)
{
    struct output output;
    if (path == NULL) {
        fputs("\nits scenario:\n\n", stdout);
        scenario_print_yaml(scenario, stdout);
        return true;
    }
    if (!output_open(path, &output, why)) {
        return false;
    }
    scenario_print_yaml(scenario, output.file);
    return output_commit(&output, why);
}

bool plan_winner_print(const struct planning *planning, const char *path, bool json,
                       struct error *why)
{
    const struct quest *quest = &planning->quests[planning->winner];
    if (path == NULL && json) {
        return true;
    }
    struct scenario point;
    bool good = quest_scenario(quest, planning->maximise, quest->found, &point, why) &&
                plan_winner_write_scenario(point.root, path, why) &&
                (json || plan_winner_print_command(&point, &quest->results[quest->found], why));
    scenario_release(&point);
    return good;
}
