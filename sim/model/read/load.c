/* Finding a model: a name in the data folder, a file, a folder in the layout of Hugging Face, or
 * the id of one there. */
#include "core/array.h"
#include "core/files.h"
#include "core/named.h"
#include "core/random.h"
#include "model/model.h"
#include "model/read/config.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Real files, even with every module of a large model listed, have some hundred KiB. */
enum { MOST_CONFIG_BYTES = 4 << 20 };

/* Where a name is that of a shipped model and of a quantisation that does not ship, say how to write
 * both. Returns false. */
static bool expect_quantised(const char *name, struct error *why)
{
    static const struct {
        const char *ending, *dtype;
    } endings[] = {
        {"-awq", "int4"},       {"-awq-int4", "int4"},   {"-gptq", "int4"},
        {"-gptq-int4", "int4"}, {"-gptq-int8", "int8"},  {"-int4", "int4"},
        {"-w4a16", "int4"},     {"-int8", "int8"},       {"-w8a8", "int8"},
        {"-fp8", "fp8"},        {"-fp8-dynamic", "fp8"}, {"-fp8-block", "fp8"},
        {"-nvfp4", "nvfp4"},    {"-fp4", "nvfp4"},       {"-mxfp4", "mxfp4"},
    };
    const char *slash = strrchr(name, '/'), *base = slash != NULL ? slash + 1 : name;
    size_t length = strlen(base);
    char stem[NAMED_SIZE], model[NAMED_SIZE];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t cut = strlen(endings[i].ending);
        if (length <= cut || length >= sizeof stem ||
            strcasecmp(base + length - cut, endings[i].ending) != 0) {
            continue;
        }
        snprintf(stem, sizeof stem, "%.*s", (int)(length - cut), base);
        if (named_canonical(&named_model, stem, model)) {
            error_nearest(why, model);
            return error_expect(why, "model: %s, with dtype: {weights: %s}", model,
                                endings[i].dtype);
        }
    }
    return false;
}

/* Find the config.json that `name` stands for. An id that is also a path here is the path. */
static bool find_config(const char *name, const char *file, int line, char path[PATH_MAX],
                        struct error *why)
{
    struct stat status;
    if (!named_file(&named_model, name, file, line, path, PATH_MAX, why)) {
        return expect_quantised(name, why);
    }
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        return true;
    }
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        path[--length] = '\0';
    }
    int written = snprintf(path + length, PATH_MAX - length, "/config.json");
    return (size_t)written < PATH_MAX - length ||
           error_set(why, name, 0, "the path of this model is too long");
}

/* "models/opt-30b.json" is opt-30b, "qwen3/config.json" is qwen3. */
static void name_model(const char *path, struct model *model)
{
    const char *end = strrchr(path, '/');
    if (end == NULL || strcmp(end, "/config.json") != 0) {
        const char *dot = strrchr(path, '.');
        end = dot != NULL && strcmp(dot, ".json") == 0 ? dot : path + strlen(path);
    }
    const char *start = end;
    while (start > path && start[-1] != '/') {
        start--;
    }
    bool here = end - start == 1 && *start == '.'; /* "./config.json" */
    snprintf(model->name, sizeof model->name, "%.*s", here ? 6 : (int)(end - start),
             here ? "config" : start);
}

static bool read_importance(struct files *files, const char *path, struct model *model,
                            struct error *why)
{
    char table[PATH_MAX];
    const char *dot = strrchr(path, '.');
    size_t stem = dot != NULL && strcmp(dot, ".json") == 0 ? (size_t)(dot - path) : strlen(path);
    int written = snprintf(table, sizeof table, "%.*s.heads.tsv", (int)stem, path);
    return (size_t)written >= sizeof table || importance_read(files, table, model, why);
}

