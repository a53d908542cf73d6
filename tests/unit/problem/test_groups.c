/* test_groups.c: grouped products: their text, what is refused, which rows are whose, and what each group is by itself. */
#include "base/math.h"
#include "prelude/row_groups.h"
#include "problem/groups/groups.h"
#include "problem/identity.h"
#include "problem/view.h"
#include "support/kw_test.h"

#include <string.h>

static kw_problem parse(const char *text) {
    kw_problem problem;
    kw_error err = {0};
    assert_ok(kw_problem_parse(&problem, text, &err), &err);
    return problem;
}

static void text_names_groups_where_there_are_any(void **state) {
    static const struct {
        const char *given, *printed;
    } cases[] = {
        {"gemm bf16 g8 m100 n64 k32", "gemm bf16 rcr b1 g8 m100 n64 k32"},
        {"m100 k32 gemm g1 bf16 rrr n64", "gemm bf16 rrr b1 g1 m100 n64 k32"},
        {"gemm bf16 g0 m100 n64 k32", "gemm bf16 rcr b1 m100 n64 k32"},
        {"gemm fp32 g3 m9 n6 k7 strideb0", "gemm fp32 rcr b1 g3 m9 n6 k7 strideb0"},
        {"gemm fp32 g3 m9 n6 k7 strideb42 lda8", "gemm fp32 rcr b1 g3 m9 n6 k7 lda8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[KW_PROBLEM_TEXT_MAX];
        kw_problem problem = parse(cases[i].given), again, same;
        kw_problem_print(text, sizeof text, &problem);
        assert_string_equal(text, cases[i].printed);
        again = parse(text);
        kw_problem_normalize(&same, &problem);
        assert_memory_equal(&problem, &again, sizeof problem);
        assert_memory_equal(&problem, &same, sizeof problem);
    }
}

static void what_cannot_be_is_refused(void **state) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"gemm fp32 g4 b2 m8 n8 k8", "b=2 of a product with g=4 groups"},
        {"gemm fp32 crr g4 m8 n8 k8", "layout crr with g=4 groups"},
        {"gemm fp32 ccr g4 m8 n8 k8", "use rcr or rrr"},
        {"gemm fp32 g4 m1073741824 n8 k8", "counted in 30 bits"},
        {"gemm fp32 g1073741824 m8 n8 k8", "counted in 30 bits"},
        {"gemm fp32 g1000000000 m8 n1000000 k1000000", "would not fit 63 bits"},
        {"gemm fp32 g-1 m8 n8 k8", "is no size"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_error err = {0};
        assert_true(kw_problem_parse(&problem, cases[i].text, &err) != KW_OK);
        if (!strstr(err.text, cases[i].says)) {
            fail_msg("%s: %s", cases[i].text, err.text);
        }
    }
}

static void sizes_are_those_of_all_groups(void **state) {
    kw_problem p = parse("gemm fp32 g4 m10 n6 k7 epilogue=bias+add+scale_row");
    kw_gemm_view view = kw_problem_view(&p);
    kw_extra extras[KW_EXTRA_MAX];
    (void)state;
    assert_int_equal(kw_problem_elements(&p, KW_X), 70);
    assert_int_equal(kw_problem_elements(&p, KW_W), 4 * 42);
    assert_int_equal(kw_problem_elements(&p, KW_Y), 60);
    assert_int_equal(kw_problem_flops(&p), 2 * 10 * 6 * 7);
    assert_int_equal(kw_problem_extras(extras, &p), 3);
    assert_int_equal(extras[0].elements, 4 * 6);
    assert_int_equal(extras[1].elements, 60);
    assert_int_equal(extras[2].elements, 10);
    assert_true(view.batch == 4 && view.gm == 3 && view.gn == 6 && view.gk == 7);
}

static void ends_ascend_within_the_rows(void **state) {
    static const struct {
        int32_t ends[4];
        const char *says; /* NULL: they are good */
    } cases[] = {
        {{0, 3, 3, 10}, NULL},
        {{0, 0, 0, 0}, NULL},
        {{2, 4, 6, 8}, NULL},
        {{2, 4, 3, 8}, "ends[2]=3 is below 4"},
        {{-1, 4, 5, 8}, "ends[0]=-1 is below 0"},
        {{2, 4, 6, 11}, "ends[3]=11 is above the 10 rows"},
    };
    kw_problem p = parse("gemm fp32 g4 m10 n6 k7");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_error err = {0};
        kw_status status = kw_group_ends_check(&p, cases[i].ends, &err);
        assert_int_equal(status, cases[i].says ? KW_ILLEGAL : KW_OK);
        assert_true(!cases[i].says || strstr(err.text, cases[i].says));
    }
}

