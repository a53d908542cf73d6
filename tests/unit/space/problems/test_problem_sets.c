/* test_problem_sets.c: the sets compiled in have the counts that were published, and, where KW_SHAPES names a folder with the published lists as
 * CSV files, agree with them name for name; grids that say nonsense are refused by name. */
#include "base/hash.h"
#include "base/text.h"
#include "space/problems/grids.h"
#include "support/kw_test.h"

#include <kernelwright_tune.h>

#include <unistd.h>

enum { ROOM = 20000 };

typedef struct gathered {
    size_t count;
    kw_problem problems[ROOM];
    char names[ROOM][64];
} gathered;

static bool gather(void *user, const char *name, const kw_problem *problem) {
    gathered *all = user;
    assert_true(all->count < ROOM);
    assert_true(strlen(name) < sizeof *all->names);
    strcpy(all->names[all->count], name);
    all->problems[all->count++] = *problem;
    return true;
}

static gathered *read_set(const char *name, kw_op op) {
    gathered *all = calloc(1, sizeof *all);
    kw_error err = {0};
    assert_non_null(all);
    if (kw_problems_visit(name, op, KW_DTYPE_COUNT, gather, all, &err)) {
        fail_msg("%s: %s", name, err.text);
    }
    return all;
}

static size_t count_distinct(const gathered *all) {
    size_t distinct = 0, *first = calloc(ROOM, sizeof *first);
    assert_int_equal(kw_problems_deduplicate(first, &distinct, all->problems, all->count, NULL), KW_OK);
    free(first);
    return distinct;
}

/* raw and distinct are those published; csv is the published list, NULL where there is none. hash is of all lines "NAME: PROBLEM\n" of the set at the
 * time it agreed with its list. */
static const struct {
    const char *set;
    size_t raw, distinct;
    kw_op op;
    const char *csv, *hash;
} sets[] = {
    {"forward_2d", 1718, 1614, KW_CONV_FWD, "forward_synthetic_2d.csv", "ed8c584de78a4a9abba1564041867b5e"},
    {"forward_3d", 168, 168, KW_CONV_FWD, "forward_synthetic_3d.csv", "00038ede3e0b46eb0c44ad9211d19c3f"},
    {"bwd_data_2d", 1482, 1394, KW_CONV_BWD_DATA, "bwd_data_synthetic_2d.csv", "85a5fbde40f56991c0fc237abbfceab1"},
    {"bwd_data_3d", 168, 168, KW_CONV_BWD_DATA, "bwd_data_synthetic_3d.csv", "c65d59e430f53b647f1f332186e54fc8"},
    {"bwd_weight_2d", 2225, 2069, KW_CONV_BWD_WEIGHT, "bwd_weight_synthetic_2d.csv", "c3345f7e41afee75b3b596c6b09a04f6"},
    {"bwd_weight_3d", 168, 168, KW_CONV_BWD_WEIGHT, NULL, "a89bdbc044430d466860128c1c943830"},
    {"validation_holdout", 300, 298, KW_CONV_FWD, "validation_holdout.csv", "942cb8c4e061f0913cb5652df2b81d4d"},
    {"forward_2d_test_validation", 10, 10, KW_CONV_FWD, NULL, NULL}, /* named, not published */
    {"bwd_data_test_validation", 10, 10, KW_CONV_BWD_DATA, "bwd_data_test_validation.csv", "6e55d18a5a3738a92a55fad352e82dc2"},
    {"bwd_weight_test_validation", 10, 10, KW_CONV_BWD_WEIGHT, "bwd_weight_test_validation.csv", "f1396c8e839aedceb116d6c38068b5ea"},
    {"forward_synthetic_extended", 1886, 1782, KW_CONV_FWD, NULL, NULL}, /* these have no order of their own: see below */
    {"bwd_data_synthetic_extended", 1650, 1562, KW_CONV_BWD_DATA, NULL, NULL},
    {"bwd_weight_synthetic_extended", 2225, 2069, KW_CONV_BWD_WEIGHT, NULL, NULL},
    {"gemm_basic", 25, 25, KW_GEMM, "gemm_basic25.csv", "d19edc4edc17d96633eda6d12c627021"},
    {"gemm_wide", 706, 706, KW_GEMM, "gemm_wide_coverage.csv", "4d95a8b42c8dff6c5da6513bb98032df"},
    {"gemm_edge", 546, 546, KW_GEMM, "gemm_edge_dims.csv", "1d655cecb1fc2f7607ae8a9391eaf47b"},
};

