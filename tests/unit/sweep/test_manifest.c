/* test_manifest.c: manifests say which pairs are meant, keep saying it as text, refuse what is damaged, and unite as sets do. */
#include "sweep/shards/manifest.h"
#include "base/os/file.h"
#include "base/hash.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <kernelwright_tune.h>

enum { CONFIGS_MAX = 2000, PROBLEMS = 12 };

/* A pool of every operation and type, in the order of the rules, and problems of several kinds. */
typedef struct pool {
    char *configs[CONFIGS_MAX];
    size_t count;
    kw_problem problems[PROBLEMS];
} pool;

static bool add_text(void *user, const char *config) {
    pool *p = user;
    p->configs[p->count++] = strdup(config);
    return p->count < CONFIGS_MAX;
}

static int open_pool(void **state) {
    static const char *const kinds[] = {"gemm fp32 m%d n8 k8", "conv_fwd bf16 c8 k%d i8 f3", "conv_bwd_weight fp32 c8 k%d i8x8 f1"};
    pool *p = calloc(1, sizeof *p);
    *state = p;
    for (int i = 0; i < PROBLEMS; i++) {
        char text[80];
        snprintf(text, sizeof text, kinds[i % 3], 8 * i + 8);
        assert_int_equal(kw_problem_parse(&p->problems[i], text, NULL), KW_OK);
    }
    return kw_space_visit(&(kw_space_options){.size = sizeof(kw_space_options), .set = "tests", .arch = "x86-64-v3"}, add_text, p, NULL);
}

static int close_pool(void **state) {
    pool *p = *state;
    for (size_t i = 0; i < p->count; i++) {
        free(p->configs[i]);
    }
    free(p);
    return 0;
}

static void make(kw_manifest *m, const pool *p, size_t first, size_t last, size_t problems) {
    kw_error err = {0};
    *m = (kw_manifest){0};
    if (kw_manifest_create(m, (const char *const *)(p->configs + first), last - first, p->problems, problems, &err)) {
        fail_msg("%s", err.text);
    }
}

static char *print(const kw_manifest *m) {
    kw_text text = {0};
    assert_int_equal(kw_manifest_print(&text, m, NULL), KW_OK);
    return kw_text_take(&text);
}

/* "CONFIG / PROBLEM" of each pair, sorted, so that manifests can be compared as sets. */
static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *pair_set(const kw_manifest *m) {
    size_t count = 0, capacity = (size_t)kw_manifest_pairs(m);
    char **lines = calloc(capacity + 1, sizeof *lines);
    uint32_t *positions = calloc(m->configs.count + 1, sizeof *positions);
    kw_text all = {0};
    for (size_t problem = 0; problem < m->problems.count; problem++) {
        size_t wanted = kw_manifest_configs(positions, m, problem);
        for (size_t i = 0; i < wanted; i++) {
            char config[KW_CONFIG_TEXT_MAX], text[KW_PROBLEM_TEXT_MAX];
            assert_true(!i || positions[i] > positions[i - 1]);
            assert_int_equal(m->configs.configs[positions[i]].op, m->problems.problems[problem].op);
            assert_int_equal(m->configs.configs[positions[i]].dtype, m->problems.problems[problem].dtype);
            kw_config_print(config, sizeof config, &m->configs.configs[positions[i]]);
            kw_problem_print(text, sizeof text, &m->problems.problems[problem]);
            assert_true(count < capacity);
            assert_true(asprintf(&lines[count++], "%s / %s\n", config, text) > 0);
        }
    }
    assert_int_equal(count, capacity);
    qsort(lines, count, sizeof *lines, compare_texts);
    for (size_t i = 0; i < count; i++) {
        kw_text_add(&all, lines[i]);
        free(lines[i]);
    }
    free(lines);
    free(positions);
    kw_text_add(&all, ".");
    return kw_text_take(&all);
}

static void a_product_and_listed_pairs_survive_as_text(void **state) {
    const pool *p = *state;
    kw_manifest first, second = {0};
    kw_error err = {0};
    make(&first, p, 0, p->count, PROBLEMS);
    assert_true(kw_manifest_pairs(&first) > PROBLEMS);
    for (int listed = 0; listed < 2; listed++) {
        if (listed) {
            /* every third run of a random walk */
            uint32_t positions[CONFIGS_MAX];
            for (uint32_t problem = 0; problem < PROBLEMS; problem++) {
                size_t wanted =
                    kw_manifest_configs(positions, &(kw_manifest){.configs = first.configs, .problems = first.problems}, problem);
                for (size_t i = problem % 2; i + 1 < wanted; i += 3) {
                    kw_manifest_run run = {problem, positions[i], positions[i + (i % 2)]};
                    assert_int_equal(kw_manifest_add_run(&first, run, &err), KW_OK);
                }
            }
            first.cold = true;
        }
        char *text = print(&first), *pairs = pair_set(&first);
        assert_int_equal(kw_manifest_parse(&second, "file", text, strlen(text), &err), KW_OK);
        assert_int_equal(second.listed, listed);
        assert_int_equal(second.cold, listed);
        char *again = print(&second), *same = pair_set(&second);
        assert_string_equal(again, text);
        assert_string_equal(same, pairs);
        kw_manifest_drop(&second);
        free(text);
        free(pairs);
        free(again);
        free(same);
    }
    kw_manifest_drop(&first);
}

