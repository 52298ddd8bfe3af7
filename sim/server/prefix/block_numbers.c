#include "server/prefix/block_numbers.h"

#include "core/array.h"

#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>

/* Numbers are collected once more than LEAST_NUMBERS are given and fewer than FEW_SPARE are spare. */
enum { LEAST_NUMBERS = 32, FEW_SPARE = 4 };

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

/* The chunk that tells the block from others. */
static uint32_t block_chunk(const struct block_numbers *numbers, const uint32_t *chunks,
                            uint64_t block)
{
    return numbers->blocks_per_chunk > 0 ? chunks[block / numbers->blocks_per_chunk]
                                         : chunks[(block + 1) * numbers->chunks_per_block - 1];
}

/* The chunk that a row's block has if the row begins with `chunk` and its chunks follow each other. */
static uint64_t chunk_behind(const struct block_numbers *numbers, uint32_t chunk, uint64_t block)
{
    return chunk + (numbers->blocks_per_chunk > 0 ? block / numbers->blocks_per_chunk
                                                  : block * numbers->chunks_per_block);
}

/* Engines choose a request's rank by loads or in turn, whatever prompts a rank has seen: as if drawn. */
static uint32_t rank_of(const struct block_numbers *numbers, uint64_t index)
{
    uint32_t ranks = numbers->of.ranks;
    return ranks > 1 ? (uint32_t)(XXH64(&index, sizeof index, 0) % ranks) : 0;
}

static uint32_t *shared_row(const struct block_numbers *numbers, uint32_t rank, uint32_t chunk)
{
    return &numbers->first_shared[(size_t)chunk * numbers->of.ranks + rank];
}

/* The row that begins with this block of the request. */
static uint32_t block_row(const struct block_numbers *numbers, size_t index, uint64_t block)
{
    const struct request *request = request_of(numbers, index);
    const uint32_t *chunks = request_chunks(numbers->of.requests, request);
    bool shared = block < shared_blocks(numbers, index);
    return (shared
                ? *shared_row(numbers, rank_of(numbers, index), block_chunk(numbers, chunks, block))
                : numbers->own[index].row) -
           1;
}

const struct piece_span *block_numbers_list(struct block_numbers *numbers, size_t index,
                                            uint64_t from, uint64_t to, size_t *count)
{
    uint64_t shared = shared_blocks(numbers, index), at = from >= shared ? shared : 0;
    struct piece_span *out = numbers->listed;
    while (at < to) {
        uint32_t id = block_row(numbers, index, at);
        uint64_t end = at + numbers->pieces[id].blocks;
        if (at == shared && from >= shared + numbers->own[index].from) {
            id = numbers->own[index].mark;
            at += numbers->own[index].from;
        }
        at = end <= from ? end : at;
        for (const struct block_piece *piece; at < end && at < to; id = piece->next) {
            piece = &numbers->pieces[id];
            uint64_t part = (at < from ? from : to) - at;
            if (piece->count > part) {
                block_numbers_cut(numbers, id, (uint32_t)part);
            }
            if (at >= from) {
                *out++ = (struct piece_span){id, piece->count};
            }
            at += piece->count;
        }
    }
    *count = (size_t)(out - numbers->listed);
    return numbers->listed;
}

/* ---- pieces --------------------------------------------------------------------------- */

/* There is room: a list has each number at most once, or chunks of rows that have a number each. */
static void push_number(struct number_list *list, uint32_t number)
{
    list->items[list->count++] = number;
}

static uint32_t take_piece(struct block_numbers *numbers, const struct block_piece *piece)
{
    struct number_list *spare = &numbers->spare;
    uint32_t id = spare->count > 0 ? spare->items[--spare->count] : numbers->next++;
    assert(id < numbers->most);
    numbers->pieces[id] = *piece;
    return id;
}

uint32_t block_numbers_cut(struct block_numbers *numbers, uint32_t id, uint32_t count)
{
    struct block_piece *piece = &numbers->pieces[id], rest = *piece;
    rest.count -= count;
    piece->count = count;
    piece->next = take_piece(numbers, &rest);
    numbers->tiers->cut(id, piece->next, numbers->context);
    return piece->next;
}

uint32_t piece_span_piece(const struct block_numbers *numbers, const struct piece_span *span,
                          bool back)
{
    uint32_t id = span->first;
    for (uint32_t at = numbers->pieces[id].count; back && at < span->count;) {
        id = numbers->pieces[id].next;
        at += numbers->pieces[id].count;
    }
    return id;
}

