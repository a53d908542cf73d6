/* test_exchange.c: stores out to files and back, and what is refused on the way in. */
#include "store/io/plausible.h"
#include "support/kw_test.h"
#include "support/rows/rows.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

enum { ROWS = 120, KERNELS = 20 };

static char folder[SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static kw_store *open_store(const char *name) {
    char path[2 * SCRATCH_MAX];
    kw_store *store = NULL;
    kw_error err = {0};
    if (kw_store_open(&store, scratch_path(path, folder, name), KW_STORE_WRITE, &err)) {
        fail_msg("%s", err.text);
    }
    return store;
}

static void add(kw_store *store, const kw_row *row) {
    kw_error err = {0};
    if (kw_store_add(store, row, 1, NULL, &err)) {
        fail_msg("%s", err.text);
    }
}

static kw_store *filled_store(void) {
    kw_store *store = open_store("from.db");
    kw_run run;
    rows_run(&run);
    assert_int_equal(kw_store_add_run(store, &run, NULL), KW_OK);
    for (int64_t i = 0; i < ROWS; i++) {
        kw_row row;
        rows_make(&row, i, KERNELS);
        if (i == 3) {
            snprintf(row.record.detail, sizeof row.record.detail, "two\nlines\r\n\"quoted\", comma, <b>, ';--");
        }
        if (i == 8) {
            row.record.error = 0.0 / 0.0;
        }
        add(store, &row);
    }
    return store;
}

static void export_as(kw_store *store, const char *format, const char *name, kw_export_report *report) {
    char path[2 * SCRATCH_MAX];
    kw_error err = {0};
    if (kw_store_export(store, NULL, format, scratch_path(path, folder, name), report, &err)) {
        fail_msg("%s", err.text);
    }
}

static kw_import_report import(kw_store *store, const char *format, const char *name, const kw_row *defaults) {
    char path[2 * SCRATCH_MAX];
    kw_error err = {0};
    kw_import_report report;
    if (kw_store_import(store, format, scratch_path(path, folder, name), defaults, &report, &err)) {
        fail_msg("%s", err.text);
    }
    return report;
}

static char *read_all(const char *name) {
    static char text[1 << 20];
    char path[2 * SCRATCH_MAX];
    gzFile file = gzopen(scratch_path(path, folder, name), "rb");
    assert_non_null(file);
    int size = gzread(file, text, sizeof text - 1);
    assert_true(size >= 0);
    text[size] = 0;
    gzclose(file);
    return text;
}

static void everything_returns_exactly_in_each_format(void **state) {
    (void)state;
    static const char *const files[][2] = {{"jsonl", "a.jsonl"}, {"jsonl", "a.jsonl.gz"}, {"csv", "a.csv"}, {"csv", "a.csv.gz"}};
    kw_store *from = filled_store();
    export_as(from, "jsonl", "before.jsonl", NULL);
    char *before = strdup(read_all("before.jsonl"));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        kw_export_report out;
        export_as(from, files[i][0], files[i][1], &out);
        assert_int_equal(out.rows, ROWS);
        assert_int_equal(out.left_out, 0);
        kw_store *to = open_store("to.db");
        kw_import_report in = import(to, NULL, files[i][1], NULL);
        if (in.refused) {
            fail_msg("%s", in.first_refusal);
        }
        assert_int_equal(in.added, ROWS);
        in = import(to, files[i][0], files[i][1], NULL);
        assert_int_equal(in.added, 0);
        assert_int_equal(in.known, ROWS);
        export_as(to, "jsonl", "after.jsonl", NULL);
        assert_string_equal(before, read_all("after.jsonl")); /* runs with all their facts, too */
        kw_store_close(&to);
        char path[2 * SCRATCH_MAX];
        unlink(scratch_path(path, folder, "to.db"));
    }
    free(before);
    kw_store_close(&from);
    assert_int_equal(scratch_count(folder, ".part"), 0);
}

/* What a query would otherwise have to take from texts: 2 * 100 * 10 * 5 operations in 40 ns. A time that is not known has no speed. */
static void a_csv_has_the_family_and_the_speed(void **state) {
    (void)state;
    kw_store *store = open_store("from.db");
    for (int i = 0; i < 2; i++) {
        kw_row row;
        rows_make(&row, i, KERNELS);
        snprintf(row.problem, sizeof row.problem, "gemm fp32 rcr b1 m100 n10 k5");
        snprintf(row.record.config, sizeof row.record.config, "gemm.tiled gemm fp32 isa=avx2 tile_m=%d", i + 1);
        row.record.outcome = i ? KW_CRASHED : KW_GOOD;
        row.record.time_ns = i ? 0 : 40;
        add(store, &row);
    }
    export_as(store, "csv", "a.csv", NULL);
    const char *text = read_all("a.csv");
    assert_non_null(strstr(text, ",family,gflops,run_"));
    assert_non_null(strstr(text, ",gemm.tiled,250,"));
    assert_non_null(strstr(text, ",gemm.tiled,,"));
    kw_store_close(&store);
}

