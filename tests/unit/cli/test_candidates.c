/* The words that are offered at the cursor, of real commands and shipped files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/frame/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static const struct command *const commands[] = {
    &command_advise,
    &command_simulate,
    &command_whatif,
    &command_plan,
    &command_curve,
    &command_plot,
    &command_kernels,
    &command_trace_stats,
    &command_trace_generate,
    &command_list,
    NULL,
};

/* What is typed, with a blank between words; and what is offered, also with blanks. An expectation
 * that ends with " ..." is the beginning. */
static const struct {
    const char *typed, *offered;
} cases[] = {
    {"", "advise simulate whatif plan curve plot kernels trace list --help ..."},
    {"s", "simulate"},
    {"trace ", "stats generate --help"},
    {"trace stats --s", "--selection"},
    {"simulate --j", "--jobs --json"},
    {"simulate ", ""}, /* a file */
    {"simulate x.yaml y", ""},
    {"simulate --db ", ""},
    {"simulate --set mod", "model="},
    {"simulate --set model=llama-3-8", "model=llama-3-8b"},
    {"simulate --set mechanisms.syn", "mechanisms.sync= mechanisms.syncs= ..."},
    {"simulate --set mechanisms.sync=", "mechanisms.sync=cpu mechanisms.sync=gpu"},
    {"simulate --set mech", "mechanisms."},
    {"simulate --set dtype.kv=f", "dtype.kv=fp8"},
    {"simulate --set timed=", "timed=yes timed=no"},
    {"simulate --set trace=ens", "trace=ensemble"},
    {"simulate --set nothing=", ""},
    {"whatif --over mechanisms.budg", "mechanisms.budget"},
    {"advise llama-3-8", "llama-3-8b"},
    {"advise --gpus 8 llama-3-8", "llama-3-8b"},
    {"advise llama-3.1-8b h100-s", "h100-sxm"},
    {"advise llama-3.1-8b h100-sxm,l40", "h100-sxm,l40s"},
    {"advise llama-3.1-8b a40 ", "--context --tpot ..."},
    {"plan --system vllm,flex", "vllm,flexgen"},
    {"plan -o ", ""},
    {"trace generate llama", "llama-3-8b-like"},
    {"list systems v", ""},
    {"list h", "hardware"},
    {"plot h", "hits"},
    {"plot hits results.db --", "--output --only --help"},
    {"nothing ", ""},
    {"trace nothing ", ""},
};

/* Split at blanks; a blank at the end begins an empty word. */
static uint32_t split(char *text, const char *words[MOST])
{
    uint32_t count = 0;
    for (char *word; (word = strsep(&text, " ")) != NULL && count < MOST;) {
        words[count++] = word;
    }
    return count;
}

static void ask(const char *typed, char *offered, size_t size)
{
    char *text = strdup(typed), *printed = NULL;
    size_t length;
    const char *words[MOST];
    uint32_t count = split(text, words);
    FILE *out = open_memstream(&printed, &length);
    candidates_print(commands, words, count, out);
    fclose(out);
    for (char *c = printed; *c != '\0'; c++) {
        *c = (char)(*c == '\n' ? ' ' : *c);
    }
    snprintf(offered, size, "%.*s", (int)(length > 0 ? length - 1 : 0), printed);
    free(printed);
    free(text);
}

static void each_word_is_offered_what_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char offered[8192];
        const char *dots = strstr(cases[i].offered, " ...");
        ask(cases[i].typed, offered, sizeof offered);
        if (dots != NULL && strlen(offered) > (size_t)(dots - cases[i].offered)) {
            offered[dots - cases[i].offered] = '\0';
        }
        char expected[512];
        snprintf(expected, sizeof expected, "%s: %.*s", cases[i].typed,
                 (int)(dots != NULL ? dots - cases[i].offered : 400), cases[i].offered);
        char seen[8400];
        snprintf(seen, sizeof seen, "%s: %s", cases[i].typed, offered);
        assert_string_equal(seen, expected);
    }
}

/* Mechanisms are offered once their map is typed. */
static void all_keys_are_offered(void **state)
{
    (void)state;
    char offered[8192];
    ask("simulate --set ", offered, sizeof offered);
    static const char *const keys[] = {"model=", "hardware=", "mechanisms.", "slo="};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_non_null(strstr(offered, keys[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_word_is_offered_what_fits),
        cmocka_unit_test(all_keys_are_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
