/* Traces written by hand from traces/FORMAT.md, right and wrong, under checksums that hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/trace_files.h"

#include <xxhash.h>
#include <zstd.h>

static void put_u32(struct bytes *bytes, uint32_t value)
{
    memcpy(bytes->at + bytes->size, &value, 4);
    bytes->size += 4;
}

static void put_u64(struct bytes *bytes, uint64_t value)
{
    memcpy(bytes->at + bytes->size, &value, 8);
    bytes->size += 8;
}

static void put_f32(struct bytes *bytes, float value)
{
    memcpy(bytes->at + bytes->size, &value, 4);
    bytes->size += 4;
}

static void put(struct bytes *bytes, const void *from, size_t size)
{
    memcpy(bytes->at + bytes->size, from, size);
    bytes->size += size;
}

/* 1 layer, 1 KV head of 2 query heads, 2 dimensions, 300 units, 1 sink, 1 recent, keep 3.
 */
static const uint32_t hand_fields[16] = {1, 1, 2, 2, 300, 0, 1, 300, 1, 1, 3, 1, 2, 2, 1, 2};

static void hand_header(struct bytes *file, const uint32_t fields[16], const char *source)
{
    put(file, "\x89SWT\r\n\x1a\n", 8);
    put_u32(file, 1);
    put_u32(file, 80 + fields[15] + 8);
    for (int i = 0; i < 16; i++) {
        put_u32(file, fields[i]);
    }
    put(file, source, fields[15]);
    put_u64(file, XXH64(file->at, file->size, 0));
}

static void hand_frame(struct bytes *file, uint32_t codec, uint32_t raw_bytes,
                       const struct bytes *payload)
{
    uint8_t *start = file->at + file->size;
    put(file, "SWTF", 4);
    put_u32(file, 0);
    put_u32(file, 0);
    put_u32(file, 0);
    put_u32(file, codec);
    put_u32(file, raw_bytes);
    put_u32(file, (uint32_t)payload->size);
    static struct bytes hashed;
    hashed.size = 0;
    put(&hashed, start, 28);
    put(&hashed, payload->at, payload->size);
    put_u64(file, XXH64(hashed.at, hashed.size, 0));
    put(file, payload->at, payload->size);
}

static void hand_footer(struct bytes *file, uint64_t frame)
{
    uint64_t index = file->size;
    put_u64(file, frame);
    put_u64(file, XXH64(file->at + index, 8, 0));
    put_u64(file, index);
    put(file, "SWTEND\r\n", 8);
}

static void hand_trace(const char *path, const uint32_t fields[16], const char *source,
                       uint32_t codec, uint32_t raw_bytes, const struct bytes *payload)
{
    static struct bytes file;
    file.size = 0;
    hand_header(&file, fields, source);
    uint64_t frame = file.size;
    hand_frame(&file, codec, raw_bytes, payload);
    hand_footer(&file, frame);
    save(path, &file);
}

/* Two rows: units 0 7 299 and 0 200 201 299. Offsets of the columns are noted for the patches. */
static void hand_payload(struct bytes *payload)
{
    payload->size = 0;
    put_u32(payload, 3); /* 0: count */
    put_u32(payload, 4);
    put_f32(payload, 0.25f); /* 8: born */
    put_f32(payload, 0.5f);
    put_f32(payload, 0.125f); /* 16: tail */
    put_f32(payload, 0.0f);
    put_u32(payload, 9);                             /* 24: gap_bytes */
    put(payload, "\x00\x06\xa3\x02", 4);             /* 28: 0, 6, 291 */
    put(payload, "\x00\xc7\x01\x00\x61", 5);         /* 32: 0, 199, 0, 97 */
    put(payload, "\x00\x0a\x14\x00\x28\xff\x01", 7); /* 37: mass */
    put_f32(payload, 1.0f);                          /* 44: scale */
    put_f32(payload, 2.0f);
    put_f32(payload, 0.5f);
    put_f32(payload, 0.0f);
    put(payload, "\x01\x02\x03\x04\xff\x80\x7f\x00", 8); /* 60: query */
}

