/* The group link-sharing: the rates of copies each way, a gather over the link, and a kernel that
 * reads HBM, while they run side by side.
 *
 *   link.duplex   both copy engines at once, added up
 *
 * All other figures are observations: `sharing.h2d` alone, `sharing.h2d_beside_read` beside the
 * kernel, and so on. The notes state the loss against running alone.
 */
#include "calibrate/device/gather.h"
#include "calibrate/device/read.h"
#include "calibrate/device/row_ids.h"
#include "calibrate/link/buffers.h"
#include "calibrate/link/groups.h"
#include "calibrate/link/lanes.h"

#include <stdio.h>

#define WANTED (256 * MiB)
#define COPY_BYTES (8 * MiB) /* a piece */
#define READ_BYTES (512 * MiB)
#define READ_LEAST (16 * MiB)
#define ROW_BYTES 4096
#define LOAD_CTAS 32

struct sharing {
    struct link_buffers in, out;
    struct row_ids ids;
    struct gpu_arena arena;
    gpu_memory sums;
    struct lanes lanes;
    struct room read_room; /* of the arena: what a read takes */

    bool create(uint64_t seed, struct error *why);
};

bool sharing::create(uint64_t seed, struct error *why)
{
    uint32_t words;
    return in.take(WANTED, seed, why) && out.take(WANTED, seed + 2, why) &&
           ids.create(in.bytes / ROW_BYTES, seed + 4, why) &&
           gpu_room(READ_BYTES, READ_LEAST, &read_room, why) &&
           arena.create(read_room.bytes, seed + 5, why) && gpu_read_sums(&words, why) &&
           sums.take(words * sizeof(uint32_t), why) && lanes.create(why);
}

static bool put_in(void *state, cudaStream_t stream, struct error *why)
{
    return link_copy(&((struct sharing *)state)->in, cudaMemcpyHostToDevice, COPY_BYTES, stream,
                     why);
}

static bool put_out(void *state, cudaStream_t stream, struct error *why)
{
    return link_copy(&((struct sharing *)state)->out, cudaMemcpyDeviceToHost, COPY_BYTES, stream,
                     why);
}

static bool sharing_put_read(void *state, cudaStream_t stream, struct error *why)
{
    struct sharing *all = (struct sharing *)state;
    size_t bytes = all->read_room.bytes;
    return gpu_read_launch(all->arena.turn(bytes), bytes, GPU_READ_HALF, (uint32_t *)all->sums.data,
                           NULL, stream, why);
}

static bool put_load(void *state, cudaStream_t stream, struct error *why)
{
    struct sharing *all = (struct sharing *)state;
    struct gpu_gather gather = {};
    gather.from = all->in.host.seen;
    gather.to = all->in.gpu.data + all->in.turn(COPY_BYTES);
    gather.rows = COPY_BYTES / ROW_BYTES;
    gather.row_bytes = ROW_BYTES;
    gather.ids = all->ids.turn(gather.rows);
    gather.ctas = LOAD_CTAS;
    gather.width = 16;
    gather.loads = 8;
    return gpu_gather_launch(&gather, stream, why);
}

enum sharing_kind { H2D, D2H, READ, LOADS, KINDS };

static bool (*const put[KINDS])(void *, cudaStream_t,
                                struct error *) = {put_in, put_out, sharing_put_read, put_load};

