/* test_protocol.c: what a client and its worker say reads back as it was meant, anything else is refused by name; the status page. */

#include "sweep/worker/worker_status.h"
#include "sweep/worker/protocol.h"
#include "config/config.h"
#include "support/kw_test.h"

#include <float.h>
#include <unistd.h>

static kw_status read_text(kw_job_reader *reader, const char *text, kw_error *err) {
    kw_scan scan = kw_scan_string(text);
    kw_word line;
    kw_status status = KW_OK;
    while (!status && kw_scan_line(&scan, &line)) {
        status = kw_job_read(reader, line, err);
    }
    return status;
}

static void a_job_reads_back_as_it_was_given(void **state) {
    (void)state;
    kw_error err = {0};
    kw_problem problem, control_problem;
    kw_config kernel, control;
    assert_int_equal(kw_problem_parse(&problem, "conv_bwd_weight bf16 ngchw n2 g2 c64 k32 i9x11 f3x1 s2x1 p0x3 d1x2", &err), KW_OK);
    assert_int_equal(kw_problem_parse(&control_problem, "gemm fp32 ccr m7 n9 k11 b3", &err), KW_OK);
    assert_int_equal(kw_config_parse(&kernel, "conv.reference conv_bwd_weight bf16", &err), KW_OK);
    assert_int_equal(kw_config_parse(&control, "gemm.reference gemm fp32", &err), KW_OK);
    kw_worker_job_kernel kernels[] = {{&kernel, ""}, {&kernel, "0123-4567"}, {&kernel, NULL}};
    for (int with = 0; with < 2; with++) {
        kw_worker_job job = {.problem = &problem, .kernels = kernels, .count = 3, .seed = UINT64_MAX, .batches = 7};
        job.drop_ratio = 0.1 + 0.2;
        job.best_ns = DBL_MAX;
        job.cold = with;
        job.pack_weights = !with;
        job.verify_only = with;
        if (with) {
            job.control_problem = &control_problem;
            job.control = (kw_worker_job_kernel){&control, "abcd"};
        }
        kw_text text = {0}, again = {0};
        kw_job_reader reader = {0};
        kw_job_print(&text, &job);
        assert_int_equal(read_text(&reader, text.data, &err), KW_OK);
        assert_true(reader.complete);
        assert_memory_equal(reader.job.problem, &problem, sizeof problem);
        assert_int_equal(reader.job.count, 3);
        assert_string_equal(reader.job.kernels[0].key, "");
        assert_string_equal(reader.job.kernels[1].key, "0123-4567");
        assert_memory_equal(reader.job.kernels[2].config, &kernel, sizeof kernel);
        assert_true(reader.job.seed == UINT64_MAX && reader.job.drop_ratio == 0.1 + 0.2 && reader.job.best_ns == DBL_MAX);
        assert_true(reader.job.cold == (bool)with && reader.job.pack_weights == !with && reader.job.verify_only == (bool)with);
        assert_true((reader.job.control.config != NULL) == (bool)with);
        kw_job_print(&again, &reader.job);
        assert_string_equal(again.data, text.data);
        kw_text_drop(&text);
        kw_text_drop(&again);
        kw_job_drop(&reader);
    }
}