static void seed_defaults(kw_row *defaults) {
    memset(defaults, 0, sizeof *defaults);
    snprintf(defaults->run, sizeof defaults->run, "seed");
    snprintf(defaults->target, sizeof defaults->target, "%s", rows_target);
    snprintf(defaults->problem, sizeof defaults->problem, "conv_fwd fp32 nhwgc n1 c1 k1 i1x1 f1x1");
    defaults->packed = true;
}

static void seed_csv_has_the_seeds_columns_and_words(void **state) {
    (void)state;
    kw_store *store = open_store("s.db");
    kw_row row;
    rows_make(&row, 0, KERNELS);
    row.record.time_ns = 2.5e6;
    add(store, &row);
    rows_make(&row, 21, KERNELS);
    row.record.outcome = KW_UNFIT;
    row.record.time_ns = 0;
    add(store, &row);
    export_as(store, "seed-csv", "s.csv", NULL);
    /* 2 x 1 x 64 x 56 x 56 x 64 x 3 x 3 = 231211008 */
    assert_string_equal(
        read_all("s.csv"),
        "kernel,problem_idx,N,C,K,G,Di,Hi,Wi,Z,Y,X,stride_d,stride_h,stride_w,pad_d,pad_h,pad_w,dilation_d,dilation_h,dilation_w,latency_"
        "ms,tflops,non_zero\n"
        "conv.direct conv_fwd fp32 isa=avx512 math=fma tile_w=1 "
        "vecs=2,0,1,64,64,1,1,56,56,1,3,3,1,1,1,0,1,1,1,1,1,2.5,0.0924844032,200704\n"
        "conv.direct conv_fwd fp32 isa=avx512 math=fma tile_w=2 vecs=2,1,2,64,64,1,1,56,56,1,3,3,1,1,1,0,1,1,1,1,1,N/A,0,0\n");
    kw_row defaults;
    seed_defaults(&defaults);
    kw_store *back = open_store("back.db");
    kw_import_report report = import(back, "seed-csv", "s.csv", &defaults);
    assert_string_equal(report.first_refusal, "");
    assert_int_equal(report.added, 2);
    export_as(back, "seed-csv", "t.csv", NULL);
    char *again = strdup(read_all("t.csv"));
    assert_string_equal(again, read_all("s.csv"));
    free(again);
    kw_store_close(&store);
    kw_store_close(&back);
}

static void what_seed_csv_cannot_hold_is_counted_or_refused(void **state) {
    (void)state;
    static const char *const problems[] = {"gemm fp32 rcr m8 n8 k8", "conv_fwd fp32 nhwgc n1 c4 k4 i8x8 f3x3 p0x0:1x1",
                                           "conv_fwd fp32 nhwgc n1 c4 k4 i8x8 f3x3"};
    kw_store *store = open_store("s.db");
    kw_export_report report;
    for (size_t i = 0; i < 3; i++) {
        kw_row row;
        kw_problem problem;
        rows_make(&row, 0, KERNELS);
        assert_int_equal(kw_problem_parse(&problem, problems[i], NULL), KW_OK);
        kw_problem_print(row.problem, sizeof row.problem, &problem);
        add(store, &row);
    }
    export_as(store, "seed-csv", "s.csv", &report);
    assert_int_equal(report.rows, 1);
    assert_int_equal(report.left_out, 2);
    kw_row row;
    kw_problem problem;
    rows_make(&row, 0, KERNELS);
    assert_int_equal(kw_problem_parse(&problem, "conv_bwd_data fp32 nhwgc n1 c4 k4 i8x8 f3x3", NULL), KW_OK);
    kw_problem_print(row.problem, sizeof row.problem, &problem);
    add(store, &row);
    kw_error err = {0};
    char path[2 * SCRATCH_MAX];
    assert_int_equal(kw_store_export(store, NULL, "seed-csv", scratch_path(path, folder, "none.csv"), NULL, &err), KW_ILLEGAL);
    assert_int_equal(access(path, F_OK), -1); /* no half of a file */
    kw_store_close(&store);
}

