#include "study/plan/rough.h"

#include <math.h>

/* A run that is an answer must last longer (serving_lasting()). */
enum { TIMES = 3 };

void rough_read(const struct result *at_once, struct rough *out)
{
    double taken =
        result_number(at_once, COLUMN(e2e_ms)) - result_number(at_once, COLUMN(queue_ms));
    double most = result_ok(at_once) ? result_number(at_once, COLUMN(requests_out_per_s)) : 0;
    *out = (struct rough){.most = most, .held = most > 0 ? most * taken / 1e3 : 0};
}

uint64_t rough_requests(const struct rough *rough, double rate, uint64_t least, uint64_t there)
{
    double wanted = fmax(TIMES * rough->held * fmin(rate / rough->most, 1), (double)least);
    return wanted < (double)there ? (uint64_t)wanted : there;
}
