/* The plug-in behind policies that are written in Python: it asks the Python process that started the program.
 *
 * Each call of create, access and destroy is a message through a pipe, and the answer to an access comes back through
 * another one. $SPILLWAY_PYTHON_POLICY has the two file descriptors, "WRITE,READ". Threads take turns. All numbers are
 * 32 bits in the machine's order:
 *
 *   ->  CREATE instance which blocks capacity wanted seed
 *   ->  ACCESS instance wanted recorded has_mass, then recorded blocks, then recorded masses (floats) if there are any
 *   <-  hits, lookups, updates, count, then count changes in their order: a block, plus EVICTED if it leaves
 *   ->  DESTROY instance
 *
 * python/spillway/policy.py is the other side. Where it is gone, an answer is one that the program refuses.
 */
#include <spillway_policy.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CREATE, ACCESS, DESTROY };
enum { MOST_POLICIES = 1024 };
#define EVICTED 0x80000000u

struct asked {
    uint32_t number;
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* around each message with its answer */
static uint32_t instances;
static int out = -1, in = -1;

static bool send_all(const void *data, size_t size)
{
    for (const char *at = data; size > 0;) {
        ssize_t sent = write(out, at, size);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

static bool receive_all(void *data, size_t size)
{
    for (char *at = data; size > 0;) {
        ssize_t received = read(in, at, size);
        if (received < 0 && errno == EINTR) {
            continue;
        }
        if (received <= 0) {
            return false;
        }
        at += received;
        size -= (size_t)received;
    }
    return true;
}

static bool find_pipes(void)
{
    const char *given = getenv("SPILLWAY_PYTHON_POLICY");
    return out >= 0 || (given != NULL && sscanf(given, "%d,%d", &out, &in) == 2);
}

static void *python_create(const struct spillway_env *env, char reason[SPILLWAY_MOST_REASON])
{
    struct asked *asked = calloc(1, sizeof *asked);
    pthread_mutex_lock(&turn);
    bool good = asked != NULL && find_pipes();
    if (good) {
        asked->number = instances++;
        const uint32_t message[] = {CREATE,
                                    asked->number,
                                    (uint32_t)env->values[0],
                                    env->blocks,
                                    env->capacity,
                                    env->wanted,
                                    (uint32_t)(env->seed >> 32 ^ env->seed)};
        good = send_all(message, sizeof message);
    }
    pthread_mutex_unlock(&turn);
    if (!good) {
        snprintf(reason, SPILLWAY_MOST_REASON,
                 "the Python module 'spillway', whose curve() uses this");
        free(asked);
        return NULL;
    }
    return asked;
}

static bool ask(const struct asked *asked, const struct spillway_demand *demand)
{
    const uint32_t message[] = {ACCESS, asked->number, demand->wanted, demand->recorded,
                                demand->mass != NULL};
    return send_all(message, sizeof message) &&
           send_all(demand->blocks, demand->recorded * sizeof *demand->blocks) &&
           (demand->mass == NULL ||
            send_all(demand->mass, demand->recorded * sizeof *demand->mass));
}

static bool hear(struct spillway_answer *answer)
{
    uint32_t counts[4], change;
    if (!receive_all(counts, sizeof counts)) {
        return false;
    }
    answer->hit = counts[0];
    answer->lookups = counts[1];
    answer->updates = counts[2];
    for (uint32_t i = 0; i < counts[3]; i++) {
        if (!receive_all(&change, sizeof change)) {
            return false;
        }
        ((change & EVICTED) != 0 ? answer->evict : answer->admit)(answer->cache, change & ~EVICTED);
    }
    return true;
}

static void python_access(void *instance, const struct spillway_demand *demand,
                          struct spillway_answer *answer)
{
    pthread_mutex_lock(&turn);
    if (!ask(instance, demand) || !hear(answer)) {
        answer->hit = UINT32_MAX;
    }
    pthread_mutex_unlock(&turn);
}

static void python_destroy(void *instance)
{
    const struct asked *asked = instance;
    const uint32_t message[] = {DESTROY, asked->number};
    pthread_mutex_lock(&turn);
    send_all(message, sizeof message);
    pthread_mutex_unlock(&turn);
    free(instance);
}

static const struct spillway_param params[] = {
    {"which", 0, 0, MOST_POLICIES - 1, "number of the policy, of those that the caller has"},
    {NULL, 0, 0, 0, NULL},
};

const struct spillway_policy spillway_policy = {
    .abi = SPILLWAY_POLICY_ABI,
    .name = "python",
    .summary = "asks a policy that is written in Python",
    .params = params,
    .create = python_create,
    .access = python_access,
    .destroy = python_destroy,
};
