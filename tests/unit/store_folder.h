/* For tests of stores: a fresh folder, and the path of a database in it. Include after cmocka.h. */
#ifndef STORE_FOLDER_H
#define STORE_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];
static char path[96];

/* The setup of a test, whose teardown removes the folder. */
static inline int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_store.XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/results.db", folder);
    return 0;
}

#endif
