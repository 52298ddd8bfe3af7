#include "predict/decode/context.h"

#include "predict/decode/replays.h"
#include "predict/decode/shared.h"

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
