/* test_store.c: a store as its users see it: adding is a union, the answer is the best row, visits come sorted. */
#include "base/statistics/random.h"
#include "store/row.h"
#include "store/sizes.h"
#include "support/kw_test.h"
#include "support/rows/rows.h"
#include "support/scratch.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 300, KERNELS = 20 };

static char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    scratch_path(path, folder, "results.db");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static kw_store *open_store(const char *name, kw_store_access access) {
    kw_store *store = NULL;
    kw_error err = {0};
    if (kw_store_open(&store, name, access, &err)) {
        fail_msg("%s", err.text);
    }
    return store;
}

static size_t add(kw_store *store, int64_t from, int64_t count) {
    kw_row *rows = calloc((size_t)count, sizeof *rows);
    kw_error err = {0};
    size_t added = 0;
    for (int64_t i = 0; i < count; i++) {
        rows_make(&rows[i], from + i, KERNELS);
    }
    if (kw_store_add(store, rows, (size_t)count, &added, &err)) {
        fail_msg("%s", err.text);
    }
    free(rows);
    return added;
}

typedef struct seen {
    int64_t count, matched;
    char *text; /* every row's line, one behind the other */
    size_t size;
} seen;

static bool note(void *user, const kw_row *row) {
    seen *s = user;
    kw_row made;
    char *line = NULL;
    rows_make(&made, row->sequence, KERNELS);
    s->matched += rows_equal(&made, row);
    s->count++;
    assert_int_equal(kw_row_print(&line, row, NULL), KW_OK);
    size_t size = strlen(line);
    s->text = realloc(s->text, s->size + size + 1);
    memcpy(s->text + s->size, line, size + 1);
    s->size += size;
    free(line);
    return true;
}

static seen visit(kw_store *store, const kw_row_filter *filter) {
    seen s = {0};
    kw_error err = {0};
    if (kw_store_visit(store, filter, note, &s, &err)) {
        fail_msg("%s", err.text);
    }
    return s;
}

static void rows_return_exactly_also_after_reopening(void **state) {
    (void)state;
    kw_store *store = open_store(path, KW_STORE_WRITE);
    kw_run run;
    rows_run(&run);
    assert_int_equal(kw_store_add_run(store, &run, NULL), KW_OK);
    assert_int_equal(add(store, 0, MANY), MANY);
    char id[33];
    snprintf(id, sizeof id, "%s", kw_store_id(store));
    kw_store_close(&store);
    assert_null(store);
    assert_int_equal(scratch_count(folder, ""), 1); /* nothing lies beside a closed store */
    store = open_store(path, KW_STORE_READ);
    assert_string_equal(id, kw_store_id(store));
    seen s = visit(store, NULL);
    assert_int_equal(s.count, MANY);
    assert_int_equal(s.matched, MANY);
    free(s.text);
    assert_int_equal(kw_store_check(store, NULL), KW_OK);
    kw_store_close(&store);
}

static void adding_is_a_union_in_any_order(void **state) {
    (void)state;
    char other[2 * SCRATCH_MAX];
    kw_store *a = open_store(path, KW_STORE_WRITE), *b = open_store(scratch_path(other, folder, "b.db"), KW_STORE_WRITE);
    add(a, 0, 200);
    assert_int_equal(add(a, 100, 200), 100);
    assert_int_equal(add(a, 0, 300), 0);
    for (int64_t i = 290; i >= 0; i -= 10) {
        assert_int_equal(add(b, i, 10), 10);
    }
    assert_string_not_equal(kw_store_id(a), kw_store_id(b));
    seen from_a = visit(a, NULL), from_b = visit(b, NULL);
    assert_int_equal(from_a.count, 300);
    assert_string_equal(from_a.text, from_b.text);
    free(from_a.text);
    free(from_b.text);
    kw_store_close(&a);
    kw_store_close(&b);
}

