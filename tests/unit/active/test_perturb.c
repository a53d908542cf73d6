/* test_perturb.c: problems like a given one, which proposals draw. */
#include "active/perturb.h"
#include "support/kw_test.h"

static void perturbed_problems_are_legal_and_alike(void **state) {
    (void)state;
    static const char *const sources[] = {"conv_fwd fp32 n2 c64 k96 i28x28 f3 p1",   "conv_bwd_data bf16 n1 g32 c32 k32 i14x14 f3 p1 s2",
                                          "conv_fwd fp32 n1 g4 c16 k32 i5x9 f3",     "gemm bf16 rcr m1 n1000 k512",
                                          "conv_bwd_weight fp32 n1 c1 k1 i3x3x3 f3", "conv_fwd fp32 n3 c20 k8 i100 f5 p2"};
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        kw_problem from, near;
        size_t drawn = 0;
        assert_int_equal(kw_problem_parse(&from, sources[i], NULL), KW_OK);
        for (int n = 0; n < 300; n++) {
            if (!kw_problem_perturb(&near, &from, &random)) {
                continue;
            }
            drawn++;
            assert_int_equal(kw_problem_check(&near, NULL), KW_OK);
            assert_true(near.op == from.op && near.dtype == from.dtype && near.layout == from.layout && near.ndim == from.ndim);
            if (from.op != KW_GEMM) {
                assert_memory_equal(near.conv.filter, from.conv.filter, sizeof from.conv.filter);
                assert_int_equal(near.conv.g == near.conv.c,
                                 from.conv.g == from.conv.c && from.conv.g > 1 ? 1 : near.conv.g == near.conv.c);
                assert_int_equal(near.conv.c % near.conv.g, 0);
            }
        }
        assert_true(drawn > (i ? 100 : 285)); /* of sizes that can move, hardly any draw is of changes that undo each other */
    }
}

/* An image of 6x600: an axis that took its size from another one would be far from its own. */
static void each_extent_is_scaled_by_itself(void **state) {
    (void)state;
    enum { FACTOR_MAX = 8, DRAWS = 400 }; /* up to three changes, each by two at most */
    uint64_t random = 1;
    kw_problem from, near;
    assert_int_equal(kw_problem_parse(&from, "conv_fwd fp32 n2 c64 k96 i6x600 f1", NULL), KW_OK);
    bool changed[3] = {false};
    for (int n = 0; n < DRAWS; n++) {
        if (kw_problem_perturb(&near, &from, &random)) {
            for (int axis = 1; axis < 3; axis++) {
                assert_in_range(near.conv.in[axis], from.conv.in[axis] / FACTOR_MAX, from.conv.in[axis] * FACTOR_MAX);
                changed[axis] |= near.conv.in[axis] != from.conv.in[axis];
            }
        }
    }
    assert_true(changed[1] && changed[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perturbed_problems_are_legal_and_alike),
        cmocka_unit_test(each_extent_is_scaled_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
