/* Depths by counting marks in a log of touches.
 *
 * Each touch takes the next place of a log, and the block's mark moves there with it. The depth of
 * a block is the number of marks from its own on. Places not reached yet are marked from the start
 * and subtracted, so a touch only ever removes a mark and never adds one. Marks are bits of words.
 * Above the words stands a binary tree; each node keeps only the count of its right half, so that
 * one walk up adds the marks to the right and removes the block's own:
 *
 *     marks    1 0 1 1 | 0 1 0 1 | 1 1 1 1 | 1 1 1 1     depth of the first: 3 in its word, 2 in
 *     places   reached ......... ^ end                   the next, 8 in the right half, less 8
 *
 * When the log is full, the blocks are written to its start, in order: all marks are set again.
 */

#include "policy/stack.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"

enum { LOG_PER_BLOCK = 4, WORD = 64 };

struct stack {
    struct arrays arrays;
    uint32_t length; /* of the log; a power of two, at least one word */
    uint32_t end;    /* first place not reached; place 0 is not used */
    uint32_t *place; /* [blocks] place of a block's mark; 0: never touched */
    uint32_t *log;   /* [length] blocks */
    uint64_t *marks; /* [words] */
    uint32_t words;  /* length / WORD */
    uint32_t *right; /* [words] marks in the right half of each node; the root is 1 */
};

/* Mark every place. */
static void marks_set(struct stack *stack)
{
    memset(stack->marks, 0xff, stack->words * sizeof *stack->marks);
    uint32_t half = stack->length / 2;
    for (uint32_t first = 1; first < stack->words; first *= 2, half /= 2) {
        for (uint32_t node = first; node < 2 * first; node++) {
            stack->right[node] = half;
        }
    }
}

struct stack *stack_create(uint32_t blocks, struct error *why)
{
    if (blocks >= UINT32_MAX / 2 / LOG_PER_BLOCK) {
        error_set(why, NULL, 0, "%u blocks are too many for a cache", blocks);
        return NULL;
    }
    struct stack *stack = array_zeroed(1, sizeof *stack, why);
    if (!stack) {
        return NULL;
    }
    for (stack->length = WORD; stack->length <= LOG_PER_BLOCK * blocks;) {
        stack->length *= 2;
    }
    stack->words = stack->length / WORD;
    stack->end = 1;
    stack->place = arrays_add(&stack->arrays, blocks, sizeof *stack->place, why);
    stack->log = arrays_add(&stack->arrays, stack->length, sizeof *stack->log, why);
    stack->marks = arrays_add(&stack->arrays, stack->words, sizeof *stack->marks, why);
    stack->right = arrays_add(&stack->arrays, stack->words, sizeof *stack->right, why);
    if (stack->arrays.failed) {
        stack_destroy(stack);
        return NULL;
    }
    marks_set(stack);
    return stack;
}

void stack_destroy(struct stack *stack)
{
    if (stack) {
        arrays_release(&stack->arrays);
        free(stack);
    }
}

/* Count the marks from `place` on, including places not reached; `removed` 1 removes its own. */
static inline uint32_t marks_from(struct stack *stack, uint32_t place, uint32_t removed)
{
    uint64_t *word = &stack->marks[place / WORD];
    uint32_t *right = stack->right, count = bits_set(*word >> place % WORD);
    *word -= (uint64_t)removed << place % WORD;
    for (uint32_t node = stack->words + place / WORD; node > 1; node /= 2) {
        uint32_t in_right = node % 2, marks = right[node / 2];
        count += marks & (in_right - 1);
        right[node / 2] = marks - (in_right & removed);
    }
    return count;
}

/* Write the blocks to the start of the log, in order. */
static void stack_clean(struct stack *stack)
{
    uint32_t kept = 1;
    for (uint32_t at = 1; at < stack->end; at++) {
        uint32_t block = stack->log[at];
        if (stack->place[block] == at) {
            stack->log[kept] = block;
            stack->place[block] = kept++;
        }
    }
    stack->end = kept;
    marks_set(stack);
}

/* Put the mark of a block at the end; its old mark is already removed or was never set. */
static inline void stack_push(struct stack *stack, uint32_t block)
{
    stack->log[stack->end] = block;
    stack->place[block] = stack->end++;
}

void stack_access(struct stack *stack, const struct demand *demand)
{
    if (stack->length - stack->end < demand->wanted) {
        stack_clean(stack);
    }
    for (uint32_t i = demand->wanted; i-- > 0;) {
        uint32_t place = stack->place[demand->units[i]];
        if (place != 0) {
            marks_from(stack, place, 1);
        }
        stack_push(stack, demand->units[i]);
    }
}

uint32_t stack_depth(struct stack *stack, uint32_t block)
{
    uint32_t place = stack->place[block];
    return place == 0 ? 0 : marks_from(stack, place, 0) - (stack->length - stack->end);
}