static void a_malformed_job_names_its_fault(void **state) {
    (void)state;
#define PROBLEM "problem gemm fp32 m1 n2 k3\n"
    static const struct {
        const char *text, *named;
    } cases[] = {
        {"go\n", "problem"},
        {"\n", "wanted"},
        {"jump\n", "jump"},
        {"problem gemm fp32 m1 n2\n", "k"},
        {"problem \1\2\n", "control characters"},
        {PROBLEM "go on\n", "go on"},
        {PROBLEM "go\ngo\n", "complete"},
        {PROBLEM "option speed 3\n", "speed"},
        {PROBLEM "option batches\n", "batches"},
        {PROBLEM "option batches -1\n", "-1"},
        {PROBLEM "option batches 3 4\n", "batches"},
        {PROBLEM "option batches 99999999999\n", "99999999999"},
        {PROBLEM "option cold 2\n", "cold"},
        {PROBLEM "option seed 18446744073709551616\n", "18446744073709551616"},
        {PROBLEM "option drop_ratio -1\n", "drop_ratio"},
        {PROBLEM "option drop_ratio nan\n", "nan"},
        {PROBLEM "option drop_ratio inf\n", "inf"},
        {PROBLEM "kernel 1 - gemm.reference gemm fp32\n", "kernel 0"},
        {PROBLEM "kernel 0\n", "kernel 0"},
        {PROBLEM "kernel 0 -\n", "FAMILY"},
        {PROBLEM "kernel 0 - gemm.reference gemm fp33\n", "fp33"},
        {PROBLEM "kernel 0 - gemm.reference gemm fp32\nkernel 0 - gemm.reference gemm fp32\n", "kernel 1"},
        {PROBLEM "control - gemm fp32 m1 n1 k1 gemm.reference gemm fp32\n", "|"},
        {PROBLEM "control - gemm fp32 m0 n1 k1 | gemm.reference gemm fp32\n", "m0"},
        {PROBLEM "control\n", "|"},
    };
#undef PROBLEM
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_job_reader reader = {0};
        kw_error err = {0};
        if (!read_text(&reader, cases[i].text, &err) || !strstr(err.text, cases[i].named)) {
            print_error("%s-> %s\n", cases[i].text, err.text);
            fail();
        }
        kw_job_drop(&reader);
    }
}

static void words_that_are_too_long_are_refused(void **state) {
    (void)state;
    static char line[3000];
    static const char *const starts[] = {"problem ", "kernel 0 ", "kernel 0 - ", "control - ", "option "};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        kw_job_reader reader = {0};
        int used = snprintf(line, sizeof line, "%s", starts[i]);
        memset(line + used, 'a', sizeof line - (size_t)used);
        assert_int_not_equal(kw_job_read(&reader, (kw_word){line, sizeof line}, NULL), KW_OK);
        kw_job_drop(&reader);
    }
}

static kw_record full_record(void) {
    return (kw_record){.outcome = KW_SLOW,
                       .time_ns = 1e9 / 3,
                       .spread_ns = DBL_MIN,
                       .median_ns = DBL_MAX,
                       .mad_ns = 0.1,
                       .least_ns = 5e-324,
                       .half_ns = {1.5, 2.5},
                       .samples = INT32_MAX,
                       .dropped = 1,
                       .calls = 2,
                       .warmups = 3,
                       .cold = true,
                       .workspace = INT64_MAX,
                       .error = 0.25,
                       .ulp = 1e300,
                       .detail = "a=b detail=c | \"d\""};
}

static void answers_read_back_as_they_were_given(void **state) {
    (void)state;
    kw_answer answers[KW_ANSWER_COUNT] = {
        [KW_ANSWER_HELLO] = {.number = KW_PROTOCOL, .text = "0.1.0"},
        [KW_ANSWER_TARGET] = {.text = "cpu:generic units=1"},
        [KW_ANSWER_DEVICE] = {.text = "A  device, by name"},
        [KW_ANSWER_RECORD] = {.number = 19, .record = full_record()},
        [KW_ANSWER_CONTROL] = {.value = -0.125, .record = full_record()},
        [KW_ANSWER_DONE] = {.value = 1e17 / 7},
        [KW_ANSWER_ERROR] = {.text = "all is lost"},
    };
    for (int i = 0; i < KW_ANSWER_COUNT; i++) {
        kw_answer again = {0};
        kw_text line = {0};
        kw_error err = {0};
        answers[i].kind = (kw_answer_kind)i;
        kw_answer_print(&line, &answers[i]);
        assert_int_equal(line.data[line.size - 1], '\n');
        assert_int_equal(kw_answer_read(&again, (kw_word){line.data, line.size - 1}, &err), KW_OK);
        assert_int_equal(again.kind, i);
        assert_int_equal(again.number, answers[i].number);
        assert_true(again.value == answers[i].value);
        assert_string_equal(again.text, answers[i].text);
        assert_memory_equal(&again.record, &answers[i].record, sizeof again.record);
        kw_text_drop(&line);
    }
}

