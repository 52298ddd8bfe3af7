/* Finds requests by their name, and what they replace in the scenario. */
#include "predict/scenario/resolve_requests.h"

#include "core/named.h"
#include "server/requests/synthetic.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_HASH_TOKENS ((uint64_t)1 << 20)

/* ---- the file ------------------------------------------------------------------------- */

/* The file is read twice, for its hash and then for its lines. A pipe can only be read once. */
static bool check_regular(const struct node *node, struct error *why)
{
    struct stat stat_of;
    if (stat(node->text, &stat_of) != 0 || S_ISREG(stat_of.st_mode)) {
        return true;
    }
    node_error(node, why, "workload '%.100s' is not a regular file", node->text);
    return error_expect(why, "a file that can be read twice, not a folder or a pipe");
}

/* A path, or the name of a workload that ships with the program. */
static bool find_file(const struct node *node, char path[WORKLOAD_PATH], struct error *why)
{
    if (node->kind != NODE_SCALAR) {
        node_error(node, why, "'workload' must be the name of a file");
        return error_expect(why, "the path of a file of requests");
    }
    if (synthetic_is(node->text)) {
        return snprintf(path, WORKLOAD_PATH, "%s", node->text) < WORKLOAD_PATH ||
               node_error(node, why, "the text of the workload is too long");
    }
    if (access(node->text, F_OK) == 0) {
        if (!check_regular(node, why)) {
            return false;
        }
        return snprintf(path, WORKLOAD_PATH, "%s", node->text) < WORKLOAD_PATH ||
               node_error(node, why, "the path of the workload is too long");
    }
    if (named_by_path(node->text, "csv")) {
        return snprintf(path, WORKLOAD_PATH, "%s", node->text) < WORKLOAD_PATH;
    }
    return named_file(&named_workload, node->text, node->file, node->line, path, WORKLOAD_PATH,
                      why);
}

/* Report the first faults with their lines: so many as find room whole. */
static bool show_faults(const struct complaints *complaints, struct error *why)
{
    char text[sizeof why->expected] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < complaints_shown(complaints); i++) {
        const struct error *fault = &complaints->shown[i];
        size_t length = (size_t)snprintf(text + used, sizeof text - used, "%sline %d: %s",
                                         i > 0 ? "; " : "none, but ", fault->line, fault->found);
        if (length >= sizeof text - used) {
            text[used] = '\0';
            break;
        }
        used += length;
    }
    return used == 0 ? false : error_expect(why, "%s", text);
}

/* Tokens of a hash mean nothing in a file without hashes. */
static bool check_hashes(const struct node *root, const struct requests *requests,
                         struct error *why)
{
    const struct node *node = node_stated(root, "hash_tokens");
    if (node == NULL || requests->chunk_tokens > 0) {
        return true;
    }
    node_error(node, why, "'hash_tokens' for a workload without hashes");
    return error_expect(why, "no 'hash_tokens', or a workload with 'hash_ids' or 'input_tok_ids'");
}

const struct requests *requests_find(const struct node *root, struct sources *sources,
                                     char path[WORKLOAD_PATH], struct error *why)
{
    struct complaints complaints = {.count = 0};
    uint64_t limit = 0, hash_tokens = 0, seed = 1;
    const struct node *workload = node_get(root, "workload");
    if (!node_whole(root, "limit", UNIT_COUNT, UINT32_MAX, &limit, why) ||
        !node_whole(root, "hash_tokens", UNIT_TOKENS, MOST_HASH_TOKENS, &hash_tokens, why) ||
        !node_whole(root, "seed", UNIT_COUNT, UINT64_MAX, &seed, why) ||
        !find_file(workload, path, why)) {
        return NULL;
    }
    bool made = synthetic_is(path);
    const struct requests_options options = {
        .limit = limit, .hash_tokens = (uint32_t)hash_tokens, .seed = made ? seed : 0};
    const struct requests *requests = sources_requests(sources, path, &options, &complaints, why);
    if (requests == NULL) {
        show_faults(&complaints, why);
        if (made) {
            snprintf(why->file, sizeof why->file, "%s", workload->file);
            why->line = workload->line;
        }
        return NULL;
    }
    return check_hashes(root, requests, why) ? requests : NULL;
}

/* ---- the context ---------------------------------------------------------------------- */

/* Of the requests with at most `most` tokens; 0 if there are none. */
static uint64_t resolve_requests_mean_context(const struct requests *requests, uint64_t most)
{
    uint64_t tokens = 0, count = 0;
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        if (request_tokens(request) <= most) {
            tokens += request->prompt + (request->output + 1) / 2;
            count++;
        }
    }
    return count > 0 ? (tokens + count / 2) / count : 0;
}

