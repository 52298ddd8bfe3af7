/* Names of shipped files, spelt as people spell them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/name.h"
#include "core/named.h"
#include "core/node.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

static void every_usual_spelling_means_one_file(void **state)
{
    (void)state;
    static const struct {
        const struct named_kind *kind;
        const char *given, *name;
    } cases[] = {
        {&named_machine, "a40", "a40"},
        {&named_machine, "A40", "a40"},
        {&named_machine, "H100", "h100-sxm"},
        {&named_machine, "H100-SXM", "h100-sxm"},
        {&named_machine, "H100 PCIe", "h100-pcie"},
        {&named_machine, "4090", "rtx-4090"},
        {&named_machine, "RTX4090", "rtx-4090"},
        {&named_machine, "RTX_4090", "rtx-4090"},
        {&named_machine, "A100-80GB", "a100-sxm-80gb"},
        {&named_machine, "L40S", "l40s"},
        {&named_machine, "NVIDIA GeForce RTX 4090", "rtx-4090"},
        {&named_machine, "NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
        {&named_link, "PCIe5", "pcie5-x16"},
        {&named_gpu, "L40S", "l40s"},
        {&named_gpu, "H100", NULL}, /* a machine's, whose part is meant: machine/compose.h */
        {&named_model, "Llama-3-8B", "llama-3-8b"},
        {&named_model, "meta-llama/llama-3.1-8b", "llama-3.1-8b"},
        {&named_model, "Qwen2.5-7B-Instruct", "qwen2.5-7b"},
        {&named_model, "llama3.1:8b", "llama-3.1-8b"},
        {&named_system, "vLLM", "vllm"},
        {&named_system, "StreamingLLM", "streaming-llm"},
        {&named_system, "HiCache", "sglang-hicache"},
        {&named_trace, "SmolLM2-135M", "smollm2-135m"},
        {&named_workload, "Conversations", "conversations"},
        {&named_machine, "h100-sxm.yaml", NULL}, /* paths */
        {&named_machine, "./a40", NULL},
        {&named_model, "./llama-3-8b", NULL},
        {&named_machine, "", NULL},
        {&named_machine, "-", NULL},
        {&named_machine, "a4", NULL},
        {&named_machine, "..", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char name[NAMED_SIZE] = "";
        print_message("# %s '%s'\n", cases[i].kind->what, cases[i].given);
        assert_int_equal(named_canonical(cases[i].kind, cases[i].given, name),
                         cases[i].name != NULL);
        assert_string_equal(name, cases[i].name != NULL ? cases[i].name : "");
    }
}

/* The names of a kind's files, and those that they list; each with its file. */
struct spelt {
    char text[128];
    size_t file;
};

static size_t read_spelt(const struct named_kind *kind, const char *name, size_t file,
                         struct spelt *out)
{
    char path[PATH_MAX];
    struct error why;
    size_t count = 0;
    snprintf(out[count].text, sizeof out->text, "%s", name);
    out[count++].file = file;
    assert_true(find_path(kind->folder, name, kind->suffix, path, sizeof path, &why));
    struct node *root = kind->also != NULL ? node_load(path, &why) : NULL;
    const struct node *list = node_get(root, kind->also != NULL ? kind->also : "");
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const char *slash = strrchr(list->children[i]->text, '/');
        snprintf(out[count].text, sizeof out->text, "%s",
                 slash != NULL ? slash + 1 : list->children[i]->text);
        out[count++].file = file;
    }
    node_destroy(root);
    return count;
}

static void check_kind(const struct named_kind *kind)
{
    static struct spelt spelt[2000];
    char **names;
    size_t files, count = 0;
    struct error why;
    assert_true(find_names(kind->folder, kind->suffix, &names, &files, &why));
    for (size_t i = 0; i < files; i++) {
        count += read_spelt(kind, names[i], i, &spelt[count]);
        assert_true(count < COUNT(spelt) - 64);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            bool shared = spelt[i].file != spelt[j].file && name_same(spelt[i].text, spelt[j].text);
            print_message("%s", shared ? spelt[i].text : "");
            assert_false(shared);
        }
    }
    for (size_t i = 0; i < files; i++) {
        free(names[i]);
    }
    free(names);
}

static void no_two_files_share_a_spelling(void **state)
{
    (void)state;
    static const struct named_kind *const kinds[] = {
        &named_model,  &named_machine, &named_gpu,   &named_link,          &named_host,
        &named_fabric, &named_system,  &named_trace, &named_trace_profile, &named_workload,
    };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        print_message("# %s\n", kinds[i]->what);
        check_kind(kinds[i]);
    }
}

static void an_unknown_name_is_answered_with_the_nearest(void **state)
{
    (void)state;
    static const struct {
        const struct named_kind *kind;
        const char *given, *nearest;
    } cases[] = {
        {&named_machine, "h1000", "h100"},
        {&named_machine, "a41", "a40"},
        {&named_machine, "mi300x", ""},
        {&named_system, "quset", "quest"},
        {&named_model, "lama-3-8b", "llama-3-8b"},
        {&named_model, "gpt2", ""},
        {&named_model, "Llama-3.1-8B-Instuct", "Llama-3.1-8B-Instruct"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[PATH_MAX];
        struct error why;
        print_message("# %s\n", cases[i].given);
        assert_false(
            named_file(cases[i].kind, cases[i].given, "a.yaml", 3, path, sizeof path, &why));
        assert_string_equal(why.nearest, cases[i].nearest);
        assert_non_null(strstr(why.expected, cases[i].kind->list));
        assert_int_equal(why.line, 3);
    }
}

static void a_variant_has_the_id_of_the_model_that_was_typed(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *id; /* NULL: the variant has none of it */
    } cases[] = {
        {"meta-llama/Llama-3.3-70B-Instruct", "casperhansen/llama-3.3-70b-instruct-awq"},
        {"Llama-3.3-70B", "casperhansen/llama-3.3-70b-instruct-awq"},
        {"llama-3.1-70b", "hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4"},
        {"someone/Tuned-Llama-70B", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char id[NAMED_SIZE];
        print_message("# %s\n", cases[i].typed);
        assert_int_equal(named_id_of(&named_model, "llama-3.1-70b-awq", cases[i].typed, id),
                         cases[i].id != NULL);
        if (cases[i].id != NULL) {
            assert_string_equal(id, cases[i].id);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_usual_spelling_means_one_file),
        cmocka_unit_test(no_two_files_share_a_spelling),
        cmocka_unit_test(an_unknown_name_is_answered_with_the_nearest),
        cmocka_unit_test(a_variant_has_the_id_of_the_model_that_was_typed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