enum { SETS = sizeof sets / sizeof *sets };

static void published_sets_have_their_published_counts_names_and_order(void **state) {
    (void)state;
    for (size_t i = 0; i < SETS; i++) {
        gathered *all = read_set(sets[i].set, KW_OP_COUNT);
        size_t distinct = count_distinct(all);
        if (all->count != sets[i].raw || distinct != sets[i].distinct) {
            fail_msg("%s: %zu problems, %zu different; published %zu, %zu", sets[i].set, all->count, distinct, sets[i].raw,
                     sets[i].distinct);
        }
        kw_text lines = {0};
        char hash[KW_HASH_TEXT];
        for (size_t j = 0; j < all->count; j++) {
            char text[KW_PROBLEM_TEXT_MAX];
            assert_int_equal(all->problems[j].op, sets[i].op);
            assert_int_equal(kw_problem_check(&all->problems[j], NULL), KW_OK);
            kw_problem_print(text, sizeof text, &all->problems[j]);
            kw_text_addf(&lines, "%s: %s\n", all->names[j], text);
        }
        kw_hash_text(hash, lines.data, lines.size);
        if (sets[i].hash && strcmp(hash, sets[i].hash)) {
            fail_msg("%s: order, names or sizes differ from the published ones: %s", sets[i].set, hash);
        }
        kw_text_drop(&lines);
        free(all);
    }
}

static void extended_sets_are_their_parts_in_order(void **state) {
    (void)state;
    static const struct {
        const char *set, *parts[2];
    } rows[] = {
        {"forward_synthetic_extended", {"forward_2d", "forward_3d"}},
        {"bwd_data_synthetic_extended", {"bwd_data_2d", "bwd_data_3d"}},
        {"bwd_weight_synthetic_extended", {"bwd_weight_2d", NULL}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gathered *whole = read_set(rows[i].set, KW_OP_COUNT);
        size_t at = 0;
        for (int part = 0; part < 2 && rows[i].parts[part]; part++) {
            gathered *one = read_set(rows[i].parts[part], KW_OP_COUNT);
            for (size_t j = 0; j < one->count; j++, at++) {
                assert_true(at < whole->count);
                assert_string_equal(whole->names[at], one->names[j]);
                assert_memory_equal(&whole->problems[at], &one->problems[j], sizeof *one->problems);
            }
            free(one);
        }
        assert_int_equal(at, whole->count);
        free(whole);
    }
}

static bool count_to_limit(void *user, const char *name, const kw_problem *problem) {
    (void)name;
    (void)problem;
    return ++*(size_t *)user % 5 != 0;
}

static void a_visit_that_has_enough_is_not_called_again(void **state) {
    (void)state;
    static const char *const names[] = {"forward_synthetic_extended", "forward_2d", "bwd_data_test_validation"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t seen = 0;
        assert_int_equal(kw_problems_visit(names[i], KW_OP_COUNT, KW_DTYPE_COUNT, count_to_limit, &seen, NULL), KW_OK);
        assert_int_equal(seen, 5);
    }
}

static void sets_equal_the_published_lists_row_by_row(void **state) {
    (void)state;
    const char *folder = getenv("KW_SHAPES");
    if (!folder) {
        print_message("skipped: KW_SHAPES names no folder of CSV files\n");
        skip();
    }
    int lists = 0;
    for (size_t i = 0; i < SETS; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, sets[i].csv ? sets[i].csv : "");
        if (!sets[i].csv || access(path, R_OK)) {
            continue;
        }
        gathered *ours = read_set(sets[i].set, KW_OP_COUNT), *theirs = read_set(path, sets[i].op);
        assert_int_equal(ours->count, theirs->count);
        for (size_t j = 0; j < ours->count; j++) {
            char text[KW_PROBLEM_TEXT_MAX], expected[KW_PROBLEM_TEXT_MAX];
            kw_problem_print(text, sizeof text, &ours->problems[j]);
            kw_problem_print(expected, sizeof expected, &theirs->problems[j]);
            if (strcmp(text, expected) || strcmp(ours->names[j], theirs->names[j])) {
                fail_msg("%s, row %zu: %s: %s; published %s: %s", sets[i].set, j, ours->names[j], text, theirs->names[j], expected);
            }
        }
        lists++;
        free(ours);
        free(theirs);
    }
    print_message("%d lists\n", lists);
    assert_true(lists > 0);
}

