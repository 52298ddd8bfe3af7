#include "policy/plugin_file.h"

#include "core/regular.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

/* Read `size` bytes at an offset: false if the file ends before them. */
static bool read_at(FILE *file, uint64_t offset, void *into, size_t size)
{
    return offset <= INT64_MAX && fseeko(file, (off_t)offset, SEEK_SET) == 0 &&
           fread(into, 1, size, file) == size;
}

static bool lies_within(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset <= size && bytes <= size - offset;
}

/* Is every segment, and the table of sections, within the file? */
static bool has_all_parts(FILE *file, const Elf64_Ehdr *header, uint64_t size)
{
    Elf64_Phdr segment;
    for (uint64_t i = 0; i < header->e_phnum; i++) {
        if (!read_at(file, header->e_phoff + i * sizeof segment, &segment, sizeof segment) ||
            !lies_within(segment.p_offset, segment.p_filesz, size)) {
            return false;
        }
    }
    uint64_t sections = (uint64_t)header->e_shnum * header->e_shentsize;
    return sections == 0 || lies_within(header->e_shoff, sections, size);
}

/* Not for libraries of other machines, which are never loaded. */
static bool plugin_file_is_whole(FILE *file)
{
    Elf64_Ehdr header;
    struct stat status;
    bool elf = read_at(file, 0, header.e_ident, EI_NIDENT) &&
               memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
               header.e_ident[EI_CLASS] == ELFCLASS64;
    return !elf || (fstat(fileno(file), &status) == 0 && read_at(file, 0, &header, sizeof header) &&
                    header.e_phentsize == sizeof(Elf64_Phdr) &&
                    has_all_parts(file, &header, (uint64_t)status.st_size));
}

static bool plugin_file_hash(FILE *file, uint64_t *hash)
{
    unsigned char buffer[1 << 14];
    size_t count;
    XXH64_state_t *state = XXH64_createState();
    bool good = state != NULL && XXH64_reset(state, 0) == XXH_OK;
    while (good && (count = fread(buffer, 1, sizeof buffer, file)) > 0) {
        good = XXH64_update(state, buffer, count) == XXH_OK;
    }
    if (good) {
        *hash = XXH64_digest(state);
        *hash += *hash == 0;
    }
    XXH64_freeState(state);
    return good && ferror(file) == 0;
}

bool plugin_file_check(const char *path, uint64_t *hash, struct error *why)
{
    FILE *file = regular_open(path, why);
    if (file == NULL) {
        return false;
    }
    bool good = (plugin_file_hash(file, hash) ||
                 error_set(why, path, 0, "cannot be read: %s", strerror(errno))) &&
                (plugin_file_is_whole(file) || error_set(why, path, 0, "is truncated"));
    fclose(file);
    return good;
}
