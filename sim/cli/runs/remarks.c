#include "cli/runs/remarks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void remarks_release(struct remarks *remarks)
{
    for (uint32_t i = 0; i < remarks->count; i++) {
        free(remarks->items[i].text);
        free(remarks->items[i].systems);
    }
    *remarks = (struct remarks){.count = 0};
}

/* Is `name` in a list such as "clo, litecache"? */
static bool names(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (strncmp(list, name, length) != 0 || (list[length] != '\0' && list[length] != ',')) {
        list = strstr(list, ", ");
        if (list == NULL) {
            return false;
        }
        list += 2;
    }
    return true;
}

static bool add_new(struct remarks *remarks, const char *text, const char *system,
                    struct error *why)
{
    struct remark remark = {.text = strdup(text), .systems = strdup(system), .runs = 1};
    if (remark.text == NULL || remark.systems == NULL) {
        free(remark.text);
        free(remark.systems);
        return error_set(why, NULL, 0, "out of memory: no room for a remark");
    }
    remarks->items[remarks->count++] = remark;
    return true;
}

static bool add_system(struct remark *remark, const char *system, struct error *why)
{
    char *systems;
    remark->runs++;
    if (names(remark->systems, system)) {
        return true;
    }
    if (asprintf(&systems, "%s, %s", remark->systems, system) < 0) {
        return error_set(why, NULL, 0, "out of memory: no room for a remark");
    }
    free(remark->systems);
    remark->systems = systems;
    return true;
}

bool remarks_add(struct remarks *remarks, const char *text, const char *system, struct error *why)
{
    for (uint32_t i = 0; i < remarks->count; i++) {
        if (strcmp(remarks->items[i].text, text) == 0) {
            return add_system(&remarks->items[i], system, why);
        }
    }
    if (remarks->count < REMARKS_MOST) {
        return add_new(remarks, text, system, why);
    }
    remarks->other_runs++;
    return true;
}
