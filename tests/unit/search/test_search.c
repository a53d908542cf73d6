/* test_search.c: what a search finds can be had, is as good as what there is, and comes again. */
#include "config/catalog.h"
#include "support/rows/made_rows.h"
#include "search/search_domain.h"
#include "space/enumerate.h"
#include "space/rules/points.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "support/rows/stumps.h"

#include <kernelwright_tune.h>

static const char arch[] = "x86-64-v4-bf16";
static kw_problem problem;

static int set_up(void **state) {
    (void)state;
    return kw_problem_parse(&problem, "conv_fwd fp32 n8 c64 k64 i56x56 f3 p1", NULL);
}

static kw_search_options options_of(kw_search_method method) {
    return (kw_search_options){.size = sizeof(kw_search_options),
                               .problem = &problem,
                               .target = made_target,
                               .method = method,
                               .budget = 120,
                               .top = 12,
                               .seed = 5};
}

static void search(kw_search_report *report, const kw_search_options *options) {
    kw_error err = {0};
    if (kw_search(options, report, &err)) {
        fail_msg("%s", err.text);
    }
}

static bool collect(void *user, const kw_config *config) {
    return !kw_catalog_add(user, config, NULL, NULL);
}

static void everything_found_can_be_had(void **state) {
    const kw_problem *wanted = *state ? *state : &problem;
    static const kw_search_method methods[] = {KW_SEARCH_EVOLVE, KW_SEARCH_RANDOM, KW_SEARCH_ALL};
    kw_catalog full = {0};
    kw_target target;
    kw_space_options space = {.size = sizeof(kw_space_options), .set = "full", .arch = arch};
    assert_int_equal(kw_enumerate(&space, collect, &full, NULL), KW_OK);
    assert_int_equal(kw_target_parse(&target, made_target, NULL), KW_OK);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        kw_search_options options = options_of(methods[m]);
        kw_search_report r;
        options.problem = wanted;
        search(&r, &options);
        assert_int_equal(r.count, 12);
        assert_true(r.evaluated >= 12 && (methods[m] == KW_SEARCH_ALL || r.evaluated <= 120));
        assert_true(r.drawn >= r.evaluated + r.refused + r.unfit);
        for (size_t i = 0; i < r.count; i++) {
            kw_config config;
            assert_int_equal(kw_config_parse(&config, r.results[i].config, NULL), KW_OK);
            kw_config plain = kw_config_plain(&config);
            assert_true(kw_catalog_has(&full, &plain));
            assert_int_equal(kw_config_fits(&config, wanted, &target, NULL), KW_OK);
            assert_true(!i || r.results[i - 1].predicted_ns <= r.results[i].predicted_ns);
            assert_true(r.results[i].predicted_ns == r.results[i].estimate_ns);
            for (size_t k = 0; k < i; k++) {
                assert_string_not_equal(r.results[k].config, r.results[i].config);
            }
        }
        kw_free(r.results);
    }
    kw_catalog_drop(&full);
}

static void what_is_found_has_the_epilogue_of_the_problem(void **state) {
    kw_problem fused = problem;
    kw_error err = {0};
    fused.epilogue = (kw_epilogue){.count = 2, .step = {{.op = KW_EPILOGUE_BIAS}, {.op = KW_EPILOGUE_GELU}}};
    assert_ok(kw_problem_check(&fused, &err), &err);
    *state = &fused;
    everything_found_can_be_had(state);
    *state = NULL;
}

static void a_search_comes_near_the_best_there_is(void **state) {
    (void)state;
    kw_search_report all, r;
    kw_search_options options = options_of(KW_SEARCH_ALL);
    search(&all, &options);
    for (int method = KW_SEARCH_EVOLVE; method <= KW_SEARCH_RANDOM; method++) {
        options = options_of((kw_search_method)method);
        search(&r, &options);
        assert_true(r.results[0].predicted_ns >= all.results[0].predicted_ns);
        assert_true(r.results[0].predicted_ns <= 1.1 * all.results[0].predicted_ns);
        kw_free(r.results);
    }
    kw_free(all.results);
}

