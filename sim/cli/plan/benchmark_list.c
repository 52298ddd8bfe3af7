/* A list is served twice: once as the question has it, for its times of arrival, and once as the file has it,
 * because what is printed beside a benchmark is what is predicted of the requests that it sends. */
#include "cli/plan/benchmark_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli/frame/output.h"
#include "predict/answer.h"
#include "server/requests/synthetic.h"

enum { PATH = 4096, TEXT = WORKLOAD_PATH + 64 };

/* Requests of a list: as vLLM's client usually sends; as many as come while a server, which begins empty and
 * fills first, answers ten or ends four sessions one after the other; and the most that are worth the time. */
enum { USUAL = 1000, ANSWERS = 10, SESSIONS = 4, MOST = 10000 };

/* Tokens of a hash of prompts that share nothing; Mooncake's. */
enum { UNSHARED_TOKENS = 512 };

static uint64_t list_length(const struct point *point, const struct result *result)
{
    const struct requests *sample = point->requests;
    double answer_s = result_number(result, COLUMN(e2e_ms)) / 1e3, session_s = 0;
    for (size_t i = 0; sample->sessions && i < sample->count; i++) {
        session_s += (double)sample->all[i].think_ns / 1e9 + answer_s;
    }
    session_s /= (double)requests_sessions(sample);
    double length = fmax(ANSWERS * answer_s, SESSIONS * session_s) *
                    result_number(result, COLUMN(requests_in_per_s));
    return length > USUAL ? (uint64_t)fmin(length, MOST) : USUAL;
}

static void remove_keys(struct scenario *scenario, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        scenario_values_remove(&scenario->values, *keys);
    }
}

/* Made-up requests without end become a list; what somebody counted stays as it is. */
static bool set_list(const struct point *point, const struct result *result,
                     struct scenario *scenario, struct error *why)
{
    static const char *const replaced[] = {"prompt", "output", "limit", NULL};
    const struct workload *workload = &point->workload;
    char text[TEXT];
    if (!synthetic_is(workload->path) || synthetic_says(workload->path, "requests")) {
        return true;
    }
    uint64_t count = workload->limit > 0 ? workload->limit : list_length(point, result);
    snprintf(text, sizeof text, "%s,requests=%" PRIu64, workload->path, count);
    remove_keys(scenario, replaced);
    return node_set(scenario->root, "workload", text, why);
}

struct listed {
    int64_t at_ns;
    const struct request *request;
};

static int compare_listed(const void *a, const void *b)
{
    const struct listed *first = a, *second = b;
    int later = (first->at_ns > second->at_ns) - (first->at_ns < second->at_ns);
    return later != 0 ? later
                      : (first->request > second->request) - (first->request < second->request);
}

/* The client makes a prompt of its hashes alone, so that each chunk needs one: a new one if no other has it. */
static void write_listed(const struct requests *requests, const struct listed *listed,
                         uint32_t hash_tokens, uint64_t *fresh, FILE *out)
{
    const struct request *request = listed->request;
    const uint32_t *chunks = request_chunks(requests, request);
    fprintf(out,
            "{\"timestamp\": %lld, \"input_length\": %u, \"output_length\": %u, \"hash_ids\": [",
            llround((double)listed->at_ns / 1e6), request->prompt, request->output);
    for (uint32_t i = 0; i <= (request->prompt - 1) / hash_tokens; i++) {
        fprintf(out, "%s%" PRIu64, i > 0 ? ", " : "", i < request->chunks ? chunks[i] : (*fresh)++);
    }
    fputs("]}\n", out);
}

static bool write_replayed(const struct point *point, const struct result *ran, const char *path,
                           struct benchmark_list *out, struct error *why)
{
    const struct requests *requests = point->requests;
    uint64_t most = point_taken_tokens(point), fresh = requests->ids.count, row = 0;
    struct output file;
    struct listed *listed = array_zeroed(requests->count, sizeof *listed, why);
    out->hash_tokens = requests->chunk_tokens > 0 ? requests->chunk_tokens : UNSHARED_TOKENS;
    if (listed == NULL || !output_open(path, &file, why)) {
        free(listed);
        return false;
    }
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        if (most > 0 && request_tokens(request) > most) {
            continue; /* it was refused, and has no row */
        }
        const struct result_request *served = &ran->requests[row++];
        if (!point->workload.timed || served->end_ns >= 0) {
            int64_t at_ns = point->workload.timed ? served->arrived_ns : 0;
            listed[out->count++] = (struct listed){at_ns, request};
        }
    }
    qsort(listed, out->count, sizeof *listed, compare_listed);
    for (uint64_t i = 0; i < out->count; i++) {
        write_listed(requests, &listed[i], out->hash_tokens, &fresh, file.file);
    }
    free(listed);
    return output_commit(&file, why);
}

/* The same server, which is sent the file. */
static bool set_file(const struct point *point, const char *path, uint32_t hash_tokens,
                     struct scenario *scenario, struct error *why)
{
    static const char *const drawn[] = {"prompt",        "output",    "limit",        "rate",
                                        "burstiness",    "arrivals",  "time_scale",   "clients",
                                        "warm_requests", "warm_rate", "warm_clients", NULL};
    bool clients = point->workload.clients > 0 && !point->requests->sessions;
    remove_keys(scenario, drawn);
    return scenario_values_set(&scenario->values, "hash_tokens", hash_tokens, why) &&
           (!clients || scenario_values_set(&scenario->values, "clients",
                                            (double)point->workload.clients, why)) &&
           node_set(scenario->root, "workload", path, why);
}

/* Run a scenario of one point. The caller releases both; on failure nothing is left. */
static bool run_point(const struct scenario *scenario, const struct run_context *context,
                      struct point *point, struct result *result, struct error *why)
{
    if (!scenario_point(scenario, 0, point, why)) {
        return false;
    }
    bool good = answer_run(point, context, result, why);
    if (!good) {
        point_release(point);
    }
    return good;
}

bool benchmark_list_write(const struct scenario *scenario, const struct point *asked,
                          const struct result *result, const struct run_context *context,
                          const char *folder, struct benchmark_list *out, struct error *why)
{
    char path[PATH];
    struct scenario list, *file = &out->scenario;
    struct point point;
    struct result ran;
    snprintf(path, sizeof path, "%s/%s", folder, BENCHMARK_LIST_FILE);
    *out = (struct benchmark_list){.count = 0};
    bool good = scenario_copy(scenario, &list, why) && set_list(asked, result, &list, why) &&
                run_point(&list, context, &point, &ran, why);
    scenario_release(&list);
    if (!good) {
        return false;
    }
    good = write_replayed(&point, &ran, path, out, why) && scenario_copy(scenario, file, why) &&
           set_file(&point, path, out->hash_tokens, file, why);
    point_release(&point);
    result_release(&ran);
    good = good && run_point(file, context, &point, &out->result, why);
    if (good) {
        point_release(&point);
        good = node_set(file->root, "workload", BENCHMARK_LIST_FILE, why);
    }
    return good;
}

void benchmark_list_release(struct benchmark_list *list)
{
    scenario_release(&list->scenario);
    result_release(&list->result);
}
