/* Hugging Face ids: each stands for one shipped model, and a wrong one is named with the nearest. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/named.h"
#include "model/model.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

static bool load(const char *id, struct model *model, struct error *why)
{
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    return model_load(NULL, id, &options, "a.yaml", 7, model, why);
}

static void only_two_names_and_a_slash_are_an_id(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool id;
    } cases[] = {
        {"meta-llama/Llama-3.1-8B", true},
        {"01-ai/Yi-6B", true},
        {"llama-3.1-8b", false},
        {"./model", false},
        {"../model", false},
        {"/model", false},
        {"a/b/c", false},
        {"folder/", false},
        {"folder/model.json", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s\n", cases[i].name);
        assert_int_equal(named_id(cases[i].name, "json"), cases[i].id);
    }
}

static void an_id_loads_the_model_that_lists_it(void **state)
{
    (void)state;
    static const struct {
        const char *id, *model;
    } cases[] = {
        {"meta-llama/Llama-3.1-8B", "llama-3.1-8b"},
        {"meta-llama/Llama-3.3-70B-Instruct", "llama-3.1-70b"},
        {"QWEN/qwen3-32b", "qwen3-32b"},
        {"Llama-3.1-8B-Instruct", "llama-3.1-8b"},
        {"llama3.1:8b", "llama-3.1-8b"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model model;
        struct error why;
        print_message("# %s\n", cases[i].id);
        assert_true(load(cases[i].id, &model, &why));
        assert_string_equal(model.name, cases[i].model);
        model_release(&model);
    }
}

static void an_unknown_id_names_the_nearest(void **state)
{
    (void)state;
    struct model model;
    struct error why;
    assert_false(load("meta-llama/Llama-3.1-8B-Instuct", &model, &why));
    assert_string_equal(why.file, "a.yaml");
    assert_int_equal(why.line, 7);
    assert_string_equal(why.found, "unknown model 'meta-llama/Llama-3.1-8B-Instuct'");
    assert_string_equal(why.nearest, "meta-llama/Llama-3.1-8B-Instruct");
    assert_false(load("unsloth/Llama-3.1-8B-Instruct", &model, &why));
    assert_string_equal(why.nearest, "meta-llama/Llama-3.1-8B-Instruct");
}

/* A folder of that name here comes first. */
static void a_path_is_no_id(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_hub.XXXXXX";
    struct model model;
    struct error why;
    assert_non_null(mkdtemp(folder));
    assert_non_null(find_data(&why));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("Qwen", 0700) | mkdir("Qwen/Qwen3-32B", 0700), 0);
    assert_false(load("Qwen/Qwen3-32B", &model, &why));
    assert_string_equal(why.file, "Qwen/Qwen3-32B/config.json");
    assert_int_equal(rmdir("Qwen/Qwen3-32B") | rmdir("Qwen") | rmdir(folder), 0);
}

/* Check that each id of one model has the form of an id, and leads back to it: no other lists it. A
 * model without an id says so. */
static void check_ids(const char *name)
{
    char path[PATH_MAX], found[PATH_MAX];
    struct error why;
    assert_true(find_path("models", name, "json", path, sizeof path, &why));
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    const json_t *list = json_object_get(root, "_huggingface");
    size_t count = json_array_size(list);
    for (size_t i = 0; i < count; i++) {
        const char *id = json_string_value(json_array_get(list, i));
        assert_non_null(id);
        print_message("# %s %s\n", name, id);
        assert_true(named_id(id, "json"));
        assert_true(named_file(&named_model, id, NULL, 0, found, sizeof found, &why));
        assert_string_equal(found, path);
    }
    const char *source = json_string_value(json_object_get(root, "_source"));
    assert_true(json_is_array(list) && source != NULL);
    assert_true(count > 0 || strstr(source, "not on Hugging Face") != NULL);
    json_decref(root);
}

static void every_model_that_ships_lists_its_ids(void **state)
{
    (void)state;
    char **names;
    size_t count;
    struct error why;
    assert_true(find_names("models", "json", &names, &count, &why));
    for (size_t i = 0; i < count; i++) {
        check_ids(names[i]);
        free(names[i]);
    }
    free(names);
}

/* A model is the same by its name, by each of its ids and by its file. */
static void name_id_and_file_are_the_same_model(void **state)
{
    (void)state;
    static const struct {
        const char *name, *id;
    } cases[] = {
        {"llama-3.1-8b", "meta-llama/Llama-3.1-8B"},
        {"gpt-oss-120b", "openai/gpt-oss-120b"},
        {"qwen3.5-27b", "Qwen/Qwen3.5-27B"},
        {"gemma-4-e2b", "google/gemma-4-E2B"},
        {"deepseek-v3.2", "deepseek-ai/DeepSeek-V3.2"},
        {"deepseek-v4-flash", "deepseek-ai/DeepSeek-V4-Flash"},
        {"kimi-linear-48b-a3b", "moonshotai/Kimi-Linear-48B-A3B-Instruct"},
        {"nemotron-3-nano-30b-a3b", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct model by[3];
        struct error why;
        char path[PATH_MAX];
        assert_true(find_path("models", cases[i].name, "json", path, sizeof path, &why));
        const char *const names[] = {cases[i].name, cases[i].id, path};
        print_message("# %s\n", cases[i].name);
        for (int j = 0; j < 3; j++) {
            assert_true(load(names[j], &by[j], &why));
            assert_int_equal(model_weight_bytes(&by[j]), model_weight_bytes(&by[0]));
            assert_int_equal(model_kv_bytes(&by[j], 100000), model_kv_bytes(&by[0], 100000));
            assert_int_equal(model_index_bytes(&by[j], 100000), model_index_bytes(&by[0], 100000));
        }
        for (int j = 0; j < 3; j++) {
            model_release(&by[j]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_id_and_file_are_the_same_model),
        cmocka_unit_test(only_two_names_and_a_slash_are_an_id),
        cmocka_unit_test(an_id_loads_the_model_that_lists_it),
        cmocka_unit_test(an_unknown_id_names_the_nearest),
        cmocka_unit_test(every_model_that_ships_lists_its_ids),
        cmocka_unit_test(a_path_is_no_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
