/* The formats that can be imported, and the two readings of a file. */
#include "trace/import/import.h"

#include "base/name.h"
#include "base/text.h"
#include "trace/import/import_sink.h"

#include <string.h>
#include <sys/stat.h>

const char *const import_masses[] = {[IMPORT_EQUAL] = "equal", [IMPORT_RANK] = "rank", NULL};

const struct import_format *const import_formats[] = {
    &import_csv,
    &import_u32,
    NULL,
};

static const char *format_name(size_t index)
{
    return import_formats[index] != NULL ? import_formats[index]->name : NULL;
}

const struct import_format *import_format_named(const char *name, struct error *why)
{
    int index = name_find(name, format_name, "format", NULL, 0, why);
    return index < 0 ? NULL : import_formats[index];
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), length = strlen(end);
    return length <= size && strcmp(text + size - length, end) == 0;
}

const struct import_format *import_format_of(const char *path, struct error *why)
{
    for (size_t f = 0; import_formats[f] != NULL; f++) {
        if (ends_with(path, import_formats[f]->suffix)) {
            return import_formats[f];
        }
    }
    error_usage(why, NULL, 0, "the format of '%s' does not follow from its name", path);
    error_expect(why, "--format, or a name that ends in .csv or .u32; scripts in traces/convert "
                      "read other formats");
    return NULL;
}

static bool can_read_twice(const char *path, struct error *why)
{
    struct stat info;
    return stat(path, &info) != 0 || S_ISREG(info.st_mode) ||
           error_set(why, path, 0, "not a regular file, but it must be read twice");
}

static bool read_twice(struct import_sink *sink, const char *out_path, struct error *why)
{
    return can_read_twice(sink->path, why) && sink->format->walk(sink, why) &&
           import_sink_rewind(sink, out_path, why) && sink->format->walk(sink, why) &&
           import_sink_finish(sink, why);
}

bool trace_import(const struct import_format *format, const char *path, const char *out_path,
                  const struct import_options *options, struct import_report *report,
                  struct error *why)
{
    struct import_sink sink;
    bool ok = import_sink_init(&sink, format, path, options, &report->complaints, why) &&
              read_twice(&sink, out_path, why);
    text_copy(report->unread, sizeof report->unread, sink.unread);
    import_sink_release(&sink);
    return ok;
}
