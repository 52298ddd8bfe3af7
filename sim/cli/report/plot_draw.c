/* Pictures of a database, drawn into a file. */
#include "cli/report/plot_draw.h"

#include "cli/frame/question.h"
#include "cli/frame/drawing.h"
#include "cli/frame/output.h"
#include "cli/report/picture.h"
#include "study/papers/measured.h"

#include <inttypes.h>
#include <string.h>

enum { POINTS = 200 }; /* of a line that was measured */

/* A picture needs at least one item, and no more than can be told apart. */
static bool plot_check_count(const char *database, const struct picture *picture, bool only,
                             struct error *why)
{
    const struct picture_kind *kind = picture->kind;
    if (picture->count == 0) {
        return error_set(why, database, 0, "holds no %s%s, which '%s' needs", kind->needs,
                         only ? " that match --only" : "", kind->name);
    }
    if (picture->count > kind->most) {
        error_set(why, database, 0, "holds %u %ss, too many for one picture of '%s'",
                  picture->count, kind->row, kind->name);
        return error_expect(why, "at most %u; select some with --only KEY=VALUE", kind->most);
    }
    return true;
}

static void add_times(const struct picture *picture, uint32_t place, int panel,
                      const struct measured_times *times)
{
    for (size_t rank = 1; rank <= times->count; rank++) {
        bool steps = rank * POINTS / times->count > (rank - 1) * POINTS / times->count;
        if (rank == 1 || steps) {
            fprintf(picture->rows, "point\t%" PRIu32 "\t%.6f\t%.6f\t%d\tmeasured\t-\n", place,
                    times->ms[rank - 1], 100 * (double)rank / (double)times->count, panel);
        }
    }
}

/* Add the single requests of the measurement at `path` to a picture of kind `requests`. As in
 * plots/requests.sql, a line is the share of requests at or below a time, in about two hundred
 * points. */
static bool add_measured(struct picture *picture, const char *path, struct error *why)
{
    struct measured measured;
    if (!measured_read(path, &measured, why)) {
        return false;
    }
    bool ok = measured.ttft.count > 0;
    if (ok) {
        uint32_t place = picture->count + 1;
        fprintf(picture->rows, "measured\t%" PRIu32 "\t0\t0\t0\tmeasured\t-\n", place);
        add_times(picture, place, 1, &measured.ttft);
        add_times(picture, place, 2, &measured.tpot);
        ok = output_flush(picture->rows, "rows of a picture", why);
    } else {
        error_set(why, path, 0, "holds only totals, so there is no distribution to draw");
        error_expect(why, "a benchmark that kept each request (vLLM's --save-detailed, SGLang's "
                          "--output-details), or one JSON line per request (queued_ts, "
                          "first_token_ts, ...)");
    }
    measured_release(&measured);
    return ok;
}

static const struct picture_kind *kind_named(const char *name)
{
    const struct picture_kind *kind = picture_kinds;
    while (strcmp(kind->name, name) != 0) {
        kind++;
    }
    return kind;
}

bool plot_draw(const struct plot_asked *asked, char note[DATABASE_NOTE], struct error *why)
{
    const char *database = asked->database, *measured = asked->measured;
    bool named = drawing_format(asked->path, why) != NULL;
    struct store *store = named ? database_show(database, note, why) : NULL;
    struct picture picture;
    bool ok = store != NULL && picture_read(store, kind_named(asked->kind), asked->only,
                                            asked->only_count, &picture, why);
    store_close(store);
    if (!ok) {
        return false;
    }
    ok = plot_check_count(database, &picture, asked->only_count > 0, why) &&
         (measured == NULL || add_measured(&picture, measured, why)) &&
         drawing_save(picture.kind->name, picture.rows, asked->path, why);
    picture_release(&picture);
    return ok;
}
