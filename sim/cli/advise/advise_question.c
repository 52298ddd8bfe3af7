#include "cli/advise/advise_question.h"

#include <stdio.h>
#include <string.h>

#include "cli/report/report.h"
#include "core/node.h"
#include "cli/frame/question.h"
#include "core/units.h"

enum { MOST_GPUS = 1024 };

/* Add "KEY<=VALUE" or "KEY>=VALUE". `option` stated the value. */
static bool add_target(const char *bound, const char *value, int option, struct targets *targets,
                       struct error *why)
{
    struct targets more;
    char text[TARGET_TEXT];
    if (snprintf(text, sizeof text, "%s%s", bound, value) >= (int)sizeof text) {
        error_usage(why, advise_options[option].name, 0, "'%.80s' is too long", value);
        return error_expect(why, "a number with fewer digits");
    }
    if (!targets_parse(text, &more, why)) {
        return false;
    }
    targets->all[targets->count++] = more.all[0];
    return true;
}

/* The time that a request's requests are judged by: "p50:2s" is the median, "2s" the 99th
 * percentile. */
static const struct {
    const char *name, *column;
} percentiles[] = {{"p50", "_p50_ms"}, {"p90", "_p90_ms"}, {"p99", "_p99_ms"}, {"mean", "_ms"}};

/* Read what stands before a ':' and skip it. */
static bool read_percentile(const char **text, const char *option, const char **column,
                            struct error *why)
{
    const char *colon = strchr(*text, ':');
    *column = "_p99_ms";
    if (colon == NULL) {
        return true;
    }
    for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++) {
        size_t length = strlen(percentiles[i].name);
        if ((size_t)(colon - *text) == length && strncmp(*text, percentiles[i].name, length) == 0) {
            *column = percentiles[i].column;
            *text = colon + 1;
            return true;
        }
    }
    error_usage(why, option, 0, "unknown percentile in '%.80s'", *text);
    return error_expect(why, "a time such as 2s, or with p50:, p90:, p99: or mean: before it");
}

static bool add_time(const struct arguments *arguments, int option, bool serves,
                     struct targets *targets, struct error *why)
{
    const char *text = arguments_text(arguments, option), *column = "_ms";
    char bound[TARGET_TEXT];
    double ns;
    if (text == NULL) {
        return true;
    }
    if (serves && !read_percentile(&text, advise_options[option].name, &column, why)) {
        return false;
    }
    if (!units_parse(text, UNIT_NS, NULL, 0, advise_options[option].name, &ns, why)) {
        return error_expect(why, "a time with its unit, such as %s",
                            option == ADVISE_TTFT ? "2s" : "50ms");
    }
    snprintf(bound, sizeof bound, "%s%s<=", option == ADVISE_TTFT ? "ttft" : "tpot", column);
    return add_target(bound, text, option, targets, why);
}

static bool advise_limits_add_mass(const struct arguments *arguments, struct advice_options *out,
                                   struct error *why)
{
    const char *text = arguments_text(arguments, ADVISE_MASS);
    double share;
    out->candidates.allow_lossy = text != NULL;
    if (text != NULL && !units_parse(text, UNIT_SHARE, NULL, 0, "--mass", &share, why)) {
        return false;
    }
    if (text != NULL && share > 1) {
        error_usage(why, NULL, 0, "'--mass' is '%.80s', which is more than 100 %%", text);
        return error_expect(why, "a share such as 95%%");
    }
    return text == NULL || add_target("mass_recall>=", text, ADVISE_MASS, &out->targets, why);
}

static bool advise_limits_read_gpus(const struct arguments *arguments, uint32_t *out,
                                    struct error *why)
{
    const char *text = arguments_text(arguments, ADVISE_GPUS);
    uint64_t gpus = 0;
    bool good = text == NULL ||
                units_parse_whole(text, UNIT_COUNT, MOST_GPUS, NULL, 0, "--gpus", &gpus, why);
    *out = (uint32_t)gpus;
    return good && (text == NULL || gpus > 0 ||
                    (error_usage(why, NULL, 0, "'--gpus' is 0"), error_expect(why, "1 or more")));
}

bool advise_read_limits(const struct arguments *arguments, bool serves, struct advice_options *out,
                        struct error *why)
{
    return add_time(arguments, ADVISE_TPOT, serves, &out->targets, why) &&
           add_time(arguments, ADVISE_TTFT, serves, &out->targets, why) &&
           advise_limits_add_mass(arguments, out, why) &&
           advise_limits_read_gpus(arguments, &out->gpus, why);
}

/* Does a --set state requests? */
static bool advise_set_states_requests(const struct arguments *arguments)
{
    static const char key[] = "workload";
    uint32_t count;
    const char *const *typed = arguments_all(arguments, ADVISE_SET, &count);
    bool states = false;
    for (uint32_t i = 0; i < count; i++) {
        states = states || strncmp(typed[i], key, strlen(key)) == 0;
    }
    return states;
}

void advise_print_made(const struct arguments *arguments, const struct scenario *ran, FILE *out)
{
    char line[TARGET_TEXT + 128];
    const struct node *made = node_stated(ran->root, "workload");
    bool stated =
        arguments_given(arguments, ADVISE_WORKLOAD) || advise_set_states_requests(arguments);
    if (!stated && made != NULL && made->kind == NODE_SCALAR) {
        snprintf(
            line, sizeof line,
            "no --workload: requests are as long as the context, %.*s; --workload states yours",
            TARGET_TEXT, made->text);
        table_line("note: ", line, out);
    }
}

/* Of a database that is kept, only what this program computed. */
bool advise_page(const struct arguments *arguments, struct store *store, const struct result *best,
                 const struct targets *targets, const struct frame *verdict, struct error *why)
{
    const char *path = arguments_text(arguments, ADVISE_HTML);
    const char *database = arguments_text(arguments, ADVISE_DB);
    char note[DATABASE_NOTE], limits[TARGETS_TEXT] = "";
    if (path == NULL) {
        return true;
    }
    struct report_answer answer = {
        .title = verdict->cells[0].text,
        .store = database != NULL ? database_show(database, note, why) : store,
        .verdict = verdict,
        .run = best != NULL ? result_cell(best, COLUMN(run))->text : NULL,
        .targets = targets->count > 0 ? targets_text(targets, limits) : "",
        .database = database,
    };
    bool good = answer.store != NULL && report_answer(&answer, path, why);
    if (answer.store != store) {
        store_close(answer.store);
    }
    return good;
}