/* Find the file `name` beside a config.json. */
static bool find_beside(const char *path, const char *name, char other[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    int written = snprintf(other, PATH_MAX, "%.*s%s", (int)folder, path, name);
    return strcmp(path + folder, "config.json") == 0 && written < PATH_MAX &&
           access(other, F_OK) == 0;
}

/* Keep the count of parameters that the index of the weights' files has, if it is over 5 % off the
 * config's: a key was not understood, or the class has weights that no key says. Files may hold a
 * tied embedding twice. An index that cannot be read says nothing. */
static void compare_index(struct files *files, const char *path, struct model *model)
{
    char other[PATH_MAX];
    size_t size;
    struct error ignored;
    char *text = model->stored_bytes > 0 && find_beside(path, "model.safetensors.index.json", other)
                     ? files_text(files, other, &size, &ignored)
                     : NULL;
    json_t *root = text != NULL ? json_loadb(text, size, 0, NULL) : NULL;
    const json_t *total = json_object_get(json_object_get(root, "metadata"), "total_size");
    double stated = json_number_value(total) / (model->stored_bytes > 0 ? model->stored_bytes : 1);
    double counted = (double)model_parameters(model);
    double copy = model->tied_embeddings ? (double)model->vocabulary * model->hidden : 0;
    double off = fmin(fabs(stated - counted), fabs(stated - counted - copy));
    model->indexed = stated > 0 && stated < 1e18 && off > 0.05 * stated ? (uint64_t)stated : 0;
    json_decref(root);
    free(text);
}

/* Older exports of ModelOpt describe the quantisation in a file of its own, which is not read: as
 * bf16 the model would be wrong in silence. */
static bool check_described(const char *path, const struct model_options *options,
                            const struct model *model, struct error *why)
{
    static const char name[] = "hf_quant_config.json";
    char other[PATH_MAX];
    if (!find_beside(path, name, other) || options->weights >= 0 || model->weights != DTYPE_BF16) {
        return true;
    }
    error_set(why, path, 0, "no 'quantization_config', but '%s' lies beside it", name);
    return error_expect(why, "its 'quantization' as 'quantization_config', or 'dtype.weights'");
}

bool model_load(struct files *files, const char *name, const struct model_options *options,
                const char *file, int line, struct model *out, struct error *why)
{
    char path[PATH_MAX];
    size_t size;
    *out = (struct model){0};
    if (!find_config(name, file, line, path, why)) {
        return false;
    }
    char *text = files_text(files, path, &size, why);
    if (text == NULL) {
        return false;
    }
    bool fine = size <= MOST_CONFIG_BYTES
                    ? model_parse(text, size, path, options, file, line, out, why)
                    : error_input(why, path, 0, "larger than 4 MiB: not a config.json");
    free(text);
    if (!fine) {
        return false;
    }
    name_model(path, out);
    compare_index(files, path, out);
    if (!check_described(path, options, out, why) || !read_importance(files, path, out, why)) {
        model_release(out);
        return false;
    }
    return true;
}

bool model_draw_importance(struct files *files, uint64_t seed, struct model *model,
                           struct error *why)
{
    enum { TABLES = 2, LAYERS = 32, HEADS = 8 };
    static const char *const names[TABLES] = {"llama-3-8b", "llama-3.1-8b"};
    struct model like[TABLES] = {{.layer_count = LAYERS, .kv_heads = HEADS},
                                 {.layer_count = LAYERS, .kv_heads = HEADS}};
    char path[PATH_MAX];
    bool fine = true;
    for (int i = 0; i < TABLES; i++) {
        fine =
            fine && find_config(names[i], NULL, 0, path, why) &&
            read_importance(files, path, &like[i], why) &&
            (like[i].importance != NULL || error_set(why, path, 0, "no table of heads beside it"));
    }
    size_t count = (size_t)model->layer_count * model->kv_heads;
    gsl_rng *stream = fine ? random_stream(seed, "model.importance", 0, why) : NULL;
    model->importance = stream != NULL ? array_zeroed(count, sizeof *model->importance, why) : NULL;
    for (size_t i = 0; model->importance != NULL && i < count; i++) {
        size_t layer = i * LAYERS / count, head = gsl_rng_uniform_int(stream, HEADS);
        model->importance[i] =
            like[gsl_rng_uniform_int(stream, TABLES)].importance[layer * HEADS + head];
    }
    if (stream != NULL) {
        gsl_rng_free(stream);
    }
    free(like[0].importance);
    free(like[1].importance);
    model->importance_drawn = model->importance != NULL;
    return model->importance_drawn;
}

/* X.heads.tsv: lines that start with # state the source. Then comes a line for each layer, with a
 * number from 0 to 1 for each KV head, separated by blanks or tabs. */

/* Read the numbers of a line; false if they are not those of a layer. */
static bool importance_read_layer(const char *line, uint32_t layer, struct model *model)
{
    float *row = &model->importance[(size_t)layer * model->kv_heads];
    for (uint32_t head = 0; layer < model->layer_count && head < model->kv_heads; head++) {
        char *end;
        row[head] = strtof(line, &end);
        if (end == line || !(row[head] >= 0 && row[head] <= 1)) {
            return false;
        }
        line = end;
    }
    return layer < model->layer_count && line[strspn(line, " \t\r")] == '\0';
}

static bool importance_read_lines(char *text, const char *path, struct model *model,
                                  struct error *why)
{
    uint32_t layers = 0;
    int number = 0;
    bool fine = true;
    for (char *line; fine && (line = strsep(&text, "\n")) != NULL;) {
        const char *start = line + strspn(line, " \t\r");
        number += text != NULL || *line != '\0'; /* nothing follows the last newline */
        if (*start == '#' && model->importance_source[0] == '\0') {
            start += strspn(start, "# \t");
            snprintf(model->importance_source, sizeof model->importance_source, "%.*s",
                     (int)strcspn(start, "\r"), start);
        } else if (*start != '\0' && *start != '#') {
            fine = importance_read_layer(start, layers++, model);
        }
    }
    if (fine && layers == model->layer_count) {
        return true;
    }
    error_input(why, path, number,
                "this line does not have one number for each KV head of a layer");
    return error_expect(why, "%u lines of %u numbers from 0 to 1", model->layer_count,
                        model->kv_heads);
}

bool importance_read(struct files *files, const char *path, struct model *model, struct error *why)
{
    size_t size;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return true;
    }
    char *text = files_text(files, path, &size, why);
    model->importance = text != NULL ? array_zeroed((size_t)model->layer_count * model->kv_heads,
                                                    sizeof *model->importance, why)
                                     : NULL;
    bool fine = model->importance != NULL &&
                (memchr(text, '\0', size) == NULL || error_input(why, path, 0, "a zero byte")) &&
                importance_read_lines(text, path, model, why);
    free(text);
    return fine;
}
