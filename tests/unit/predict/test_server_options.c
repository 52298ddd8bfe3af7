/* Every option that vLLM, SGLang and TensorRT-LLM have (server_options.txt beside this file) is read, changes
 * nothing for a reason that is told, or is refused; and no value of one that is not read is repeated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/command/server_program.h"
#include "predict/command/server_text.h"

#include <stdio.h>
#include <string.h>

#define SECRET "hf_SECRETxyz"

static const struct maker {
    const char *name, *command;
} makers[] = {
    {"vllm", "vllm serve m"},
    {"sglang", "python3 -m sglang.launch_server --model-path m"},
    {"tensorrt-llm", "trtllm-serve m"},
};

static const struct server_option *option_of(const char *program, const char *name)
{
    struct error why;
    for (const struct server_program *at = server_programs(&why); at->file != NULL; at++) {
        if (strcmp(at->file, program) == 0) {
            return server_option_find(at, name);
        }
    }
    fail_msg("no program %s", program);
    return NULL;
}

/* What the program prints of a command's options: the names of unused ones, or the message. */
static const char *said_of(const char *text)
{
    static char out[ERROR_TEXT];
    static struct stated_keys keys;
    struct error why;
    FILE *in = fmemopen((char *)text, strlen(text), "r");
    assert_non_null(in);
    bool read = server_text_read(in, "f", NULL, 0, &keys, &why);
    fclose(in);
    if (!read) {
        error_format(&why, out, sizeof out);
        return out;
    }
    out[0] = '\0';
    for (const struct server_unused *of = keys.unused; of->reason != NULL; of++) {
        strcat(strcat(out, of > keys.unused ? " " : ""), of->names);
    }
    return out;
}

/* The name as tables have it: without dashes in front, with '_' for '-'. */
static const char *plain_name(const char *option)
{
    static char name[80];
    snprintf(name, sizeof name, "%s", option + strspn(option, "-"));
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    return name;
}

/* In each way to type a value: the option is known, and the value of one that is not read not repeated. */
static void check_option(const struct maker *maker, const char *option)
{
    static const char *const ways[] = {"%s %s " SECRET, "%s %s=" SECRET, "%s %s"};
    const struct server_option *row = option_of(maker->name, plain_name(option));
    bool set = row != NULL && row->value != SERVER_VALUE_NONE;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char text[256];
        snprintf(text, sizeof text, ways[i], maker->command, option);
        const char *said = said_of(text);
        bool told = strstr(said, option) != NULL && strstr(said, SECRET) == NULL;
        if (row == NULL || strstr(said, "unknown option") != NULL || (!set && !told)) {
            fail_msg("'%s': %s", text, said);
        }
    }
}

static void each_option_of_a_server_is_known(void **state)
{
    (void)state;
    char path[256], line[256];
    snprintf(path, sizeof path, "%.*s/server_options.txt", (int)(strrchr(__FILE__, '/') - __FILE__),
             __FILE__);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char *word = strtok(line, " \n");
        const struct maker *maker = makers;
        while (*line != '#' && strcmp(word, maker->name) != 0) {
            maker++;
        }
        while (*line != '#' && (word = strtok(NULL, " \n")) != NULL) {
            check_option(maker, word);
            count++;
        }
    }
    fclose(file);
    assert_int_equal(count, 1071);
}

/* ---- secrets ---- */

static void no_value_of_an_unused_option_is_repeated(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"vllm serve m --api-key " SECRET " " SECRET, "--api-key version"},
        {"vllm serve m --hf-token=" SECRET, "--hf-token version"},
        {"vllm serve m --hf_token '" SECRET "'", "--hf_token version"},
        {"HF_TOKEN=" SECRET " vllm serve m --seed 1", "--seed version"},
        {"vllm serve m -tp 2 HF_TOKEN=" SECRET,
         "f:1: 'HF_TOKEN' stands without an option\n  expected: options of vLLM, each with its value"},
        {"vllm serve m --no-such:" SECRET,
         "f:1: unknown option '--no-such'\n  expected: an option of vLLM, or the command without it"},
        {"vllm serve m --tensor-parallel-sise=" SECRET,
         "f:1: unknown option '--tensor-parallel-sise'\n  nearest: '--tensor-parallel-size'   "
         "expected: an option of vLLM, or the command without it"},
        {"non-default args: {'api_key': ['" SECRET "'], 'hf_token': '" SECRET "'}",
         "api_key, hf_token version"},
        {"server_args=ServerArgs(model_path='m', api_key='" SECRET "')", "version"},
        {"docker run -e HF_TOKEN=" SECRET " vllm/vllm-openai:v0.19.0 --model m", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(said_of(cases[i].text), cases[i].said);
    }
}

static void some_options_change_no_answer(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"vllm", "api_key"},
                                           {"vllm", "ssl_keyfile"},
                                           {"vllm", "seed"},
                                           {"vllm", "no_log_error_stack"},
                                           {"sglang", "served_model_name"}};
    static const char *const others[][2] = {
        {"vllm", "speculative_config"}, {"vllm", "cpu_offload_gb"}, {"sglang", "page_size"},
        {"vllm", "enable_lora"},        {"vllm", "config"},         {"vllm", "sslx"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct server_option *option = option_of(names[i][0], names[i][1]);
        assert_true(option != NULL && option->harmless);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct server_option *option = option_of(others[i][0], others[i][1]);
        assert_true(option == NULL || !option->harmless);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_option_of_a_server_is_known),
        cmocka_unit_test(no_value_of_an_unused_option_is_repeated),
        cmocka_unit_test(some_options_change_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
