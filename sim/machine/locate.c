/* A name that contains '/' or ends in .yaml is a path, relative to the file that states it. Other
 * names are looked up in the data folder. The name of a part is looked up among the files of that
 * part, and then among the machines that have one. */
#include "machine/locate.h"

#include "core/find.h"
#include "core/named.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *const part_names[PART_COUNT] = {
#define PART(id, name, ...) #name,
#include "core/machine_parts.def"
};

static const char suffix[] = "yaml";

enum { MOST_COUNTED = 1024 }; /* GPUs that a name such as 8xH100 may count */

/* Length of NAME in NAME.yaml, 0 for any other name. */
static size_t bare_length(const char *name)
{
    size_t length = strlen(name);
    size_t end = sizeof suffix; /* with the dot, without the final zero */
    bool ends =
        length > end && name[length - end] == '.' && strcmp(name + length - end + 1, suffix) == 0;
    return ends ? length - end : 0;
}

/* "h100x8": as counted_machine(). */
static unsigned long machine_counted(const char *name, char machine[NAMED_SIZE])
{
    char alone[NAMED_SIZE];
    size_t length = strlen(name), digits = 0;
    while (digits < length && isdigit((unsigned char)name[length - 1 - digits])) {
        digits++;
    }
    if (digits == 0 || digits > 4 || length < digits + 2 || length >= sizeof alone ||
        tolower((unsigned char)name[length - digits - 1]) != 'x') {
        return 0;
    }
    snprintf(alone, sizeof alone, "%.*s", (int)(length - digits - 1), name);
    alone[strcspn(alone, " ")] = '\0';
    unsigned long count = strtoul(name + length - digits, NULL, 10);
    return count <= MOST_COUNTED && locate_canonical(alone, MACHINE, machine) ? count : 0;
}

/* "2xA40", "8 x H100": how many, and the machine, if it is one; 0 if not. */
static unsigned long counted_machine(const char *name, char machine[NAMED_SIZE])
{
    char *end;
    unsigned long count = strtoul(name, &end, 10);
    end += strspn(end, " ");
    bool counts = end != name && count > 0 && count <= MOST_COUNTED && (*end == 'x' || *end == 'X');
    end += counts ? 1 + strspn(end + 1, " ") : 0;
    return counts ? (locate_canonical(end, MACHINE, machine) ? count : 0)
                  : machine_counted(name, machine);
}

/* Does an accelerator of another maker go by this name: mi300x, tpu-v5e, gaudi3? */
static bool is_of_others(const char *name)
{
    static const char *const begins[] = {"amd",      "instinct",   "radeon", "tpu",
                                         "google",   "gaudi",      "intel",  "habana",
                                         "trainium", "inferentia", "ascend", "cerebras"};
    bool other = strncasecmp(name, "mi", 2) == 0 && isdigit((unsigned char)name[2]);
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        other = other || strncasecmp(name, begins[i], strlen(begins[i])) == 0;
    }
    return other;
}

/* Complain that `name` does not exist, and name the nearest. */
static bool refuse_name(const struct node *name, enum profile_part part, struct error *why)
{
    const struct named_kind *kinds[] = {&named_machine, NULL, NULL};
    if (part != MACHINE) {
        kinds[0] = named_parts[part];
        kinds[1] = &named_machine;
    }
    node_error(name, why, "unknown %s '%.100s'", kinds[0]->what, name->text);
    error_key(why, kinds[0]->what);
    char machine[NAMED_SIZE];
    unsigned long count = counted_machine(name->text, machine);
    if (count > 0) {
        return error_expect(why,
                            "hardware: %s and tensor_parallel: %lu; with 'advise', %s --gpus %lu",
                            machine, count, machine, count);
    }
    if ((part == MACHINE || part == PART_GPU) && is_of_others(name->text)) {
        return error_expect(why, "a name of 'spillway list hardware': Spillway models NVIDIA GPUs "
                                 "only");
    }
    return named_expect(kinds, name->text, why);
}

bool locate_canonical(const char *name, enum profile_part part, char out[NAMED_SIZE])
{
    return (part != MACHINE && named_canonical(named_parts[part], name, out)) ||
           named_canonical(&named_machine, name, out);
}

bool locate_profile(const struct node *name, enum profile_part part, char *path, size_t size,
                    struct error *why)
{
    char canonical[NAMED_SIZE];
    struct quantity figure;
    if (part != MACHINE && quantity_parse(name->text, &figure)) {
        node_error(name, why, "'%.60s' is a figure, not a %s", name->text, part_names[part]);
        return error_expect(why, "the name of one, or one of its figures, such as %s=%.60s",
                            part == PART_LINK ? "hardware.link.h2d" : "hardware.gpu.hbm_capacity",
                            name->text);
    }
    if (named_by_path(name->text, suffix)) {
        return named_from(name->text, name->file, path, size) ||
               node_error(name, why, "the path '%.80s...' is too long", name->text);
    }
    if (find_data(why) == NULL) {
        return false;
    }
    if (!locate_canonical(name->text, part, canonical)) {
        return refuse_name(name, part, why);
    }
    if (part != MACHINE) {
        if (!find_path(named_parts[part]->folder, canonical, suffix, path, size, why)) {
            return false;
        }
        if (access(path, F_OK) == 0) {
            return true;
        }
    }
    return find_path(named_machine.folder, canonical, suffix, path, size, why);
}

bool located_in_data(const char *path, enum profile_part part)
{
    struct error unused;
    char name[256] = "", shipped[4096];
    append_profile_name(path, name, sizeof name);
    return find_path(named_parts[part]->folder, name, suffix, shipped, sizeof shipped, &unused) &&
           strcmp(path, shipped) == 0;
}

void append_profile_name(const char *name, char *text, size_t size)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash != NULL ? slash + 1 : name;
    size_t length = bare_length(base);
    length = length > 0 ? length : strlen(base);
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s", used > 0 ? "+" : "", (int)length, base);
}
