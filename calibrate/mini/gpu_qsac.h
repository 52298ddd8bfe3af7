/* QSAC managed by the GPU, in a miniature (Huang et al.'s CLO, LiteCache; policy/qsac.h has the
 * rule). Each head has slots for its set, keys and then values; a fetch fills them anew.
 *
 *     main    |compare, ask 0|compare, ask 1|await 0|attend 0|compare, ask 2|await 1|attend 1|
 *     CPU            |hear 0|gather, copy or store 0|tell|hear 1|gather, ... 1|tell|
 *     copies                      |rows of 0|                    |rows of 1|
 *
 * One kernel compares each head's queries with its labels. Another writes the demands of the heads
 * that differ into host memory, one layer ahead of their use, except in a step's first layer. The
 * CPU learns of them by an event, gathers the rows and has them copied; or it learns of them by a
 * flag and stores the rows into the slots itself. When all rows are there, attention is launched, or a
 * polling kernel of the step's graph releases it.
 *
 * Nothing for which a polling kernel waits may be queued after it: copies have a stream of their
 * own, and the CPU stores by itself. Everything is launched once beforehand, because a kernel's
 * first launch may wait for the GPU to be idle. A wait in vain ends in an error.
 *
 * The policy runs ahead of each step, outside of the measured time. The GPU's requests are compared
 * with it, head by head; after the last step, so are the contents of the slots.
 *
 *   gpu_qsac        a layer
 *   gpu_qsac_state  buffers, the state before the first step, checks after the last
 */
#pragma once

#include "calibrate/device/stored_memory.h"
#include "calibrate/mini/gpu.h"

/* Words that both sides poll, a cache line apart: the last layer that was asked for and the last
 * one that was answered, as numbers counted over all steps from 1; and whether a kernel has given
 * up waiting. */
enum { QSAC_ASKED = 0, QSAC_ANSWERED = 32, QSAC_GIVEN_UP = 64, QSAC_WORDS = 96 };
#define QSAC_ALL_ANSWERED UINT32_MAX

struct gpu_qsac {
    uint32_t heads = 0;                    /* KV heads of a layer */
    uint32_t most = 0;                     /* tokens of a set, as in gpu_mini */
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
    pinned_memory asked;   /* [2] by turns: counts [kv_heads], then tokens [kv_heads][most] */
    pinned_memory words;   /* that both sides poll */
    pinned_memory staging; /* [2] by turns: rows of all heads */
    std::unique_ptr<uint32_t[]> rows, places; /* of the fetched tokens: row on the host, slot */
    gpu_event asked_at[2], copied_at[2];
    gpu_graphs stored_steps;

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
/* Can this machine run it? */
bool qsac_can(const gpu_mini *gpu, enum miniature_id id, struct error *why);
/* Set labels and slots as in the host's caches, which have been started. */
bool qsac_start(gpu_mini *gpu, enum miniature_id id, const struct policy_env *env,
                struct error *why);
/* Prepare a step; run a layer of it. */
bool qsac_begin_step(gpu_mini *gpu, struct play *play, struct error *why);
bool qsac_run_copied(gpu_mini *gpu, struct play *play, struct error *why);
bool qsac_run_stored(gpu_mini *gpu, struct play *play, struct error *why);
/* Launch all kernels of a step; polling kernels hold them back. */
bool qsac_put_step(gpu_mini *gpu, uint32_t step, struct error *why);
/* False, with a reason, if a polling kernel gave up or the CPU, waiting since `since`, did. */
bool qsac_is_patient(const gpu_qsac *qsac, double since, struct error *why);
/* After the last step: a flag ended every wait, and the slots hold the policy's sets. */
bool qsac_check(gpu_mini *gpu, enum miniature_id id, struct error *why);
