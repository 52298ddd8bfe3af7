#include "server/workload.h"

#include "core/random.h"
#include "server/server.h"

#include <stdlib.h>

const char *const routing_names[ROUTINGS + 1] = {
    [ROUTE_ROUND_ROBIN] = "round-robin",       [ROUTE_PREFIX] = "prefix",
    [ROUTE_LEAST_REQUESTS] = "least-requests", [ROUTE_TWO_CHOICES] = "two-choices",
    [ROUTE_PREFIX_LOAD] = "prefix-load",       [ROUTE_SCORES] = "scores",
};

const char *const workload_apis[] = {[API_HTTP] = "http", [API_NONE] = "none", NULL};

const struct routing_kind routings[ROUTINGS] = {
    [ROUTE_ROUND_ROBIN] = {"to each server in turn", "all routers", "round_robin"},
    [ROUTE_PREFIX] = {"to the server that was last sent the longest part of its beginning",
                      "vLLM's production stack", NULL},
    [ROUTE_LEAST_REQUESTS] = {"to the server with the fewest requests in flight",
                              "nginx's least_conn", NULL},
    [ROUTE_TWO_CHOICES] = {"to the less loaded of two servers drawn at random",
                           "power_of_two of SGLang and vLLM", "power_of_two"},
    [ROUTE_PREFIX_LOAD] = {"where most of its beginning was sent, unless loads differ much; the "
                           "keys cache_threshold, balance_abs_threshold and balance_rel_threshold "
                           "say how much",
                           "cache_aware of SGLang and vLLM", "cache_aware"},
    [ROUTE_SCORES] = {"to the highest sum of known beginning, short queue and free memory",
                      "llm-d's default scorers", NULL},
};

static bool route_by_prefix(struct router *router, const struct requests *requests,
                            const struct stop_flag *stop, struct error *why)
{
    uint32_t *last = array_zeroed(requests->ids.count, sizeof *last, why); /* server + 1 */
    uint32_t *sent = array_zeroed(router->servers, sizeof *sent, why);
    bool ok = last != NULL && sent != NULL;
    for (size_t i = 0; ok && i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        const uint32_t *chunks = request_chunks(requests, request);
        uint32_t server = 0;
        for (uint32_t s = 1; s < router->servers; s++) {
            server = sent[s] < sent[server] ? s : server;
        }
        for (uint32_t c = 0; c < request->chunks && last[chunks[c]] > 0; c++) {
            server = last[chunks[c]] - 1;
        }
        for (uint32_t c = 0; c < request->chunks; c++) {
            last[chunks[c]] = server + 1;
        }
        sent[server]++;
        router->server_of[i] = server;
        ok = stop_flag_check(stop, why);
    }
    free(last);
    free(sent);
    return ok;
}

bool router_init(struct router *router, const struct requests *requests, uint32_t servers,
                 bool by_prefix, const struct stop_flag *stop, struct error *why)
{
    size_t count = requests->count;
    *router = (struct router){.servers = servers, .count = count};
    router->server_of = array_zeroed(count, sizeof *router->server_of, why);
    router->indices = array_zeroed(count, sizeof *router->indices, why);
    if (router->server_of == NULL || router->indices == NULL) {
        return false;
    }
    if (by_prefix) {
        return route_by_prefix(router, requests, stop, why);
    }
    for (size_t i = 0; i < count; i++) {
        router->server_of[i] = (uint32_t)(i % servers);
    }
    return true;
}

void router_release(struct router *router)
{
    free(router->server_of);
    free(router->indices);
    *router = (struct router){.servers = 0};
}

uint32_t router_select(struct router *router, uint32_t server)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < router->count; i++) {
        if (router->server_of[i] == server) {
            router->indices[count++] = i;
        }
    }
    return count;
}

/* A bit for each chunk and server: one that was sent a chunk was sent those before it. */

static const double prefix_weight = 3, queue_weight = 2, memory_weight = 2; /* llm-d's defaults */

struct balancer {
    const struct workload *workload;
    const struct requests *requests;
    uint32_t servers;
    uint32_t last; /* the server chosen last */
    gsl_rng *random;
    uint32_t words;   /* of a set of servers */
    uint64_t *sent;   /* [chunks][words] the servers that were sent the chunk, owned */
    uint64_t *tokens; /* [servers] find_sent()'s, owned */
};

static bool knows_prefixes(const struct balancer *balancer)
{
    int routing = balancer->workload->routing;
    return routing == ROUTE_PREFIX_LOAD || routing == ROUTE_SCORES;
}

struct balancer *balancer_create(const struct workload *workload, uint32_t servers,
                                 const struct requests *requests, uint64_t seed, struct error *why)
{
    struct balancer *balancer = array_zeroed(1, sizeof *balancer, why);
    if (balancer == NULL) {
        return NULL;
    }
    *balancer = (struct balancer){.workload = workload,
                                  .requests = requests,
                                  .servers = servers,
                                  .last = servers - 1,
                                  .words = (servers + 63) / 64};
    size_t sets = knows_prefixes(balancer) ? (size_t)requests->ids.count * balancer->words : 0;
    balancer->random = random_stream(seed, "serve.balancer", 0, why);
    if (balancer->random == NULL ||
        (balancer->sent = array_zeroed(sets, sizeof *balancer->sent, why)) == NULL ||
        (balancer->tokens = array_zeroed(servers, sizeof *balancer->tokens, why)) == NULL) {
        balancer_destroy(balancer);
        return NULL;
    }
    return balancer;
}

void balancer_destroy(struct balancer *balancer)
{
    if (balancer != NULL) {
        gsl_rng_free(balancer->random);
        free(balancer->sent);
        free(balancer->tokens);
        free(balancer);
    }
}