static void every_set_says_what_it_is_in_a_short_first_line(void **state) {
    (void)state;
    char *names = NULL;
    assert_int_equal(kw_problems_names(&names, NULL), KW_OK);
    char *save = NULL;
    int count = 0;
    for (char *name = strtok_r(names, "\n", &save); name; name = strtok_r(NULL, "\n", &save), count++) {
        char *about = NULL;
        kw_error err = {0};
        if (kw_problems_description(&about, name, &err)) {
            fail_msg("%s", err.text);
        }
        size_t length = strcspn(about, "\n");
        if (length < 20 || length > 120) {
            fail_msg("%s: the first line has %zu characters: %s", name, length, about);
        }
        free(about);
        gathered *all = read_set(name, KW_OP_COUNT);
        assert_true(all->count > 0);
        free(all);
    }
    assert_true(count >= SETS + 19);
    free(names);
    char *about = NULL;
    kw_error err = {0};
    assert_int_equal(kw_problems_description(&about, "forward_4d", &err), KW_MISSING);
    assert_non_null(strstr(err.text, "forward_4d"));
}

/* --- our own families --- */

static bool is_odd(const kw_problem *p) {
    const kw_conv_dims *c = &p->conv;
    bool rectangle = p->ndim == 2 && c->in[1] != c->in[2];
    return rectangle || c->in[2] % 2 || c->c % 8 || c->k % 8 || c->in[2] == c->filter[2];
}

static bool is_7_or_14(const kw_problem *p) {
    return p->ndim == 2 && p->conv.in[1] == p->conv.in[2] && (p->conv.in[2] == 7 || p->conv.in[2] == 14);
}

static bool is_depthwise(const kw_problem *p) {
    return p->conv.g == p->conv.c && p->conv.g > 1;
}

static bool is_asymmetric(const kw_problem *p) {
    return memcmp(p->conv.pad, p->conv.pad_back, sizeof p->conv.pad) != 0;
}

static bool is_1d(const kw_problem *p) {
    return p->ndim == 1;
}

static bool is_dilated(const kw_problem *p) {
    return p->conv.dilation[0] > 1 || p->conv.dilation[1] > 1 || p->conv.dilation[2] > 1;
}