static void a_trace_made_from_the_description_is_read(void **state)
{
    (void)state;
    static struct bytes payload, packed;
    char path[64];
    struct error why;
    make_path(folder, "hand.swt", path);
    hand_payload(&payload);
    packed.size = ZSTD_compress(packed.at, sizeof packed.at, payload.at, payload.size, 1);
    for (uint32_t codec = 0; codec < 2; codec++) {
        hand_trace(path, hand_fields, "{}", codec, (uint32_t)payload.size,
                   codec == 1 ? &packed : &payload);
        struct trace_frame frame = {0};
        struct trace *trace = trace_open(path, &why);
        make_check(trace != NULL && trace_read(trace, 0, 0, 0, &frame, &why), &why);
        const struct trace_header *header = trace_header(trace);
        assert_int_equal(header->query_heads, 2);
        assert_int_equal(header->context, 300);
        assert_int_equal(header->keep, 3);
        assert_true(header->has_queries && !header->has_approximate);
        assert_string_equal(header->source, "{}");
        const uint32_t start[] = {0, 3, 7}, units[] = {0, 7, 299, 0, 200, 201, 299};
        const uint8_t mass[] = {0, 10, 20, 0, 40, 255, 1};
        assert_memory_equal(frame.rows.start, start, sizeof start);
        assert_memory_equal(frame.rows.units, units, sizeof units);
        assert_memory_equal(frame.rows.mass, mass, sizeof mass);
        assert_true(frame.born[1] == 0.5f && frame.tail[0] == 0.125f && frame.scale[2] == 0.5f);
        assert_int_equal(frame.query[4], -1);
        assert_int_equal(frame.query[5], -128);
        trace_frame_release(&frame);
        trace_close(trace);
    }
    unlink(path);
}

/* Some bytes of the payload replaced, under a checksum that holds. */
static void rows_that_break_a_rule_are_refused(void **state)
{
    (void)state;
    const struct {
        size_t offset, size;
        const char *bytes, *found;
    } patches[] = {
        {0, 1, "\xc8", "the counts state more units than the payload holds"},
        {3, 1, "\xff", "the counts state more units than the payload holds"},
        {4, 1, "\x03", "column 'gaps' is longer than its rows"},
        {4, 1, "\x05", "column 'gaps' has an invalid number"},
        {11, 1, "\xbf", "born of head 0, step 0 is -1, not a mass"},
        {15, 1, "\x40", "born of head 0, step 1 is 2, not a mass"},
        {16, 4, "\xff\xff\xff\x7f", "tail of head 0, step 0 is nan, not a mass"},
        {24, 1, "\x08", "column 'gaps' has an invalid number"},
        {24, 1, "\xc8", "the payload ends within column 'gaps'"},
        {24, 1, "\x24", "column 'gaps' is longer than its rows"},
        {28, 3, "\x01\x06\xa2", "row of head 0, step 0: a unit of the sinks is missing"},
        {29, 1, "\x05", "row of head 0, step 0: a unit of the recent window is missing"},
        {29, 1, "\x07", "row of head 0, step 0: a unit out of range"},
        {36, 1, "\x62", "row of head 0, step 1: a unit out of range"},
        {36, 1, "\xe1", "column 'gaps' has an invalid number"},
        {32, 5, "\xff\xff\xff\xff\x7f", "column 'gaps' has an invalid number"},
        {47, 1, "\xff", "scale of query head 0, step 0 is -inf"},
        {51, 1, "\xc0", "scale of query head 0, step 1 is -2"},
    };
    static struct bytes payload;
    char path[64];
    make_path(folder, "hand.swt", path);
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++) {
        struct error why;
        hand_payload(&payload);
        memcpy(payload.at + patches[i].offset, patches[i].bytes, patches[i].size);
        hand_trace(path, hand_fields, "{}", 0, (uint32_t)payload.size, &payload);
        assert_true(is_refused(path, &why));
        if (strstr(why.found, patches[i].found) == NULL ||
            strstr(why.found, "tile 0, layer 0, sequence 0, byte 90: ") != why.found) {
            fail_msg("case %zu: '%s' is not '%s'", i, why.found, patches[i].found);
        }
    }
    unlink(path);
}

