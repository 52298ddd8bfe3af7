/* Who has how much of a server's link while a step runs: max-min fair, as channels of the engine
 * are, for three flows that last as long as the step does.
 *
 *     loaded  ──┐ in      ┐
 *     fetched ──┘         │ both
 *     saved   ──── out    ┘
 *
 * All rates grow alike until a flow has what it can use, or a way is full; those that have not met
 * a limit grow on.
 */
#ifndef SERVE_LINK_SHARE_H
#define SERVE_LINK_SHARE_H

/* Bytes a second: to the GPU, to the host, and both ways added up. */
struct link {
    double in, out, both;
};

enum link_flow {
    LINK_LOADED,  /* prefixes and swapped sequences, to the GPU */
    LINK_FETCHED, /* what decode fetches */
    LINK_SAVED,   /* blocks to the host */
    LINK_FLOWS
};

/* The rates of flows that can use `most` bytes a second each; 0: there is no such flow. */
void link_share(const struct link *link, const double most[LINK_FLOWS], double rate[LINK_FLOWS]);

#endif
