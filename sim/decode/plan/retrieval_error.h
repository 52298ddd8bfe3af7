/* How a system's retrieval errs: the parameters of trace/retrieval.h for a setup.
 *
 * A recording with approximate queries says itself what was asked for, and goes first. Else the
 * errors measured for the recording's own model are used (retrieval_errors.def), or, for other
 * recordings, those of the model whose error is the one in the middle. Errors of an index and of a
 * query that is guessed a layer ahead are independent: their variances add up.
 *
 * Nothing is known to err where masses were not recorded: demands of published profiles are what
 * systems asked for. */
#pragma once

#include "decode/replay/replay.h"
#include "decode/setup.h"

enum retrieval_known {
    RETRIEVAL_EXACT,     /* nothing is selected, or the model's own indexer selects */
    RETRIEVAL_RECORDED,  /* by approximate rows */
    RETRIEVAL_MEASURED,  /* with the recording's model */
    RETRIEVAL_ELSEWHERE, /* with other models */
    RETRIEVAL_PERFECT    /* unknown: its index is assumed to find what heads want */
};

/* Where the error of RETRIEVAL_MEASURED and RETRIEVAL_ELSEWHERE comes from. */
enum retrieval_size {
    RETRIEVAL_SIZE_MEASURED, /* its size of pages or clusters, or its share of keys, was measured */
    RETRIEVAL_SIZE_BETWEEN,  /* it is interpolated between the two nearest sizes */
    RETRIEVAL_SIZE_BEYOND    /* it is that of the nearest size */
};
enum retrieval_size retrieval_error_size(const struct mechanisms *mechanisms);

/* Fill `errors` and `asks_recorded` of `replay`, which are zero. */
enum retrieval_known retrieval_error_set(const struct setup *setup, struct replay_plan *replay);
