/* Reads the keys, checks what only the machine and the system can tell, and writes them again. */
#include "predict/scenario/resolve_parallel.h"

#include "model/parallel.h"

#include <stdio.h>
#include <string.h>

#define MOST_PARTS 1024
#define MOST_SKEW 10 /* the second expert is chosen a thousandth as often as the first */

const struct parallel_key parallel_keys[] = {
    {"tensor_parallel", "1",
     "GPUs that split heads and FFN columns: each reads its part of weights and KV, and adds up "
     "the hidden states of all in two all-reduces a layer"},
    {"data_parallel", "1",
     "ranks, each with a batch of its own. Those of a dense model share nothing. Those of a model "
     "with experts share these and step together: their tokens are gathered before the experts, "
     "and the sums scattered after them"},
    {"expert_parallel", "1",
     "groups of GPUs, each with a part of the experts, of which it reads those that tokens of any "
     "rank choose. With as many groups as GPUs each has whole experts; with 1 each has some "
     "columns of all"},
    {"pipeline_parallel", "1",
     "stages of as many layers, each with a batch of its own: a GPU holds a part of the layers, "
     "and a token passes through all stages, with a send behind each"},
    {"decode_context_parallel", "1",
     "parts into which GPUs with equal KV heads divide the tokens of a sequence: each attends to its "
     "part with the queries of all, which are gathered, and the outputs scattered; of decode steps "
     "alone, of systems that keep all KV in HBM"},
    {"expert_exchange", "all-gather",
     "how ranks share experts: all-gather of all tokens, or all-to-all: each token is sent to the "
     "GPUs of its experts, and back"},
    {"expert_skew", "0",
     "exponent of Zipf's law by which tokens choose experts: with more skew they read fewer, and "
     "the busiest group computes more"},
    {NULL, NULL, NULL},
};

const char *const parallel_exchanges[] = {"all-gather", "all-to-all", NULL};

static bool read_exchange(const struct node *root, bool *all_to_all, struct error *why)
{
    int word = 0;
    bool known = node_word(root, "expert_exchange", parallel_exchanges, &word, why);
    *all_to_all = word == 1;
    return known;
}

/* A number of parts that GPUs make of a model. */
static bool read_parts(const struct node *root, const char *key, uint32_t *out, struct error *why)
{
    uint64_t parts = 1;
    if (!node_whole(root, key, UNIT_COUNT, MOST_PARTS, &parts, why)) {
        return false;
    }
    *out = (uint32_t)parts;
    return parts > 0 || node_key_error(root, key, why, "0 GPUs");
}

/* Counts of a server's step stay far below 2^32. */
static bool resolve_parallel_check_count(const struct node *root, uint32_t tensor,
                                         const struct model_parallel *parallel, struct error *why)
{
    uint64_t gpus = (uint64_t)tensor * parallel->data * parallel->pipeline;
    if (gpus <= MOST_PARTS) {
        return true;
    }
    node_key_error(root, "model", why, "the model is spread over %llu GPUs",
                   (unsigned long long)gpus);
    return error_expect(why, "at most %d: tensor_parallel x data_parallel x pipeline_parallel",
                        MOST_PARTS);
}

bool resolve_parallel(const struct node *root, uint32_t *tensor, struct model_parallel *out,
                      struct error *why)
{
    *out = (struct model_parallel){.data = 1};
    if (!read_parts(root, "tensor_parallel", tensor, why) ||
        !read_parts(root, "data_parallel", &out->data, why) ||
        !read_parts(root, "expert_parallel", &out->experts, why) ||
        !read_parts(root, "pipeline_parallel", &out->pipeline, why) ||
        !read_parts(root, "decode_context_parallel", &out->context, why) ||
        !read_exchange(root, &out->all_to_all, why) ||
        !node_quantity(root, "expert_skew", UNIT_COUNT, &out->skew, why)) {
        return false;
    }
    if (out->skew > MOST_SKEW) {
        node_key_error(root, "expert_skew", why, "'expert_skew' is %g", out->skew);
        return error_expect(why, "from 0, all experts alike, to %d", MOST_SKEW);
    }
    return resolve_parallel_check_count(root, *tensor, out, why);
}

static bool check_gpus(const struct node *root, const struct setup *setup, struct error *why)
{
    uint64_t there = setup->profile.gpus, asked = model_gpus(&setup->model);
    if (there == 0 || asked <= there) {
        return true;
    }
    node_key_error(root, "hardware", why,
                   "the model is spread over %llu GPUs, but the machine has %llu",
                   (unsigned long long)asked, (unsigned long long)there);
    return error_expect(why, "at most %llu, or a larger hardware.gpus", (unsigned long long)there);
}

/* What offloading fetches is of whole KV heads, and a prompt's exchanges are others. */
static bool resolve_parallel_check_context(const struct node *root, const struct setup *setup,
                                           struct error *why)
{
    static const char *const others[] = {"workload", "prompt"};
    const struct node *node = node_get(root, "decode_context_parallel");
    if (setup->model.parallel.context <= 1) {
        return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (node_stated(root, others[i]) != NULL) {
            node_error(node, why, "decode_context_parallel with '%s'", others[i]);
            return error_expect(why, "decode steps alone: a context and a batch");
        }
    }
    if (!mechanisms_offload(&setup->mechanisms)) {
        return true;
    }
    node_error(node, why, "decode_context_parallel, but system '%s' offloads KV",
               setup->system.name);
    return error_expect(why, "a system that keeps all KV in HBM, such as vllm");
}

bool parallel_check(const struct node *root, const struct setup *setup, struct error *why)
{
    if (!resolve_parallel_check_context(root, setup, why)) {
        return false;
    }
    if (setup->model.parallel.pipeline > 1 && setup->mechanisms.weights < 1) {
        node_key_error(root, "pipeline_parallel", why,
                       "the stages of a pipeline do not stream weights from host memory");
        return error_expect(why, "pipeline_parallel: 1, or mechanisms.weights=100%%");
    }
    return check_gpus(root, setup, why);
}

/* One key of the resolved scenario. */
static bool resolve_parallel_put(struct node *all, const char *key, uint32_t value,
                                 struct error *why)
{
    char text[32];
    snprintf(text, sizeof text, "%u", value);
    return node_set(all, key, text, why);
}

bool parallel_put(struct node *all, const struct model_parallel *parallel, struct error *why)
{
    char skew[32];
    snprintf(skew, sizeof skew, "%.17g", parallel->skew);
    return resolve_parallel_put(all, "data_parallel", parallel->data, why) &&
           resolve_parallel_put(all, "expert_parallel", parallel->experts, why) &&
           resolve_parallel_put(all, "pipeline_parallel", parallel->pipeline, why) &&
           resolve_parallel_put(all, "decode_context_parallel", parallel->context, why) &&
           node_set(all, "expert_exchange", parallel_exchanges[parallel->all_to_all], why) &&
           node_set(all, "expert_skew", skew, why);
}
