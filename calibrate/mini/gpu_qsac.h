/* QSAC managed by the GPU, in a miniature (Huang et al.'s CLO, LiteCache; policy/qsac.h has the
 * rule). A head's set lies in slots of its own, keys and then values, which a fetch fills anew.
 *
 *     main    |compare, ask 0|compare, ask 1|await 0|attend 0|compare, ask 2|await 1|attend 1|
 *     CPU            |hear 0|gather, copy or store 0|tell|hear 1|gather, ... 1|tell|
 *     copies                      |rows of 0|                    |rows of 1|
 *
 * A kernel compares each head's queries with its labels, another writes what the heads that differ
 * want into host memory, a layer ahead of its use; of a step's first layer there is no ahead. The
 * CPU hears of it by an event or by a flag, gathers the rows and has them copied, or stores them
 * into the slots itself. Attention is launched, or let go by a kernel that polls, when all are
 * there.
 *
 * Nothing that a polling kernel waits for stands behind it: copies have a stream of their own, the
 * CPU stores by itself; and everything that is launched was launched once before, for a kernel's
 * first launch may wait for the GPU to be idle. A wait that is in vain ends in an error.
 *
 * The policy itself runs ahead of each step, outside of its time, and what the GPU asks for is held
 * against it, head by head; behind the last step, so is what lies in the slots.
 *
 *   gpu_qsac        a layer
 *   gpu_qsac_state  what stands before the first and behind the last step, and buffers
 */
#ifndef CALIBRATE_MINI_GPU_QSAC_H
#define CALIBRATE_MINI_GPU_QSAC_H

#include "calibrate/device/stored_memory.h"
#include "calibrate/mini/gpu.h"

/* Words that both sides poll, a cache line apart: the number of the layer, counted over all steps
 * from 1, that was last asked for, and that was last answered; and whether a kernel has given up
 * waiting. */
enum { QSAC_ASKED = 0, QSAC_ANSWERED = 32, QSAC_GIVEN_UP = 64, QSAC_WORDS = 96 };
#define QSAC_ALL_ANSWERED UINT32_MAX

struct gpu_qsac {
    uint32_t heads = 0;                    /* KV heads of a layer */
    uint32_t most = 0;                     /* tokens of a set, as of the lists */
    uint32_t group = 0, dim = 0;           /* of the recorded queries, which are compared */
    size_t half_bytes = 0;                 /* of a head's slots: of the keys, of the values */
    gpu_memory copied;                     /* [layers][kv_heads][2][most] rows */
    std::unique_ptr<stored_memory> stored; /* the same; null where the CPU cannot store */
    struct error cannot_store = {};
    gpu_memory queries;                                /* [steps][layers][kv_heads][group][dim] */
    gpu_memory labels;                                 /* [layers][kv_heads][group][dim] */
    gpu_memory weights, thresholds, similarity, reuse; /* of a layer */
    gpu_memory counts;                                 /* [layers][kv_heads] */
    gpu_memory asking;
    pinned_memory asked;   /* [2] by turns: how many tokens [kv_heads], which [kv_heads][most] */
    pinned_memory words;   /* that both sides poll */
    pinned_memory staging; /* [2] by turns: rows of all heads */
    std::unique_ptr<uint32_t[]> rows, places; /* of those that are fetched */
    gpu_event asked_at[2], copied_at[2];
    gpu_graphs copied_steps, stored_steps;

    uint32_t *host_word(int word) const
    {
        return (uint32_t *)words.data + word;
    }
    uint32_t *seen_word(int word) const
    {
        return (uint32_t *)words.seen + word;
    }
    void say(int word, uint32_t value) const
    {
        __atomic_store_n(host_word(word), value, __ATOMIC_RELEASE);
    }
    char *slots(bool stores) const
    {
        return stores ? stored->seen : copied.data;
    }
    size_t layer_bytes() const
    {
        return 2 * heads * half_bytes;
    }
    /* Of a layer. */
    size_t label_values() const
    {
        return (size_t)heads * group * dim;
    }
    size_t asked_words() const
    {
        return (size_t)heads * (1 + most);
    }
};

bool qsac_create(gpu_mini *gpu, struct error *why);
/* Can it run here? */
bool qsac_can(const gpu_mini *gpu, enum miniature_id id, struct error *why);
/* Labels and slots as the host's caches are, which have been started. */
bool qsac_start(gpu_mini *gpu, enum miniature_id id, const struct policy_env *env,
                struct error *why);
/* Before a step, and a layer of it. */
bool qsac_begin_step(gpu_mini *gpu, struct play *play, struct error *why);
bool qsac_run(gpu_mini *gpu, struct play *play, struct error *why);
/* All that a step launches which kernels hold back that poll. */
bool qsac_put_step(gpu_mini *gpu, bool stores, uint32_t step, struct error *why);
/* False, and whose wait was in vain, where one was; `since`: when the CPU's began. */
bool qsac_is_patient(const gpu_qsac *qsac, double since, struct error *why);
/* Behind the last step: every wait was ended by a flag, and the slots hold what the policy has. */
bool qsac_check(gpu_mini *gpu, enum miniature_id id, struct error *why);

#endif