/* The same for the requests that the scenario's server takes. */
static bool resolve_requests_find_context(const struct node *root, const struct requests *requests,
                                          uint64_t *context, struct error *why)
{
    uint64_t most = 0;
    if (!node_whole(root, "request_tokens", UNIT_TOKENS, UINT64_MAX, &most, why)) {
        return false;
    }
    *context = resolve_requests_mean_context(requests, most > 0 ? most : UINT64_MAX);
    if (*context > 0) {
        return true;
    }
    node_key_error(root, "request_tokens", why,
                   "all requests have more than %" PRIu64 " tokens, so the server refuses them",
                   most);
    return error_expect(why, "at least the tokens of a prompt and its output");
}

/* Refuse keys of a batch, because a server forms its own. A resolved scenario has them with their
 * defaults, which are accepted. */
static bool check_batch_keys(const struct node *root, struct error *why)
{
    static const struct {
        const char *key, *unsaid, *instead;
    } keys[] = {{"batch", "1", "max_sequences, the most of a step"},
                {"prompt", "none", "none: requests have their own"},
                {"output", "none", "none: requests have their own"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct node *node = node_stated(root, keys[i].key);
        if (node != NULL &&
            (node->kind != NODE_SCALAR || strcmp(node->text, keys[i].unsaid) != 0)) {
            node_error(node, why, "'%s' sets a batch, but the workload brings requests",
                       keys[i].key);
            return error_expect(why, "%s", keys[i].instead);
        }
    }
    return true;
}

/* The key by which a scenario asks for a server by its load alone; NULL if it does not. */
static const struct node *find_load(const struct node *root)
{
    static const char *const keys[] = {"rate", "clients", "arrivals"};
    const struct node *load = NULL;
    for (int i = 0; i < 3 && load == NULL && node_stated(root, "workload") == NULL; i++) {
        load = node_stated(root, keys[i]);
    }
    return load;
}

/* Requests that all have the scenario's `prompt` and `output`, as the workload that stands for
 * them. */
static bool lay_synthetic(struct node *root, const struct node *load, struct error *why)
{
    uint64_t prompt = 0, output = 0, requests = 0;
    char text[128];
    if (!node_whole(root, "prompt", UNIT_TOKENS, REQUEST_MOST_TOKENS, &prompt, why) ||
        !node_whole(root, "output", UNIT_TOKENS, REQUEST_MOST_TOKENS, &output, why) ||
        !node_whole(root, "limit", UNIT_COUNT, UINT32_MAX, &requests, why)) {
        return false;
    }
    if (prompt == 0 || output == 0) {
        node_error(load, why, "'%s' is for a server; it needs requests", load->key);
        return error_expect(why, "'prompt' and 'output', or 'workload': a file of requests");
    }
    int used =
        snprintf(text, sizeof text, "synthetic:prompt=%" PRIu64 ",output=%" PRIu64, prompt, output);
    if (requests > 0) {
        snprintf(text + used, sizeof text - (size_t)used, ",requests=%" PRIu64, requests);
    }
    return node_set(root, "workload", text, why) && node_set(root, "prompt", "none", why) &&
           node_set(root, "output", "none", why);
}

/* Without any of these keys the scenario would be one of decode steps, which nobody asked for who
 * wrote one of them and left it empty. */
static bool check_empty(const struct node *root, struct error *why)
{
    static const struct {
        const char *key, *example;
    } keys[] = {{"workload", "a file of requests"},
                {"rate", "requests a second, such as rate=2.5"},
                {"clients", "a number of clients, such as clients=16"}};
    for (size_t i = 0; i < 3 && node_stated(root, "workload") == NULL; i++) {
        const struct node *node = node_get(root, keys[i].key);
        if (node != NULL) {
            node_error(node, why, "'%s' is empty", keys[i].key);
            return error_expect(why, "%s", keys[i].example);
        }
    }
    return true;
}

bool requests_set_context(struct node *root, struct sources *sources, struct error *why)
{
    uint64_t context, other = 0;
    char text[32], path[WORKLOAD_PATH];
    const struct node *load = find_load(root);
    if ((load != NULL && !lay_synthetic(root, load, why)) || !check_empty(root, why)) {
        return false;
    }
    if (node_stated(root, "workload") == NULL) {
        return true;
    }
    if (node_stated(root, "contexts") != NULL) {
        node_key_error(root, "contexts", why, "the workload determines the contexts");
        return error_expect(why, "no 'contexts'");
    }
    const struct requests *requests =
        check_batch_keys(root, why) ? requests_find(root, sources, path, why) : NULL;
    if (requests == NULL || !node_whole(root, "context", UNIT_TOKENS, UINT32_MAX, &other, why) ||
        !resolve_requests_find_context(root, requests, &context, why)) {
        return false;
    }
    if (other != 0 && other != context) {
        node_key_error(root, "context", why, "the workload determines the context");
        return error_expect(why, "no 'context', or %" PRIu64 ", the mean of its requests", context);
    }
    snprintf(text, sizeof text, "%" PRIu64, context);
    return node_set(root, "context", text, why);
}
