/* What is printed beside a benchmark is what is predicted of the requests that it sends, so the file is served.
 * Requests without end are laid as a stream (server/requests/stream.h). A list that somebody counted is served
 * before as the question has it, for its times of arrival. */
#include "cli/plan/benchmark_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/frame/output.h"
#include "predict/answer.h"
#include "predict/server/serving_stream.h"

enum { PATH = 4096 };

/* Requests of a list: as vLLM's client usually sends; as many as come while a server answers ten or ends four
 * sessions one after the other; and the most that are worth the time. */
enum { USUAL = 1000, ANSWERS = 10, SESSIONS = 4, MOST = 10000 };

/* Tokens of a hash of prompts that share nothing; Mooncake's. */
enum { UNSHARED_TOKENS = 512 };

static uint64_t list_length(const struct point *point, const struct result *result)
{
    const struct requests *sample = point->requests;
    double answer_s = result_number(result, COLUMN(e2e_ms)) / 1e3;
    double session_s = sample->sessions ? stream_session_ns(sample, answer_s * 1e9) / 1e9 : 0;
    double length = fmax(ANSWERS * answer_s, SESSIONS * session_s) *
                    result_number(result, COLUMN(requests_in_per_s));
    return length > USUAL ? (uint64_t)fmin(length, MOST) : USUAL;
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

/* The client makes a prompt of its hashes alone, so that each chunk needs one: a new one if no other has it. It
 * counts the time of what is measured from 0. */
static void write_listed(const struct requests *requests, const struct listed *listed,
                         const struct benchmark_list *list, uint64_t *fresh, FILE *out)
{
    const struct request *request = listed->request;
    const uint32_t *chunks = request_chunks(requests, request);
    double at_ms = (double)listed->at_ns / 1e6, since_ms = at_ms - (double)list->warm_ns / 1e6;
    fprintf(out, "{\"timestamp\": %lld, ", llround(at_ms));
    if (list->warm > 0) {
        fprintf(out, "\"" BENCHMARK_LIST_SINCE "\": %lld, ", llround(fmax(0, since_ms)));
    }
    fprintf(out, "\"input_length\": %u, \"output_length\": %u, \"hash_ids\": [", request->prompt,
            request->output);
    for (uint32_t i = 0; i <= (request->prompt - 1) / list->hash_tokens; i++) {
        fprintf(out, "%s%" PRIu64, i > 0 ? ", " : "", i < request->chunks ? chunks[i] : (*fresh)++);
    }
    fputs("]}\n", out);
}

static bool write_list(const struct requests *requests, const struct listed *listed, uint64_t count,
                       const struct benchmark_list *list, const char *path, struct error *why)
{
    uint64_t fresh = requests->ids.count;
    struct output file;
    if (!output_open(path, &file, why)) {
        return false;
    }
    for (uint64_t i = 0; i < count; i++) {
        write_listed(requests, &listed[i], list, &fresh, file.file);
    }
    return output_commit(&file, why);
}

static bool write_replayed(const struct point *point, const struct result *ran, const char *path,
                           struct benchmark_list *out, struct error *why)
{
    const struct requests *requests = point->requests;
    uint64_t most = point_taken_tokens(point), row = 0;
    struct listed *listed = array_zeroed(requests->count, sizeof *listed, why);
    if (listed == NULL) {
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
    bool good = write_list(requests, listed, out->count, out, path, why);
    free(listed);
    return good;
}

/* The same server, which is sent the file. */
static bool set_file(const char *path, const struct benchmark_list *list, uint64_t clients,
                     uint64_t warm, struct scenario *scenario, struct error *why)
{
    static const char *const drawn[] = {"prompt",        "output",    "limit",        "rate",
                                        "burstiness",    "arrivals",  "time_scale",   "clients",
                                        "warm_requests", "warm_rate", "warm_clients", NULL};
    const struct {
        const char *key;
        uint64_t value;
    } keys[] = {{"hash_tokens", list->hash_tokens},
                {"clients", clients},
                {"warm_requests", warm},
                {"warm_clients", warm > 0 && clients > 0}};
    for (const char *const *key = drawn; *key != NULL; key++) {
        scenario_values_remove(&scenario->values, *key);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i].value > 0 &&
            !scenario_values_set(&scenario->values, keys[i].key, (double)keys[i].value, why)) {
            return false;
        }
    }
    return node_set(scenario->root, "workload", path, why);
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

/* ---- a stream -------------------------------------------------------------------------------
 *
 * Its requests before 0 warm the prefix cache: a server computes their prompts one after another. Those behind come
 * at the question's rate, sessions under way among them, or from its clients. */

/* Requests from 0 up to `end_ns`: a turn comes as long after the last as answers and users take in the mean. */
static uint64_t list_timed(const struct requests *requests, int64_t answer_ns, int64_t end_ns,
                           struct listed *listed)
{
    uint64_t count = 0;
    int64_t at_ns = -1;
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        bool goes_on = request->turn > 0 && at_ns >= 0;
        at_ns = goes_on ? at_ns + answer_ns + request->think_ns : request->arrival_ns;
        if (at_ns >= 0 && at_ns < end_ns) {
            listed[count++] = (struct listed){at_ns, request};
        }
    }
    qsort(listed, count, sizeof *listed, compare_listed);
    return count;
}

