/* How long finding the selection takes: entries are scored, and top-k is a sort or one kernel. */
#include "unit/fixture/tiny.h"

#include "decode/cost/attention.h"

/* 4 heads of 1000 entries of 100 B each are read at 100 B a nanosecond in 4000 ns. A sort takes 10
 * us, whatever its size. One kernel takes 3 us for heads that run at once, or 2 us a head. */
static void top_k_in_one_kernel_is_not_a_sort(void **state)
{
    static const struct {
        const char *fused;
        double pairs, ns;
    } cases[] = {
        {"mechanisms.retrieval_fused=no", 4, 4000 + 10000},
        {"mechanisms.retrieval_fused=yes", 1, 4000 + 3000},
        {"mechanisms.retrieval_fused=yes", 4, 4000 + 8000},
    };
    char model[128];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup setup = SETUP(
            tiny_model(2, model), tiny_machine, "hardware.gpu.topk_fused=3us",
            "hardware.gpu.topk_fused_row=2us",
            "mechanisms={selection: 10%, retrieval: hata, retrieval_bytes: 100B}", cases[i].fused);
        assert_near(retrieval_cost(&setup, 4000, cases[i].pairs).ns, cases[i].ns, 1e-6);
        setup_release(&setup);
    }
}

/* The one-kernel top-k is an optional figure: a machine without it sorts. */
static void machine_without_the_kernel_sorts(void **state)
{
    char model[128];
    (void)state;
    struct setup setup = SETUP(tiny_model(2, model), tiny_machine,
                               "mechanisms={selection: 10%, retrieval: hata, retrieval_bytes: 100B,"
                               " retrieval_fused: yes}");
    assert_near(retrieval_cost(&setup, 4000, 4).ns, 14000, 1e-6);
    setup_release(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(top_k_in_one_kernel_is_not_a_sort),
        cmocka_unit_test(machine_without_the_kernel_sorts),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