/* Chunks by number are all rows of all groups, each once and in order; what no ends can be finds nothing outside of the rows. */
static void chunks_are_the_rows_of_groups(void **state) {
    static const int32_t good[][11] = {{0, 0, 5, 5, 6, 6, 6, 20, 33, 33, 37}, {40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40}, {0}};
    static const int32_t bad[][11] = {{9, 3, -5, 99, 12}, {-1, -2, INT32_MAX, 7, INT32_MIN, 4, 50, 41, 40, 40, 0}};
    enum { GROUPS = 11, ROWS = 40 };
    (void)state;
    for (int size = 1; size <= 41; size += 3) {
        for (int set = 0; set < 3; set++) {
            kw_group_chunk chunk;
            kw_group_place place = {0};
            int row = 0, count = 0;
            for (; kw_group_find(&chunk, &place, good[set], GROUPS, ROWS, size, count); count++) {
                kw_group_chunk again;
                kw_group_place front = {0};
                assert_true(kw_group_find(&again, &front, good[set], GROUPS, ROWS, size, count));
                assert_memory_equal(&again, &chunk, sizeof chunk);
                assert_int_equal(chunk.first, row);
                assert_true(chunk.end > chunk.first && chunk.end - chunk.first <= size && chunk.end <= good[set][chunk.group]);
                assert_true(chunk.first >= (chunk.group ? good[set][chunk.group - 1] : 0));
                row = chunk.end;
            }
            assert_int_equal(row, good[set][GROUPS - 1]);
            assert_int_equal(count, kw_group_chunks(good[set], GROUPS, ROWS, size));
            assert_true(count <= KW_GROUP_CHUNKS_MOST(ROWS, GROUPS, size));
        }
        for (int set = 0; set < 2; set++) {
            kw_group_chunk chunk;
            kw_group_place place = {0};
            int row = 0, count = 0;
            for (; kw_group_find(&chunk, &place, bad[set], GROUPS, ROWS, size, count); count++) {
                assert_true(chunk.first == row && chunk.end > row && chunk.end <= ROWS);
                row = chunk.end;
            }
            assert_true(count <= KW_GROUP_CHUNKS_MOST(ROWS, GROUPS, size));
        }
    }
}

static void drawn_ends_are_good_and_unequal(void **state) {
    kw_problem p = parse("gemm fp32 g64 m700 n6 k7"), small = parse("gemm fp32 g5 m1 n6 k7");
    int32_t ends[64];
    (void)state;
    for (uint64_t seed = 1; seed < 50; seed++) {
        int64_t most = 0, empty = 0;
        kw_group_ends_draw(ends, &p, seed, true);
        assert_int_equal(kw_group_ends_check(&p, ends, NULL), KW_OK);
        assert_int_equal(ends[63], 700);
        for (int g = 0; g < 64; g++) {
            int64_t rows = ends[g] - (g ? ends[g - 1] : 0);
            most = kw_max(most, rows);
            empty += !rows;
        }
        assert_true(most > 2 * 700 / 64 && empty > 0);
        kw_group_ends_draw(ends, &p, seed, false);
        assert_int_equal(kw_group_ends_check(&p, ends, NULL), KW_OK);
        assert_true(ends[63] < 700);
        kw_group_ends_draw(ends, &small, seed, seed % 2);
        assert_int_equal(kw_group_ends_check(&small, ends, NULL), KW_OK);
    }
}

static void a_group_is_a_product_of_its_own(void **state) {
    static const int32_t ends[4] = {0, 3, 3, 9};
    kw_problem p = parse("gemm bf16 g4 m10 n6 k7 lda9 ldc8 epilogue=bias+add+scale_row+scale"), one;
    char memory[1024];
    kw_group_memory whole = {{memory, memory, memory}, {memory, memory, memory, memory}}, own;
    (void)state;
    assert_int_equal(kw_group_of(&p, ends, 0), 1);
    assert_int_equal(kw_group_of(&p, ends, 3 * 8 - 1), 1);
    assert_int_equal(kw_group_of(&p, ends, 3 * 8), 3);
    assert_int_equal(kw_group_of(&p, ends, 9 * 8), -1);
    assert_int_equal(kw_group_product(&one, &own, &p, ends, 3, &whole), 24);
    assert_int_equal(kw_problem_check(&one, NULL), KW_OK);
    assert_true(one.gemm.m == 6 && one.gemm.groups == 0 && one.pitch[KW_X][0] == 9 && one.pitch[KW_Y][0] == 8);
    assert_ptr_equal(own.tensor[KW_X], memory + 2 * 3 * 9);
    assert_ptr_equal(own.tensor[KW_W], memory + 2 * 3 * 42);
    assert_ptr_equal(own.tensor[KW_Y], memory + 2 * 3 * 8);
    assert_ptr_equal(own.extra[0], memory + 4 * 3 * 6);
    assert_ptr_equal(own.extra[1], memory + 2 * 3 * 8);
    assert_ptr_equal(own.extra[2], memory + 4 * 3);
    assert_ptr_equal(own.extra[3], memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_names_groups_where_there_are_any), cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(sizes_are_those_of_all_groups),         cmocka_unit_test(ends_ascend_within_the_rows),
        cmocka_unit_test(chunks_are_the_rows_of_groups),         cmocka_unit_test(drawn_ends_are_good_and_unequal),
        cmocka_unit_test(a_group_is_a_product_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
