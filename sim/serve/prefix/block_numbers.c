#include "serve/prefix/block_numbers.h"

#include "base/array.h"

#include <stdlib.h>

/* ---- blocks of a request -------------------------------------------------------------- */

static const struct request *request_of(const struct block_numbers *numbers, size_t index)
{
    return &numbers->of.requests->all[index];
}

/* The number of a prompt's blocks that numbered chunks cover. */
static uint64_t shared_blocks(const struct block_numbers *numbers, size_t index)
{
    const struct request *request = request_of(numbers, index);
    return request_numbered_tokens(numbers->of.requests, request) / numbers->of.block_tokens;
}

/* The number of blocks that belong to the request alone. */
static uint64_t own_blocks(const struct block_numbers *numbers, size_t index)
{
    const struct request *request = request_of(numbers, index);
    uint64_t tokens = (uint64_t)request->prompt + request->output;
    return tokens / numbers->of.block_tokens - shared_blocks(numbers, index);
}

uint64_t block_numbers_count(const struct block_numbers *numbers, size_t index, uint64_t blocks)
{
    uint64_t shared = shared_blocks(numbers, index);
    return numbers->of.runs && shared < blocks ? shared : blocks;
}

/* Read for each block of each request at each of its events: no more divisions than needed. */
uint32_t block_numbers_read(const struct block_numbers *numbers, size_t index, uint64_t block)
{
    const struct request *request = request_of(numbers, index);
    const uint32_t *chunks = request_chunks(numbers->of.requests, request);
    uint32_t place = (uint32_t)block, per_chunk = numbers->blocks_per_chunk;
    uint64_t shared = shared_blocks(numbers, index);
    if (block >= shared) {
        return numbers->own[index][block - shared];
    }
    if (per_chunk == 0) {
        /* the last chunk of the block, which says what comes before it */
        return numbers->first_shared[chunks[(place + 1) * numbers->chunks_per_block - 1]] - 1;
    }
    return numbers->first_shared[chunks[place / per_chunk]] - 1 + place % per_chunk;
}

uint32_t block_numbers_row(const struct block_numbers *numbers, size_t index, uint64_t block,
                           uint64_t *length)
{
    uint64_t shared = shared_blocks(numbers, index), per_chunk = numbers->blocks_per_chunk;
    uint64_t left = per_chunk > 0 && block < shared ? per_chunk - block % per_chunk : 1;
    *length = block < shared && left > shared - block ? shared - block : left;
    return block_numbers_read(numbers, index, block);
}

/* ---- init, release -------------------------------------------------------------------- */

/* Numbers that a chunk needs: of its whole blocks, or of the block whose last chunk it is. */
static uint32_t chunk_numbers(const struct block_numbers *numbers, uint32_t chunk)
{
    const struct requests *requests = numbers->of.requests;
    uint32_t tokens = numbers->of.block_tokens;
    return requests->chunk_tokens < tokens ? 1 : requests->kind[chunk].tokens / tokens;
}

/* The numbers that the chunks of all requests could need. */
static uint64_t all_chunk_numbers(const struct block_numbers *numbers)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < numbers->of.requests->ids.count && all < UINT32_MAX; i++) {
        all += chunk_numbers(numbers, i);
    }
    return all;
}

/* The numbers that the requests which may begin could need. */
static uint64_t all_numbers(const struct block_numbers *numbers)
{
    const struct block_owners *of = &numbers->of;
    uint64_t own = 0, shared = 0, all = all_chunk_numbers(numbers);
    for (size_t i = 0; i < of->requests->count && own < UINT32_MAX; i++) {
        const struct request *request = &of->requests->all[i];
        if (of->server_of == NULL || of->server_of[i] == of->server) {
            const uint32_t *chunks = request_chunks(of->requests, request);
            own += of->runs ? 0 : own_blocks(numbers, i);
            for (uint32_t j = 0; j < request->chunks; j++) {
                shared += chunk_numbers(numbers, chunks[j]);
            }
        }
    }
    return own + (shared < all ? shared : all);
}

static bool check_chunks(const struct block_owners *of, struct error *why)
{
    uint32_t tokens = of->block_tokens, chunk_tokens = of->requests->chunk_tokens;
    if (chunk_tokens == 0 || chunk_tokens % tokens == 0 || tokens % chunk_tokens == 0) {
        return true;
    }
    error_usage(why, NULL, 0, "blocks of %u tokens, and hashes of %u", tokens, chunk_tokens);
    return error_expect(why, "a number of tokens that divides %u, or is a multiple of it",
                        chunk_tokens);
}