static void a_batch_with_a_bad_row_adds_nothing(void **state) {
    (void)state;
    kw_store *store = open_store(path, KW_STORE_WRITE);
    kw_row rows[3];
    kw_error err = {0};
    size_t added = 9;
    for (int i = 0; i < 3; i++) {
        rows_make(&rows[i], i, KERNELS);
    }
    rows[2].record.time_ns = -5;
    assert_int_equal(kw_store_add(store, rows, 3, &added, &err), KW_ILLEGAL);
    assert_int_equal(added, 0);
    rows_make(&rows[2], 2, KERNELS);
    snprintf(rows[2].problem, sizeof rows[2].problem, "conv_fwd fp32 nonsense");
    assert_int_not_equal(kw_store_add(store, rows, 3, &added, &err), KW_OK);
    snprintf(rows[2].problem, sizeof rows[2].problem, "gemm fp32 rcr m1 n1 k1"); /* right, but not canonical */
    assert_int_equal(kw_store_add(store, rows, 3, &added, &err), KW_MALFORMED);
    seen s = visit(store, NULL);
    assert_int_equal(s.count, 0);
    assert_int_equal(add(store, 0, 3), 3); /* ids that were rolled back are not remembered */
    assert_int_equal(kw_store_check(store, NULL), KW_OK);
    kw_store_close(&store);
}

static void has_knows_pairs_and_not_those_untried(void **state) {
    (void)state;
    kw_store *store = open_store(path, KW_STORE_WRITE);
    kw_row row;
    bool has = true;
    rows_make(&row, 5, KERNELS);
    assert_int_equal(kw_store_has(store, &has, row.target, row.problem, row.record.config, true, false, NULL), KW_OK);
    assert_false(has);
    row.record.outcome = KW_UNTRIED;
    assert_int_equal(kw_store_add(store, &row, 1, NULL, NULL), KW_OK);
    assert_int_equal(kw_store_has(store, &has, row.target, row.problem, row.record.config, true, false, NULL), KW_OK);
    assert_false(has);
    row.record.outcome = KW_CRASHED;
    assert_int_equal(kw_store_add(store, &row, 1, NULL, NULL), KW_OK);
    assert_int_equal(kw_store_has(store, &has, row.target, row.problem, row.record.config, true, false, NULL), KW_OK);
    assert_true(has);
    assert_int_equal(kw_store_has(store, &has, row.target, row.problem, row.record.config, false, false, NULL), KW_OK);
    assert_false(has);
    assert_int_equal(kw_store_has(store, &has, row.target, row.problem, row.record.config, true, true, NULL), KW_OK);
    assert_false(has);
    kw_store_close(&store);
}

