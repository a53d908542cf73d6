/* test_sample.c: a sample covers its buckets, keeps its limits and depends on nothing but the problems and the seed; the parts of a split are
 * stable and disjoint. */
#include "base/hash.h"
#include "base/text.h"
#include "support/kw_test.h"

#include <kernelwright_tune.h>

enum { ROOM = 4096 };

typedef struct gathered {
    size_t count;
    kw_problem problems[ROOM];
} gathered;

static bool gather(void *user, const char *name, const kw_problem *problem) {
    gathered *all = user;
    (void)name;
    assert_true(all->count < ROOM);
    all->problems[all->count++] = *problem;
    return true;
}

static gathered *read_set(const char *name) {
    gathered *all = calloc(1, sizeof *all);
    kw_error err = {0};
    assert_non_null(all);
    if (kw_problems_visit(name, KW_OP_COUNT, KW_DTYPE_COUNT, gather, all, &err)) {
        fail_msg("%s: %s", name, err.text);
    }
    return all;
}

static size_t draw(size_t chosen[ROOM], const gathered *all, kw_sample_options options) {
    size_t count = SIZE_MAX;
    kw_error err = {0};
    if (kw_problems_sample(chosen, &count, all->problems, all->count, &options, &err)) {
        fail_msg("%s", err.text);
    }
    assert_true(count <= all->count);
    return count;
}

/* What a problem is alike in, seen from outside: coarser than a bucket by family. */
static unsigned kind(const kw_problem *p) {
    const kw_conv_dims *c = &p->conv;
    unsigned filter = c->filter[2] == 1 ? 0 : c->filter[2] <= 3 ? 1 : 2, groups = c->g == 1 ? 0 : c->g == c->c ? 1 : 2;
    unsigned extent = c->in[1] <= 4 ? 0 : c->in[1] <= 16 ? 1 : c->in[1] <= 64 ? 2 : 3;
    return filter | groups << 2 | extent << 4 | (unsigned)(c->stride[2] > 1) << 6 | (unsigned)(c->dilation[2] > 1) << 7;
}

static void a_sample_is_distinct_within_limits_meets_every_kind_and_never_changes(void **state) {
    (void)state;
    static const struct {
        const char *name, *hash; /* of the texts drawn: data sets are named by set, limits and seed, so a draw never changes */
    } sets[] = {
        {"forward_2d", "3a2007fba0fd0907cf48c28ad354cf6f"},
        {"bwd_data_2d", "9d19cae91ec2e47a9d3d4553ed2105d7"},
        {"bwd_weight_2d", "927fccff0d32fdc54c20b047a34b539a"},
    };
    static size_t chosen[ROOM], first[ROOM];
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        gathered *all = read_set(sets[i].name), *drawn = calloc(1, sizeof *drawn);
        bool there[256] = {0}, met[256] = {0};
        for (size_t j = 0; j < all->count; j++) {
            there[kind(&all->problems[j])] |=
                kw_problem_flops(&all->problems[j]) <= INT64_C(1000000000) && kw_problem_bytes(&all->problems[j]) <= INT64_C(64000000);
        }
        size_t count = draw(chosen, all,
                            (kw_sample_options){.size = sizeof(kw_sample_options), .count = 300, .max_gflop = 1, .max_mb = 64, .seed = 1}),
               distinct = 0;
        assert_int_equal(count, 300);
        kw_text texts = {0};
        for (size_t j = 0; j < count; j++) {
            char text[KW_PROBLEM_TEXT_MAX];
            kw_problem_print(text, sizeof text, &all->problems[chosen[j]]);
            kw_text_addf(&texts, "%s\n", text);
            gather(drawn, "", &all->problems[chosen[j]]);
            assert_true(kw_problem_flops(&drawn->problems[j]) <= INT64_C(1000000000));
            met[kind(&drawn->problems[j])] = true;
        }
        assert_int_equal(kw_problems_deduplicate(first, &distinct, drawn->problems, drawn->count, NULL), KW_OK);
        assert_int_equal(distinct, 300);
        assert_memory_equal(there, met, sizeof met);
        char hash[KW_HASH_TEXT];
        kw_hash_text(hash, texts.data, texts.size);
        assert_string_equal(hash, sets[i].hash);
        kw_text_drop(&texts);
        free(all);
        free(drawn);
    }
}

