#include "base/cores.h"

#include "base/array.h"

#include <pthread.h>
#include <stdlib.h>

struct cores {
    uint32_t count, free;
    pthread_mutex_t lock; /* of `free` */
    pthread_cond_t given;
};

struct cores *cores_create(uint32_t count, struct error *why)
{
    struct cores *cores = array_zeroed(1, sizeof *cores, why);
    if (cores != NULL) {
        cores->count = cores->free = count;
        pthread_mutex_init(&cores->lock, NULL);
        pthread_cond_init(&cores->given, NULL);
    }
    return cores;
}

void cores_destroy(struct cores *cores)
{
    if (cores != NULL) {
        pthread_cond_destroy(&cores->given);
        pthread_mutex_destroy(&cores->lock);
        free(cores);
    }
}

uint32_t cores_count(const struct cores *cores)
{
    return cores != NULL ? cores->count : 0;
}

bool cores_take_unless(struct cores *cores, const atomic_bool *ended)
{
    if (cores == NULL) {
        return true;
    }
    pthread_mutex_lock(&cores->lock);
    while (cores->free == 0 && !(ended != NULL && atomic_load(ended))) {
        pthread_cond_wait(&cores->given, &cores->lock);
    }
    bool taken = !(ended != NULL && atomic_load(ended));
    cores->free -= taken;
    pthread_mutex_unlock(&cores->lock);
    return taken;
}

void cores_take(struct cores *cores)
{
    cores_take_unless(cores, NULL);
}

void cores_give(struct cores *cores)
{
    if (cores != NULL) {
        pthread_mutex_lock(&cores->lock);
        cores->free++;
        pthread_cond_signal(&cores->given);
        pthread_mutex_unlock(&cores->lock);
    }
}

void cores_wake(struct cores *cores)
{
    if (cores != NULL) {
        pthread_mutex_lock(&cores->lock);
        pthread_cond_broadcast(&cores->given);
        pthread_mutex_unlock(&cores->lock);
    }
}