/* Rows of one pair; the first of them in each case must be the answer. */
static void the_answer_is_verified_then_sampled_then_steady(void **state) {
    (void)state;
    static const struct {
        kw_outcome outcome[2];
        int32_t samples[2];
        double time[2], spread[2];
    } cases[] = {
        {{KW_GOOD, KW_WRONG}, {3, 50}, {100, 1}, {50, 0}},  {{KW_GOOD, KW_SLOW}, {3, 50}, {100, 1}, {50, 0}},
        {{KW_SLOW, KW_CRASHED}, {2, 0}, {100, 0}, {0, 0}},  {{KW_CRASHED, KW_UNTRIED}, {0, 0}, {0, 0}, {0, 0}},
        {{KW_GOOD, KW_GOOD}, {21, 20}, {100, 50}, {50, 1}}, {{KW_GOOD, KW_GOOD}, {21, 21}, {100, 50}, {1, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_store *store = open_store(path, KW_STORE_WRITE);
        kw_row rows[2];
        for (int r = 0; r < 2; r++) {
            rows_make(&rows[r], 0, KERNELS);
            rows[r].sequence = r;
            rows[r].record.outcome = cases[i].outcome[r];
            rows[r].record.samples = cases[i].samples[r];
            rows[r].record.time_ns = cases[i].time[r];
            rows[r].record.spread_ns = cases[i].spread[r];
        }
        kw_row_filter answers = {.size = sizeof(kw_row_filter), .answers = true};
        assert_int_equal(kw_store_add(store, rows, 2, NULL, NULL), KW_OK);
        seen s = visit(store, &answers);
        assert_int_equal(s.count, 1);
        assert_non_null(strstr(s.text, kw_outcome_name(cases[i].outcome[0])));
        assert_null(strstr(s.text, "\"sequence\":1"));
        free(s.text);
        kw_row_filter second = {.size = sizeof(kw_row_filter), .answers = true, .by_outcome = true, .outcome = cases[i].outcome[1]};
        s = visit(store, &second);
        assert_int_equal(s.count, cases[i].outcome[0] == cases[i].outcome[1]);
        free(s.text);
        kw_store_close(&store);
        unlink(path);
    }
}

/* Columns and rows that a query gives as one text: "a,b,c". */
static void ask(char text[4096], const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    size_t used = 0;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL)) {
        fail_msg("%s", sqlite3_errmsg(db));
    }
    text[0] = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        used += (size_t)snprintf(text + used, 4096 - used, "%s%s", used ? "," : "", (const char *)sqlite3_column_text(statement, 0));
        assert_true(used < 4096);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static bool add_sequence(void *user, const kw_row *row) {
    char *text = user;
    size_t used = strlen(text);
    snprintf(text + used, 4096 - used, "%s%lld", used ? "," : "", (long long)row->sequence);
    return true;
}

/* 60 pairs with three rows each that differ in outcome, samples and spread. */
static void the_view_answer_is_what_visiting_answers_gives(void **state) {
    (void)state;
    kw_store *store = open_store(path, KW_STORE_WRITE);
    uint64_t random = 11;
    for (int64_t i = 0; i < 180; i++) {
        static const kw_outcome outcomes[] = {KW_GOOD, KW_GOOD, KW_SLOW, KW_WRONG, KW_UNTRIED};
        kw_row row;
        rows_make(&row, i % 60, KERNELS);
        uint64_t draw = kw_random(&random);
        row.sequence = i;
        row.record.outcome = outcomes[draw >> 60 & 3];
        row.record.samples = (int32_t)(draw >> 50 & 1);
        row.record.time_ns = 1000;
        row.record.spread_ns = (double)(draw >> 40 & 3);
        row.record.cold = draw >> 30 & 1;
        assert_int_equal(kw_store_add(store, &row, 1, NULL, NULL), KW_OK);
    }
    static char visited[4096], asked[4096];
    kw_row_filter answers = {.size = sizeof(kw_row_filter), .answers = true};
    assert_int_equal(kw_store_visit(store, &answers, add_sequence, visited, NULL), KW_OK);
    kw_store_close(&store);
    ask(asked, "SELECT sequence FROM answer ORDER BY target, problem, config, packed, cold");
    assert_string_equal(visited, asked);
    ask(asked, "SELECT count(*) FROM result");
    assert_string_equal(asked, "180");
}

static void tables_have_the_fields_and_sizes_of_the_lists(void **state) {
    (void)state;
    kw_store *store = open_store(path, KW_STORE_WRITE);
    static char wanted[4096], found[4096];
    size_t used = (size_t)snprintf(wanted, sizeof wanted, "id,digest");
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, ",%s", field->name);
    }
    kw_store_close(&store);
    ask(found, "SELECT name FROM pragma_table_info('record')");
    assert_string_equal(found, wanted);
    used = (size_t)snprintf(wanted, sizeof wanted, "id,text,op,dtype,layout");
    for (int i = 0; i < KW_SIZE_COUNT; i++) {
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, ",%s", kw_size_names[i]);
    }
    ask(found, "SELECT name FROM pragma_table_info('problem')");
    assert_string_equal(found, wanted);
    used = (size_t)snprintf(wanted, sizeof wanted, "number");
    for (const kw_row_field *field = kw_run_fields; field->name; field++) {
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, ",%s", field->name);
    }
    ask(found, "SELECT name FROM pragma_table_info('run')");
    assert_string_equal(found, wanted);
}

static void what_texts_say_stands_in_columns(void **state) {
    (void)state;
    kw_store *store = open_store(path, KW_STORE_WRITE);
    static char found[4096];
    kw_row row;
    rows_make(&row, 0, KERNELS);
    assert_int_equal(kw_store_add(store, &row, 1, NULL, NULL), KW_OK);
    rows_make(&row, 1, KERNELS);
    snprintf(row.record.config, sizeof row.record.config, "somebody's kernel");
    snprintf(row.problem, sizeof row.problem, "gemm fp32 rcr b1 m128 n64 k32");
    assert_int_equal(kw_store_add(store, &row, 1, NULL, NULL), KW_OK);
    kw_store_close(&store);
    ask(found, "SELECT axis.name || '=' || value FROM axis ORDER BY axis.name");
    assert_string_equal(found, "isa=avx512,math=fma,tile_w=1,vecs=2");
    ask(found, "SELECT typeof(value) FROM axis ORDER BY axis.name");
    assert_string_equal(found, "text,text,integer,integer");
    ask(found, "SELECT value FROM fact WHERE name IN ('lanes', 'model') ORDER BY name");
    assert_string_equal(found, "16,test-1-2-3");
    ask(found, "SELECT \"foreign\" || ' ' || coalesce(family, '-') FROM config ORDER BY id");
    assert_string_equal(found, "0 conv.direct,1 -");
    ask(found, "SELECT op || ' ' || coalesce(m, '-') || ' ' || n || ' ' || k || ' ' || coalesce(in_h, '-') FROM problem ORDER BY id");
    assert_string_equal(found, "conv_fwd - 1 64 56,gemm 128 64 32 -");
}

