/* Fuzzes tables of the importance of heads: bytes are refused with a reason, or give a number from 0
 * to 1 for each KV head of each layer, and perhaps for each query head. */
#include "model/read/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char config[] =
    "{\"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 64, \"intermediate_size\": 128,"
    " \"num_hidden_layers\": 2, \"num_attention_heads\": 8, \"num_key_value_heads\": 4,"
    " \"vocab_size\": 100, \"max_position_embeddings\": 4096, \"tie_word_embeddings\": false}";

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void require_table(const struct model *model)
{
    for (uint32_t i = 0; i < model->layer_count * model->kv_heads; i++) {
        require(model->importance[i] >= 0 && model->importance[i] <= 1);
    }
    for (uint32_t i = 0; model->query_importance && i < model->layer_count * model->query_heads;
         i++) {
        require(model->query_importance[i] >= 0 && model->query_importance[i] <= 1);
    }
    require(memchr(model->importance_source, '\0', sizeof model->importance_source) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    char path[64];
    struct model model;
    struct error why = {.found = ""};
    require(model_parse(config, strlen(config), "tiny", &options, NULL, 0, &model, &why));
    int file = memfd_create("heads", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (importance_read(NULL, path, &model, &why)) {
        require_table(&model);
    } else {
        require(why.found[0] != '\0');
    }
    close(file);
    model_release(&model);
    return 0;
}
