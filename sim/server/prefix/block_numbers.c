#include "server/prefix/block_numbers.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_NUMBERS = 32 }; /* are made before spare ones are looked for */

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

/* Done for each block of each request at each of its events: without divisions. */
const uint32_t *block_numbers_list(const struct block_numbers *numbers, size_t index, uint64_t from,
                                   uint64_t to)
{
    const uint32_t *chunks = request_chunks(numbers->of.requests, request_of(numbers, index));
    const uint32_t *first = numbers->first_shared;
    uint32_t *out = numbers->listed, per_chunk = numbers->blocks_per_chunk;
    uint64_t shared = shared_blocks(numbers, index), end = shared < to ? shared : to, at = from;
    if (per_chunk == 0) {
        for (; at < end; at++) {
            *out++ = first[chunks[(at + 1) * numbers->chunks_per_block - 1]] - 1;
        }
    } else if (at < end) {
        chunks += at / per_chunk;
        for (uint32_t place = (uint32_t)(at % per_chunk); at < end; chunks++, place = 0) {
            uint32_t id = first[*chunks] - 1 + place;
            for (; place < per_chunk && at < end; place++, at++) {
                *out++ = id++;
            }
        }
    }
    if (at < to) {
        memcpy(out, &numbers->own[index][at - shared], (to - at) * sizeof *out);
    }
    return numbers->listed;
}

/* ---- init, release -------------------------------------------------------------------- */

/* Numbers that a chunk needs: of its whole blocks, or of the block whose last chunk it is. */
static uint32_t chunk_numbers(const struct block_numbers *numbers, uint32_t chunk)
{
    const struct requests *requests = numbers->of.requests;
    uint32_t tokens = numbers->of.block_tokens;
    if (numbers->of.chunks_recycled || requests->chunk_tokens < tokens) {
        return numbers->rows.length; /* another chunk may get them */
    }
    return requests->kind[chunk].tokens / tokens;
}

/* The numbers that the requests which may begin could need. */
static uint64_t all_numbers(const struct block_numbers *numbers)
{
    const struct block_owners *of = &numbers->of;
    uint64_t own = 0, shared = 0, all = 0; /* of all chunks */
    for (uint32_t i = 0; i < of->requests->ids.count && all < UINT32_MAX; i++) {
        all += chunk_numbers(numbers, i);
    }
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

bool block_numbers_init(struct block_numbers *numbers, const struct block_owners *of,
                        struct error *why)
{
    const struct requests *requests = of->requests;
    uint32_t tokens = of->block_tokens, chunk_tokens = requests->chunk_tokens;
    *numbers = (struct block_numbers){.of = *of, .ones.length = 1};
    if (chunk_tokens > 0 && chunk_tokens % tokens > 0 && tokens % chunk_tokens > 0) {
        error_usage(why, NULL, 0, "blocks of %u tokens, and hashes of %u", tokens, chunk_tokens);
        return error_expect(why, "a number of tokens that divides %u, or is a multiple of it",
                            chunk_tokens);
    }
    numbers->blocks_per_chunk = chunk_tokens / tokens;
    numbers->chunks_per_block = chunk_tokens > 0 ? tokens / chunk_tokens : 0;
    numbers->rows.length = numbers->blocks_per_chunk > 0 ? numbers->blocks_per_chunk : 1;
    uint64_t most = all_numbers(numbers);
    numbers->most = most > 0 ? (uint32_t)most : 1;
    if (most >= UINT32_MAX) {
        return error_set(why, NULL, 0, "more than %u blocks of %u tokens", UINT32_MAX - 1, tokens);
    }
    size_t users = of->chunks_recycled ? requests->ids.count : 0;
    numbers->own = array_sparse(requests->count, sizeof *numbers->own, why);
    numbers->first_shared = array_sparse(requests->ids.count, sizeof *numbers->first_shared, why);
    numbers->users = array_sparse(users, sizeof *numbers->users, why);
    uint64_t longest = requests_longest(requests) / tokens;
    numbers->listed = array_zeroed(longest, sizeof *numbers->listed, why);
    if (numbers->own == NULL || numbers->first_shared == NULL || numbers->users == NULL ||
        numbers->listed == NULL) {
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
    array_sparse_free(numbers->own);
    array_sparse_free(numbers->first_shared);
    array_sparse_free(numbers->users);
    free(numbers->listed);
    free(numbers->ones.spare.items);
    free(numbers->rows.spare.items);
    free(numbers->left.items);
    free(numbers->chunks.items);
    *numbers = (struct block_numbers){.most = 0};
}

/* ---- giving and recycling ------------------------------------------------------------- */

/* If there is no memory to note it, it is not given anew. Asked for each block: array_reserve() would clear an
 * error for it that nobody reads. */
static void push_number(struct number_list *list, uint32_t number)
{
    if (list->count < list->capacity ||
        array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items,
                      ERROR_UNSEEN)) {
        list->items[list->count++] = number;
    }
}

static uint32_t take_row(struct block_numbers *numbers, struct block_rows *rows, uint32_t length)
{
    uint32_t first = numbers->next;
    if (rows->spare.count > 0) {
        return rows->spare.items[--rows->spare.count];
    }
    rows->made++;
    numbers->next += length;
    return first;
}

/* Are more needed than are spare, and as many made as the limit says? */
static bool is_short(const struct block_rows *rows, uint64_t needed)
{
    return needed > rows->spare.count && rows->made + needed - rows->spare.count > rows->limit;
}

static void set_limit(struct block_rows *rows)
{
    uint64_t used = rows->made - rows->spare.count;
    uint64_t most = used + used / 2 + LEAST_NUMBERS / rows->length;
    rows->limit = most > rows->limit ? most : rows->limit;
}

static bool are_gone(const struct block_numbers *numbers, uint32_t first, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        if (!numbers->gone(first + i, numbers->context)) {
            return false;
        }
    }
    return true;
}