static void filters_choose_rows_for_visiting_and_dropping_alike(void **state) {
    (void)state;
    kw_row row;
    rows_make(&row, 45, KERNELS);
    const struct {
        kw_row_filter filter;
        int64_t count;
    } cases[] = {
        {{.target = rows_target}, 60},
        {{.target = "other"}, 0},
        {{.problem = row.problem}, 20},
        {{.config = row.record.config}, 3},
        {{.problem = row.problem, .config = row.record.config}, 1},
        {{.run = row.run}, 60},
        {{.run = "none"}, 0},
        {{.by_op = true, .op = KW_CONV_FWD}, 60},
        {{.by_op = true, .op = KW_GEMM}, 0},
        {{.by_dtype = true, .dtype = KW_FP32}, 60},
        {{.by_dtype = true, .dtype = KW_BF16}, 0},
        {{.by_outcome = true, .outcome = KW_GOOD}, 48},
        {{.by_outcome = true, .outcome = KW_UNFIT}, 3},
        {{.by_timing = true, .packed = row.packed, .cold = row.record.cold}, 60},
        {{.by_timing = true, .packed = !row.packed, .cold = row.record.cold}, 0},
        {{.by_timing = true, .packed = row.packed, .cold = !row.record.cold}, 0},
        {{.answers = true}, 60},
        {{0}, 60},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_row_filter filter = cases[i].filter;
        filter.size = sizeof filter;
        kw_store *store = open_store(path, KW_STORE_WRITE);
        kw_error err = {0};
        add(store, 0, 60);
        seen s = visit(store, &filter);
        assert_int_equal(s.count, cases[i].count);
        assert_int_equal(s.matched, cases[i].count);
        free(s.text);
        int64_t dropped = -1;
        if (kw_store_drop(store, &filter, &dropped, &err)) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(dropped, cases[i].count);
        s = visit(store, NULL);
        assert_int_equal(s.count, 60 - cases[i].count);
        free(s.text);
        kw_store_close(&store);
        store = open_store(path, KW_STORE_READ);
        assert_int_equal(kw_store_check(store, NULL), KW_OK);
        kw_store_close(&store);
        unlink(path);
    }
}

static void counts_are_those_of_the_rows(void **state) {
    (void)state;
    kw_store *store = open_store(path, KW_STORE_WRITE);
    kw_store_counts counts;
    add(store, 0, 60);
    assert_int_equal(kw_store_count(store, &counts, NULL), KW_OK);
    assert_int_equal(counts.rows, 60);
    assert_int_equal(counts.targets, 1);
    assert_int_equal(counts.problems, 3);
    assert_int_equal(counts.configs, KERNELS);
    assert_int_equal(counts.runs, 1);
    assert_int_equal(counts.outcome[KW_GOOD], 48);
    assert_true(counts.bytes > 0);
    kw_row_filter all = {.size = sizeof(kw_row_filter)};
    assert_int_equal(kw_store_drop(store, &all, NULL, NULL), KW_OK);
    assert_int_equal(kw_store_count(store, &counts, NULL), KW_OK);
    assert_int_equal(counts.rows + counts.targets + counts.problems + counts.configs, 0);
    kw_store_close(&store);
}

static bool keep_run(void *user, const kw_run *run) {
    *(kw_run *)user = *run;
    return true;
}