static void foreign_kernels_are_kept_but_never_trusted(void **state) {
    (void)state;
    static const char csv[] = "kernel,problem_idx,N,C,K,G,Hi,Wi,Y,X,stride_h,stride_w,pad_h,pad_w,latency_ms,tflops,non_zero\n"
                              "grouped_conv_forward_bf16_2d_128x128x64_compv3,0,1,64,64,1,56,56,3,3,1,1,1,1,0.5,0.46,200704\r\n"
                              "\"odd, \"\"name\"\"\",0,1,64,64,1,56,56,3,3,1,1,1,1,N/A,0.00,0\n"
                              "zero,0,1,64,64,1,56,56,3,3,1,1,1,1,0.5,0.4624,0\n";
    char path[2 * SCRATCH_MAX];
    scratch_write(scratch_path(path, folder, "old.csv"), csv, sizeof csv - 1, 0644);
    kw_row defaults;
    seed_defaults(&defaults);
    kw_store *store = open_store("s.db");
    kw_import_report report = import(store, NULL, "old.csv", &defaults);
    assert_string_equal(report.first_refusal, "");
    assert_int_equal(report.added, 3);
    kw_store_counts counts;
    assert_int_equal(kw_store_count(store, &counts, NULL), KW_OK);
    assert_int_equal(counts.outcome[KW_MISTRUSTED], 1);
    assert_int_equal(counts.outcome[KW_WRONG], 1); /* all zeros */
    assert_int_equal(counts.outcome[KW_UNLAUNCHED], 1);
    export_as(store, "seed-csv", "s.csv", NULL);
    assert_non_null(strstr(read_all("s.csv"), "\n\"odd, \"\"name\"\"\",0,1,64,64,1,1,56,56,1,3,3,1,1,1,0,1,1,1,1,1,N/A,0,0\n"));
    kw_store_close(&store);
}

/* Each case changes one row that would be taken; all of them are refused with the reason, the good row beside them is not. */
static void rows_that_cannot_be_true_are_refused_alone(void **state) {
    (void)state;
    static const struct {
        const char *reason;
        int what;
    } cases[] = {{"peak", 0},   {"there is a time", 1}, {"ascend", 2},    {"bound", 3},  {"config is of", 4},
                 {"target", 5}, {"problem", 6},         {"canonical", 7}, {"no time", 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_row good, bad;
        char *lines[2], text[8192], path[2 * SCRATCH_MAX];
        rows_make(&good, 0, KERNELS);
        rows_make(&bad, 1, KERNELS);
        kw_record *record = &bad.record;
        switch (cases[i].what) {
        case 0: /* 231 MFLOP in 50 ns are 4.6 PFLOP/s; 2 units of 16 lanes are below 0.8 TFLOP/s */
            record->time_ns = record->median_ns = record->least_ns = 50;
            break;
        case 1:
            record->outcome = KW_UNFIT;
            break;
        case 2:
            record->median_ns = record->time_ns / 2;
            break;
        case 3:
            record->error = 1.5;
            break;
        case 4:
            snprintf(record->config, sizeof record->config, "conv.direct conv_fwd bf16 tile_w=1");
            break;
        case 5:
            snprintf(bad.target, sizeof bad.target, "toaster");
            break;
        case 6:
            snprintf(bad.problem, sizeof bad.problem, "conv_fwd fp32 n1");
            break;
        case 7:
            snprintf(bad.problem, sizeof bad.problem, "gemm fp32 rcr k1 n1 m1");
            break;
        default:
            record->time_ns = record->least_ns = record->median_ns = 0;
        }
        assert_int_equal(kw_row_print(&lines[0], &bad, NULL), KW_OK);
        assert_int_equal(kw_row_print(&lines[1], &good, NULL), KW_OK);
        int size = snprintf(text, sizeof text, "%s\n%s\n", lines[0], lines[1]);
        scratch_write(scratch_path(path, folder, "bad.jsonl"), text, (size_t)size, 0644);
        kw_store *store = open_store("s.db");
        kw_import_report report = import(store, NULL, "bad.jsonl", NULL);
        assert_int_equal(report.refused, 1);
        assert_int_equal(report.added, 1);
        assert_int_equal(strncmp(report.first_refusal, "line 1: ", 8), 0);
        if (!strstr(report.first_refusal, cases[i].reason)) {
            fail_msg("%zu: %s", i, report.first_refusal);
        }
        kw_store_close(&store);
        unlink(scratch_path(path, folder, "s.db"));
        free(lines[0]);
        free(lines[1]);
    }
}

static void seed_rows_that_cannot_be_true_are_refused_by_line(void **state) {
    (void)state;
    static const struct {
        const char *row, *reason;
    } cases[] = {
        {"k,0,1,64,64,1,56,56,3,3,1,1,1,1,-0.5,0.46,1", "latency_ms"},
        {"k,0,1,64,64,1,56,56,3,3,1,1,1,1,nan,0.46,1", "latency_ms"},
        {"k,0,1,64,64,1,56,56,3,3,1,1,1,1,0,0.46,1", "latency_ms"},
        {"k,0,1,64,64,1,56,56,3,3,1,1,1,1,0.5,900,1", "tflops"},
        {"k,0,1,64,64,1,56,56,3,3,1,1,1,1,N/A,5,0", "N/A"},
        {"k,0,1,64,64,1,56,56,3,3,1,1,1,1,0.0001,2312,1", "peak"},
        {"k,0,1,64,64,7,56,56,3,3,1,1,1,1,0.5,0.46,1", "7"},
        {"k,0,1,64,64,1,56,56,3,3,0,1,1,1,0.5,0.46,1", "stride_h"},
        {"k,0,1,64,64,1,56,56,99,3,1,1,1,1,0.5,0.46,1", ""},
        {"k,0,1,64,64,1,56,56,3,3,1,1,1,1,0.5,0.46", "16 cells"},
        {",0,1,64,64,1,56,56,3,3,1,1,1,1,0.5,0.46,1", "kernel"},
        {"\"k,0,1,64", "quote"},
        {"\"k\"x,0,1,64,64,1,56,56,3,3,1,1,1,1,0.5,0.46,1", "closing quote"},
    };
    static const char header[] = "kernel,problem_idx,N,C,K,G,Hi,Wi,Y,X,stride_h,stride_w,pad_h,pad_w,latency_ms,tflops,non_zero";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], path[2 * SCRATCH_MAX];
        int size = snprintf(text, sizeof text, "%s\n\n%s\n", header, cases[i].row);
        scratch_write(scratch_path(path, folder, "bad.csv"), text, (size_t)size, 0644);
        kw_row defaults;
        seed_defaults(&defaults);
        kw_store *store = open_store("s.db");
        kw_import_report report = import(store, NULL, "bad.csv", &defaults);
        assert_int_equal(report.refused, 1);
        assert_int_equal(report.added, 0);
        if (strncmp(report.first_refusal, "line 3: ", 8) != 0 || !strstr(report.first_refusal, cases[i].reason)) {
            fail_msg("%zu: %s", i, report.first_refusal);
        }
        kw_store_close(&store);
    }
}

