/* A list of made-up requests as a stream: endless, and seen from the middle.
 *
 * What an empty server does with the first requests of a list tells what a short list does to it.
 * So time 0 of a stream is long after its first request. The requests before it fill the prefix
 * cache, without a clock (prefix_past()). At 0
 *
 *   - sessions have begun as long ago as sessions do: each is at one of its turns, or its user
 *     thinks. How long answers took them is not known before a server runs: the caller says about
 *     how long (0 at first), and lays the stream again when it knows;
 *   - clients are spread over what they do: one request each, or their sessions, evenly.
 *
 * Requests that are in the server at 0 come a little later than they would: it begins empty, and fills while
 * a request takes. Every longer list begins with the sessions of a shorter one. A run need not serve all of
 * it: it may end at one of STREAM_LOOKS looks, after a half of what begins by itself, a quarter, an eighth,
 * ... Up to each of them requests arrive as often as the rate says. */
#pragma once

#include "server/requests/requests.h"

enum { STREAM_LOOKS = 4 };

/* How many of `count` were sent when so many looks are to come. */
static inline uint32_t stream_look(uint32_t count, uint32_t looks)
{
    return count >> looks;
}

struct stream_options {
    double rate, shape; /* of requests that arrive by themselves (arrivals_draw()) */
    uint32_t clients;   /* each sends a request, or has a session, when its last one has ended; 0:
                           requests arrive by themselves */
    int64_t answer_ns;  /* about how long a request takes */
    uint64_t past;      /* requests before 0 that fill the prefix cache, at least */
    uint64_t most_past; /* and at most of sessions that may be under way: where these are more, as
                           ahead of a server that is asked for far too much, the first of them are
                           left out */
    uint64_t seed;
};

struct request_stream {
    uint32_t *past; /* [past_count] requests before 0, the earliest first, owned */
    uint32_t past_count;
    uint32_t *order; /* [count] requests that arrive by themselves, or begin a client's session, by
                        their arrival, owned */
    uint32_t count;
    size_t first; /* requests before it are no whole ones, and count in no figure */
};

/* How long a session takes in the mean whose requests take as long as this. */
double stream_session_ns(const struct requests *requests, double answer_ns);

/* How many requests of a list like `sample` lie before 0, those of sessions under way among them. */
uint64_t stream_past(const struct requests *sample, const struct stream_options *options);

/* Give the requests arrivals: negative ones before 0, and of sessions under way the next turn's own.
 * `requests` has more of them than stream_past(). The caller releases `out`, on failure too. */
bool stream_lay(struct requests *requests, const struct stream_options *options,
                struct request_stream *out, struct error *why);
void stream_release(struct request_stream *stream);

/* Does request `index` arrive by itself, or begin a session of a client? Others follow an answer. */
static inline bool stream_begins(const struct requests *requests, size_t index)
{
    const struct request *request = &requests->all[index];
    return request->arrival_ns >= 0 && (request->turn == 0 || request[-1].arrival_ns < 0);
}