static void the_same_seed_finds_the_same(void **state) {
    (void)state;
    for (int method = KW_SEARCH_EVOLVE; method <= KW_SEARCH_RANDOM; method++) {
        kw_search_options options = options_of((kw_search_method)method);
        kw_search_report a, b;
        search(&a, &options);
        search(&b, &options);
        assert_int_equal(a.drawn, b.drawn);
        assert_int_equal(a.evaluated, b.evaluated);
        for (size_t i = 0; i < a.count; i++) {
            assert_string_equal(a.results[i].config, b.results[i].config);
        }
        options.seed = 6;
        kw_free(b.results);
        search(&b, &options);
        assert_int_not_equal(a.drawn, b.drawn);
        kw_free(a.results);
        kw_free(b.results);
    }
}

static void no_seed_is_the_first(void **state) {
    (void)state;
    for (int method = KW_SEARCH_EVOLVE; method <= KW_SEARCH_RANDOM; method++) {
        kw_search_options options = options_of((kw_search_method)method);
        kw_search_report none, first;
        options.seed = 0;
        search(&none, &options);
        options.seed = 1;
        search(&first, &options);
        assert_int_equal(none.drawn, first.drawn);
        assert_int_equal(none.unfit, first.unfit);
        for (size_t i = 0; i < none.count; i++) {
            assert_string_equal(none.results[i].config, first.results[i].config);
        }
        kw_free(none.results);
        kw_free(first.results);
    }
}

static void a_model_decides_where_there_is_one(void **state) {
    (void)state;
    /* Narrow tiles are said to take e^-3 of the estimate. */
    static const stump trees[] = {{"tile_w", 4.5, -3, 0, false}, {NULL, 0, 0, 0, false}};
    static const char *const families[] = {"conv.direct", NULL}, *const serves[] = {"conv_fwd fp32", NULL};
    const char *const targets[] = {made_target, NULL};
    const stumps model = {"ratio", targets, serves, families, trees};
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];
    kw_search_options options = options_of(KW_SEARCH_ALL);
    kw_search_report r;
    kw_error err = {0};
    scratch_make(folder);
    stumps_save(&model, scratch_path(path, folder, "model"));
    options.model = path;
    search(&r, &options);
    kw_config config;
    assert_int_equal(kw_config_parse(&config, r.results[0].config, NULL), KW_OK);
    assert_true(kw_config_axis(&config, "tile_w", 99) <= 4);
    assert_true(r.results[0].predicted_ns < 0.1 * r.results[0].estimate_ns);
    kw_free(r.results);
    kw_problem gemm;
    assert_int_equal(kw_problem_parse(&gemm, "gemm fp32 rcr m64 n64 k64", NULL), KW_OK);
    options.problem = &gemm;
    assert_int_equal(kw_search(&options, &r, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "gemm fp32"));
    assert_null(r.results);
    scratch_remove(folder);
}

static void filters_and_sets_bound_the_space(void **state) {
    (void)state;
    for (int method = KW_SEARCH_EVOLVE; method <= KW_SEARCH_ALL; method++) {
        kw_search_options options = options_of((kw_search_method)method);
        kw_space_options space = {.size = sizeof(kw_space_options)};
        kw_search_report r;
        kw_error err = {0};
        options.space = &space;
        space.filter = "c.family == 'conv.direct' and c.vecs == 2";
        search(&r, &options);
        for (size_t i = 0; i < r.count; i++) {
            assert_non_null(strstr(r.results[i].config, "vecs=2"));
            assert_int_equal(strncmp(r.results[i].config, "conv.direct ", 12), 0);
        }
        kw_free(r.results);
        space.filter = "c.family == 'gemm.tiled'";
        assert_int_equal(kw_search(&options, &r, &err), KW_NO_KERNEL);
        space.filter = "c.tyle > 3";
        assert_int_equal(kw_search(&options, &r, &err), KW_MISSING);
        space = (kw_space_options){.size = sizeof(kw_space_options), .set = "no-such-set"};
        assert_int_equal(kw_search(&options, &r, &err), KW_MISSING);
        options = options_of((kw_search_method)method);
        options.target = "nonsense";
        assert_int_not_equal(kw_search(&options, &r, &err), KW_OK);
        options = options_of((kw_search_method)method);
        options.budget = -1;
        assert_int_equal(kw_search(&options, &r, &err), KW_ILLEGAL);
        assert_int_equal(kw_search(NULL, &r, &err), KW_ILLEGAL);
    }
}

