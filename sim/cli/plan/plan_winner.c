/* Below the table: how to run the winner, or what keeps the nearest from the targets. */
#include "cli/plan/plan_report.h"

#include "core/node.h"
#include "core/quote.h"
#include "cli/frame/output.h"
#include "cli/plan/deployment.h"
#include "tables/table.h"
#include "cli/runs/explain.h"
#include "study/plan/server_command.h"

#include <stdio.h>
#include <string.h>

bool plan_nearest_explain(const struct planning *planning, struct error *why)
{
    if (planning->nearest == PLANNING_NONE) {
        return true;
    }
    const struct search *search = &planning->searches[planning->nearest];
    if (!result_cell(&search->results[search->nearest], COLUMN(step_us))->set) {
        return true;
    }
    struct scenario nearest;
    bool good = search_scenario(search, planning->maximise, search->nearest, &nearest, why) &&
                explain_print(&nearest, planning->runs, why);
    scenario_release(&nearest);
    return good;
}

static void plan_winner_print_note(struct note note)
{
    char words[NOTE_WORDS];
    fputc('\n', stdout);
    table_line("note: ", note_write(&note, words, sizeof words), stdout);
}

/* Print the command that starts its server, if it has one. KV that stays in HBM is on the host,
 * too. */
static bool plan_winner_print_command(const struct scenario *point, const struct result *result,
                                      struct error *why)
{
    const struct cell *held = result_cell(result, COLUMN(dram_kv_bytes));
    struct server_command command;
    if (!server_command(point, result, NULL, &command, why)) {
        return false;
    }
    if (command.text[0] != '\0') {
        fputs("\nits server:\n\n", stdout);
        quote_write(QUOTE_LINE, command.text, stdout);
        fputc('\n', stdout);
    }
    if (command.lacks[0] != '\0') {
        printf("\nnot in that command: %s\n", command.lacks);
    }
    if (result_cell(result, COLUMN(resident_share))->set && held->set) {
        plan_winner_print_note(note_host_pool((uint64_t)held->integer));
    }
    if (command.pool > 0) {
        plan_winner_print_note(note_pool_computed(command.pool));
    }
    return true;
}

/* ---- its scenario, as YAML: a line a key ---- */

/* The name of a machine, or of a part, that has no overrides; NULL if it has some. */
static const char *yaml_bare_name(const struct node *node)
{
    const struct node *extends = node_get(node, "extends");
    return extends != NULL && node->count == 1 && extends->kind == NODE_SCALAR ? extends->text
                                                                               : NULL;
}

static void yaml_print_node(const struct node *node, FILE *out)
{
    const char *name = yaml_bare_name(node);
    if (name != NULL || node->kind == NODE_SCALAR) {
        quote_write(QUOTE_YAML, name != NULL ? name : node->text, out);
        return;
    }
    if (node->kind == NODE_NULL) {
        fputs("null", out);
        return;
    }
    fputc(node->kind == NODE_MAP ? '{' : '[', out);
    for (size_t i = 0; i < node->count; i++) {
        fputs(i > 0 ? ", " : "", out);
        if (node->kind == NODE_MAP) {
            quote_write(QUOTE_YAML, node->children[i]->key, out);
            fputs(": ", out);
        }
        yaml_print_node(node->children[i], out);
    }
    fputc(node->kind == NODE_MAP ? '}' : ']', out);
}

static void print_yaml(const struct node *root, FILE *out)
{
    for (size_t i = 0; i < root->count; i++) {
        quote_write(QUOTE_YAML, root->children[i]->key, out);
        fputs(": ", out);
        yaml_print_node(root->children[i], out);
        fputc('\n', out);
    }
}

static bool plan_winner_write_scenario(const struct node *scenario, const char *path,
                                       struct error *why)
{
    struct output output;
    if (path == NULL) {
        fputs("\nits scenario:\n\n", stdout);
        print_yaml(scenario, stdout);
        return true;
    }
    if (!output_open(path, &output, why)) {
        return false;
    }
    print_yaml(scenario, output.file);
    return output_commit(&output, why);
}

bool plan_winner_print(const struct planning *planning, const char *path, bool json,
                       struct error *why)
{
    const struct search *search = &planning->searches[planning->winner];
    if (path == NULL && json) {
        return true;
    }
    struct scenario point;
    bool good = search_scenario(search, planning->maximise, search->found, &point, why) &&
                plan_winner_write_scenario(point.root, path, why) &&
                (json || plan_winner_print_command(&point, &search->results[search->found], why));
    scenario_release(&point);
    return good;
}

bool plan_winner_deploy(const struct planning *planning, const char *folder, struct error *why)
{
    const struct search *search = &planning->searches[planning->winner];
    struct scenario point;
    bool good = search_scenario(search, planning->maximise, search->found, &point, why);
    if (good) {
        good = deployment_write(&(struct deployment){&point, &search->results[search->found], 1},
                                folder, why);
    }
    scenario_release(&point);
    return good;
}
