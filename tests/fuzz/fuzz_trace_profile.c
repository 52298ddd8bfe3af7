/* Fuzzes trace profiles: bytes are refused with a reason, or give a profile that is the same when
 * it is written and read back, and from which frames are generated that obey the format. */
#include "trace/generate/generate.h"
#include "unit/fixture/profile_text.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void generate(const struct trace_profile *profile)
{
    struct error why = {.found = ""};
    struct trace_geometry geometry = {
        .layers = 2,
        .kv_heads = 2,
        .query_heads = 4,
        .head_dim = 20,
        .context = 700,
        .keep = 0.2,
        .sequences = 1,
        .steps = 3,
        .seed = 7,
    };
    struct trace_frame frame = {0};
    struct trace *trace = trace_open_generated(profile, "fuzz", &geometry, &why);
    if (trace == NULL) {
        require(why.found[0] != '\0');
        return;
    }
    for (uint32_t layer = 0; layer < geometry.layers; layer++) {
        require(trace_read(trace, 0, 0, layer, &frame, &why));
        require(trace_frame_check(trace_header(trace), &frame, &why));
    }
    trace_frame_release(&frame);
    trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_profile profile, again;
    struct error why = {.found = ""};
    if (!parse_profile(size > 0 ? (const char *)data : "", size, &profile, &why)) {
        require(why.found[0] != '\0');
        return 0;
    }
    char *text = profile_text(&profile);
    require(parse_profile(text, strlen(text), &again, &why));
    char *written = profile_text(&again);
    require(strcmp(text, written) == 0);
    generate(&profile);
    free(text);
    free(written);
    trace_profile_release(&again);
    trace_profile_release(&profile);
    return 0;
}
