/* Numbers of an advice have two digits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/advise/advise_words.h"

static void numbers_have_two_digits(void **state)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {{122.6, "120"},    {9949, "9900"},      {99.6, "100"},  {17.07, "17"},
                 {9.96, "10"},      {2.49, "2.5"},       {0.995, "1.0"}, {0.93, "0.93"},
                 {0.0806, "0.081"}, {0.00806, "0.0081"}, {0, "0"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[ADVISE_NUMBER];
        assert_string_equal(advise_number(cases[i].number, text), cases[i].text);
    }
}

static void forms_are_said_in_words(void **state)
{
    static const struct {
        struct advice_form form;
        const char *text;
    } cases[] = {{{1, 1}, "one GPU"},
                 {{1, 8}, "one server of 8 GPUs"},
                 {{2, 1}, "2 servers of one GPU each"},
                 {{2, 4}, "2 servers of 4 GPUs each"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[ADVISE_PHRASE];
        assert_string_equal(advise_form(&cases[i].form, text), cases[i].text);
    }
}

static void tokens_are_in_units_of_1024_if_they_are_whole(void **state)
{
    char text[ADVISE_NUMBER];
    (void)state;
    assert_string_equal(advise_tokens(131072, text), "128K");
    assert_string_equal(advise_tokens(4000, text), "4000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_two_digits),
        cmocka_unit_test(forms_are_said_in_words),
        cmocka_unit_test(tokens_are_in_units_of_1024_if_they_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
