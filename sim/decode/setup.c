/* A setup owns its model, profile, trace and text. */
#include "decode/setup.h"

#include <stdlib.h>
#include <string.h>

void setup_init(struct setup *setup)
{
    memset(setup, 0, sizeof *setup);
    setup->warmup = SETUP_WARMUP_AUTO;
    setup->hbm_usable = 0.9;
    setup->batch = 1;
}

void setup_release(struct setup *setup)
{
    model_release(&setup->model);
    profile_release(&setup->profile);
    trace_close(setup->trace);
    free(setup->scenario);
    setup_init(setup);
}
