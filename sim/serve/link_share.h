/* The shares of a server's link while a step runs: max-min fair, as on the engine's channels, for
 * three flows that last as long as the step.
 *
 *     loaded  ──┐ in      ┐
 *     fetched ──┘         │ both
 *     saved   ──── out    ┘
 *
 * All rates grow equally until a flow has as much as it can use or a direction is saturated; the
 * other flows grow further.
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

/* Set the `rate` of each flow, in bytes a second. A flow can use up to `most`; 0: no such flow. */
void link_share(const struct link *link, const double most[LINK_FLOWS], double rate[LINK_FLOWS]);

#endif
