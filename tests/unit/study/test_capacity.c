/* The draws in which a load is asked, and which of its runs is kept, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/plan/capacity.h"

#include <string.h>

enum { LOADS = 10, LOAD = 4 };

/* Of the draws: behind the largest comes 0. */
static const int64_t own_seeds[] = {9007199254740991, 9007199254740992, 0};

/* A run of a draw whose queue grows, or whose TPOT is so long. */
static struct result run_of(uint32_t draw, double tpot_ms, bool grows)
{
    struct result result;
    struct error why;
    result_init(&result);
    assert_true(result_text(&result, COLUMN(status), "ok", &why));
    result_integer(&result, COLUMN(seed), own_seeds[draw]);
    result_integer(&result, COLUMN(queue_grows), grows);
    result_integer(&result, COLUMN(tpot_p90_ms), (int64_t)(tpot_ms * 1e6));
    return result;
}

static const struct {
    const char *name;
    double tpot_ms[CAPACITY_DRAWS]; /* of 50; 0: its queue grows */
    uint32_t asked, missed;
    uint32_t kept;     /* the draw whose run is */
    const char *seeds; /* of a note; NULL: none */
    bool alike;        /* of the note: all grow, or none does */
} cases[] = {
    {"all hold", {40, 49, 50}, 3, 0, 0, NULL, false},
    {"one misses by little", {48, 51, 49}, 3, 1, 1, "9007199254740992", true},
    {"its own misses by little", {51, 49, 49}, 3, 1, 0, "9007199254740991", true},
    {"two let their queue grow", {49, 0, 0}, 3, 2, 1, "9007199254740992, 0", true},
    {"one lets its queue grow, one misses", {49, 0, 51}, 3, 2, 1, "9007199254740992, 0", false},
    {"all let it grow", {0, 0, 0}, 3, 3, 0, NULL, false},
    {"a miss by a fifth is asked in all", {60, 49, 49}, 3, 1, 0, "9007199254740991", true},
    {"a miss by far is asked in all", {390, 49, 0}, 3, 2, 0, "9007199254740991, 0", false},
};

static void a_load_is_asked_until_its_draws_tell(void **state)
{
    struct targets targets;
    struct error why;
    (void)state;
    assert_true(targets_parse("tpot_p90_ms<=50,queue_grows<=0", &targets, &why));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct capacity_draws draws = {.asked = 0};
        struct result kept;
        uint32_t values[CAPACITY_DRAWS], count;
        result_init(&kept);
        print_message("%s\n", cases[i].name);
        while ((count = draws_next(&draws, LOAD, LOADS, values)) > 0) {
            for (uint32_t j = 0; j < count; j++) {
                assert_int_equal(values[j] % LOADS, LOAD);
                uint32_t draw = values[j] / LOADS;
                double ms = cases[i].tpot_ms[draw];
                struct result run = run_of(draw, ms, ms == 0);
                bool misses = targets_violation(&targets, &run) > 0;
                draws_take(&draws, draw, misses, &run, &kept);
                result_release(&run);
            }
        }
        const json_t *note = notes_find(kept.notes, NOTE_draws);
        const char *seeds = json_string_value(json_object_get(note, "seeds"));
        assert_int_equal(draws_asked(&draws), cases[i].asked);
        assert_int_equal(draws_missed(&draws), cases[i].missed);
        assert_int_equal(result_number(&kept, COLUMN(seed)), (double)own_seeds[cases[i].kept]);
        assert_string_equal(seeds != NULL ? seeds : "", cases[i].seeds ? cases[i].seeds : "");
        assert_int_equal(json_is_true(json_object_get(note, "alike")), cases[i].alike);
        result_release(&kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_is_asked_until_its_draws_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