static void a_sample_depends_on_problems_and_seed_alone(void **state) {
    (void)state;
    static size_t chosen[ROOM], again[ROOM];
    gathered *all = read_set("forward_2d"), *reversed = calloc(1, sizeof *reversed);
    for (size_t i = all->count; i > 0; i--) {
        gather(reversed, "", &all->problems[i - 1]);
    }
    size_t count = draw(chosen, all, (kw_sample_options){.size = sizeof(kw_sample_options), .count = 200, .seed = 7});
    assert_int_equal(draw(again, all, (kw_sample_options){.size = sizeof(kw_sample_options), .count = 200, .seed = 7}), count);
    assert_memory_equal(chosen, again, count * sizeof *chosen);
    draw(again, reversed, (kw_sample_options){.size = sizeof(kw_sample_options), .count = 200, .seed = 7});
    size_t other = 0;
    for (size_t i = 0; i < count; i++) {
        assert_memory_equal(&all->problems[chosen[i]], &reversed->problems[again[i]], sizeof *all->problems);
    }
    draw(again, all, (kw_sample_options){.size = sizeof(kw_sample_options), .count = 200, .seed = 8});
    for (size_t i = 0; i < count; i++) {
        other += chosen[i] != again[i];
    }
    assert_true(other > 100);
    /* A larger sample begins with the smaller one. */
    draw(again, all, (kw_sample_options){.size = sizeof(kw_sample_options), .count = 400, .seed = 7});
    assert_memory_equal(chosen, again, count * sizeof *chosen);
    /* Without limits everything that is different is drawn. */
    assert_int_equal(draw(again, all, (kw_sample_options){.size = sizeof(kw_sample_options), .seed = 7}), 1614);
    free(all);
    free(reversed);
}

static void a_bucket_gives_no_more_than_its_cap(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int bucket; /* by size */
    } rows[] = {
        {"conv_fwd fp32 n1 c64 k64 i8x8 f3x3 p1", 0},
        {"conv_fwd fp32 n2 c64 k64 i8x8 f3x3 p1", 0},
        {"conv_fwd fp32 n4 c64 k64 i8x8 f3x3 p1", 0},
        {"conv_fwd fp32 n8 c100 k127 i8x8 f3x3", 0},
        {"conv_fwd fp32 n1 c128 k64 i8x8 f3x3 p1", 1},
        {"conv_fwd fp32 n1 c64 k64 i8x9 f3x3 p1", 2},
        {"conv_fwd fp32 n1 c64 k64 i8x8 f3x1", 3},
        {"conv_fwd fp32 n1 c64 k64 i8x8 f3x3 p1 s2", 4},
        {"conv_fwd fp32 n1 c64 k64 g2 i8x8 f3x3 p1", 5},
        {"conv_fwd fp32 n2 c64 k64 g2 i8x8 f3x3 p1", 5},
        {"gemm fp32 m64 n64 k64", 6},
        {"gemm fp32 m65 n127 k100", 6},
        {"gemm fp32 m64 n64 k128", 7},
    };
    enum { COUNT = sizeof rows / sizeof *rows };
    gathered *all = calloc(1, sizeof *all);
    static size_t chosen[ROOM];
    for (size_t i = 0; i < COUNT; i++) {
        kw_problem problem;
        assert_int_equal(kw_problem_parse(&problem, rows[i].text, NULL), KW_OK);
        gather(all, "", &problem);
    }
    for (size_t cap = 1; cap <= 4; cap++) {
        static const size_t expected[] = {0, 8, 11, 12, 13};
        int met[8] = {0};
        size_t count = draw(
            chosen, all, (kw_sample_options){.size = sizeof(kw_sample_options), .per_bucket = cap, .seed = 3, .buckets = KW_BUCKETS_SIZE});
        assert_int_equal(count, expected[cap]);
        for (size_t i = 0; i < count; i++) {
            met[rows[chosen[i]].bucket]++;
        }
        for (int i = 0; i < 8; i++) {
            assert_in_range(met[i], 1, cap);
        }
    }
    /* One of each bucket comes before a second of any. */
    int met[8] = {0};
    size_t count = draw(chosen, all, (kw_sample_options){.size = sizeof(kw_sample_options), .count = 8, .buckets = KW_BUCKETS_SIZE});
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(met[rows[chosen[i]].bucket]++, 0);
    }
    free(all);
}

