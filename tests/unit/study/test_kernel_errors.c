/* Errors of a profile against measured kernels, worked by hand. The profile's attention takes 10 us
 * and 1 us a megabyte of KV; its products and prompts take 10 us. */
#include "study/kernels/kernel_errors.h"
#include "unit/fixture/load_profile.h"

#include <math.h>
#include <unistd.h>

#define HEAD "op,dtype,batch,context,q_heads,kv_heads,head_dim,m,n,k,us\n"

#define FIGURE(value) "{value: " value ", basis: published, source: s}"
#define GPU                                                                                                                               \
    "gpu: {hbm_bandwidth: " FIGURE("1000GB/s") ", hbm_share: " FIGURE("100%") ", flops_bf16: " FIGURE("1PFLOP/s") ", flops_fp8: " FIGURE( \
        "1PFLOP/s") ", flops_share: " FIGURE("100%") ", graph_node: " FIGURE("10us") ", attention_fixed: " FIGURE("10us") ", attention_share: " FIGURE("100%")
static const char machine[] = GPU ", l2: " FIGURE("1MB") "}";
static const char without_l2[] = GPU "}";

/* Write `text` to a file and judge the profile by it. */
static bool judge(const char *profile_text, const char *text, struct kernel_errors *out,
                  struct error *why)
{
    char path[] = "/tmp/spillway-kernels-XXXXXX";
    struct profile profile = load_well(profile_text);
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    bool ok = kernel_errors_judge(&profile, path, out, why);
    close(file);
    unlink(path);
    profile_release(&profile);
    return ok;
}

static struct kernel_errors judge_well(const char *profile, const char *text)
{
    struct kernel_errors errors;
    struct error why;
    if (!judge(profile, text, &errors, &why)) {
        char message[1024];
        error_format(&why, message, sizeof message);
        fail_msg("%s", message);
    }
    return errors;
}

static void same(double value, double expected)
{
    if (fabs(value - expected) > 1e-9) {
        fail_msg("%.9g, not %.9g", value, expected);
    }
}

/* Every product takes 10 us, the gap between two kernels: measured in 8, 10, 20, 40 us, the errors
 * are +25, 0, -50 and -75 %. Their absolute values are 0, 25, 50, 75, so that the 90th percentile
 * lies at 2.7 of 3 intervals: 50 + 0.7 * 25 %. */
static void errors_are_predicted_over_measured_less_one(void **state)
{
    (void)state;
    struct kernel_errors errors = judge_well(machine, HEAD "product,bf16,,,,,,1,64,64,8\n"
                                                           "product,bf16,,,,,,1,64,64,10\n"
                                                           "product,fp8,,,,,,1,64,64,20\n"
                                                           "product,int4,,,,,,128,64,64,40\n");
    const struct kernel_class_errors *few = &errors.classes[CLASS_FEW];
    assert_int_equal(few->count, 4);
    same(few->median, -0.25);
    same(few->median_abs, 0.375);
    same(few->p90_abs, 0.675);
    same(few->worst, -0.75);
    assert_int_equal(few->worst_line, 5);
    assert_int_equal(errors.classes[CLASS_MANY].count, 0);
    kernel_errors_release(&errors);
}

/* 1000 tokens of 8 heads of 64 are 2 * 1000 * 8 * 64 * 2 B = 2.048 MB in bf16, as much in queries
 * and outputs as 2 * 8 * 64 * 2 B = 2 kB: 12.05 us. In fp8 they are 1.024 MB: below 2 MB, so warm. */
static void sizes_decide_the_class(void **state)
{
    static const char rows[] = HEAD "attention,bf16,1,1000,8,8,64,,,,12.05\n"
                                    "attention,fp8,1,1000,8,8,64,,,,11.026\n"
                                    "product,bf16,,,,,,128,64,64,10\n"
                                    "product,bf16,,,,,,129,64,64,10\n"
                                    "prompt,bf16,1,1024,1,1,64,1024,,,10\n"
                                    "prompt,bf16,1,1025,1,1,64,1025,,,10\n";
    (void)state;
    struct kernel_errors errors = judge_well(machine, rows);
    for (int class = 0; class < KERNEL_CLASSES; class ++) {
        assert_int_equal(errors.classes[class].count, 1);
        assert_true(fabs(errors.classes[class].median) < 1e-3);
    }
    kernel_errors_release(&errors);
    errors = judge_well(without_l2, rows);
    assert_int_equal(errors.classes[CLASS_WARM].count, 0);
    assert_int_equal(errors.classes[CLASS_COLD].count, 2);
    kernel_errors_release(&errors);
}

