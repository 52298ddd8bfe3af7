/* Files that start what was advised, and the benchmark that checks the prediction. They are made of the
 * templates in scenarios/deploy (NAME.in), in which {{NAME}} stands for a value; a line is left out if one of
 * its values is "". What nobody can know here stands in them as a comment. */
#pragma once

#include "core/error.h"
#include "predict/result/result.h"
#include "study/plan/target.h"

struct deployment {
    const struct scenario *scenario; /* of one point */
    const struct result *result;     /* its run */
    const struct targets *targets;   /* what it was to meet */
    const struct run_context *context;
    uint32_t servers; /* alike */
};

/* "4 of these servers, each on its own GPUs, behind a router: ..."; how one that knows prompts or loads is
 * started for servers of this command; and which one to ask for if nobody stated one and prompts may begin
 * alike. "" of one server. */
enum { SERVERS_WORDS = 384 };
void deployment_servers(const struct scenario *scenario, uint32_t servers, const char *command,
                        char text[SERVERS_WORDS]);

/* Write the files into the folder `path`, which is made. Fails if no engine starts the scenario's system. */
bool deployment_write(const struct deployment *deployment, const char *path, struct error *why);

/* Write a scenario as YAML, a line a key, to the file `path`; NULL: to standard output, below a heading. */
bool deployment_write_scenario(const struct scenario *scenario, const char *path,
                               struct error *why);

/* What is to be written after a search is tried before it: a file, and the folder that --deploy makes, each
 * NULL if it is not asked for. A folder that exists is refused, and none is left behind. */
bool deployment_check(const char *file, const char *folder, struct error *why);