static void a_damaged_byte_or_a_cut_is_refused(void **state) {
    const pool *p = *state;
    kw_manifest m;
    make(&m, p, 0, 6, 4);
    char *text = print(&m);
    size_t size = strlen(text);
    kw_manifest_drop(&m);
    for (size_t cut = 0; cut < size; cut++) {
        kw_error err = {0};
        assert_int_equal(kw_manifest_parse(&m, "file", text, cut, &err), KW_MALFORMED);
        assert_int_equal(strncmp(err.text, "file", 4), 0);
        assert_int_equal(m.configs.count, 0);
    }
    for (size_t i = 0; i < size; i++) {
        text[i] ^= 1;
        assert_int_equal(kw_manifest_parse(&m, "file", text, size, NULL), KW_MALFORMED);
        text[i] ^= 1;
    }
    assert_int_equal(kw_manifest_parse(&m, "file", text, size, NULL), KW_OK);
    kw_manifest_drop(&m);
    free(text);
}

/* Puts the right checksum behind lines. */
static kw_status parse_whole(kw_manifest *m, const char *head, const char *lines, kw_error *err) {
    kw_text text = {0};
    char hash[KW_HASH_TEXT];
    kw_text_addf(&text, "%s\n%s", head, lines);
    kw_hash_text(hash, text.data, text.size);
    kw_text_addf(&text, "checksum %s\n", hash);
    kw_status status = kw_manifest_parse(m, "file", text.data, text.size, err);
    kw_text_drop(&text);
    return status;
}

static kw_status parse_lines(kw_manifest *m, const char *lines, kw_error *err) {
    return parse_whole(m, "kernelwright-manifest 1", lines, err);
}

/* The checksum is right, so it is the first line alone that tells. */
static void a_file_of_another_kind_or_version_is_refused(void **state) {
    (void)state;
    static const char *const heads[] = {"kernelwright-manifest 2", "kernelwright-manifest", "kernelwright-manifest 1 ",
                                        "kernelwright-wisdom 1", ""};
    static const char lines[] = "timing hot packed\n";
    kw_manifest m = {0};
    kw_error err = {0};
    assert_ok(parse_lines(&m, lines, &err), &err);
    kw_manifest_drop(&m);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        assert_int_equal(parse_whole(&m, heads[i], lines, &err), KW_MALFORMED);
        assert_non_null(strstr(err.text, "not a manifest"));
    }
}