static void payloads_of_another_size_are_refused(void **state)
{
    (void)state;
    static struct bytes payload, packed, twice, longer, shorter;
    struct error why;
    char path[64];
    make_path(folder, "hand.swt", path);
    hand_payload(&payload);
    uint32_t size = (uint32_t)payload.size;
    packed.size = ZSTD_compress(packed.at, sizeof packed.at, payload.at, size, 1);
    twice = packed;
    put(&twice, packed.at, packed.size);
    longer = shorter = payload;
    longer.size++;
    shorter.size--;
    const struct {
        uint32_t codec, raw_bytes;
        const struct bytes *payload;
        const char *found;
    } cases[] = {
        {0, size + 1, &longer, "1 bytes of the payload are left over"},
        {0, size - 1, &shorter, "the payload ends within column 'query'"},
        {0, size + 1, &payload, "an uncompressed payload has 68 stored bytes, but states 69"},
        {1, size + 1, &packed, "68 bytes, but the frame states 69"},
        {1, size - 1, &packed, "zstd: "},
        {1, size, &payload, "zstd: "},
        {1, size, &twice, "the payload is more than one zstd frame"},
        {2, size, &payload, "unknown codec 2"},
        {1, 1 << 30, &packed, "the frame states a payload of 1073741824 bytes"},
        {1, 40, &packed, "the frame states a payload of 40 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hand_trace(path, hand_fields, "{}", cases[i].codec, cases[i].raw_bytes, cases[i].payload);
        assert_true(is_refused(path, &why));
        if (strstr(why.found, cases[i].found) == NULL) {
            fail_msg("case %zu: '%s' is not '%s'", i, why.found, cases[i].found);
        }
    }
    unlink(path);
}

static void headers_that_break_a_rule_are_refused(void **state)
{
    (void)state;
    const struct {
        int field;
        uint32_t value;
        const char *source, *found;
    } cases[] = {
        {0, 0, "{}", "header: layers is 0"},
        {1, 1025, "{}", "header: kv_heads is 1025"},
        {1, 3, "{}", "header: query_heads 2 is not a multiple of kv_heads 3"},
        {3, 0, "{}", "header: head_dim is 0"},
        {4, 0, "{}", "header: context is 0"},
        {4, 299, "{}", "header: units is 300, but context / unit_tokens is 299"},
        {5, 2, "{}", "header: unit_kind is 2"},
        {6, 0, "{}", "header: unit_tokens is 0"},
        {8, 301, "{}", "header: units 300, sinks 301 or recent 1 exceeds context 300"},
        {9, 301, "{}", "header: units 300, sinks 1 or recent 301 exceeds context 300"},
        {11, 0, "{}", "header: sequences is 0"},
        {11, UINT32_MAX, "{}", "header: the file is too short for its 4294967295 frames"},
        {12, 0, "{}", "header: steps is 0"},
        {13, 257, "{}", "header: steps_per_tile is 257"},
        {14, 4, "{}", "header: flags is 4"},
        {15, 65537, "{}", "header, byte 12: the header has 65625 bytes, its source 65537"},
        {15, 2, "[]", "header: source is not a JSON object"},
        {15, 2, "{x", "header: source is not JSON: "},
    };
    static struct bytes payload;
    static char source[65537];
    char path[64];
    make_path(folder, "hand.swt", path);
    hand_payload(&payload);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error why;
        uint32_t fields[16];
        memcpy(fields, hand_fields, sizeof fields);
        memcpy(source, cases[i].source, 2);
        fields[cases[i].field] = cases[i].value;
        hand_trace(path, fields, source, 0, (uint32_t)payload.size, &payload);
        assert_null(trace_open(path, &why));
        if (strstr(why.found, cases[i].found) != why.found) {
            fail_msg("case %zu: '%s' is not '%s'", i, why.found, cases[i].found);
        }
    }
    unlink(path);
}

/* Two layers, two frames, and an index that says something else. */
static void an_index_out_of_order_is_refused(void **state)
{
    (void)state;
    static struct bytes payload, file;
    char path[64];
    make_path(folder, "hand.swt", path);
    hand_payload(&payload);
    const uint64_t first = 90, second = first + 36 + payload.size, end = second + 36 + payload.size;
    const struct {
        uint64_t offsets[2];
        const char *found;
    } cases[] = {
        {{0, second}, "index, byte 298: frame 0 cannot be at 0"},
        {{second, first}, "index, byte 298: frame 0 cannot be at 194"},
        {{first, first}, "index, byte 306: frame 1 cannot be at 90"},
        {{first, first + 35}, "index, byte 306: frame 1 cannot be at 125"},
        {{first, end - 35}, "index, byte 306: frame 1 cannot be at 263"},
        {{first, UINT64_MAX}, "index, byte 306: frame 1 cannot be at 18446744073709551615"},
        {{first, second - 1},
         "tile 0, layer 0, sequence 0, byte 90: the frame states 68 stored bytes"},
        {{first, second},
         "tile 0, layer 1, sequence 0, byte 194: found the frame of tile 0, "
         "layer 0, sequence 0 here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error why;
        uint32_t fields[16];
        memcpy(fields, hand_fields, sizeof fields);
        fields[0] = 2;
        file.size = 0;
        hand_header(&file, fields, "{}");
        hand_frame(&file, 0, (uint32_t)payload.size, &payload);
        hand_frame(&file, 0, (uint32_t)payload.size, &payload);
        put_u64(&file, cases[i].offsets[0]);
        hand_footer(&file, cases[i].offsets[1]);
        uint64_t hash = XXH64(file.at + end, 16, 0);
        memcpy(file.at + end + 16, &hash, 8);
        memcpy(file.at + end + 24, &end, 8);
        save(path, &file);
        assert_true(is_refused(path, &why));
        assert_string_equal(why.found, cases[i].found);
    }
    unlink(path);
}

static void every_mass_code_survives_as_text(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++) {
        char text[32];
        snprintf(text, sizeof text, "%.4g", (double)trace_mass[code]);
        assert_int_equal(trace_mass_code((double)strtof(text, NULL)), code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_made_from_the_description_is_read),
        cmocka_unit_test(rows_that_break_a_rule_are_refused),
        cmocka_unit_test(payloads_of_another_size_are_refused),
        cmocka_unit_test(headers_that_break_a_rule_are_refused),
        cmocka_unit_test(an_index_out_of_order_is_refused),
        cmocka_unit_test(every_mass_code_survives_as_text),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