/* The rate of the first kind while the others run beside it; if `summed`, the sum of all rates. */
static const struct sharing_side {
    const char *figure, *alone;
    bool summed;
    uint32_t count;
    enum sharing_kind kinds[LANES_MOST];
} sides[] = {
    {"link.duplex", NULL, true, 2, {H2D, D2H}},
    {"sharing.h2d", NULL, false, 1, {H2D}},
    {"sharing.d2h", NULL, false, 1, {D2H}},
    {"sharing.loads", NULL, false, 1, {LOADS}},
    {"sharing.read", NULL, false, 1, {READ}},
    {"sharing.h2d_beside_d2h", "sharing.h2d", false, 2, {H2D, D2H}},
    {"sharing.d2h_beside_h2d", "sharing.d2h", false, 2, {D2H, H2D}},
    {"sharing.loads_beside_d2h", "sharing.loads", false, 2, {LOADS, D2H}},
    {"sharing.d2h_beside_loads", "sharing.d2h", false, 2, {D2H, LOADS}},
    {"sharing.h2d_beside_read", "sharing.h2d", false, 2, {H2D, READ}},
    {"sharing.d2h_beside_read", "sharing.d2h", false, 2, {D2H, READ}},
    {"sharing.loads_beside_read", "sharing.loads", false, 2, {LOADS, READ}},
    {"sharing.read_beside_h2d", "sharing.read", false, 2, {READ, H2D}},
    {"sharing.read_beside_d2h", "sharing.read", false, 2, {READ, D2H}},
    {"sharing.read_beside_loads", "sharing.read", false, 2, {READ, LOADS}},
    {"sharing.read_beside_both", "sharing.read", false, 3, {READ, H2D, D2H}},
};

#define SIDES (sizeof sides / sizeof *sides)

struct sharing_share {
    struct sharing *all;
    const struct sharing_side *side;
};

static bool sharing_sample_rate(void *state, double *rate, struct error *why)
{
    const struct sharing_share *share = (const struct sharing_share *)state;
    struct lane lanes[LANES_MOST] = {};
    for (uint32_t i = 0; i < share->side->count; i++) {
        enum sharing_kind kind = share->side->kinds[i];
        double bytes = kind == READ ? (double)share->all->read_room.bytes : (double)COPY_BYTES;
        lanes[i] = {put[kind], share->all, bytes, 0};
    }
    if (!share->all->lanes.run(lanes, share->side->count, why)) {
        return false;
    }
    *rate = lanes[0].rate;
    for (uint32_t i = 1; share->side->summed && i < share->side->count; i++) {
        *rate += lanes[i].rate;
    }
    return true;
}

static bool note_loss(const struct sharing_side *side, struct findings *findings, struct error *why)
{
    char note[256];
    const struct finding *beside = findings_get(findings, side->figure);
    const struct finding *alone = side->alone != NULL ? findings_get(findings, side->alone) : NULL;
    if (alone == NULL || alone->count == 0 || beside->count == 0) {
        return findings_note(findings, side->figure,
                             side->summed
                                 ? "both copy engines, pieces of 8 MiB, while both ran, added up"
                                 : "copies of 8 MiB; gather of 4 KiB rows by 32 CTAs; read of HBM "
                                   "by 2 CTAs an SM: this one alone",
                             why);
    }
    double lost = 1 - beside->points[0].median / alone->points[0].median;
    snprintf(note, sizeof note, "while all ran: %+.1f %% against '%s'", -100 * lost, side->alone);
    return findings_note(findings, side->figure, note, why);
}

bool link_sharing(const struct effort *effort, uint64_t seed, struct findings *findings,
                  struct error *why)
{
    struct sharing all;
    struct sharing_share shares[SIDES];
    struct probe probes[SIDES];
    uint32_t before = findings->count;
    if (!all.create(seed, why)) {
        return false;
    }
    for (size_t i = 0; i < SIDES; i++) {
        shares[i] = {&all, &sides[i]};
        probes[i] = {sides[i].figure, 0, &shares[i], sharing_sample_rate};
        if (!findings_add(findings, sides[i].figure, "", UNIT_BYTES_PER_S, why)) {
            return false;
        }
    }
    bool ok = measure_probes(probes, SIDES, effort, seed, findings, why);
    for (size_t i = 0; ok && i < SIDES; i++) {
        ok = note_loss(&sides[i], findings, why);
    }
    if (ok) {
        room_note(&all.in.room, findings, before);
        room_note(&all.out.room, findings, before);
        room_note(&all.read_room, findings, before);
    }
    return ok;
}