static void a_run_may_be_said_again_but_not_otherwise(void **state) {
    (void)state;
    kw_store *store = open_store(path, KW_STORE_WRITE);
    kw_run run, back = {0};
    kw_error err = {0};
    rows_run(&run);
    add(store, 0, 1); /* names the run before it is told */
    assert_int_equal(kw_store_visit_runs(store, keep_run, &back, NULL), KW_OK);
    assert_string_equal(back.id, run.id);
    assert_string_equal(back.host, "");
    assert_int_equal(kw_store_add_run(store, &run, &err), KW_OK);
    assert_int_equal(kw_store_add_run(store, &run, &err), KW_OK);
    assert_int_equal(kw_store_visit_runs(store, keep_run, &back, NULL), KW_OK);
    assert_memory_equal(&back, &run, sizeof run);
    snprintf(run.host, sizeof run.host, "elsewhere");
    assert_int_equal(kw_store_add_run(store, &run, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "host"));
    kw_store_close(&store);
}

static void file_names_may_hold_anything(void **state) {
    (void)state;
    static const char *const names[] = {":memory:", "file:x?mode=memory", "a b 'c' \"d\".db", "100%.db", "\xc3\xa4\xe2\x82\xac.db",
                                        "-",        "x;drop table record"};
    char here[1024];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kw_store *store = open_store(names[i], KW_STORE_WRITE);
        assert_int_equal(add(store, 0, 5), 5);
        kw_store_close(&store);
        assert_int_equal(access(names[i], R_OK), 0);
        store = open_store(names[i], KW_STORE_READ);
        seen s = visit(store, NULL);
        assert_int_equal(s.matched, 5);
        free(s.text);
        kw_store_close(&store);
    }
    assert_int_equal(chdir(here), 0);
}

static void a_missing_store_is_not_made_by_reading(void **state) {
    (void)state;
    kw_store *store = NULL;
    kw_error err = {0};
    assert_int_equal(kw_store_open(&store, path, KW_STORE_READ, &err), KW_MISSING);
    assert_null(store);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(kw_store_open(&store, folder, KW_STORE_READ, &err), KW_IO);
    assert_int_equal(kw_store_open(&store, folder, KW_STORE_WRITE, &err), KW_IO);
}

static void a_reader_changes_nothing(void **state) {
    (void)state;
    kw_store *store = open_store(path, KW_STORE_WRITE);
    kw_row row;
    kw_run run;
    kw_error err = {0};
    add(store, 0, 5);
    kw_store_close(&store);
    store = open_store(path, KW_STORE_READ);
    rows_make(&row, 9, KERNELS);
    rows_run(&run);
    assert_int_equal(kw_store_add(store, &row, 1, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_store_add_run(store, &run, &err), KW_ILLEGAL);
    assert_int_equal(kw_store_drop(store, NULL, NULL, &err), KW_ILLEGAL);
    kw_store_close(&store);
}

static void readers_see_rows_while_another_handle_writes(void **state) {
    (void)state;
    kw_store *writer = open_store(path, KW_STORE_WRITE);
    add(writer, 0, 10);
    kw_store *reader = open_store(path, KW_STORE_READ);
    seen s = visit(reader, NULL);
    assert_int_equal(s.matched, 10);
    free(s.text);
    add(writer, 10, 10);
    s = visit(reader, NULL);
    assert_int_equal(s.matched, 20);
    free(s.text);
    kw_store *second = NULL;
    kw_error err = {0};
    assert_int_equal(kw_store_open(&second, path, KW_STORE_WRITE, &err), KW_IO);
    char who[64];
    snprintf(who, sizeof who, "process %lld on", (long long)getpid());
    assert_non_null(strstr(err.text, who));
    kw_store_close(&writer);
    kw_store_close(&reader);
    writer = open_store(path, KW_STORE_WRITE);
    kw_store_close(&writer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_return_exactly_also_after_reopening, set_up, tear_down),
        cmocka_unit_test_setup_teardown(adding_is_a_union_in_any_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_with_a_bad_row_adds_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(has_knows_pairs_and_not_those_untried, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_answer_is_verified_then_sampled_then_steady, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_view_answer_is_what_visiting_answers_gives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_have_the_fields_and_sizes_of_the_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_texts_say_stands_in_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filters_choose_rows_for_visiting_and_dropping_alike, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_are_those_of_the_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_may_be_said_again_but_not_otherwise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_names_may_hold_anything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_store_is_not_made_by_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reader_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(readers_see_rows_while_another_handle_writes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