static void every_outcome_has_a_word(void **state) {
    (void)state;
    for (int i = 0; i < KW_OUTCOME_COUNT; i++) {
        kw_answer answer = {.kind = KW_ANSWER_RECORD, .record = {.outcome = (kw_outcome)i}}, again = {0};
        kw_text line = {0};
        kw_answer_print(&line, &answer);
        assert_int_equal(kw_answer_read(&again, (kw_word){line.data, line.size - 1}, NULL), KW_OK);
        assert_int_equal(again.record.outcome, i);
        kw_text_drop(&line);
    }
}

static void an_answer_that_is_cut_or_changed_is_refused(void **state) {
    (void)state;
    kw_answer answer = {.kind = KW_ANSWER_RECORD, .record = full_record()}, again;
    kw_text line = {0};
    kw_answer_print(&line, &answer);
    size_t detail = (size_t)(strstr(line.data, "detail=") - line.data);
    for (size_t size = 0; size < detail + strlen("detail="); size++) {
        assert_int_equal(kw_answer_read(&again, (kw_word){line.data, size}, NULL), KW_MALFORMED);
    }
    static const char *const bad[] = {"",
                                      "records 0",
                                      "hello",
                                      "hello one",
                                      "done",
                                      "done kernel_ns=",
                                      "done 3",
                                      "done kernel_ns=-1",
                                      "done kernel_ns=nan",
                                      "control",
                                      "control drift=x",
                                      "record",
                                      "record -1",
                                      "record 99999999999",
                                      "record 0",
                                      "record 0 outcome=great",
                                      "\xff\xfe"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(kw_answer_read(&again, (kw_word){bad[i], strlen(bad[i])}, NULL), KW_MALFORMED);
    }
    kw_text_drop(&line);
}

static void a_text_with_line_ends_stays_one_line(void **state) {
    (void)state;
    kw_answer answer = {.kind = KW_ANSWER_ERROR, .text = "one\ntwo\tthree"}, again = {0};
    kw_text line = {0};
    kw_answer_print(&line, &answer);
    assert_string_equal(line.data, "error one two three\n");
    kw_text_drop(&line);
    answer = (kw_answer){.kind = KW_ANSWER_RECORD, .record = {.outcome = KW_WRONG, .detail = "one\ntwo"}};
    kw_answer_print(&line, &answer);
    assert_int_equal(kw_answer_read(&again, (kw_word){line.data, line.size - 1}, NULL), KW_OK);
    assert_string_equal(again.record.detail, "one two");
    kw_text_drop(&line);
}

static void a_status_page_shows_the_last_entry_on_both_sides(void **state) {
    (void)state;
    kw_worker_status *here = NULL, *there = NULL;
    int fd = -1;
    kw_error err = {0};
    assert_int_equal(kw_worker_status_create(&here, &fd, &err), KW_OK);
    assert_int_equal(kw_worker_status_map(&there, fd, &err), KW_OK);
    assert_int_not_equal(ftruncate(fd, 0), 0); /* sealed */
    uint64_t before = kw_worker_status_read(here).count;
    kw_worker_status_write(there, 17, KW_WORKER_STEP_VERIFY);
    kw_worker_progress mark = kw_worker_status_read(here);
    assert_int_equal(mark.kernel, 17);
    assert_int_equal(mark.step, KW_WORKER_STEP_VERIFY);
    assert_true(mark.count > before && mark.at_ns > 0);
    kw_worker_status_write(there, KW_WORKER_KERNEL_CONTROL, (kw_worker_step)77);
    assert_int_equal(kw_worker_status_read(here).step, KW_WORKER_STEP_IDLE);
    kw_worker_status_write(NULL, 1, KW_WORKER_STEP_LOAD);
    kw_worker_status_close(&here);
    kw_worker_status_close(&there);
    close(fd);
    assert_int_equal(kw_worker_status_map(&there, 0x7fffff, &err), KW_ENVIRONMENT);
    assert_null(there);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_reads_back_as_it_was_given),
        cmocka_unit_test(a_malformed_job_names_its_fault),
        cmocka_unit_test(words_that_are_too_long_are_refused),
        cmocka_unit_test(answers_read_back_as_they_were_given),
        cmocka_unit_test(every_outcome_has_a_word),
        cmocka_unit_test(an_answer_that_is_cut_or_changed_is_refused),
        cmocka_unit_test(a_text_with_line_ends_stays_one_line),
        cmocka_unit_test(a_status_page_shows_the_last_entry_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
