/* Containers of Compose files and of Kubernetes manifests, as the commands that they start.
 *
 * A container is a map with an `image` and words: `command` or `entrypoint` of a service, `command`
 * and `args` of a container of Kubernetes. Its `environment`, or `env`, stands in front, as a shell
 * has it:
 *
 *     NAME=value container run vllm/vllm-openai:v0.19.0 --model=Qwen/Qwen3-8B
 *
 * The image is a comment where the manifest replaces what it would start.
 */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stdio.h>

/* Is the file a manifest, by its name? */
bool manifest_named(const char *file);

struct node;

struct manifest_container {
    int line;      /* of the first word of its command */
    char *command; /* its words stand in the lines that they have in the file, as far as possible */
    const struct node *replicas; /* that the manifest runs, as it states them; NULL: it does not */
    int replicas_line;
};
typedef bool manifest_visit(void *context, const struct manifest_container *at, struct error *why);

/* Read `in` to its end (16 MiB at most) and visit its containers in their order, all documents.
 * Fails if it is not YAML, if a server is divided among machines (leaderWorkerTemplate.size), or if
 * a visit fails. */
bool manifest_read(FILE *in, const char *file, manifest_visit *visit, void *context,
                   struct error *why);