static void points_say_what_enumeration_says(void **state) {
    (void)state;
    kw_points *points = NULL;
    kw_catalog full = {0};
    kw_error err = {0};
    kw_space_options space = {.size = sizeof(kw_space_options), .set = "tests", .arch = arch, .filter = "c.family == 'conv.direct'"};
    assert_int_equal(kw_enumerate(&space, collect, &full, NULL), KW_OK);
    assert_int_equal(kw_points_open(&points, &space, KW_CONV_FWD, KW_FP32, &err), KW_OK);
    size_t wanted_count = 0, listed = 0, number = 0;
    while (strcmp(kw_points_family(points, number).family->name, "conv.direct") != 0) {
        number++;
    }
    kw_point_family f = kw_points_family(points, number);
    int64_t product = 1;
    for (int i = 0; i < f.family->axis_count; i++) {
        product *= f.count[i];
    }
    for (int64_t p = 0; p < product; p++) {
        kw_config config = {.family = f.family, .op = KW_CONV_FWD, .dtype = KW_FP32};
        int64_t rest = p;
        bool wanted;
        for (int i = 0; i < f.family->axis_count; i++) {
            config.axis[i] = f.values[i][rest % f.count[i]];
            rest /= f.count[i];
        }
        assert_int_equal(kw_points_contains(&wanted, points, number, &config, &err), KW_OK);
        assert_int_equal(wanted, kw_catalog_has(&full, &config));
        wanted_count += wanted;
    }
    for (size_t i = 0; i < full.count; i++) {
        listed += full.configs[i].op == KW_CONV_FWD && full.configs[i].dtype == KW_FP32;
    }
    assert_true(listed > 0);
    assert_int_equal(wanted_count, listed);
    kw_points_close(&points);
    kw_catalog_drop(&full);
}

/* The axes of these families depend on each other: single values at random are hardly ever a kernel. */
/* A child of listed points is one of those, or lies beside one on an axis that it has from the move; both happen. */
static void children_of_listed_points_depart_by_one_axis(void **state) {
    (void)state;
    static const kw_axis axes[] = {{"a", NULL, 0, 9, ""}, {"b", NULL, 0, 9, ""}, {"c", NULL, 0, 9, ""}};
    static const kw_family family = {.name = "test.listed", .axes = axes, .axis_count = 3};
    static const int32_t values[] = {0, 3, 6, 9}, counts[] = {4, 4, 4}, *const of_axis[] = {values, values, values};
    kw_search_domain domain = {.axes = {.family = &family, .values = of_axis, .count = counts}};
    kw_config points[4], plain;
    const kw_config *with[4];
    uint64_t random = 7;
    int departed = 0, stayed = 0;
    for (int i = 0; i < 4; i++) {
        points[i] = (kw_config){.family = &family, .axis = {values[i], values[i], values[i % 2]}};
        assert_int_equal(kw_catalog_add(&domain.listed, &points[i], NULL, NULL), KW_OK);
    }
    for (int draw = 0; draw < 2000; draw++) {
        for (int i = 0; i < 4; i++) {
            with[i] = &points[kw_search_random_below(&random, 4)];
        }
        kw_config child = kw_search_domain_crossover(&domain, with, &random, &plain);
        int differing = 0;
        assert_true(kw_catalog_has(&domain.listed, &plain));
        for (int axis = 0; axis < 3; axis++) {
            differing += child.axis[axis] != plain.axis[axis];
            assert_true(child.axis[axis] % 3 == 0 && child.axis[axis] <= 9);
        }
        assert_in_range(differing, 0, 1);
        departed += differing;
        stayed += !differing;
    }
    assert_true(departed > 200 && stayed > 200);
    kw_catalog_drop(&domain.listed);
}

