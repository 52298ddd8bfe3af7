/* Tests requests of the GPU to the CPU, and a stream that is held until the answer. */
#include "kernel_test.h"

#include <string.h>

struct sets_shape {
    const char *name;
    uint32_t pairs, most;
};

static const sets_shape sets_shapes[] = {
    {"a CTA's worth and more", 5, 600},
    {"one token", 1, 1},
    {"many heads", 70, 3},
};

/* Host memory that both sides see. */
struct shared_words {
    pinned_memory memory;

    explicit shared_words(size_t count)
    {
        MUST(memory.take(count * sizeof(uint32_t), 1, &why));
        memset(memory.data, 0, count * sizeof(uint32_t));
    }
    uint32_t *host(size_t at) const
    {
        return (uint32_t *)memory.data + at;
    }
    uint32_t *seen(size_t at) const
    {
        return (uint32_t *)memory.seen + at;
    }
};

/* Every third pair reuses its set, every fifth wants nothing. After the flag stand counts, then
 * lists. */
static std::string check_sets(const void *at, generator &random)
{
    const sets_shape &shape = *(const sets_shape *)at;
    uint32_t pairs = shape.pairs, most = shape.most;
    std::vector<uint32_t> reuse(pairs), wanted(pairs * most), wanted_counts(pairs), held(pairs, 77);
    for (uint32_t pair = 0; pair < pairs; pair++) {
        reuse[pair] = pair % 3 == 1;
        wanted_counts[pair] = pair % 5 == 4 ? 0 : most - pair % most;
    }
    for (uint32_t &token : wanted) {
        token = (uint32_t)random();
    }
    on_gpu<uint32_t> gpu_reuse(reuse), gpu_wanted(wanted), gpu_wanted_counts(wanted_counts),
        gpu_held(held), asking(std::vector<uint32_t>{0});
    shared_words shared(1 + pairs * (1 + most));
    struct kernel_sets sets = {};
    sets.reuse = gpu_reuse.at;
    sets.wanted = gpu_wanted.at;
    sets.wanted_counts = gpu_wanted_counts.at;
    sets.most = most;
    sets.counts = gpu_held.at;
    sets.flag = shared.seen(0);
    sets.value = 9;
    sets.asked_counts = shared.seen(1);
    sets.asked = shared.seen(1 + pairs);
    sets.asking = asking.at;
    MUST(kernel_ask_sets(&sets, pairs, nullptr, &why));
    held = gpu_held.values();
    std::string wrong = compare("flag", 0, *shared.host(0), 9, 0);
    wrong += compare("asking", 0, asking.values()[0], 0, 0);
    for (uint32_t pair = 0; pair < pairs && wrong.empty(); pair++) {
        uint32_t count = reuse[pair] ? 0 : wanted_counts[pair];
        wrong = compare("asked of pair", pair, *shared.host(1 + pair), count, 0);
        wrong += compare("held of pair", pair, held[pair], count > 0 ? count : 77, 0);
        for (uint32_t i = 0; i < count && wrong.empty(); i++) {
            wrong = compare("token", i, *shared.host(1 + pairs + pair * most + i),
                            wanted[pair * most + i], 0);
        }
    }
    return wrong;
}

#define DEADLINE_NS 100000000 /* 0.1 s */

/* A stream is held until flag 1, which comes; then until flag 2, which does not. */
static std::string check_hold(const void *, generator &)
{
    enum { FLAG = 0, GIVEN_UP = 32, WORDS = 64 };
    shared_words words(WORDS);
    gpu_stream stream;
    MUST(stream.create(&why));
    MUST(kernel_await_flag(words.seen(FLAG), 1, 100 * (uint64_t)DEADLINE_NS, words.seen(GIVEN_UP),
                           stream.at, &why));
    for (int i = 0; i < 1000; i++) {
        if (cudaStreamQuery(stream.at) != cudaErrorNotReady) {
            return "the stream is not held";
        }
    }
    __atomic_store_n(words.host(FLAG), 1, __ATOMIC_RELEASE);
    MUST(stream.wait(&why));
    std::string wrong = compare("given up", 0, *words.host(GIVEN_UP), 0, 0);
    MUST(
        kernel_await_flag(words.seen(FLAG), 2, DEADLINE_NS, words.seen(GIVEN_UP), stream.at, &why));
    MUST(stream.wait(&why));
    return wrong + compare("given up", 1, *words.host(GIVEN_UP), 2, 0);
}

void set_cases(std::vector<kernel_case> &cases)
{
    for (const sets_shape &shape : sets_shapes) {
        cases.push_back({std::string("sets asked for, ") + shape.name, check_sets, &shape});
    }
    cases.push_back({"a stream held until a flag, or a deadline", check_hold, nullptr});
}