static void files_that_are_none_of_ours_are_refused_whole(void **state) {
    (void)state;
    static const struct {
        const char *text, *format, *reason;
    } cases[] = {
        {"", NULL, "empty"},
        {"a,b,c\n1,2,3\n", NULL, "\"a\" is not known"},
        {"run,run\n", NULL, "twice"},
        {"run,sequence\n", NULL, "no column"},
        {"run,sequence\n", "seed-csv", "not the header"},
        {"kernel,problem_idx,N,C,K,G,Hi,Wi,Y,X,stride_h,stride_w,pad_h,pad_w,latency_ms,tflops,non_zero\n", "csv", "header of seed-csv"},
        {"kernel,problem_idx,N,C,K,G,Hi,Wi,Y,X,stride_h,stride_w,pad_h,pad_w,latency_ms,tflops,non_zero\n", NULL, "must be given"},
        {"x", "parquet", "not known"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[2 * SCRATCH_MAX];
        scratch_write(scratch_path(path, folder, "x"), cases[i].text, strlen(cases[i].text), 0644);
        kw_store *store = open_store("s.db");
        kw_import_report report;
        kw_error err = {0};
        assert_int_not_equal(kw_store_import(store, cases[i].format, path, NULL, &report, &err), KW_OK);
        if (!strstr(err.text, cases[i].reason)) {
            fail_msg("%zu: %s", i, err.text);
        }
        kw_store_close(&store);
    }
}

/* 2 units of 16 lanes, a multiply and an add in each of 2 pipes at 6 GHz: 768 GFLOP/s in fp32, twice that in bf16. A product of 2^24 operations
 * takes 21.8 us at that rate. */
static void the_peak_is_where_it_is_said_to_be(void **state) {
    (void)state;
    static const struct {
        const char *type;
        double time_ns;
        bool taken;
    } cases[] = {{"fp32", 21000, false}, {"fp32", 22600, true}, {"bf16", 10500, false}, {"bf16", 11300, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_row row;
        kw_error err = {0};
        rows_make(&row, 0, KERNELS);
        row.record.time_ns = row.record.median_ns = row.record.least_ns = cases[i].time_ns;
        snprintf(row.problem, sizeof row.problem, "gemm %s rcr b1 m256 n256 k128", cases[i].type);
        snprintf(row.record.config, sizeof row.record.config, "gemm.direct gemm %s tile_m=1", cases[i].type);
        assert_int_equal(kw_row_plausible(&row, &err), cases[i].taken ? KW_OK : KW_ILLEGAL);
    }
}

static void pipes_are_read_and_what_never_ends_is_not(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX], *line = NULL;
    kw_row row;
    kw_error err = {0};
    kw_import_report report;
    kw_store *store = open_store("s.db");
    rows_make(&row, 0, KERNELS);
    assert_int_equal(kw_row_print(&line, &row, NULL), KW_OK);
    assert_int_equal(mkfifo(scratch_path(path, folder, "pipe"), 0600), 0);
    assert_int_equal(kw_store_import(store, NULL, path, NULL, &report, &err), KW_IO); /* nobody writes */
    assert_int_equal(kw_store_import(store, NULL, "/dev/zero", NULL, &report, &err), KW_IO);
    pid_t child = fork();
    if (!child) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        usleep(100000); /* it takes its time */
        _exit(write(fd, line, strlen(line)) != (ssize_t)strlen(line));
    }
    assert_ok(kw_store_import(store, NULL, path, NULL, &report, &err), &err);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(report.added, 1);
    kw_store_close(&store);
    free(line);
}