struct piece_span piece_span_take(struct block_numbers *numbers, struct piece_span *span,
                                  uint32_t count, bool back)
{
    uint32_t id = span->first, kept = back ? span->count - count : count;
    if (count == span->count) {
        const struct piece_span all = *span;
        span->count = 0;
        return all;
    }
    for (; kept > numbers->pieces[id].count; id = numbers->pieces[id].next) {
        kept -= numbers->pieces[id].count;
    }
    if (kept < numbers->pieces[id].count) {
        block_numbers_cut(numbers, id, kept);
    }
    id = numbers->pieces[id].next;
    const struct piece_span part = {back ? id : span->first, count};
    *span = (struct piece_span){back ? span->first : id, span->count - count};
    return part;
}

uint32_t piece_span_next(struct block_numbers *numbers, struct piece_span *span, bool back)
{
    uint32_t id = piece_span_piece(numbers, span, back);
    piece_span_take(numbers, span, numbers->pieces[id].count, back);
    return id;
}

/* Join the pieces of a row that are alike, from the marked one on, and mark the last one but one. */
static void join_row(struct block_numbers *numbers, struct row_mark *row)
{
    struct block_piece *pieces = numbers->pieces;
    uint32_t at = row->from, id = row->mark, end = pieces[row->row - 1].blocks;
    while (!numbers->of.single && at + pieces[id].count < end) {
        uint32_t next = pieces[id].next;
        if (pieces[id].copies + pieces[next].copies == 0 &&
            numbers->tiers->join(id, next, numbers->context)) {
            pieces[id].count += pieces[next].count;
            pieces[id].next = pieces[next].next;
            push_number(&numbers->spare, next);
        } else {
            row->mark = id;
            row->from = at;
            at += pieces[id].count;
            id = next;
        }
    }
}

/* ---- init, release -------------------------------------------------------------------- */

/* Numbers that a chunk needs: of its whole blocks, or of the block whose last chunk it is. */
static uint32_t chunk_numbers(const struct block_numbers *numbers, uint32_t chunk)
{
    const struct requests *requests = numbers->of.requests;
    uint32_t tokens = numbers->of.block_tokens;
    return requests->chunk_tokens < tokens ? 1 : requests->kind[chunk].tokens / tokens;
}

/* The numbers that the requests which may begin could need. */
static uint64_t all_numbers(const struct block_numbers *numbers)
{
    const struct block_owners *of = &numbers->of;
    uint64_t own = 0, shared = 0, all = 0; /* of all chunks, which requests of all servers have */
    for (uint32_t i = 0; i < of->requests->ids.count && all < UINT32_MAX; i++) {
        all += (uint64_t)of->ranks * chunk_numbers(numbers, i);
    }
    for (size_t i = 0; i < of->requests->count && own < UINT32_MAX; i++) {
        const struct request *request = &of->requests->all[i];
        if (of->server_of == NULL || of->server_of[i] == of->server) {
            const uint32_t *chunks = request_chunks(of->requests, request);
            own += own_blocks(numbers, i);
            for (uint32_t j = 0; of->server_of != NULL && j < request->chunks && shared < all;
                 j++) {
                shared += chunk_numbers(numbers, chunks[j]);
            }
        }
    }
    return own + (of->server_of != NULL && shared < all ? shared : all);
}

bool block_numbers_init(struct block_numbers *numbers, const struct block_owners *of,
                        struct error *why)
{
    const struct requests *requests = of->requests;
    uint32_t tokens = of->block_tokens, chunk_tokens = requests->chunk_tokens;
    *numbers = (struct block_numbers){.of = *of, .limit = LEAST_NUMBERS};
    numbers->of.ranks = of->ranks > 0 ? of->ranks : 1;
    if (chunk_tokens > 0 && chunk_tokens % tokens > 0 && tokens % chunk_tokens > 0) {
        error_usage(why, NULL, 0, "blocks of %u tokens, and hashes of %u", tokens, chunk_tokens);
        return error_expect(why, "a number of tokens that divides %u, or is a multiple of it",
                            chunk_tokens);
    }
    numbers->blocks_per_chunk = chunk_tokens / tokens;
    numbers->chunks_per_block = chunk_tokens > 0 ? tokens / chunk_tokens : 0;
    uint64_t most = all_numbers(numbers);
    most = of->recycled && most >= UINT32_MAX ? UINT32_MAX - 1 : most; /* no memory holds so many */
    numbers->most = most > 0 ? (uint32_t)most : 1;
    if (most >= UINT32_MAX) {
        return error_set(why, NULL, 0, "more than %u blocks of %u tokens", UINT32_MAX - 1, tokens);
    }
    numbers->pieces = array_sparse(numbers->most, sizeof *numbers->pieces, why);
    struct number_list *const lists[] = {&numbers->spare, &numbers->left, &numbers->rows};
    bool good = numbers->pieces != NULL;
    for (size_t i = 0; good && i < sizeof lists / sizeof *lists; i++) {
        lists[i]->items = array_sparse(numbers->most, sizeof *lists[i]->items, why);
        good = lists[i]->items != NULL;
    }
    numbers->own = array_sparse(requests->count, sizeof *numbers->own, why);
    numbers->first_shared = array_sparse((size_t)requests->ids.count * numbers->of.ranks,
                                         sizeof *numbers->first_shared, why);
    uint64_t longest = requests_longest(requests) / tokens;
    numbers->listed = array_zeroed(longest, sizeof *numbers->listed, why);
    if (!good || numbers->own == NULL || numbers->first_shared == NULL || numbers->listed == NULL) {
        block_numbers_release(numbers);
        return false;
    }
    return true;
}

