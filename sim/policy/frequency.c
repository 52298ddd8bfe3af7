/* Rings of buckets and of the blocks in them; the idea is in frequency.h. */
#include "policy/frequency.h"

#include "base/array.h"

#include <stdlib.h>

bool frequency_init(struct frequency *frequency, uint32_t blocks, uint32_t capacity,
                    struct error *why)
{
    *frequency = (struct frequency){.blocks = blocks};
    if (blocks >= UINT32_MAX / 2 - 1) {
        return error_set(why, NULL, 0, "a cache over %u blocks", blocks);
    }
    uint32_t buckets = capacity + 2; /* one more than blocks while a block moves, and the head */
    frequency->entries = array_zeroed((size_t)blocks + buckets, sizeof *frequency->entries, why);
    frequency->buckets =
        frequency->entries ? array_zeroed(buckets, sizeof *frequency->buckets, why) : NULL;
    if (!frequency->buckets) {
        frequency_release(frequency);
        return false;
    }
    for (uint32_t b = 0; b < buckets; b++) {
        struct frequency_entry *head = &frequency->entries[blocks + b];
        head->older = head->newer = blocks + b;
        frequency->buckets[b].more = b + 1 < buckets ? b + 1 : 0;
    }
    frequency->buckets[0].more = 0;
    frequency->vacant = 1;
    return true;
}

void frequency_release(struct frequency *frequency)
{
    free(frequency->entries);
    free(frequency->buckets);
    *frequency = (struct frequency){0};
}

/* An empty bucket of `count` behind bucket `fewer`. */
static uint32_t bucket_open(struct frequency *frequency, uint32_t fewer, uint64_t count)
{
    struct frequency_bucket *buckets = frequency->buckets;
    uint32_t bucket = frequency->vacant, more = buckets[fewer].more;
    frequency->vacant = buckets[bucket].more;
    buckets[bucket] = (struct frequency_bucket){.count = count, .fewer = fewer, .more = more};
    buckets[fewer].more = buckets[more].fewer = bucket;
    return bucket;
}

static void bucket_close(struct frequency *frequency, uint32_t bucket)
{
    struct frequency_bucket *buckets = frequency->buckets;
    uint32_t fewer = buckets[bucket].fewer, more = buckets[bucket].more;
    buckets[fewer].more = more;
    buckets[more].fewer = fewer;
    buckets[bucket].more = frequency->vacant;
    frequency->vacant = bucket;
}

/* Put a block at the new end of a bucket. */
static void bucket_link(struct frequency *frequency, uint32_t bucket, uint32_t block)
{
    struct frequency_entry *entries = frequency->entries;
    uint32_t head = frequency->blocks + bucket, older = entries[head].older;
    entries[block] = (struct frequency_entry){.older = older, .newer = head, .bucket = bucket};
    entries[older].newer = entries[head].older = block;
}

static void bucket_unlink(struct frequency *frequency, uint32_t block)
{
    struct frequency_entry *entries = frequency->entries;
    uint32_t older = entries[block].older, newer = entries[block].newer;
    entries[older].newer = newer;
    entries[newer].older = older;
    if (older == newer) { /* both the head: it was alone */
        bucket_close(frequency, entries[block].bucket);
    }
}

void frequency_add(struct frequency *frequency, uint32_t block)
{
    uint32_t first = frequency->buckets[0].more;
    if (frequency->buckets[first].count != 1) {
        first = bucket_open(frequency, 0, 1);
    }
    bucket_link(frequency, first, block);
}

void frequency_touch(struct frequency *frequency, uint32_t block)
{
    const struct frequency_entry *entry = &frequency->entries[block];
    uint32_t bucket = entry->bucket, more = frequency->buckets[bucket].more;
    uint64_t count = frequency->buckets[bucket].count + 1;
    if (frequency->buckets[more].count != count) {
        if (entry->older == entry->newer) { /* alone: its bucket counts on */
            frequency->buckets[bucket].count = count;
            return;
        }
        more = bucket_open(frequency, bucket, count);
    }
    bucket_unlink(frequency, block);
    bucket_link(frequency, more, block);
}

uint32_t frequency_least(const struct frequency *frequency)
{
    return frequency->entries[frequency->blocks + frequency->buckets[0].more].newer;
}

void frequency_remove(struct frequency *frequency, uint32_t block)
{
    bucket_unlink(frequency, block);
    frequency->entries[block].bucket = 0;
}
