/* Requests made up from a few numbers, where there is no file of them:
 *
 *   synthetic:prompt=1000,output=200,prompt_spread=50%,output_spread=80%,prefix=512,prefixes=4
 *
 *   lengths                   sharegpt or sharegpt-sglang: prompts and outputs of that data set
 *                             (below), scaled to `prompt` and `output` if these are stated
 *   prompt, output            tokens in the mean; needed without `lengths`. Of a range, such as
 *                             512-1536, each number is as likely
 *   prompt_spread,            their standard deviation as a share of the mean, of a log-normal
 *   output_spread             distribution; 0: all are equal. Not of a range
 *   prefix                    tokens that prompts begin with, of one of `prefixes` (1) kinds, each
 *                             as likely; part of `prompt`. Only whole chunks of them are shared
 *   turns                     requests of a session (1): a later prompt is the conversation so far
 *                             and a message of `prompt` less `prefix` tokens
 *   think                     mean time between an answer and the session's next request, of an
 *                             exponential distribution (0s)
 *   requests                  how many in all; else they are a stream (stream.h), which `limit` cuts
 *
 * Where lengths vary without an end, one session in some 100 000 would have more tokens than any server is
 * started for: its lengths are cut, so that all requests of a text, whatever the seed, end within
 * requests_drawn.tokens.
 *
 * The next turn does not find the KV of an answer, as in recorded files: the answer's tokens are
 * computed again as part of the next prompt, and found from then on. Requests have no arrival
 * times. The same text and seed give the same requests. */
#pragma once

#include "server/requests/requests.h"

/* As many of a stream say how long requests are. */
enum { SYNTHETIC_REQUESTS = 1000 };

/* Does a workload's name ask for made-up requests? */
bool synthetic_is(const char *name);

/* Does the name of made-up requests state this key, such as "turns"? */
bool synthetic_says(const char *name, const char *key);

/* The same name without what it states of this key; without `requests` it is a stream. `out` holds `name`. */
void synthetic_without(const char *name, const char *key, char *out);

/* Make the requests of `name` from options->seed. The caller calls requests_release() after success. */
bool synthetic_make(const char *name, const struct requests_options *options, struct requests *out,
                    struct error *why);

/* Lengths of a known data set's requests, prompt and output: a list of traces/requests/lengths.yaml. */
enum { LENGTH_SET_PAIRS = 512 };

struct length_pair {
    uint16_t prompt, output; /* tokens */
};

struct length_set {
    double prompt, output; /* means */
    uint32_t count;
    struct length_pair pairs[LENGTH_SET_PAIRS]; /* [count], each as likely */
};

/* The data set of this name. Fails if there is none, or the file cannot be read. */
bool length_set_find(const char *name, struct length_set *out, struct error *why);