/* List what is measured: so many requests of clients, or those of as long as that many take to come. */
static void list_measured(const struct requests *requests, const struct request_stream *stream,
                          const struct point *laid, const struct stream_stage *stage,
                          struct listed *listed, struct benchmark_list *out)
{
    double lasts_ns = (double)stage->requests / laid->workload.rate * 1e9;
    if (laid->workload.clients > 0) { /* whose first requests have parts of their answers to come */
        size_t i = stream->first - laid->workload.clients;
        for (; i < requests->count && out->count < stage->requests; i++) {
            listed[out->count++] = (struct listed){out->warm_ns, &requests->all[i]};
        }
        return;
    }
    out->count = list_timed(requests, stage->answer_ns, llround(lasts_ns), listed);
    /* How many sessions are under way is drawn; the list has the rate of the question. */
    double drawn = (double)out->count / (double)stage->requests;
    for (uint64_t i = 0; i < out->count; i++) {
        listed[i].at_ns = out->warm_ns + llround((double)listed[i].at_ns * drawn);
    }
}

/* Find when each of the requests that warm a server is sent, and when the last is answered. They are served from a
 * file of their own: a path's requests are read once. */
static bool time_warming(const struct scenario *scenario, const struct requests *requests,
                         uint64_t servers, const struct run_context *context, const char *path,
                         struct benchmark_list *out, struct listed *listed, struct error *why)
{
    char alone[PATH + 8];
    struct scenario warming;
    struct point point;
    struct result ran;
    snprintf(alone, sizeof alone, "%s.warm", path);
    bool good = scenario_copy(scenario, &warming, why) &&
                write_list(requests, listed, out->warm, out, alone, why) &&
                set_file(alone, out, servers, 0, &warming, why) &&
                run_point(&warming, context, &point, &ran, why);
    unlink(alone);
    scenario_release(&warming);
    if (!good) {
        return false;
    }
    for (uint64_t i = 0; i < out->warm; i++) {
        const struct result_request *served = &ran.requests[i];
        listed[i].at_ns = served->arrived_ns;
        out->warm_ns = served->end_ns > out->warm_ns ? served->end_ns : out->warm_ns;
    }
    qsort(listed, out->warm, sizeof *listed, compare_listed);
    point_release(&point);
    result_release(&ran);
    return true;
}

/* The client sends turns at times, whoever waits for answers: sessions of clients come as often as they did. */
static struct point laid_point(const struct point *asked, const struct result *result)
{
    struct point laid = *asked;
    laid.workload.rate /= laid.workload.time_scale;
    laid.workload.time_scale = 1;
    if (asked->requests->sessions && asked->workload.clients > 0) {
        laid.workload.clients = 0;
        laid.workload.arrivals = ARRIVALS_CONSTANT;
        laid.workload.rate = result_number(result, COLUMN(requests_in_per_s));
    }
    return laid;
}

static bool write_stream(const struct scenario *scenario, const struct point *asked,
                         const struct result *result, const struct run_context *context,
                         const char *path, struct benchmark_list *out, struct error *why)
{
    const struct point laid = laid_point(asked, result);
    struct serving_memory memory;
    struct request_stream stream;
    struct requests requests;
    size_t refused;
    const struct stream_stage stage = {.requests = list_length(asked, result),
                                       .answer_ns =
                                           llround(result_number(result, COLUMN(e2e_ms)) * 1e6)};
    if (!serving_memory_plan(&laid, context, &memory, why) ||
        !stream_stage_take(&laid, &memory, &stage, &requests, &refused, &stream, why)) {
        return false;
    }
    struct listed *listed = array_zeroed(requests.count, sizeof *listed, why);
    bool keeps = mechanisms_keep_prefixes(asked->setup.mechanisms) && requests.chunk_tokens > 0;
    out->warm = listed != NULL && keeps ? stream.past_count : 0;
    for (uint64_t i = 0; i < out->warm; i++) {
        requests.all[stream.past[i]].output = 1;
        listed[i].request = &requests.all[stream.past[i]];
    }
    bool good =
        listed != NULL && (out->warm == 0 || time_warming(scenario, &requests, point_servers(asked),
                                                          context, path, out, listed, why));
    if (good) {
        list_measured(&requests, &stream, &laid, &stage, listed + out->warm, out);
        good = write_list(&requests, listed, out->warm + out->count, out, path, why);
    }
    free(listed);
    free(requests.all);
    stream_release(&stream);
    return good;
}

static bool write_counted(const struct scenario *scenario, const struct run_context *context,
                          const char *path, struct benchmark_list *out, struct error *why)
{
    struct point point;
    struct result ran;
    bool good = run_point(scenario, context, &point, &ran, why);
    if (good) {
        good = write_replayed(&point, &ran, path, out, why);
        point_release(&point);
        result_release(&ran);
    }
    return good;
}

bool benchmark_list_write(const struct scenario *scenario, const struct point *asked,
                          const struct result *result, const struct run_context *context,
                          const char *folder, struct benchmark_list *out, struct error *why)
{
    char path[PATH];
    struct point point;
    struct scenario *file = &out->scenario;
    const struct requests *sample = asked->requests;
    uint64_t clients = sample->sessions ? 0 : asked->workload.clients;
    snprintf(path, sizeof path, "%s/%s", folder, BENCHMARK_LIST_FILE);
    *out = (struct benchmark_list){.hash_tokens = sample->chunk_tokens > 0 ? sample->chunk_tokens
                                                                           : UNSHARED_TOKENS};
    bool good = serving_is_stream(asked)
                    ? write_stream(scenario, asked, result, context, path, out, why)
                    : write_counted(scenario, context, path, out, why);
    good = good && scenario_copy(scenario, file, why) &&
           set_file(path, out, clients, out->warm, file, why) &&
           run_point(file, context, &point, &out->result, why);
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