static void our_families_are_what_they_are_called_and_small_enough_to_sweep(void **state) {
    (void)state;
    static const struct {
        const char *set;
        bool (*is)(const kw_problem *p);
        size_t count;
        unsigned ndims, strides; /* bits that must be met */
    } rows[] = {
        {"odd", is_odd, 414, 1 << 1 | 1 << 2 | 1 << 3, 1 << 1 | 1 << 5},
        {"spatial_7_14", is_7_or_14, 263, 1 << 2, 1 << 1 | 1 << 2},
        {"depthwise", is_depthwise, 400, 1 << 1 | 1 << 2 | 1 << 3, 1 << 1 | 1 << 2},
        {"asymmetric", is_asymmetric, 235, 1 << 1 | 1 << 2 | 1 << 3, 1 << 1 | 1 << 2},
        {"conv_1d", is_1d, 224, 1 << 1, 1 << 1 | 1 << 2 | 1 << 5},
        {"dilated", is_dilated, 180, 1 << 2 | 1 << 3, 1 << 1 | 1 << 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gathered *all = read_set(rows[i].set, KW_OP_COUNT);
        unsigned ndims = 0, strides = 0;
        size_t large = 0;
        assert_int_equal(all->count, rows[i].count);
        assert_int_equal(count_distinct(all), all->count);
        for (size_t j = 0; j < all->count; j++) {
            const kw_problem *p = &all->problems[j];
            if (!rows[i].is(p)) {
                char text[KW_PROBLEM_TEXT_MAX];
                kw_problem_print(text, sizeof text, p);
                fail_msg("%s: %s: %s", rows[i].set, all->names[j], text);
            }
            ndims |= 1u << p->ndim;
            strides |= 1u << p->conv.stride[2];
            large += kw_problem_flops(p) > INT64_C(2000000000);
        }
        assert_int_equal(ndims & rows[i].ndims, rows[i].ndims);
        assert_int_equal(strides & rows[i].strides, rows[i].strides);
        assert_true(large * 20 <= all->count);
        free(all);
    }
}

/* --- grids --- */

static kw_status read_grids(kw_grid_list *list, const char *text, kw_error *err) {
    return kw_grids_read(list, "set.lua", (kw_word){text, strlen(text)}, KW_DTYPE_COUNT, err);
}

static void a_grid_is_the_product_of_its_axes_the_first_outermost(void **state) {
    (void)state;
    static const char text[] =
        "return {op = 'conv_bwd_data', spatial = 1, grids = {\n"
        "  {'a', {'i', 5, 9}, {'c k', {2, 3}, {4, 5}}, f = 3, p = 1, q = 2, where = function(x) return x.i == 5 or x.k == 5 end},\n"
        "  {'b', {'g', 1, 2}, cg = 3, kg = 4, spatial = 3, i = {7, 8, 9}, f = {1, 2, 3}, s = 2, {'name d', {'x', 1}, {'y', 2}}}}}\n";
    static const char *const expected[] = {
        "a_0000: conv_bwd_data fp32 nwgc n1 g1 c2 k3 i5 f3 s1 p1:2 d1",
        "a_0001: conv_bwd_data fp32 nwgc n1 g1 c4 k5 i5 f3 s1 p1:2 d1",
        "a_0002: conv_bwd_data fp32 nwgc n1 g1 c4 k5 i9 f3 s1 p1:2 d1",
        "x_0003: conv_bwd_data fp32 ndhwgc n1 g1 c3 k4 i7x8x9 f1x2x3 s2x2x2 p0x0x0 d1x1x1",
        "y_0004: conv_bwd_data fp32 ndhwgc n1 g1 c3 k4 i7x8x9 f1x2x3 s2x2x2 p0x0x0 d2x2x2",
        "x_0005: conv_bwd_data fp32 ndhwgc n1 g2 c6 k8 i7x8x9 f1x2x3 s2x2x2 p0x0x0 d1x1x1",
        "y_0006: conv_bwd_data fp32 ndhwgc n1 g2 c6 k8 i7x8x9 f1x2x3 s2x2x2 p0x0x0 d2x2x2",
    };
    kw_grid_list list = {0};
    kw_error err = {0};
    if (read_grids(&list, text, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(list.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < list.count; i++) {
        char problem[KW_PROBLEM_TEXT_MAX], line[KW_PROBLEM_TEXT_MAX + 64];
        kw_problem_print(problem, sizeof problem, &list.points[i].problem);
        snprintf(line, sizeof line, "%s: %s", list.points[i].name, problem);
        assert_string_equal(line, expected[i]);
    }
    kw_grids_drop(&list);
}

static void a_unique_set_keeps_the_first_of_repeats(void **state) {
    (void)state;
    kw_grid_list list = {0};
    kw_error err = {0};
    assert_int_equal(
        read_grids(&list,
                   "return {op = 'gemm', unique = true, grids = {{'a', m = 1, n = 2, {'k', 3, 3, 4}}, {'b', m = 1, n = 2, {'k', 4, 5}}}}",
                   &err),
        KW_OK);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.points[1].name, "a_0001");
    assert_string_equal(list.points[2].name, "b_0002");
    assert_int_equal(list.points[2].problem.gemm.k, 5);
    kw_grids_drop(&list);
}

#define CONV(text) "return {op = 'conv_fwd', grids = {{'x', " text "}}}"

static void grids_that_say_nonsense_are_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *text, *fragment;
    } rows[] = {
        {"return 7", "must return a table, not a number"},
        {"return {op = 'conv', grids = {}}", "op is 'conv'"},
        {"return {op = 'gemm'}", "grids is a nil"},
        {"return {op = 'gemm', grid = {}}", "unknown key 'grid'"},
        {"return {op = 'gemm', grids = {7}}", "begins with its name"},
        {"return {op = 'gemm', grids = {{'x', m = 1, n = 1, k = 1, w = 2}}}", "there is no field 'w'; a GEMM has b g m n k"},
        {"return {op = 'gemm', grids = {{'x', m = 1, n = 1}}}", "grid x: k is missing"},
        {"return {op = 'gemm', grids = {{'x', m = 1, n = 1, k = 1.5}}}", "k is a number, not a whole number"},
        {"return {op = 'gemm', grids = {{'x', m = 0, n = 1, k = 1}}}", "grid x: "},
        {"return {op = 'gemm', grids = {{'x', m = 1, n = 1, k = 1, name = 'a b'}}}", "a name must be a text without blanks"},
        {CONV("c = 4, k = 4, i = 8, f = 3, {'c', 1}"), "field c is given twice"},
        {CONV("c = 4, k = 4, f = 3"), "grid x: i is missing"},
        {CONV("c = 4, k = 4, i = {8, 8, 8}, f = 3"), "i lists 3 numbers, but spatial is 2"},
        {CONV("c = 4, k = 4, i = {8, 'y'}, f = 3"), "i lists something that is not a whole number"},
        {CONV("c = 4, k = 4, i = 'y', f = 3"), "i is a string"},
        {CONV("c = 4, k = 4, i = 2, f = 3"), "output"},
        {CONV("c = 4, cg = 4, k = 4, i = 8, f = 3"), "cg=4 with g=1 and the total"},
        {CONV("cg = 1 << 40, g = 1 << 40, k = 4, i = 8, f = 3"), "is not possible"},
        {CONV("c = 4, k = 4, i = 8, f = 3, spatial = 4"), "spatial is 4, not 1, 2 or 3"},
        {CONV("c = 4, k = 4, i = 8, f = 3, where = 1"), "where must be a function"},
        {CONV("c = 4, k = 4, i = 8, f = 3, where = function() end"), "where yields a nil"},
        {CONV("c = 4, k = 4, i = 8, f = 3, where = function() while true do end end"), "too many steps"},
        {CONV("{'c k', {1}}, i = 8, f = 3"), "must be a list of 2"},
        {CONV("{'c k', 1, 2}, i = 8, f = 3"), "must be a list of 2"},
        {CONV("{'c'}, k = 1, i = 8, f = 3"), "axis 1 must be a list"},
        {CONV("{' ', 1}, k = 1, i = 8, f = 3"), "has no name"},
        {CONV("{'c c', {1, 1}}, k = 1, i = 8, f = 3"), "field c is given twice"},
        {"return {op = 'gemm', grids = {{'x', m = os.time(), n = 1, k = 1}}}", "'os' is not known"},
        {"return {op = 'gemm', grids = {{'x', m = 1", "set.lua:1"},
        {"local t = {'n'} for i = 1, 5000 do t[i + 1] = i end\n"
         "local u = {'m'} for i = 1, 5000 do u[i + 1] = i end return {op = 'gemm', grids = {{'x', t, u, k = 1}}}",
         "more than 262144 points"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_grid_list list = {0};
        kw_error err = {0};
        kw_status status = read_grids(&list, rows[i].text, &err);
        if (!status || status != err.status || strncmp(err.text, "set.lua", 7) || !strstr(err.text, rows[i].fragment)) {
            fail_msg("%s: %d: %s", rows[i].text, (int)status, err.text);
        }
        assert_null(list.points);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_sets_have_their_published_counts_names_and_order),
        cmocka_unit_test(extended_sets_are_their_parts_in_order),
        cmocka_unit_test(a_visit_that_has_enough_is_not_called_again),
        cmocka_unit_test(sets_equal_the_published_lists_row_by_row),
        cmocka_unit_test(every_set_says_what_it_is_in_a_short_first_line),
        cmocka_unit_test(our_families_are_what_they_are_called_and_small_enough_to_sweep),
        cmocka_unit_test(a_grid_is_the_product_of_its_axes_the_first_outermost),
        cmocka_unit_test(a_unique_set_keeps_the_first_of_repeats),
        cmocka_unit_test(grids_that_say_nonsense_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