static void relate_chunks(struct block_numbers *numbers)
{
    uint32_t tokens = numbers->of.block_tokens, chunk_tokens = numbers->of.requests->chunk_tokens;
    numbers->blocks_per_chunk = chunk_tokens / tokens;
    numbers->chunks_per_block = chunk_tokens > 0 ? tokens / chunk_tokens : 0;
}

static bool block_numbers_allocate(struct block_numbers *numbers, struct error *why)
{
    const struct requests *requests = numbers->of.requests;
    numbers->own = array_zeroed(requests->count, sizeof *numbers->own, why);
    numbers->first_shared = array_zeroed(requests->ids.count, sizeof *numbers->first_shared, why);
    return numbers->own != NULL && numbers->first_shared != NULL;
}

bool block_numbers_init(struct block_numbers *numbers, const struct block_owners *of,
                        struct error *why)
{
    *numbers = (struct block_numbers){.of = *of};
    if (!check_chunks(of, why)) {
        return false;
    }
    relate_chunks(numbers);
    uint64_t most = all_numbers(numbers);
    numbers->most = most > 0 ? (uint32_t)most : 1;
    if (most >= UINT32_MAX) {
        return error_set(why, NULL, 0, "more than %u blocks of %u tokens", UINT32_MAX - 1,
                         of->block_tokens);
    }
    if (!block_numbers_allocate(numbers, why)) {
        block_numbers_release(numbers);
        return false;
    }
    return true;
}

void block_numbers_release(struct block_numbers *numbers)
{
    for (size_t i = 0; numbers->own != NULL && i < numbers->of.requests->count; i++) {
        free(numbers->own[i]);
    }
    free(numbers->own);
    free(numbers->first_shared);
    free(numbers->spare);
    free(numbers->orphan);
    *numbers = (struct block_numbers){.most = 0};
}

bool block_numbers_recycle(struct block_numbers *numbers, struct error *why)
{
    numbers->orphan = array_zeroed(numbers->most, sizeof *numbers->orphan, why);
    return numbers->orphan != NULL;
}

/* ---- giving and recycling ------------------------------------------------------------- */

/* Give the request numbers for its own blocks. */
static bool give_own(struct block_numbers *numbers, size_t index)
{
    uint64_t count = own_blocks(numbers, index);
    struct error unseen;
    uint32_t *own = array_zeroed(count, sizeof *own, &unseen);
    for (uint64_t i = 0; own != NULL && i < count; i++) {
        own[i] =
            numbers->spare_count > 0 ? numbers->spare[--numbers->spare_count] : numbers->next++;
    }
    numbers->own[index] = own;
    return own != NULL;
}

bool block_numbers_give(struct block_numbers *numbers, size_t index)
{
    const struct request *request = request_of(numbers, index);
    const uint32_t *chunks = request_chunks(numbers->of.requests, request);
    if (numbers->own[index] != NULL) {
        return true;
    }
    for (uint32_t i = 0; i < request->chunks; i++) {
        if (numbers->first_shared[chunks[i]] == 0) {
            numbers->first_shared[chunks[i]] = numbers->next + 1;
            numbers->next += chunk_numbers(numbers, chunks[i]);
        }
    }
    return numbers->of.runs || give_own(numbers, index);
}

void block_numbers_leave(struct block_numbers *numbers, size_t index,
                         void (*orphaned)(uint32_t id, void *context), void *context)
{
    if (numbers->orphan == NULL) {
        return;
    }
    for (uint64_t i = own_blocks(numbers, index); i-- > 0;) {
        uint32_t id = numbers->own[index][i];
        numbers->orphan[id] = true;
        orphaned(id, context);
    }
    free(numbers->own[index]);
    numbers->own[index] = NULL;
}

/* If there is no memory to note it, others take a new one. */
void block_numbers_spare(struct block_numbers *numbers, uint32_t id)
{
    struct error unseen;
    numbers->orphan[id] = false;
    if (array_reserve(&numbers->spare, &numbers->spare_capacity, numbers->spare_count + 1,
                      sizeof *numbers->spare, &unseen)) {
        numbers->spare[numbers->spare_count++] = id;
    }
}
