/* Public configs of models that do not ship. A line of unshipped.jsonl has the repository's name on Hugging
 * Face, the keys of its config.json that say sizes, and either the published parameters and the KV bytes of a
 * token in bf16, worked by hand, or a word of the message that refuses it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/fixture/config_text.h"

#include <inttypes.h>
#include <stdio.h>

static bool reads_right(const json_t *row, struct model *model)
{
    uint64_t published = (uint64_t)json_integer_value(json_object_get(row, "parameters"));
    uint64_t counted = model_parameters(model), kv = model_kv_tokens_bytes(model);
    uint64_t off = counted > published ? counted - published : published - counted;
    bool right =
        off <= published / 100 && kv == (uint64_t)json_integer_value(json_object_get(row, "kv"));
    print_message("#   %" PRIu64 " parameters, published %" PRIu64 "; KV of a token %" PRIu64 "\n",
                  counted, published, kv);
    model_release(model);
    return right;
}

static bool refuses(const json_t *row, const struct error *why)
{
    const char *word = json_string_value(json_object_get(row, "refused"));
    print_message("#   %s\n", why->found);
    return word != NULL && strstr(why->found, word) != NULL;
}

static void public_configs_are_read_right_or_refused(void **state)
{
    (void)state;
    char line[4096];
    int read = 0, refused = 0;
    FILE *file = fopen("tests/unit/model/unshipped.jsonl", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        json_t *row = json_loads(line, 0, NULL);
        assert_non_null(row);
        char *config = json_dumps(json_object_get(row, "config"), 0);
        struct model model;
        struct error why;
        print_message("# %s\n", json_string_value(json_object_get(row, "name")));
        bool fine = parse(config, NULL, NULL, &model, &why);
        bool right = fine ? reads_right(row, &model) : refuses(row, &why);
        read += fine && right;
        refused += !fine && right;
        if (!right) {
            fail_msg("this config is read wrong");
        }
        free(config);
        json_decref(row);
    }
    fclose(file);
    print_message("# %d read right, %d refused\n", read, refused);
    assert_true(read >= 25 && read + refused >= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_configs_are_read_right_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
