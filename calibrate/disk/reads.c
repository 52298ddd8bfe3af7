#include "calibrate/disk/reads.h"

#include "core/array.h"
#include "calibrate/measure/measure.h"

#include <liburing.h>
#include <stdlib.h>
#include <string.h>

struct disk_ring {
    struct io_uring ring;
};

struct disk_ring *disk_ring_create(struct error *why)
{
    struct disk_ring *ring = array_zeroed(1, sizeof *ring, why);
    int failed = ring != NULL ? io_uring_queue_init(READS_DEPTH, &ring->ring, 0) : 0;
    if (failed != 0) {
        error_set(why, NULL, 0, "io_uring, which reads the drive, cannot be used: %s",
                  strerror(-failed));
        error_expect(why, "a kernel of 5.6 or later that allows it (kernel.io_uring_disabled = 0)");
        free(ring);
        return NULL;
    }
    return ring;
}

void disk_ring_destroy(struct disk_ring *ring)
{
    if (ring != NULL) {
        io_uring_queue_exit(&ring->ring);
        free(ring);
    }
}

/* A run: requests [0, asked) were asked for, and `done` of them have ended. */
struct disk_run {
    struct io_uring *ring;
    int file;
    size_t block;
    uint32_t asked, done;
    int result; /* of the first request that failed: -errno, or the bytes of a short one */
    bool failed;
};

static void disk_run_ask(struct disk_run *run, const struct disk_request *request)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(run->ring);
    if (request->write) {
        io_uring_prep_write(entry, run->file, request->memory, (unsigned)run->block,
                            request->offset);
    } else {
        io_uring_prep_read(entry, run->file, request->memory, (unsigned)run->block,
                           request->offset);
    }
    run->asked++;
}

static void disk_run_take(struct disk_run *run)
{
    struct io_uring_cqe *entry;
    while (io_uring_peek_cqe(run->ring, &entry) == 0) {
        if (!run->failed && entry->res != (int)run->block) {
            run->failed = true;
            run->result = entry->res;
        }
        run->done++;
        io_uring_cqe_seen(run->ring, entry);
    }
}

/* Hand over what was asked for, and wait until at least one request has ended. */
static bool disk_run_wait(struct disk_run *run)
{
    int result = io_uring_submit_and_wait(run->ring, 1);
    if (result < 0 && result != -EINTR && result != -EAGAIN) {
        run->failed = true;
        run->result = result;
        return false;
    }
    disk_run_take(run);
    return true;
}

static bool disk_run_say(const struct disk_run *run, struct error *why)
{
    return !run->failed ||
           (run->result < 0
                ? error_set(why, NULL, 0, "the scratch file cannot be read or written: %s",
                            strerror(-run->result))
                : error_set(why, NULL, 0, "%d of %zu bytes of the scratch file were moved",
                            run->result, run->block));
}

bool disk_ring_run(struct disk_ring *ring, int file, size_t block,
                   const struct disk_request *requests, uint32_t count, uint32_t depth, double *ns,
                   struct error *why)
{
    struct disk_run run = {.ring = &ring->ring, .file = file, .block = block};
    double start = clock_ns();
    bool runs = true;
    while (runs && (run.done < run.asked || (run.asked < count && !run.failed))) {
        while (!run.failed && run.asked < count && run.asked - run.done < depth) {
            disk_run_ask(&run, &requests[run.asked]);
        }
        runs = disk_run_wait(&run);
    }
    *ns = clock_ns() - start;
    return disk_run_say(&run, why);
}