static void lines_that_mean_nothing_are_named_by_number(void **state) {
    (void)state;
    static const struct {
        const char *lines, *named;
    } rows[] = {
        {"configs gemm.reference gemm fp32\n", "file:2"},
        {"\n", "file:2"},
        {"config gemm.nothing gemm fp32\n", "gemm.nothing"},
        {"config\n", "file:2"},
        {"problem gemm fp32 m0 n1 k1\n", "m0"},
        {"problem gemm fp32 m1 n1 k1\nproblem gemm fp32 n1 m1 k1\n", "file:3"},
        {"config gemm.reference gemm fp32\nconfig gemm.reference gemm fp32\n", "file:3"},
        {"timing warm packed\n", "hot|cold"},
        {"timing hot\n", "hot|cold"},
        {"timing hot packed now\n", "hot|cold"},
        {"pair 1 1\n", "0 configs"},
        {"pair\n", "pair I J"},
        {"pair 1\n", "pair I J"},
        {"pair none 1\n", "pair I J"},
        {"pair 1 1 1\n", "pair I J"},
        {"pair 0 1\n", "pair I J"},
        {"pair 2-1 1\n", "pair I J"},
        {"pair 1- 1\n", "pair I J"},
        {"pair 1-4294967297 1\n", "pair I J"},
        {"config gemm.reference gemm fp32\nproblem gemm fp32 m1 n1 k1\npair 1-2 1\n", "1 configs"},
        {"config gemm.reference gemm fp32\nproblem gemm fp32 m1 n1 k1\npair 1 2\n", "1 problems"},
        {"config gemm.reference gemm fp32\nproblem gemm bf16 m1 n1 k1\npair 1 1\n", "operation and type"},
        {"config gemm.reference gemm fp32\nproblem gemm fp32 m1 n1 k1\npair 1 1\npair 1 1\n", "ascend"},
        {"checksum 00000000000000000000000000000000\n", "file:2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_manifest m = {0};
        kw_error err = {0};
        kw_status status = parse_lines(&m, rows[i].lines, &err);
        if (!status || status != err.status || !strstr(err.text, rows[i].named) || !strstr(err.text, "file:") || m.configs.count) {
            fail_msg("%s: status %d: %s", rows[i].lines, (int)status, err.text);
        }
    }
}

static void no_pair_at_all_can_be_said(void **state) {
    (void)state;
    kw_manifest m = {0};
    assert_int_equal(parse_lines(&m, "config gemm.reference gemm fp32\nproblem gemm fp32 m1 n1 k1\npair none\n", NULL), KW_OK);
    assert_int_equal(kw_manifest_pairs(&m), 0);
    kw_manifest_drop(&m);
    assert_int_equal(parse_lines(&m, "config gemm.reference gemm fp32\nproblem gemm fp32 m1 n1 k1\n", NULL), KW_OK);
    assert_int_equal(kw_manifest_pairs(&m), 1);
    kw_manifest_drop(&m);
}

static void a_union_has_the_pairs_of_both_in_any_order(void **state) {
    const pool *p = *state;
    size_t half = p->count / 2, third = p->count / 3;
    kw_manifest whole, left, right, part, sum = {0}, other = {0};
    kw_error err = {0};
    make(&whole, p, 0, p->count, PROBLEMS);
    make(&left, p, 0, half, PROBLEMS);
    make(&right, p, third, p->count, PROBLEMS);
    make(&part, p, third, half, 5);
    assert_int_equal(kw_manifest_add(&sum, &left, &err), KW_OK);
    assert_int_equal(kw_manifest_add(&sum, &right, &err), KW_OK);
    assert_int_equal(kw_manifest_add(&other, &part, &err), KW_OK);
    assert_int_equal(kw_manifest_add(&other, &right, &err), KW_OK);
    assert_int_equal(kw_manifest_add(&other, &left, &err), KW_OK);
    char *a = pair_set(&whole), *b = pair_set(&sum), *c = pair_set(&other);
    assert_string_equal(a, b);
    assert_string_equal(a, c);
    assert_false(sum.listed); /* all of a product is written as one */
    /* what is there already changes nothing, not even the text */
    char *before = print(&sum);
    assert_int_equal(kw_manifest_add(&sum, &part, &err), KW_OK);
    char *after = print(&sum);
    assert_string_equal(before, after);
    /* a part that is not a product stays a list */
    kw_manifest holes = {0};
    kw_manifest_drop(&other);
    assert_int_equal(kw_manifest_add(&holes, &part, &err), KW_OK);
    make(&other, p, 0, 3, PROBLEMS);
    assert_int_equal(kw_manifest_add(&holes, &other, &err), KW_OK);
    assert_true(kw_manifest_pairs(&holes) <= kw_manifest_pairs(&part) + kw_manifest_pairs(&other));
    assert_true(kw_manifest_pairs(&holes) >= kw_manifest_pairs(&part));
    right.cold = true;
    assert_int_equal(kw_manifest_add(&sum, &right, &err), KW_ILLEGAL);
    kw_manifest *all[] = {&whole, &left, &right, &part, &sum, &other, &holes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        kw_manifest_drop(all[i]);
    }
    free(a);
    free(b);
    free(c);
    free(before);
    free(after);
}

static void a_sweep_keeps_what_was_asked_for_before(void **state) {
    const pool *p = *state;
    char folder[SCRATCH_MAX], out[2 * SCRATCH_MAX], path[2 * SCRATCH_MAX];
    kw_error err = {0};
    kw_manifest some, more, found = {0};
    make(&some, p, 0, p->count / 2, PROBLEMS);
    make(&more, p, 0, p->count, 3);
    scratch_make(folder);
    scratch_path(out, folder, "results.db");
    scratch_path(path, folder, "results.db.manifest");
    assert_int_equal(kw_manifest_update(&some, out, &err), KW_OK);
    assert_int_equal(kw_manifest_update(&more, out, &err), KW_OK);
    assert_int_equal(kw_manifest_update(&some, out, &err), KW_OK);
    assert_int_equal(kw_manifest_read(&found, path, &err), KW_OK);
    assert_int_equal(kw_manifest_add(&some, &more, &err), KW_OK);
    char *wanted = pair_set(&some), *got = pair_set(&found);
    assert_string_equal(got, wanted);
    kw_manifest_drop(&found);
    /* a damaged one, and one timed otherwise, give way */
    scratch_write(path, "kernelwright-manifest 1\n", 24, 0644);
    assert_int_equal(kw_manifest_update(&more, out, &err), KW_OK);
    more.cold = true;
    assert_int_equal(kw_manifest_update(&more, out, &err), KW_OK);
    assert_int_equal(kw_manifest_read(&found, path, &err), KW_OK);
    assert_true(found.cold);
    assert_int_equal(kw_manifest_pairs(&found), kw_manifest_pairs(&more));
    assert_int_equal(scratch_count(folder, ""), 1);
    scratch_remove(folder);
    kw_manifest_drop(&found);
    kw_manifest_drop(&some);
    kw_manifest_drop(&more);
    free(wanted);
    free(got);
}

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_and_listed_pairs_survive_as_text),
        cmocka_unit_test(a_damaged_byte_or_a_cut_is_refused),
        cmocka_unit_test(a_file_of_another_kind_or_version_is_refused),
        cmocka_unit_test(lines_that_mean_nothing_are_named_by_number),
        cmocka_unit_test(no_pair_at_all_can_be_said),
        cmocka_unit_test(a_union_has_the_pairs_of_both_in_any_order),
        cmocka_unit_test(a_sweep_keeps_what_was_asked_for_before),
    };
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
