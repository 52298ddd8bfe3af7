/* Compares every kernel with its twin on random data. Prints TAP, a line for each case.
 *
 * test_kernels SECONDS begins no case after this time. Before the second case of a kernel it has
 * run the first one of all others, before the third the second ones. */
#include "kernel_test.h"

#include <algorithm>
#include <map>

#define SEED 5

/* The cases in the order in which they run, as indices. */
static std::vector<size_t> order_of(const std::vector<kernel_case> &cases)
{
    std::map<decltype(kernel_case::check), size_t> seen;
    std::vector<size_t> turn, order;
    for (size_t i = 0; i < cases.size(); i++) {
        turn.push_back(seen[cases[i].check]++);
        order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return turn[a] < turn[b]; });
    return order;
}

int main(int count, char **words)
{
    double end_ns = count > 1 ? clock_ns() + atof(words[1]) * 1e9 : INFINITY;
    std::vector<kernel_case> cases;
    product_cases(cases); /* first: it chooses the GPU */
    attention_cases(cases);
    retrieval_cases(cases);
    row_cases(cases);
    set_cases(cases);
    lru_cases(cases);
    miniature_cases(cases);
    bool passed = true;
    printf("# seed %d\n", SEED);
    int ran = 0;
    for (size_t i : order_of(cases)) {
        if (clock_ns() > end_ns) {
            break;
        }
        generator random(SEED + i);
        std::string wrong = cases[i].check(cases[i].shape, random);
        passed = report(++ran, cases[i].name, wrong) && passed;
    }
    printf("1..%d\n# %zu cases in all\n", ran, cases.size());
    return passed ? 0 : 1;
}