void block_numbers_release(struct block_numbers *numbers)
{
    array_sparse_free(numbers->own);
    array_sparse_free(numbers->first_shared);
    array_sparse_free(numbers->pieces);
    free(numbers->listed);
    array_sparse_free(numbers->spare.items);
    array_sparse_free(numbers->left.items);
    array_sparse_free(numbers->rows.items);
    *numbers = (struct block_numbers){.most = 0};
}

/* ---- giving and recycling ------------------------------------------------------------- */

static uint32_t make_row(struct block_numbers *numbers, uint32_t chunk, uint32_t blocks)
{
    struct block_piece piece = {
        .count = numbers->of.single ? 1 : blocks, .blocks = blocks, .chunk = chunk};
    uint32_t first = take_piece(numbers, &piece), last = first;
    for (uint32_t at = piece.count; at < blocks; at += piece.count) {
        uint32_t id = take_piece(numbers, &piece);
        numbers->pieces[last].next = id;
        last = id;
    }
    return first;
}

/* Make the numbers of a row spare if it is nowhere. */
static bool free_row(struct block_numbers *numbers, uint32_t row)
{
    const struct block_piece *pieces = numbers->pieces;
    uint32_t blocks = pieces[row].blocks;
    for (uint32_t id = row, at = 0; at < blocks; at += pieces[id].count, id = pieces[id].next) {
        if (pieces[id].copies > 0 || !numbers->tiers->gone(id, numbers->context)) {
            return false;
        }
    }
    for (uint32_t id = row, at = 0; at < blocks; at += pieces[id].count, id = pieces[id].next) {
        push_number(&numbers->spare, id);
    }
    return true;
}

/* Make spare what nobody can find: own blocks of ended requests, and rows that no request has which has begun
 * and not ended. */
static void collect(struct block_numbers *numbers)
{
    struct number_list *left = &numbers->left, *rows = &numbers->rows;
    size_t owned = left->count, shared = rows->count;
    left->count = rows->count = 0;
    for (size_t i = 0; i < owned; i++) {
        if (!free_row(numbers, left->items[i])) {
            left->items[left->count++] = left->items[i];
        }
    }
    for (size_t i = 0; i < shared; i++) {
        uint32_t *row = &numbers->first_shared[rows->items[i]];
        if (numbers->pieces[*row - 1].users == 0 && free_row(numbers, *row - 1)) {
            *row = 0;
        } else {
            rows->items[rows->count++] = rows->items[i];
        }
    }
    uint32_t used = numbers->next - (uint32_t)numbers->spare.count;
    uint32_t limit = used + used / 2 + LEAST_NUMBERS;
    numbers->limit = limit > numbers->limit ? limit : numbers->limit;
}

static void place_row(struct block_numbers *numbers, uint32_t rank, uint32_t row)
{
    uint32_t *place = shared_row(numbers, rank, numbers->pieces[row].chunk);
    *place = row + 1;
    if (numbers->of.chunks_recycled) {
        push_number(&numbers->rows, (uint32_t)(place - numbers->first_shared));
    }
}

