/* Compares every kernel with its twin on random data. Prints TAP, a line for each case. */
#include "kernel_test.h"

#define SEED 5

int main()
{
    std::vector<kernel_case> cases;
    product_cases(cases); /* first: it chooses the GPU */
    attention_cases(cases);
    retrieval_cases(cases);
    row_cases(cases);
    set_cases(cases);
    lru_cases(cases);
    miniature_cases(cases);
    bool passed = true;
    printf("1..%zu\n# seed %d\n", cases.size(), SEED);
    for (size_t i = 0; i < cases.size(); i++) {
        generator random(SEED + i);
        std::string wrong = cases[i].check(cases[i].shape, random);
        passed = report((int)i + 1, cases[i].name, wrong) && passed;
    }
    return passed ? 0 : 1;
}
