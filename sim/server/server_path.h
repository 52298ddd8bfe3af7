/* The way of a request through a server program, outside the GPU: what a row of server_engine.h
 * says about the process that talks to clients, and about the scheduler.
 *
 *   client     |.sent                                             |t  |t
 *   API        |  prompt_token_ns each, request_ns |              ^ output_token_ns each
 *   scheduler                                      |..queue..|    |
 *   GPU        ...step...|......step......|......step......|......step......|
 *
 * Prompts pass the API process one after the other, and so do tokens on their way back; neither
 * stops the GPU. A step's CPU time is the system's `step_overhead` and `sequence_ns` for each
 * sequence in it. A synchronous engine adds it to the step. One that `overlaps` prepares a step
 * while the GPU computes the one before, so a step takes the longer of the two times, and the GPU
 * waits only for `gap_ns` between them. A request that arrives during a step is then seen by the
 * step after the next one, because the next one is scheduled already.
 *
 * All 0: no process in front, and a synchronous scheduler.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct server_path {
    int64_t prompt_token_ns; /* the API process is busy for so long with each token of a prompt */
    int64_t request_ns;      /* of each request beside that, in which it serves others */
    int64_t output_token_ns; /* it is busy with each token that it sends */
    int64_t sequence_ns;     /* the scheduler, with each sequence of a step */
    int64_t gap_ns;          /* from one step to the next, if they overlap */
    bool overlaps;           /* steps are scheduled while the one before runs */
    bool queued;             /* arrivals are when the scheduler had it: the next step has it, too */
    bool prompts_alone;      /* a step computes prompts or decodes, and prompts come first */
    bool prompts_launched; /* kernel by kernel: without CUDA graphs (predict/steps/step_launch.h) */
    bool one_call;         /* of attention, for prompts and decodes of a step */
    bool reserves;         /* admission leaves room for outputs to come (server/reserve.h) */
    bool reserves_all;     /* for all of each, so that nothing is preempted */
    bool whole_prompts;    /* a step computes all of a prompt, or nothing of it */
};
