/* The source is a JSON object: the reader and the writer of traces check that. */
#include "trace/source.h"

#include "core/text.h"

#include <jansson.h>
#include <string.h>

static void source_read_text(const json_t *source, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(source, key));
    text_copy(out, size, text != NULL ? text : "");
}

/* A source without a basis is a recording; an unknown word gets the worst basis. */
static enum basis source_read_basis(const json_t *source)
{
    const char *name = json_string_value(json_object_get(source, "basis"));
    enum basis basis = BASIS_MEASURED;
    struct error ignored;
    return name == NULL || basis_find(name, NULL, 0, &basis, &ignored) ? basis : BASIS_ASSUMED;
}

/* The word after `--unit ` of a recording's command line, up to its size. */
static void read_retrieval(const json_t *source, char *out, size_t size)
{
    char command[1024];
    source_read_text(source, "command", command, sizeof command);
    const char *unit = strstr(command, "--unit ");
    text_copy(out, size, unit != NULL ? unit + strlen("--unit ") : "");
    out[strcspn(out, ": ")] = '\0';
}

void trace_source_read(const struct trace_header *header, struct trace_source *out)
{
    json_t *source = json_loads(header->source, 0, NULL);
    char mass[16];
    const json_t *fitted = json_object_get(source, "fitted_context");
    source_read_text(source, "model", out->model, sizeof out->model);
    source_read_text(source, "text", out->text, sizeof out->text);
    source_read_text(source, "mass", mass, sizeof mass);
    read_retrieval(source, out->retrieval, sizeof out->retrieval);
    out->twin = fitted != NULL;
    out->fitted_context = (uint64_t)json_integer_value(fitted);
    const json_t *layers = json_object_get(source, "model_layers");
    out->model_layers = layers != NULL ? (uint32_t)json_integer_value(layers) : header->layers;
    out->basis = source_read_basis(source);
    out->masses = strncmp(mass, "assumed", strlen("assumed")) != 0;
    json_decref(source);
}