/* A row for a prompt's blocks from `at` on, whose chunks have consecutive numbers, up to `most` blocks. */
static void number_row(struct block_numbers *numbers, uint32_t rank, const uint32_t *chunks,
                       uint64_t at, uint64_t most)
{
    uint32_t first = block_chunk(numbers, chunks, at), blocks = 1;
    for (; blocks < most; blocks++) {
        uint32_t chunk = block_chunk(numbers, chunks, at + blocks);
        if (chunk != chunk_behind(numbers, first, blocks) ||
            *shared_row(numbers, rank, chunk) > 0) {
            break;
        }
    }
    place_row(numbers, rank, make_row(numbers, first, blocks));
}

/* A prompt has blocks of a row from `at` on, up to `most`. The row ends where the prompt has others. */
static void divide_row(struct block_numbers *numbers, uint32_t rank, uint32_t row,
                       const uint32_t *chunks, uint64_t at, uint64_t most)
{
    struct block_piece *pieces = numbers->pieces, *first = &pieces[row];
    uint32_t least = 1, alike = first->blocks < most ? first->blocks : (uint32_t)most,
             tried = alike;
    while (least < alike) { /* the first `least` are alike, and no more than `alike` */
        uint32_t chunk = block_chunk(numbers, chunks, at + tried - 1);
        bool same = chunk == chunk_behind(numbers, first->chunk, tried - 1);
        least = same ? tried : least;
        alike = same ? alike : tried - 1;
        tried = least + (alike - least + 1) / 2;
    }
    if (alike < first->blocks) {
        struct piece_span span = {row, first->blocks};
        piece_span_take(numbers, &span, alike, false);
        struct block_piece *rest = &pieces[span.first];
        rest->blocks = span.count;
        rest->users = first->users;
        rest->chunk = (uint32_t)chunk_behind(numbers, first->chunk, alike);
        first->blocks = alike;
        place_row(numbers, rank, span.first);
    }
}

void block_numbers_give(struct block_numbers *numbers, size_t index)
{
    const uint32_t *chunks = request_chunks(numbers->of.requests, request_of(numbers, index));
    uint64_t shared = shared_blocks(numbers, index), own = own_blocks(numbers, index);
    uint32_t rank = rank_of(numbers, index);
    if (numbers->of.recycled && numbers->next > numbers->limit &&
        numbers->spare.count < FEW_SPARE) {
        collect(numbers);
    }
    for (uint64_t at = 0; at < shared;) {
        const uint32_t *row = shared_row(numbers, rank, block_chunk(numbers, chunks, at));
        if (*row == 0) {
            number_row(numbers, rank, chunks, at, shared - at);
        } else {
            divide_row(numbers, rank, *row - 1, chunks, at, shared - at);
            join_row(numbers, &(struct row_mark){.row = *row, .mark = *row - 1});
        }
        at += numbers->pieces[*row - 1].blocks;
    }
    struct row_mark *mark = &numbers->own[index];
    if (own > 0) {
        uint32_t row = mark->row > 0 ? mark->row - 1 : make_row(numbers, 0, (uint32_t)own);
        *mark = (struct row_mark){.row = row + 1, .mark = row};
        join_row(numbers, mark);
    }
}

bool block_numbers_between(const struct block_numbers *numbers, size_t index, uint64_t at,
                           uint64_t count, uint32_t *id, uint32_t *rest)
{
    const struct row_mark *own = &numbers->own[index];
    const struct block_piece *before = &numbers->pieces[own->mark];
    uint64_t shared = shared_blocks(numbers, index);
    if (own->row == 0 || numbers->of.single || at != shared + own->from + before->count ||
        at - shared >= numbers->pieces[own->row - 1].blocks) {
        return false;
    }
    const struct block_piece *behind = &numbers->pieces[before->next];
    *id = own->mark;
    *rest = before->next;
    return behind->count > count && before->copies + behind->copies == 0;
}

void block_numbers_join(struct block_numbers *numbers, size_t index)
{
    if (numbers->own[index].row > 0) {
        join_row(numbers, &numbers->own[index]);
    }
}

void block_numbers_use(struct block_numbers *numbers, size_t index, int change)
{
    uint64_t shared = numbers->of.chunks_recycled ? shared_blocks(numbers, index) : 0;
    for (uint64_t at = 0; at < shared;) {
        struct block_piece *row = &numbers->pieces[block_row(numbers, index, at)];
        row->users += (uint32_t)change;
        at += row->blocks;
    }
}

void block_numbers_leave(struct block_numbers *numbers, size_t index)
{
    if (numbers->of.recycled && numbers->own[index].row > 0) {
        push_number(&numbers->left, numbers->own[index].row - 1);
        numbers->own[index] = (struct row_mark){.row = 0};
    }
}
