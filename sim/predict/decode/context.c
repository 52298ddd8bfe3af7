#include "predict/decode/context.h"

#include "core/parallel.h"
#include "predict/decode/replays.h"

#include <assert.h>
#include <stdlib.h>

bool run_context_init(struct run_context *context, uint32_t users, struct stop_flag *stop,
                      struct error *why)
{
    *context = (struct run_context){.threads = 0};
    context->stop = stop != NULL ? stop : &context->own;
    context->shared = shared_create(users, context->stop, why);
    context->expected = context->shared != NULL ? replays_create(why) : NULL;
    if (context->expected == NULL) {
        run_context_release(context);
    }
    return context->expected != NULL;
}

struct replay_means run_means(const struct run_context *context)
{
    return (struct replay_means){context->threads, context->cores, context->meter, context->cache};
}

void run_context_release(struct run_context *context)
{
    shared_destroy(context->shared);
    replays_destroy(context->expected);
    *context = (struct run_context){.threads = 0};
}

/* Entries are searched linearly: a sweep has tens of them, and making one takes seconds. */

enum { KEPT = 64, A_USER = 12 };

struct shared_entry {
    uint64_t key;
    const struct shared_kind *kind; /* NULL: empty */
    void *value;                    /* NULL: it is being made */
    uint32_t users;                 /* threads that make or hold it */
    uint64_t used;                  /* order of the last request */
};

struct shared {
    struct shared_entry *entries;
    uint32_t count;
    uint64_t clock;
    const struct stop_flag *stop; /* may be NULL */
    struct cores *cores;          /* may be NULL */
    pthread_mutex_t lock;         /* of all of the above except `stop` and `cores` */
    pthread_cond_t made;          /* a value was made, or failed */
};

struct shared *shared_create(uint32_t users, const struct stop_flag *stop, struct error *why)
{
    struct shared *shared = array_zeroed(1, sizeof *shared, why);
    if (shared == NULL) {
        return NULL;
    }
    shared->stop = stop;
    shared->count = A_USER * users + KEPT;
    shared->entries = array_zeroed(shared->count, sizeof *shared->entries, why);
    if (shared->entries == NULL) {
        free(shared);
        return NULL;
    }
    pthread_mutex_init(&shared->lock, NULL);
    pthread_cond_init(&shared->made, NULL);
    return shared;
}

static void shared_clear(struct shared_entry *entry)
{
    if (entry->value != NULL) {
        entry->kind->destroy(entry->value);
    }
    *entry = (struct shared_entry){0};
}

void shared_destroy(struct shared *shared)
{
    if (shared == NULL) {
        return;
    }
    for (uint32_t i = 0; i < shared->count; i++) {
        shared_clear(&shared->entries[i]);
    }
    pthread_cond_destroy(&shared->made);
    pthread_mutex_destroy(&shared->lock);
    free(shared->entries);
    free(shared);
}

void shared_cores(struct shared *shared, struct cores *cores)
{
    shared->cores = cores;
}

static struct shared_entry *shared_find(struct shared *shared, const struct shared_kind *kind,
                                        uint64_t key)
{
    for (uint32_t i = 0; i < shared->count; i++) {
        if (shared->entries[i].kind == kind && shared->entries[i].key == key) {
            return &shared->entries[i];
        }
    }
    return NULL;
}

const void *shared_get(struct shared *shared, const struct shared_kind *kind, uint64_t key,
                       void *context, struct shared_entry **entry, struct error *why)
{
    pthread_mutex_lock(&shared->lock);
    struct shared_entry *found = shared_find(shared, kind, key);
    while (found != NULL && found->value == NULL) {
        /* Until some value was made. The lock is not held waiting for a core: its holder may want it. */
        cores_give(shared->cores);
        pthread_cond_wait(&shared->made, &shared->lock);
        pthread_mutex_unlock(&shared->lock);
        cores_take(shared->cores);
        pthread_mutex_lock(&shared->lock);
        found = shared_find(shared, kind, key);
    }
    if (found == NULL && !stop_flag_check(shared->stop, why)) {
        *entry = NULL;
        pthread_mutex_unlock(&shared->lock);
        return NULL;
    }
    if (found == NULL) {
        /* The entry unused for longest: no thread holds more values than there is room for. */
        for (uint32_t i = 0; i < shared->count; i++) {
            struct shared_entry *other = &shared->entries[i];
            if (other->users == 0 && (found == NULL || other->used < found->used)) {
                found = other;
            }
        }
        assert(found != NULL); /* there are more entries than users hold */
        shared_clear(found);
        *found = (struct shared_entry){.key = key, .kind = kind, .users = 1};
        /* Make the value. The lock is held on entry and on return, but not while making. */
        pthread_mutex_unlock(&shared->lock);
        void *made = kind->make(context, why);
        pthread_mutex_lock(&shared->lock);
        found->value = made;
        if (made == NULL) {
            found->kind = NULL; /* waiting threads find nothing, and try themselves */
        }
        pthread_cond_broadcast(&shared->made);
    } else {
        found->users++;
    }
    found->used = ++shared->clock;
    const void *value = found->value;
    if (value == NULL) {
        found->users--;
        found = NULL;
    }
    *entry = found;
    pthread_mutex_unlock(&shared->lock);
    return value;
}

void shared_release(struct shared *shared, struct shared_entry *entry)
{
    if (entry != NULL) {
        pthread_mutex_lock(&shared->lock);
        entry->users--;
        pthread_mutex_unlock(&shared->lock);
    }
}
