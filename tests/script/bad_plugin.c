/* Plug-ins that break what spillway_policy.h asks for, one for each BAD; from 100 on there is none.
 * NONE keeps every promise: it holds the best block of the last demand. */
#include <spillway_policy.h>

#include <stdlib.h>
#include <string.h>

enum bad {
    NONE,
    OTHER_ABI,
    NO_ACCESS,
    NO_NAME,
    MANY_PARAMS,
    ABORT_ON_LOAD,
    EXIT_ON_LOAD,
    CRASH_ON_CREATE,
    CRASH_ON_ACCESS,
    REFUSE,
    REFUSE_LATER,
    MORE_HITS,
    FEWER_HITS,
    OUT_OF_RANGE,
    REPEATED,
    NOT_WANTED,
    EVICT_UNHELD,
    EVICT_OUT_OF_RANGE,
    ABOVE_CAPACITY,
    REUSE,
    LOOKUPS,
    LATER,
    CRASH_LATER,
    ABORT_LATER,
    EXIT_LATER
};

#ifndef BAD
#define BAD NONE
#endif

struct last {
    uint32_t blocks, block, held, asks;
};

__attribute__((constructor)) static void on_load(void)
{
    if (BAD == ABORT_ON_LOAD) {
        abort();
    }
    if (BAD == EXIT_ON_LOAD) {
        exit(0);
    }
}

static void *last_create(const struct spillway_env *env, char reason[SPILLWAY_MOST_REASON])
{
    if (BAD == CRASH_ON_CREATE) {
        *(volatile int *)8 = 1;
    }
    if (BAD == REFUSE || (BAD == REFUSE_LATER && env->blocks > 100)) {
        strcpy(reason, "no more than 100 blocks");
        return NULL;
    }
    struct last *last = calloc(1, sizeof *last);
    if (last != NULL) {
        last->blocks = env->blocks;
    }
    return last;
}

/* Behind the trial, which has few blocks. */
static int is_later(const struct last *last)
{
    return last->blocks > 50 && last->asks > 20;
}

static void misbehave(const struct last *last, const struct spillway_demand *demand,
                      struct spillway_answer *answer)
{
    uint32_t other = demand->wanted > 0 ? (demand->blocks[0] + 1) % last->blocks : 0;
    switch (BAD) {
    case CRASH_ON_ACCESS:
        abort();
    case MORE_HITS:
        answer->hit = demand->wanted + 1;
        break;
    case FEWER_HITS:
        answer->hit = answer->hit > 0 ? answer->hit - 1 : 1;
        break;
    case OUT_OF_RANGE:
        answer->admit(answer->cache, last->blocks);
        break;
    case REPEATED:
        answer->admit(answer->cache, last->block);
        break;
    case NOT_WANTED:
        if (demand->wanted == 1 && other != demand->blocks[0]) {
            answer->admit(answer->cache, other);
        }
        break;
    case EVICT_UNHELD:
        answer->evict(answer->cache, (last->block + 1) % last->blocks);
        break;
    case EVICT_OUT_OF_RANGE:
        answer->evict(answer->cache, UINT32_MAX);
        break;
    case ABOVE_CAPACITY:
        for (uint32_t i = 1; i < demand->wanted; i++) {
            answer->admit(answer->cache, demand->blocks[i]);
        }
        break;
    case REUSE:
        answer->reused = 1;
        break;
    case LOOKUPS:
        answer->lookups = UINT32_MAX;
        break;
    case LATER:
        answer->hit += last->asks > 60;
        break;
    case CRASH_LATER:
        if (is_later(last)) {
            *(volatile int *)8 = 1;
        }
        break;
    case ABORT_LATER:
        if (is_later(last)) {
            abort();
        }
        break;
    case EXIT_LATER:
        if (is_later(last)) {
            exit(0);
        }
        break;
    default:
        break;
    }
}

static void last_access(void *instance, const struct spillway_demand *demand,
                        struct spillway_answer *answer)
{
    struct last *last = instance;
    int hit = 0;
    for (uint32_t i = 0; i < demand->wanted; i++) {
        hit |= last->held && demand->blocks[i] == last->block;
    }
    answer->hit = (uint32_t)hit;
    if (demand->wanted > 0 && !(last->held && demand->blocks[0] == last->block)) {
        if (last->held) {
            answer->evict(answer->cache, last->block);
        }
        last->block = demand->blocks[0];
        if (!hit || demand->wanted > 1) {
            answer->admit(answer->cache, last->block);
        }
        last->held = 1;
    }
    last->asks++;
    misbehave(last, demand, answer);
}

static const struct spillway_param params[] = {
    {"a", 1, 0, 2, "-"}, {"b", 1, 0, 2, "-"},   {"c", 1, 0, 2, "-"}, {"d", 1, 0, 2, "-"},
    {"e", 1, 0, 2, "-"}, {"f", 1, 0, 2, "-"},   {"g", 1, 0, 2, "-"}, {"h", 1, 0, 2, "-"},
    {"i", 1, 0, 2, "-"}, {NULL, 0, 0, 0, NULL},
};

#if BAD < 100
const struct spillway_policy spillway_policy = {
    .abi = BAD == OTHER_ABI ? SPILLWAY_POLICY_ABI + 1 : SPILLWAY_POLICY_ABI,
    .name = BAD == NO_NAME ? "Not A Word" : "last",
    .summary = "holds the best block of the last demand",
    .params = BAD == MANY_PARAMS ? params : NULL,
    .create = last_create,
    .access = BAD == NO_ACCESS ? NULL : last_access,
    .destroy = free,
};
#endif