static void what_is_no_problem_is_refused(void **state) {
    (void)state;
    kw_problem problem;
    kw_sample_options options = {.size = sizeof(kw_sample_options), .count = 1};
    size_t chosen[1], count = 0;
    kw_error err = {0};
    assert_int_equal(kw_problem_parse(&problem, "conv_fwd fp32 c4 k4 i8 f3", NULL), KW_OK);
    assert_int_equal(kw_problems_sample(chosen, &count, &problem, 1, &options, &err), KW_OK);
    assert_int_equal(count, 1);
    problem.ndim = 9;
    assert_int_not_equal(kw_problems_sample(chosen, &count, &problem, 1, &options, &err), KW_OK);
    assert_int_equal(count, 0);
    assert_true(err.text[0]);
    assert_int_equal(kw_problems_sample(NULL, &count, &problem, 1, &options, &err), KW_ILLEGAL);
    assert_int_equal(kw_problems_sample(chosen, &count, &problem, 1, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_problems_sample(NULL, &count, NULL, 0, &options, &err), KW_OK);
    assert_int_equal(count, 0);
}

static void repeats_are_found_by_value(void **state) {
    (void)state;
    kw_problem problems[4];
    memset(&problems[0], 0, sizeof problems[0]);
    memset(&problems[1], 0xff, sizeof problems[1]); /* what a GEMM does not use may hold anything */
    for (int i = 0; i < 2; i++) {
        problems[i].op = KW_GEMM;
        problems[i].dtype = KW_BF16;
        problems[i].layout = KW_RRR;
        problems[i].ndim = 0;
        problems[i].mixed = false;
        problems[i].fpmath = KW_FPMATH_STRICT;
        problems[i].filter_order = KW_FILTER_OF_LAYOUT;
        problems[i].gemm = (kw_gemm_dims){.batch = 1, .m = 2, .n = 3, .k = 4};
        problems[i].epilogue = (kw_epilogue){0};
        memset(problems[i].pitch, 0, sizeof problems[i].pitch);
        memset(problems[i].reserved, 0, sizeof problems[i].reserved);
    }
    problems[2] = problems[0];
    problems[2].dtype = KW_FP16;
    problems[3] = problems[0];
    problems[3].layout = KW_RCR;
    size_t first[4], distinct = 0;
    assert_int_equal(kw_problems_deduplicate(first, &distinct, problems, 4, NULL), KW_OK);
    assert_int_equal(distinct, 3);
    assert_memory_equal(first, ((size_t[4]){0, 0, 2, 3}), sizeof first);
    assert_int_equal(kw_problems_deduplicate(NULL, &distinct, NULL, 0, NULL), KW_OK);
    assert_int_equal(distinct, 0);
}

/* The parts are part of every published figure: these answers never change. */
static void a_problem_stays_in_its_part(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool at_20, at_50;
    } rows[] = {
        {"gemm fp32 rcr b1 m128 n768 k768", false, false},
        {"gemm bf16 rcr b1 m128 n768 k768", false, false},
        {"gemm bf16 rrr b1 m128 n768 k768", false, true},
        {"gemm fp16 rcr b1 m128 n768 k768", false, true},
        {"conv_fwd fp32 nhwgc n1 g1 c64 k64 i56x56 f3x3 s1x1 p1x1 d1x1", false, true},
        {"conv_bwd_data fp32 nhwgc n1 g1 c64 k64 i56x56 f3x3 s1x1 p1x1 d1x1", true, true},
        {"conv_bwd_weight fp32 nhwgc n1 g1 c64 k64 i56x56 f3x3 s1x1 p1x1 d1x1", false, false},
        {"conv_fwd bf16 nhwgc n1 g1 c64 k64 i56x56 f3x3 s1x1 p1x1 d1x1", true, true},
        {"conv_fwd fp32 ngchw n1 g1 c64 k64 i56x56 f3x3 s1x1 p1x1 d1x1", false, false},
        {"conv_fwd fp32 nhwgc n1 g1 c64 k64 i56x56 f3x3 s2x2 p1x1 d1x1", true, true},
        {"conv_fwd fp32 nhwgc n1 g1 c64 k64 i56x56 f3x3 s1x1 p0x0 d1x1", false, true},
        {"conv_fwd fp32 nhwgc n1 g1 c64 k64 i56x56 f3x3 s1x1 p1x1:2x1 d1x1", false, false},
        {"conv_fwd fp32 nhwgc n1 g1 c64 k64 i56x56 f3x3 s1x1 p1x1 d2x1", false, true},
        {"conv_fwd fp32 nhwgc n2 g1 c64 k64 i56x56 f3x3 s1x1 p1x1 d1x1", false, true},
        {"conv_fwd fp32 nhwgc n1 g1 c64 k64 i56x57 f3x3 s1x1 p1x1 d1x1", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_problem problem;
        assert_int_equal(kw_problem_parse(&problem, rows[i].text, NULL), KW_OK);
        bool at_20 = kw_problem_in_test(&problem, 0.2), at_50 = kw_problem_in_test(&problem, 0.5);
        if (at_20 != rows[i].at_20 || at_50 != rows[i].at_50) {
            fail_msg("%s: %d %d", rows[i].text, at_20, at_50);
        }
        assert_false(kw_problem_in_test(&problem, 0));
        assert_true(kw_problem_in_test(&problem, 1));
    }
}

static void parts_are_disjoint_and_of_the_size_asked_for(void **state) {
    (void)state;
    static const char *const sets[] = {"forward_2d", "bwd_weight_2d", "gemm_wide", "depthwise"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        gathered *all = read_set(sets[i]), *part[2] = {calloc(1, sizeof **part), calloc(1, sizeof **part)};
        for (size_t j = 0; j < all->count; j++) {
            bool test = kw_problem_in_test(&all->problems[j], 0.2);
            gather(part[test], "", &all->problems[j]);
            assert_true(!test || kw_problem_in_test(&all->problems[j], 0.3));
        }
        kw_error err = {0};
        if (kw_problems_disjoint(part[0]->problems, part[0]->count, part[1]->problems, part[1]->count, &err)) {
            fail_msg("%s: %s", sets[i], err.text);
        }
        double share = (double)part[1]->count / (double)all->count;
        assert_true(share > 0.14 && share < 0.26);
        free(all);
        free(part[0]);
        free(part[1]);
    }
}

static void lists_that_share_problems_are_refused_with_the_first_and_the_count(void **state) {
    (void)state;
    gathered *train = read_set("forward_2d"), *holdout = read_set("validation_holdout"), *three = read_set("forward_3d");
    kw_error err = {0};
    assert_int_equal(kw_problems_disjoint(train->problems, train->count, holdout->problems, holdout->count, &err), KW_FAILED);
    assert_non_null(strstr(err.text, "share 248 different problems, the first is \"conv_fwd fp32 nhwgc"));
    assert_int_equal(kw_problems_disjoint(train->problems, train->count, three->problems, three->count, &err), KW_OK);
    /* All of the published holdout is in the published training lists. */
    for (size_t i = 0; i < three->count; i++) {
        gather(train, "", &three->problems[i]);
    }
    assert_int_equal(kw_problems_disjoint(train->problems, train->count, holdout->problems, holdout->count, &err), KW_FAILED);
    assert_non_null(strstr(err.text, "share 298 different problems"));
    assert_int_equal(kw_problems_disjoint(NULL, 0, holdout->problems, holdout->count, &err), KW_OK);
    assert_int_equal(kw_problems_disjoint(NULL, 1, holdout->problems, holdout->count, &err), KW_ILLEGAL);
    free(train);
    free(holdout);
    free(three);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_is_distinct_within_limits_meets_every_kind_and_never_changes),
        cmocka_unit_test(a_sample_depends_on_problems_and_seed_alone),
        cmocka_unit_test(a_bucket_gives_no_more_than_its_cap),
        cmocka_unit_test(what_is_no_problem_is_refused),
        cmocka_unit_test(repeats_are_found_by_value),
        cmocka_unit_test(a_problem_stays_in_its_part),
        cmocka_unit_test(parts_are_disjoint_and_of_the_size_asked_for),
        cmocka_unit_test(lists_that_share_problems_are_refused_with_the_first_and_the_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
