/* Fuzzes YAML: bytes are refused with a reason, or give a tree. Its canonical text reads back as
 * the same tree, its copy is equal, and merging it with itself changes nothing. */
#include "core/node.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void require_canonical(const struct node *root, const char *expected)
{
    struct error why;
    char *text = node_canonical(root, &why);
    require(text != NULL && strcmp(text, expected) == 0);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error why = {.found = ""};
    struct node *root = node_parse(size > 0 ? (const char *)data : "", size, "fuzz", &why);
    if (root == NULL) {
        require(why.found[0] != '\0');
        return 0;
    }
    char *canonical = node_canonical(root, &why);
    require(canonical != NULL);
    struct node *again = node_parse(canonical, strlen(canonical), "canonical", &why);
    require(again != NULL);
    require_canonical(again, canonical);

    struct node *copy = node_copy(root, &why);
    require(copy != NULL);
    require_canonical(copy, canonical);
    require(node_merge(copy, root, &why));
    require_canonical(copy, canonical);

    node_destroy(copy);
    node_destroy(again);
    node_destroy(root);
    free(canonical);
    return 0;
}
