/* sweep_fixture.c: see sweep_fixture.h. */
#include "sweep_fixture.h"

/* Answers like gcc; its objects can be kept and found, and nobody loads them. */
static const char compiler_head[] =
    "#!/bin/sh\n"
    "if [ \"$1\" = -v ]; then echo 'Target: " MACHINE "-linux-gnu'; echo 'gcc version 9.9.9 (fake)'; exit 0; fi\n"
    "while [ \"$1\" != -o ]; do shift; done\n";

const char *const problem_texts[PROBLEMS] = {
    "conv_fwd fp32 nhwgc n1 c64 k64 i14x14 f3x3 p1x1",    "conv_fwd fp32 nhwgc n2 c32 k32 i14x14 f1x1",
    "conv_fwd fp32 nhwgc n1 g16 c16 k16 i8x8 f3x3 p1x1",  "conv_fwd fp32 nhwgc n1 c256 k256 i28x28 f3x3 p1x1",
    "conv_bwd_data fp32 nhwgc n1 c16 k16 i8x8 f3x3 p1x1", "conv_fwd bf16 nhwgc n1 c16 k16 i8x8 f3x3 p1x1",
};

bool fixture_add_config(void *user, const char *config) {
    fixture *f = user;
    assert_true(f->config_count < CONFIGS_MAX);
    f->texts[f->config_count] = strdup(config);
    f->configs[f->config_count] = f->texts[f->config_count];
    f->config_count++;
    return true;
}

void fixture_write_compiler(fixture *f, const char *body) {
    char text[1024];
    int size = snprintf(text, sizeof text, "%s%s\n", compiler_head, body);
    scratch_write(f->compiler, text, (size_t)size, 0700);
}

static void see_progress(void *user, const kw_sweep_progress *now) {
    fixture *f = user;
    f->told++;
    if (!strcmp(now->phase, "measure")) {
        f->went_back |= now->done < f->last_done || now->done > now->total;
        f->last_done = now->done;
        f->last_eta = now->eta_s;
    }
}

int fixture_open(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    scratch_make(f->folder);
    scratch_path(f->out, f->folder, "results.db");
    scratch_path(f->cache, f->folder, "cache");
    scratch_path(f->compiler, f->folder, "fakecc");
    fixture_write_compiler(f, "cp /bin/true $2");
    kw_space_options tiny = {.size = sizeof(kw_space_options), .set = "tiny", .filter = "c.op == 'conv_fwd' and c.dtype == 'fp32'"};
    assert_int_equal(kw_space_visit(&tiny, fixture_add_config, f, &f->err), KW_OK);
    assert_true(f->config_count >= 3);
    for (size_t i = 0; i < PROBLEMS; i++) {
        assert_int_equal(kw_problem_parse(&f->problems[i], problem_texts[i], &f->err), KW_OK);
    }
    f->options = (kw_sweep_options){
        .size = sizeof(kw_sweep_options),
        .configs = f->configs,
        .config_count = f->config_count,
        .problems = f->problems,
        .problem_count = 4,
        .out = f->out,
        .workers.program = "/nonexistent",
        .build.cache_dir = f->cache,
        .build.compiler = f->compiler,
        .timing.verify_only = true, /* measures no roofs */
        .stop = &fake.stop,
        .progress = see_progress,
        .user = f,
    };
    fake_reset();
    *state = f;
    return 0;
}

int fixture_close(void **state) {
    fixture *f = *state;
    for (size_t i = 0; i < f->config_count; i++) {
        free(f->texts[i]);
    }
    scratch_remove(f->folder);
    free(f);
    return 0;
}

kw_status fixture_run(fixture *f) {
    f->told = f->last_done = 0;
    f->went_back = false;
    f->err = (kw_error){0};
    return kw_sweep(&f->options, &f->report, &f->err);
}

void fixture_run_well(fixture *f) {
    if (fixture_run(f)) {
        fail_msg("%s", f->err.text);
    }
}

int64_t fixture_rows(const kw_sweep_report *report) {
    int64_t rows = 0;
    for (int i = KW_GOOD; i < KW_OUTCOME_COUNT; i++) {
        rows += report->outcome[i];
    }
    return rows;
}

static bool see_row(void *user, const kw_row *row) {
    contents *c = user;
    c->rows++;
    c->negative += row->compile_ns < 0 || row->record.time_ns < 0 || row->sequence <= 0 || !*row->time || row->pid <= 0;
    if (row->record.outcome == c->wanted) {
        c->matched++;
        snprintf(c->detail, sizeof c->detail, "%s", row->record.detail);
    }
    return true;
}

static bool see_answer(void *user, const kw_row *row) {
    (void)row;
    ((contents *)user)->answers++;
    return true;
}

static bool see_run(void *user, const kw_run *run) {
    (void)run;
    ((contents *)user)->runs++;
    return true;
}

contents fixture_look(const fixture *f, const char *path, kw_outcome wanted) {
    contents c = {.wanted = wanted};
    kw_store *store = NULL;
    kw_error err = {0};
    if (kw_store_open(&store, path, KW_STORE_READ, &err)) {
        fail_msg("%s", err.text);
    }
    kw_row_filter answers = {.size = sizeof(kw_row_filter), .answers = true};
    assert_int_equal(kw_store_check(store, NULL), KW_OK);
    assert_int_equal(kw_store_visit(store, NULL, see_row, &c, NULL), KW_OK);
    assert_int_equal(kw_store_visit(store, &answers, see_answer, &c, NULL), KW_OK);
    assert_int_equal(kw_store_visit_runs(store, see_run, &c, NULL), KW_OK);
    kw_store_close(&store);
    (void)f;
    return c;
}