static void columns_come_in_any_order_with_others_between(void **state)
{
    (void)state;
    struct kernel_errors errors = judge_well(
        machine, "us,note,k,n,m,head_dim,kv_heads,q_heads,context,batch,dtype,op,,,,,,,,\r\n"
                 "20.0,\"a, b\",64.0,64,1,,,,,,bf16,product,,,,,,,,\r\n\r\n");
    same(errors.classes[CLASS_FEW].median, -0.5);
    assert_int_equal(errors.classes[CLASS_FEW].worst_line, 2);
    kernel_errors_release(&errors);
}

static void a_faulty_row_is_named_by_line_and_column(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *found, *nearest;
    } cases[] = {
        {"", 0, "is empty", ""},
        {HEAD, 0, "holds no kernel", ""},
        {"op,dtype,batch,contxt,q_heads,kv_heads,head_dim,m,n,k,us\n", 1, "no column 'context'",
         "contxt"},
        {"op,op,dtype,batch,context,q_heads,kv_heads,head_dim,m,n,k,us\n", 1,
         "more than one column 'op'", ""},
        {HEAD "atention,bf16,1,1,1,1,64,,,,1\n", 2, "unknown op 'atention'", "attention"},
        {HEAD "topk,bf16,,,,,,1,1,,1\n", 2, "unknown op 'topk'", ""},
        {HEAD "product,fp9,,,,,,1,64,64,1\n", 2, "'dtype' of 'product' is 'fp9'", "fp8"},
        {HEAD "attention,int4,1,1,1,1,64,,,,1\n", 2, "'dtype' of 'attention' is 'int4'", ""},
        {HEAD "product,bf16,,,,,,1,64,64,10\nproduct,bf16,,,,,,1,0,64,10\n", 3, "'n' is 0", ""},
        {HEAD "product,bf16,,,,,,1,,64,10\n", 2, "'product' needs 'n'", ""},
        {HEAD "product,bf16,,,,,,few,64,64,10\n", 2, "'m' is 'few'", ""},
        {HEAD "product,bf16,,,,,,1.5,64,64,10\n", 2, "'m' is '1.5'", ""},
        {HEAD "product,bf16,,,,,,-1,64,64,10\n", 2, "'m' is '-1'", ""},
        {HEAD "product,bf16,,,,,,1,64,64,-10\n", 2, "'us' is '-10'", ""},
        {HEAD "product,bf16,,,,,,1,64,64,0\n", 2, "'us' is '0'", ""},
        {HEAD "product,bf16,,,,,,1,64,64,nan\n", 2, "'us' is 'nan'", ""},
        {HEAD "product,bf16,,,,,,1,64,64,10us\n", 2, "'us' is '10us'", ""},
        {HEAD "attention,bf16,1,1000,8,3,64,,,,1\n", 2, "8 query heads share 3 KV heads", ""},
        {HEAD "product,bf16,,,,,,1,64,64\n", 2, "10 fields", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct kernel_errors errors;
        struct error why;
        assert_false(judge(machine, cases[i].text, &errors, &why));
        if (strstr(why.found, cases[i].found) != why.found) {
            fail_msg("'%s' does not begin with '%s'", why.found, cases[i].found);
        }
        assert_int_equal(why.line, cases[i].line);
        assert_string_equal(why.nearest, cases[i].nearest);
        assert_int_equal(why.kind, ERROR_FAILURE);
    }
}

static void a_figure_that_the_profile_lacks_is_named(void **state)
{
    struct kernel_errors errors;
    struct error why;
    (void)state;
    assert_false(judge("gpu: {hbm_bandwidth: " FIGURE("1TB/s") "}",
                       HEAD "product,bf16,,,,,,1,64,64,10\n", &errors, &why));
    assert_non_null(strstr(why.found, "gpu.hbm_share"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_predicted_over_measured_less_one),
        cmocka_unit_test(sizes_decide_the_class),
        cmocka_unit_test(columns_come_in_any_order_with_others_between),
        cmocka_unit_test(a_faulty_row_is_named_by_line_and_column),
        cmocka_unit_test(a_figure_that_the_profile_lacks_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
