/* cuBLAS is loaded with all its functions where it is installed. Elsewhere the error says what is
 * missing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/device/cublas.h"

#include <string.h>

static void it_is_loaded_whole_or_the_error_says_why(void **state)
{
    (void)state;
    struct cublas cublas = {.create = NULL};
    struct error why = {.found = ""};
    if (!cublas_load(&cublas, &why)) {
        print_message("# %s\n", why.found);
        assert_non_null(strstr(why.found, "libcublas"));
        assert_non_null(strstr(why.expected, "LD_LIBRARY_PATH"));
        return;
    }
    assert_string_not_equal(cublas.describe(CUBLAS_DONE), cublas.describe(CUBLAS_DONE + 1));
    assert_non_null(cublas.create);
    assert_non_null(cublas.destroy);
    assert_non_null(cublas.set_stream);
    assert_non_null(cublas.set_workspace);
    assert_non_null(cublas.multiply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_loaded_whole_or_the_error_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