/* 64 MB of blanks shrink to 64 kB. */
static void a_file_made_to_fill_memory_is_not_read_to_its_end(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX];
    static char blanks[1 << 20];
    memset(blanks, '\n', sizeof blanks);
    gzFile file = gzopen(scratch_path(path, folder, "bomb.jsonl.gz"), "wb9");
    for (int i = 0; i < 64; i++) {
        assert_int_equal(gzwrite(file, blanks, sizeof blanks), sizeof blanks);
    }
    gzclose(file);
    kw_store *store = open_store("s.db");
    kw_import_report report;
    kw_error err = {0};
    assert_int_equal(kw_store_import(store, "jsonl", path, NULL, &report, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "200 times"));
    kw_store_close(&store);
}

static void a_compressed_file_that_is_cut_off_is_an_error(void **state) {
    (void)state;
    kw_store *from = filled_store();
    export_as(from, "jsonl", "a.jsonl.gz", NULL);
    kw_store_close(&from);
    char path[2 * SCRATCH_MAX];
    assert_int_equal(truncate(scratch_path(path, folder, "a.jsonl.gz"), 3000), 0);
    kw_store *store = open_store("s.db");
    kw_import_report report;
    kw_error err = {0};
    assert_int_equal(kw_store_import(store, NULL, path, NULL, &report, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "cut off"));
    kw_store_close(&store);
}

static void an_export_replaces_its_file_only_when_it_is_whole(void **state) {
    (void)state;
    kw_store *store = filled_store();
    char path[2 * SCRATCH_MAX];
    kw_error err = {0};
    assert_int_equal(kw_store_export(store, NULL, "csv", scratch_path(path, folder, "no/such/folder.csv"), NULL, &err), KW_MISSING);
    assert_int_equal(kw_store_export(store, NULL, "parquet", scratch_path(path, folder, "a"), NULL, &err), KW_MISSING);
    assert_int_equal(kw_store_export(store, NULL, "csv", "/dev/full", NULL, &err), KW_IO);
    assert_int_equal(kw_store_export(store, NULL, "csv", "/dev/null", NULL, &err), KW_OK);
    assert_int_equal(scratch_count(folder, ".db"), scratch_count(folder, "")); /* nothing but the store and what stands beside it */
    kw_store_close(&store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_returns_exactly_in_each_format, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_csv_has_the_family_and_the_speed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(seed_csv_has_the_seeds_columns_and_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_seed_csv_cannot_hold_is_counted_or_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_kernels_are_kept_but_never_trusted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_that_cannot_be_true_are_refused_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(seed_rows_that_cannot_be_true_are_refused_by_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_are_none_of_ours_are_refused_whole, set_up, tear_down),
        cmocka_unit_test(the_peak_is_where_it_is_said_to_be),
        cmocka_unit_test_setup_teardown(pipes_are_read_and_what_never_ends_is_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_made_to_fill_memory_is_not_read_to_its_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_compressed_file_that_is_cut_off_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_export_replaces_its_file_only_when_it_is_whole, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
