/* Each value's machine is resolved again, because results do not say what a link could carry. */
#include "cli/whatif/whatif_report.h"

#include "answer/table.h"
#include "decode/cost/cost.h"

#include <math.h>
#include <string.h>

enum { LABEL = 64, LINE = 512 };

/* The rate of CPU stores at a value, in bytes a second, if the copy engines could carry more; 0 if
 * not, if the system does not use CPU stores, or if the point cannot be resolved. */
static double stored_rate(const struct whatif *whatif, uint32_t axis, uint32_t value)
{
    bool outer = whatif->axis_count > 1 && axis == 0;
    uint32_t point = value * (outer ? whatif->axes[1].count : 1);
    struct point resolved;
    struct error unseen;
    struct trust trust;
    if (!scenario_point(&whatif->scenario, point, &resolved, &unseen)) {
        return 0;
    }
    const struct mechanisms *m = &resolved.setup.mechanisms;
    double rate = 0;
    if (mechanisms_offload(m) && m->transfer == TRANSFER_CPU_STORE) {
        double link = profile_value(&resolved.setup.profile, CURVE_LINK_IN, 0, &trust) /
                      cost_uplink_sharers(&resolved.setup, &trust);
        double stores = cost_transfer_rate(&resolved.setup, &trust);
        rate = stores < link ? stores : 0;
    }
    point_release(&resolved);
    return rate;
}

/* Neighbouring values of an axis at which stores carry the same, within a thousandth. */
struct plateau {
    uint32_t first, count;
    double rate;
};

static struct plateau longest_plateau(const struct whatif *whatif, uint32_t axis)
{
    struct plateau longest = {.count = 0}, own = {.count = 0};
    for (uint32_t value = 0; value < whatif->axes[axis].count; value++) {
        double rate = stored_rate(whatif, axis, value);
        bool same = rate > 0 && fabs(rate - own.rate) <= own.rate / 1000;
        own = same ? (struct plateau){own.first, own.count + 1, own.rate}
                   : (struct plateau){value, rate > 0 ? 1 : 0, rate};
        longest = own.count > longest.count ? own : longest;
    }
    return longest;
}

static void print_plateau(const struct axis *axis, struct plateau plateau, FILE *out)
{
    char line[LINE], first[LABEL], last[LABEL], rate[LABEL];
    axis_label(axis, plateau.first, first, sizeof first);
    axis_label(axis, plateau.first + plateau.count - 1, last, sizeof last);
    units_format(plateau.rate, UNIT_BYTES_PER_S, rate, sizeof rate);
    snprintf(
        line, sizeof line,
        "from %s to %s, CPU stores fetch at %s (hardware.link.cpu_store, equal at all of these): "
        "a faster link does not help them",
        first, last, rate);
    table_wrap(line, 0, out);
    fputc('\n', out);
}

void whatif_stores_print(const struct whatif *whatif, FILE *out)
{
    static const char link[] = "hardware.link";
    for (uint32_t i = 0; i < whatif->axis_count; i++) {
        struct plateau plateau = {.count = 0};
        if (strncmp(whatif->axes[i].key, link, strlen(link)) == 0) {
            plateau = longest_plateau(whatif, i);
        }
        if (plateau.count > 1) {
            print_plateau(&whatif->axes[i], plateau, out);
        }
    }
}
