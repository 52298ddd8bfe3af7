/* How vLLM divides its pool among the layers of a model, as a table and as sentences. */
#include "server/pools/kv_groups_text.h"

#include "core/units.h"
#include "model/layer_kind.h"

#include <math.h>

enum { GROUP, GROUPS, OF, PADDING, BLOCK, PAGE, TAKES, GROUP_COLUMNS };
static const struct frame_column group_columns[GROUP_COLUMNS] = {
    [GROUP] = {.title = "groups of layers", .key = "kind"},
    [GROUPS] = {.title = "groups", .key = "groups", .unit = UNIT_WHOLE},
    [OF] = {.title = "layers", .key = "layers", .unit = UNIT_WHOLE},
    [PADDING] = {.title = "padding", .key = "padding", .unit = UNIT_WHOLE},
    [BLOCK] = {.title = "tokens a block", .key = "block_tokens", .unit = UNIT_WHOLE},
    [PAGE] = {.title = "page", .key = "page_bytes", .unit = UNIT_WHOLE},
    [TAKES] = {.title = "blocks of a sequence",
               .key = "sequence_blocks",
               .unit = UNIT_WHOLE,
               .wrap = true},
};

struct frame *kv_groups_frame(const struct kv_groups *groups, const struct kv_limits *limits,
                              uint64_t length, struct error *why)
{
    struct frame *frame = frame_create(group_columns, GROUP_COLUMNS, why);
    for (uint32_t i = 0; frame != NULL && i < groups->count; i++) {
        const struct kv_group *kind = &groups->kinds[i];
        frame_row(frame);
        frame_textf(frame, GROUP, "%s%s", layer_kinds[kind->kind].name,
                    kind->index ? ", keys of the indexer" : "");
        frame_number(frame, GROUPS, kind->groups);
        frame_number(frame, OF, kind->layers);
        frame_number(frame, PADDING, kind->padding);
        frame_number(frame, BLOCK, kind->kind == ATTENTION_LINEAR ? NAN : (double)kind->block);
        frame_number(frame, PAGE, (double)kind->page);
        frame_number(frame, TAKES, (double)(kind->groups * kv_group_blocks(kind, limits, length)));
    }
    return frame;
}

void kv_groups_say(const struct kv_groups *groups, const struct kv_limits *limits, double pool,
                   uint64_t length, char *text, size_t size)
{
    char bytes[32], block[32];
    uint64_t blocks = (uint64_t)pool / groups->block_bytes;
    uint64_t takes = kv_groups_blocks(groups, limits, length);
    snprintf(text, size,
             "pool of %s: %llu blocks of %s. A sequence of %llu tokens takes %llu of them, so %.2f "
             "fit; the engine logs %llu tokens.",
             units_format(pool, UNIT_BYTES, bytes, sizeof bytes), (unsigned long long)blocks,
             units_format((double)groups->block_bytes, UNIT_BYTES, block, sizeof block),
             (unsigned long long)length, (unsigned long long)takes, (double)blocks / (double)takes,
             (unsigned long long)kv_groups_tokens(groups, limits, (uint64_t)pool, length));
}