/* Make spare what nobody can find: own blocks of ended requests, */
static void collect_own(struct block_numbers *numbers)
{
    struct number_list left = numbers->left;
    numbers->left.count = 0;
    for (size_t i = 0; i < left.count; i++) {
        bool gone = are_gone(numbers, left.items[i], 1);
        push_number(gone ? &numbers->ones.spare : &numbers->left, left.items[i]);
    }
    set_limit(&numbers->ones);
}

/* and chunks that no request has which has begun and not ended, once they are nowhere. */
static void collect_chunks(struct block_numbers *numbers)
{
    struct number_list chunks = numbers->chunks;
    numbers->chunks.count = 0;
    for (size_t i = 0; i < chunks.count; i++) {
        uint32_t chunk = chunks.items[i], *first = &numbers->first_shared[chunk];
        if (numbers->users[chunk] == 0 && are_gone(numbers, *first - 1, numbers->rows.length)) {
            push_number(&numbers->rows.spare, *first - 1);
            *first = 0;
        } else {
            push_number(&numbers->chunks, chunk);
        }
    }
    set_limit(&numbers->rows);
}

bool block_numbers_give(struct block_numbers *numbers, size_t index)
{
    const struct request *request = request_of(numbers, index);
    const uint32_t *chunks = request_chunks(numbers->of.requests, request);
    bool owns = !numbers->of.runs && numbers->own[index] == NULL;
    uint64_t own = owns ? own_blocks(numbers, index) : 0, lacking = 0;
    for (uint32_t i = 0; i < request->chunks; i++) {
        lacking += numbers->first_shared[chunks[i]] == 0;
    }
    if (numbers->of.recycled && is_short(&numbers->ones, own)) {
        collect_own(numbers);
    }
    if (numbers->of.chunks_recycled && is_short(&numbers->rows, lacking)) {
        collect_chunks(numbers);
    }
    for (uint32_t i = 0; i < request->chunks; i++) {
        uint32_t *first = &numbers->first_shared[chunks[i]];
        if (*first == 0) {
            *first = 1 + take_row(numbers, &numbers->rows, chunk_numbers(numbers, chunks[i]));
            if (numbers->of.chunks_recycled) {
                push_number(&numbers->chunks, chunks[i]);
            }
        }
    }
    if (!owns) {
        return true;
    }
    uint32_t *given = numbers->own[index] = array_zeroed(own, sizeof *given, ERROR_UNSEEN);
    for (uint64_t i = 0; given != NULL && i < own; i++) {
        given[i] = take_row(numbers, &numbers->ones, 1);
    }
    return given != NULL;
}

void block_numbers_use(struct block_numbers *numbers, size_t index, int change)
{
    const struct request *request = request_of(numbers, index);
    const uint32_t *chunks = request_chunks(numbers->of.requests, request);
    for (uint32_t i = 0; numbers->of.chunks_recycled && i < request->chunks; i++) {
        numbers->users[chunks[i]] += (uint32_t)change;
    }
}

void block_numbers_leave(struct block_numbers *numbers, size_t index)
{
    uint64_t count = own_blocks(numbers, index);
    if (!numbers->of.recycled || numbers->own[index] == NULL) {
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        push_number(&numbers->left, numbers->own[index][i]);
    }
    free(numbers->own[index]);
    numbers->own[index] = NULL;
}