static void a_search_begins_at_the_points_that_a_set_lists(void **state) {
    (void)state;
    static const char target[] = "emu:sm_90 model=emulated units=132 lanes=32 registers=255 l2=52428800 lds=232448 unit_lds=233472 "
                                 "unit_registers=65536 unit_waves=64 clock=1980 bandwidth=3350";
    static const char *const texts[] = {"conv_fwd bf16 n8 c64 k64 i56x56 f3 p1", "conv_bwd_weight fp16 n8 c64 k64 i28x28 f3 p1",
                                        "gemm bf16 m1024 n1024 k1024"};
    kw_target facts;
    assert_int_equal(kw_target_parse(&facts, target, NULL), KW_OK);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        kw_problem gpu;
        kw_search_report all, r;
        assert_int_equal(kw_problem_parse(&gpu, texts[t], NULL), KW_OK);
        kw_search_options options = {.size = sizeof(kw_search_options),
                                     .problem = &gpu,
                                     .target = target,
                                     .method = KW_SEARCH_ALL,
                                     .budget = 250,
                                     .top = 12,
                                     .seed = 5};
        search(&all, &options);
        for (int method = KW_SEARCH_EVOLVE; method <= KW_SEARCH_RANDOM; method++) {
            options.method = (kw_search_method)method;
            search(&r, &options);
            assert_true(r.evaluated >= 120);
            assert_true(2 * r.refused <= r.drawn);
            if (r.results[0].predicted_ns > (method == KW_SEARCH_EVOLVE ? 1.05 : 1.5) * all.results[0].predicted_ns) {
                fail_msg("%s, method %d: %g ns, and %g of all", texts[t], method, r.results[0].predicted_ns, all.results[0].predicted_ns);
            }
            for (size_t i = 0; i < r.count; i++) {
                kw_config config;
                assert_int_equal(kw_config_parse(&config, r.results[i].config, NULL), KW_OK);
                assert_int_equal(kw_config_runs(&config, &facts, NULL), KW_OK);
                assert_int_equal(kw_config_fits(&config, &gpu, &facts, NULL), KW_OK);
            }
            kw_free(r.results);
        }
        const kw_space_options space = {.size = sizeof(kw_space_options),
                                        .filter =
                                            "c.family == 'conv.igemm' and c.tile_m == 64 or c.family == 'gemm.mma' and c.tile_m == 64"};
        options.space = &space;
        search(&r, &options);
        for (size_t i = 0; i < r.count; i++) {
            assert_non_null(strstr(r.results[i].config, "tile_m=64"));
        }
        kw_free(r.results);
        kw_free(all.results);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_found_can_be_had),
        cmocka_unit_test(what_is_found_has_the_epilogue_of_the_problem),
        cmocka_unit_test(a_search_comes_near_the_best_there_is),
        cmocka_unit_test(the_same_seed_finds_the_same),
        cmocka_unit_test(no_seed_is_the_first),
        cmocka_unit_test(a_model_decides_where_there_is_one),
        cmocka_unit_test(filters_and_sets_bound_the_space),
        cmocka_unit_test(points_say_what_enumeration_says),
        cmocka_unit_test(a_search_begins_at_the_points_that_a_set_lists),
        cmocka_unit_test(children_of_listed_points_depart_by_one_axis),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