/* Fewest requests, beginning behind the server chosen last. */
static uint32_t choose_least(const struct balancer *balancer, const struct server_load *loads)
{
    uint32_t least = (balancer->last + 1) % balancer->servers;
    for (uint32_t i = 2; i <= balancer->servers; i++) {
        uint32_t server = (balancer->last + i) % balancer->servers;
        least = loads[server].requests < loads[least].requests ? server : least;
    }
    return least;
}

static uint32_t choose_of_two(const struct balancer *balancer, const struct server_load *loads)
{
    if (balancer->servers == 1) {
        return 0;
    }
    uint32_t one = (uint32_t)gsl_rng_uniform_int(balancer->random, balancer->servers);
    uint32_t two = (uint32_t)gsl_rng_uniform_int(balancer->random, balancer->servers - 1);
    two += two >= one;
    return loads[two].requests < loads[one].requests ? two : one;
}

/* Tokens at the beginning of the prompt that each server was sent before, in balancer->tokens. */
static void find_sent(const struct balancer *balancer, const struct request *request)
{
    const uint32_t *chunks = request_chunks(balancer->requests, request);
    for (uint32_t word = 0; word < balancer->words; word++) {
        uint32_t last = balancer->servers - 64 * word;
        uint64_t left = last < 64 ? (UINT64_C(1) << last) - 1 : UINT64_MAX, tokens = 0;
        for (uint32_t i = 0; left > 0; i++) {
            bool more = i < request->chunks;
            uint64_t sent = more ? balancer->sent[(size_t)chunks[i] * balancer->words + word] : 0;
            for (uint64_t ends = left & ~sent; ends > 0; ends &= ends - 1) {
                balancer->tokens[64 * word + (uint32_t)__builtin_ctzll(ends)] = tokens;
            }
            left &= sent;
            tokens += more ? balancer->requests->kind[chunks[i]].tokens : 0;
        }
    }
}

static bool is_unbalanced(const struct balancer *balancer, const struct server_load *loads)
{
    uint32_t most = loads[0].requests, fewest = most;
    for (uint32_t i = 1; i < balancer->servers; i++) {
        most = loads[i].requests > most ? loads[i].requests : most;
        fewest = loads[i].requests < fewest ? loads[i].requests : fewest;
    }
    return most - fewest > balancer->workload->balance_abs &&
           (double)most > balancer->workload->balance_rel * (double)fewest;
}

/* The server that was sent most of the prompt; of several always the same one for one beginning. */
static uint32_t choose_known(const struct balancer *balancer, const struct request *request,
                             uint64_t *tokens)
{
    uint32_t begins = request->chunks > 0 ? *request_chunks(balancer->requests, request) : 0;
    uint32_t first = (begins * 2654435769u >> 16) % balancer->servers, best = first;
    *tokens = 0;
    find_sent(balancer, request);
    for (uint32_t i = 0; i < balancer->servers; i++) {
        uint32_t server = (first + i) % balancer->servers;
        uint64_t sent = balancer->tokens[server];
        best = sent > *tokens ? server : best;
        *tokens = sent > *tokens ? sent : *tokens;
    }
    return best;
}

static uint32_t choose_by_prefix(const struct balancer *balancer, const struct request *request,
                                 const struct server_load *loads)
{
    uint64_t tokens = 0;
    uint32_t known = is_unbalanced(balancer, loads) ? 0 : choose_known(balancer, request, &tokens);
    bool is_known = (double)tokens > balancer->workload->cache_threshold * request->prompt;
    return is_known ? known : choose_least(balancer, loads);
}

static uint32_t choose_by_score(const struct balancer *balancer, const struct request *request,
                                const struct server_load *loads)
{
    uint32_t longest = 0, shortest = UINT32_MAX, best = 0, equals = 0;
    double highest = -1;
    find_sent(balancer, request);
    for (uint32_t i = 0; i < balancer->servers; i++) {
        longest = loads[i].waiting > longest ? loads[i].waiting : longest;
        shortest = loads[i].waiting < shortest ? loads[i].waiting : shortest;
    }
    for (uint32_t i = 0; i < balancer->servers; i++) {
        double queue = longest > shortest
                           ? (double)(longest - loads[i].waiting) / (double)(longest - shortest)
                           : 1;
        double prefix = (double)balancer->tokens[i] / request->prompt;
        double score =
            prefix_weight * prefix + queue_weight * queue + memory_weight * (1 - loads[i].kv);
        equals = score > highest ? 1 : equals + (score == highest);
        bool drawn = score == highest && gsl_rng_uniform_int(balancer->random, equals) == 0;
        best = score > highest || drawn ? i : best;
        highest = score > highest ? score : highest;
    }
    return best;
}

uint32_t balancer_choose(struct balancer *balancer, uint32_t index, const struct server_load *loads)
{
    const struct request *request = &balancer->requests->all[index];
    switch (balancer->workload->routing) {
    case ROUTE_TWO_CHOICES:
        balancer->last = choose_of_two(balancer, loads);
        break;
    case ROUTE_PREFIX_LOAD:
        balancer->last = choose_by_prefix(balancer, request, loads);
        break;
    case ROUTE_SCORES:
        balancer->last = choose_by_score(balancer, request, loads);
        break;
    default:
        balancer->last = choose_least(balancer, loads);
    }
    uint32_t last = balancer->last;
    if (knows_prefixes(balancer)) {
        const uint32_t *chunks = request_chunks(balancer->requests, request);
        for (uint32_t i = 0; i < request->chunks; i++) {
            balancer->sent[(size_t)chunks[i] * balancer->words + last / 64] |= 1ull << last % 64;
        }
    }
    return last;
}
