/* test_sweep.c: what a sweep asks its workers for and what it makes of their answers, seen through a pool without a process (fake_worker_client.c)
 * and a compiler that makes no code. */

#include "sweep/shards/shard.h"
#include "sweep/sweep_build.h"
#include "sweep/sweep_plan.h"
#include "config/gpu_arch.h"
#include "fake_worker_client.h"
#include "support/kw_test.h"
#include "support/device/code_object.h"
#include "support/scratch.h"

#include <sched.h>
#include <unistd.h>

#if defined __x86_64__
#define MACHINE "x86_64"
#else
#define MACHINE "aarch64"
#endif

enum { PROBLEMS = 6, CONFIGS_MAX = 16 };

/* Answers like gcc; its objects can be kept and found, and nobody loads them. */
static const char compiler_head[] =
    "#!/bin/sh\n"
    "if [ \"$1\" = -v ]; then echo 'Target: " MACHINE "-linux-gnu'; echo 'gcc version 9.9.9 (fake)'; exit 0; fi\n"
    "while [ \"$1\" != -o ]; do shift; done\n";

/* The last two are of another operation and another type. */
static const char *const problem_texts[PROBLEMS] = {
    "conv_fwd fp32 nhwgc n1 c64 k64 i14x14 f3x3 p1x1",    "conv_fwd fp32 nhwgc n2 c32 k32 i14x14 f1x1",
    "conv_fwd fp32 nhwgc n1 g16 c16 k16 i8x8 f3x3 p1x1",  "conv_fwd fp32 nhwgc n1 c256 k256 i28x28 f3x3 p1x1",
    "conv_bwd_data fp32 nhwgc n1 c16 k16 i8x8 f3x3 p1x1", "conv_fwd bf16 nhwgc n1 c16 k16 i8x8 f3x3 p1x1",
};

typedef struct fixture {
    char folder[SCRATCH_MAX], out[2 * SCRATCH_MAX], cache[2 * SCRATCH_MAX], compiler[2 * SCRATCH_MAX];
    char *texts[CONFIGS_MAX];
    const char *configs[2 * CONFIGS_MAX];
    size_t config_count;
    kw_problem problems[2 * PROBLEMS];
    kw_sweep_options options;
    kw_sweep_report report;
    kw_error err;
    int64_t told, last_done;
    double last_eta;
    bool went_back;
} fixture;

static bool add_config(void *user, const char *config) {
    fixture *f = user;
    assert_true(f->config_count < CONFIGS_MAX);
    f->texts[f->config_count] = strdup(config);
    f->configs[f->config_count] = f->texts[f->config_count];
    f->config_count++;
    return true;
}

static void write_compiler(fixture *f, const char *body) {
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

static int open_fixture(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    scratch_make(f->folder);
    scratch_path(f->out, f->folder, "results.db");
    scratch_path(f->cache, f->folder, "cache");
    scratch_path(f->compiler, f->folder, "fakecc");
    write_compiler(f, "cp /bin/true $2");
    kw_space_options tiny = {.size = sizeof(kw_space_options), .set = "tiny", .filter = "c.op == 'conv_fwd' and c.dtype == 'fp32'"};
    assert_int_equal(kw_space_visit(&tiny, add_config, f, &f->err), KW_OK);
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

static int close_fixture(void **state) {
    fixture *f = *state;
    for (size_t i = 0; i < f->config_count; i++) {
        free(f->texts[i]);
    }
    scratch_remove(f->folder);
    free(f);
    return 0;
}

static kw_status run(fixture *f) {
    f->told = f->last_done = 0;
    f->went_back = false;
    f->err = (kw_error){0};
    return kw_sweep(&f->options, &f->report, &f->err);
}

static void run_well(fixture *f) {
    if (run(f)) {
        fail_msg("%s", f->err.text);
    }
}

static int64_t rows_of(const kw_sweep_report *report) {
    int64_t rows = 0;
    for (int i = KW_GOOD; i < KW_OUTCOME_COUNT; i++) {
        rows += report->outcome[i];
    }
    return rows;
}

/* What a store holds. */
typedef struct contents {
    int64_t rows, answers, pairs, runs, sequence;
    bool ascends;
    char detail[256];
    kw_outcome wanted;
    int64_t matched, negative;
} contents;

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

static contents look(const fixture *f, const char *path, kw_outcome wanted) {
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

/* --- pairs -------------------------------------------------------------------------------------------------------- */

static void every_pair_has_one_row(void **state) {
    fixture *f = *state;
    int64_t pairs = 4 * (int64_t)f->config_count;
    run_well(f);
    assert_int_equal(f->report.pairs, pairs);
    assert_int_equal(f->report.skipped, 0);
    assert_int_equal(rows_of(&f->report), pairs);
    assert_int_equal(f->report.outcome[KW_UNTRIED], 0);
    assert_true(f->report.outcome[KW_GOOD] > 0 && f->report.outcome[KW_UNFIT] > 0);
    assert_int_equal(f->report.outcome[KW_GOOD], fake.count);
    assert_false(f->report.stopped);
    assert_int_equal(f->report.workers_lost, 1);
    contents c = look(f, f->out, KW_UNFIT);
    assert_int_equal(c.rows, pairs);
    assert_int_equal(c.answers, pairs);
    assert_int_equal(c.runs, 1);
    assert_int_equal(c.negative, 0);
    assert_int_equal(c.matched, f->report.outcome[KW_UNFIT]);
    assert_true(*c.detail); /* which rule */
}

static void what_comes_twice_counts_once(void **state) {
    fixture *f = *state;
    for (size_t i = 0; i < f->config_count; i++) {
        f->configs[f->config_count + i] = f->configs[i];
    }
    memcpy(f->problems + 4, f->problems, 4 * sizeof *f->problems);
    f->options.config_count = 2 * f->config_count;
    f->options.problem_count = 8;
    run_well(f);
    assert_int_equal(f->report.pairs, 4 * (int64_t)f->config_count);
    assert_int_equal(look(f, f->out, KW_GOOD).rows, f->report.pairs);
}

static void pairs_are_of_one_operation_and_type(void **state) {
    fixture *f = *state;
    f->options.problem_count = PROBLEMS;
    run_well(f);
    assert_int_equal(f->report.pairs, 4 * (int64_t)f->config_count);
    f->options.problems = f->problems + 4;
    f->options.problem_count = 2;
    run_well(f);
    assert_int_equal(f->report.pairs, 0);
}

static void problems_are_shared_out_whole(void **state) {
    fixture *f = *state;
    int64_t pairs = 0;
    char path[3 * SCRATCH_MAX];
    for (int32_t shard = 0; shard < 3; shard++) {
        f->options.shard.index = shard;
        f->options.shard.count = 3;
        fake_reset();
        run_well(f);
        pairs += f->report.pairs;
        assert_int_equal(f->report.pairs % (int64_t)f->config_count, 0);
        for (size_t i = 0; i < fake.count; i++) {
            kw_problem problem;
            assert_int_equal(kw_problem_parse(&problem, fake.asked[i].problem, NULL), KW_OK);
            assert_int_equal(kw_shard_of(&problem, 3, 0), shard);
        }
        snprintf(path, sizeof path, "%s.shard-%d-of-3.jsonl", f->out, shard + 1);
        assert_true(!f->report.pairs || !access(path, F_OK));
    }
    assert_int_equal(pairs, 4 * (int64_t)f->config_count);
    fake_reset();
    run_well(f); /* the last one again: its segment knows */
    assert_int_equal(fake.count, 0);
    assert_int_equal(f->report.skipped, f->report.pairs);
}

/* --- resuming ----------------------------------------------------------------------------------------------------- */

static void what_has_a_row_is_skipped(void **state) {
    fixture *f = *state;
    f->options.problem_count = 2;
    run_well(f);
    int64_t before = f->report.pairs;
    f->options.problem_count = 4;
    fake_reset();
    run_well(f);
    assert_int_equal(f->report.skipped, before);
    assert_int_equal(rows_of(&f->report), f->report.pairs - before);
    fake_reset();
    run_well(f);
    assert_int_equal(f->report.skipped, f->report.pairs);
    assert_int_equal(rows_of(&f->report), 0);
    assert_int_equal(fake.count, 0);
    contents c = look(f, f->out, KW_GOOD);
    assert_int_equal(c.rows, f->report.pairs);
    assert_int_equal(c.runs, 2); /* a run that had nothing to do says nothing */
}

static kw_outcome take_a_while(const char *problem, const char *config) {
    (void)problem;
    (void)config;
    usleep(20000);
    return KW_GOOD;
}

static void a_budget_ends_a_sweep_in_good_order(void **state) {
    fixture *f = *state;
    fake.outcome = take_a_while;
    f->options.workers.batch = 1;
    f->options.limits.budget_s = 1e-9; /* spent before anything is built */
    run_well(f);
    assert_true(f->report.spent && !f->report.stopped);
    assert_int_equal(fake.count, 0);
    assert_int_equal(f->report.built, 0);
    f->options.limits.budget_s = 60;
    run_well(f);
    size_t all = fake.count;
    assert_false(f->report.spent);
    assert_true(all > 3);

    /* The kernels are built by now: the time is that of measuring. */
    unlink(f->out);
    fake_reset();
    fake.outcome = take_a_while;
    f->options.limits.budget_s = 0.02 * (double)all / 2;
    run_well(f);
    assert_true(f->report.spent && !f->report.stopped);
    assert_in_range(fake.count, 0, all - 1); /* half of them, and fewer on a machine that has other work */
    assert_int_equal(f->report.outcome[KW_UNTRIED], f->report.pairs - rows_of(&f->report));
    assert_int_equal(look(f, f->out, KW_GOOD).rows, rows_of(&f->report));
    f->options.limits.budget_s = 0;
    run_well(f);
    assert_false(f->report.spent);
    assert_int_equal(fake.count, all);
    assert_int_equal(look(f, f->out, KW_GOOD).answers, f->report.pairs);
    f->options.limits.budget_s = -1;
    assert_int_equal(run(f), KW_ILLEGAL);
}

static void a_stop_keeps_what_was_measured_and_the_rest_comes_later(void **state) {
    fixture *f = *state;
    run_well(f);
    size_t all = fake.count;
    for (size_t limit = 1; limit < all; limit++) {
        unlink(f->out);
        f->options.workers.batch = 2;
        fake_reset();
        fake.limit = limit;
        run_well(f);
        int64_t written = rows_of(&f->report);
        assert_true(f->report.stopped);
        assert_int_equal(f->report.outcome[KW_GOOD], limit);
        assert_int_equal(f->report.outcome[KW_UNTRIED], f->report.pairs - written);
        assert_int_equal(look(f, f->out, KW_GOOD).rows, written);
        fake_reset();
        run_well(f);
        assert_int_equal(f->report.skipped, written);
        assert_int_equal(fake.count, all - limit);
        assert_int_equal(look(f, f->out, KW_GOOD).answers, f->report.pairs);
    }
}

static void overwriting_drops_these_pairs_and_no_others(void **state) {
    fixture *f = *state;
    f->options.timing.cold = true;
    run_well(f);
    f->options.timing.cold = false;
    run_well(f);
    int64_t pairs = f->report.pairs;
    f->options.problem_count = 1;
    f->options.overwrite = true;
    fake_reset();
    run_well(f);
    assert_int_equal(f->report.skipped, 0);
    assert_int_equal(rows_of(&f->report), f->report.pairs);
    assert_true(fake.count > 0);
    contents c = look(f, f->out, KW_GOOD);
    assert_int_equal(c.rows, 2 * pairs);
    assert_int_equal(c.answers, 2 * pairs);
    assert_int_equal(c.runs, 3);
}

static void counting_leaves_no_trace(void **state) {
    fixture *f = *state;
    f->options.count_only = f->options.overwrite = true;
    run_well(f);
    int64_t unfit = f->report.outcome[KW_UNFIT], fit = f->report.outcome[KW_UNTRIED];
    assert_int_equal(unfit + fit, f->report.pairs);
    assert_int_equal(access(f->out, F_OK), -1);
    assert_int_equal(fake.count, 0);
    f->options.count_only = false;
    run_well(f);
    assert_int_equal(fake.count, fit);
    assert_int_equal(f->report.outcome[KW_UNFIT], unfit);
    f->options.count_only = true;
    run_well(f);
    assert_int_equal(f->report.skipped, f->report.pairs);
    assert_int_equal(look(f, f->out, KW_GOOD).rows, f->report.pairs);
}

/* --- building ----------------------------------------------------------------------------------------------------- */

static void a_kernel_that_does_not_compile_is_a_row_for_each_problem(void **state) {
    fixture *f = *state;
    write_compiler(f, "echo 'kernel.c:3:1: error: no such luck' >&2; exit 1");
    f->options.timing.verify_only = false;
    run_well(f);
    contents c = look(f, f->out, KW_UNCOMPILED);
    assert_true(c.matched > 0);
    assert_int_equal(c.matched, f->report.outcome[KW_UNCOMPILED]);
    assert_non_null(strstr(c.detail, "no such luck"));
    assert_int_equal(rows_of(&f->report), f->report.pairs);
    assert_int_equal(f->report.built, 0);
    for (size_t i = 0; i < fake.count; i++) {
        assert_non_null(strstr(fake.asked[i].config, "reference")); /* these are compiled in */
        assert_false(fake.asked[i].has_control);
    }
    assert_true(fake.count > 0);
}

/* --- resources of GPU kernels ------------------------------------------------------------------------------------- */

/* What a compiler makes of each kernel: one is sound, one spills 7 registers, one wants more shared memory than there is. */
static const struct {
    const char *family, *file;
    unsigned counts[6];
} objects[] = {{"conv.reference_gpu", "sound.o", {120, 0, 40, 16384, 0, 0}},
               {"conv.depthwise_block", "spilling.o", {256, 0, 40, 0, 32, 7}},
               {"conv.igemm", "large.o", {100, 0, 40, 65537, 0, 0}}};
enum { OBJECTS = sizeof objects / sizeof *objects };

static bool add_one_of_each(void *user, const char *config) {
    fixture *f = user;
    for (size_t i = 0; i < f->config_count; i++) {
        if (!strncmp(f->texts[i], config, strcspn(config, " "))) {
            return true;
        }
    }
    return add_config(user, config);
}

/* A clang whose objects are those above, by the family that the source's first line names, for a device that is a gfx942. */
static void become_amd(fixture *f, kw_target *target) {
    char text[4 * SCRATCH_MAX + 1024], path[2 * SCRATCH_MAX];
    int size = snprintf(text, sizeof text,
                        "#!/bin/sh\n"
                        "if [ \"$1\" = -v ]; then echo 'clang version 19.1.0 (fake)'; echo 'Target: " MACHINE "-linux-gnu'; exit 0; fi\n"
                        "if [ \"$1\" = -print-prog-name=lld ]; then echo \"$0\"; exit 0; fi\n"
                        "if [ \"$3\" = --version ]; then echo 'LLD 19.1.0'; exit 0; fi\n"
                        "verb=$1; while [ \"$1\" != -o ]; do shift; done\n"
                        "if [ \"$verb\" = -flavor ]; then cp \"$3\" \"$2\"; exit; fi\n"
                        "case \"$(head -n 1 \"$3\")\" in\n");
    for (size_t i = 0; i < OBJECTS; i++) {
        kw_blob blob = code_object_of(objects[i].counts);
        scratch_path(path, f->folder, objects[i].file);
        scratch_write(path, blob.data, blob.size, 0600);
        kw_blob_drop(&blob);
        size += snprintf(text + size, sizeof text - (size_t)size, "*%s*) cp '%s' \"$2\";;\n", objects[i].family, path);
    }
    size += snprintf(text + size, sizeof text - (size_t)size, "*) exit 1;;\nesac\n");
    scratch_write(f->compiler, text, (size_t)size, 0700);
    while (f->config_count) {
        free(f->texts[--f->config_count]);
    }
    kw_space_options tiny = {.size = sizeof(kw_space_options),
                             .set = "tiny",
                             .arch = "gfx942",
                             .filter = "c.op == 'conv_fwd' and c.dtype == 'bf16' and (c.family == 'conv.reference_gpu' or (c.family == "
                                       "'conv.igemm' and c.tile_m == 16 and c.ndim == 2 and c.spec == 'default') or c.family == "
                                       "'conv.depthwise_block' and c.stride == 1 and c.order == 'last')"};
    assert_int_equal(kw_space_visit(&tiny, add_one_of_each, f, &f->err), KW_OK);
    assert_int_equal(f->config_count, OBJECTS);
    assert_int_equal(kw_problem_parse(&f->problems[0], "conv_fwd bf16 nhwgc n8 g16 c16 k16 i8x8 f3x3 p1x1", &f->err), KW_OK);
    assert_int_equal(kw_problem_parse(&f->problems[1], "conv_fwd bf16 nhwgc n1 c16 k16 i8x8 f3x3 p1x1", &f->err), KW_OK);
    f->options.problem_count = 2;
    f->options.config_count = OBJECTS;
    *target = kw_gpu_arch_find("gfx942")->typical;
    target->backend = KW_BACKEND_HIP;
    fake.target = target;
}

static bool was_asked(const char *family) {
    bool asked = false;
    for (size_t i = 0; i < fake.count; i++) {
        asked |= !strncmp(fake.asked[i].config, family, strlen(family));
    }
    return asked;
}

static void a_kernel_that_spills_or_is_too_large_is_a_row_and_is_not_run(void **state) {
    fixture *f = *state;
    kw_target target;
    become_amd(f, &target);
    run_well(f);
    contents c = look(f, f->out, KW_SPILLS);
    assert_int_equal(c.matched, 1); /* the depthwise problem */
    assert_int_equal(f->report.outcome[KW_SPILLS], 1);
    assert_non_null(strstr(c.detail, "28 bytes"));
    assert_non_null(strstr(c.detail, "256 registers"));
    c = look(f, f->out, KW_TOO_MUCH_LDS);
    assert_int_equal(c.matched, 1); /* the other one */
    assert_int_equal(f->report.outcome[KW_TOO_MUCH_LDS], 1);
    assert_non_null(strstr(c.detail, "65537 bytes of shared memory; gfx942 gives 65536"));
    assert_int_equal(f->report.outcome[KW_GOOD], 2);
    assert_int_equal(rows_of(&f->report), f->report.pairs);
    assert_true(was_asked("conv.reference_gpu"));
    assert_false(was_asked("conv.depthwise_block"));
    assert_false(was_asked("conv.igemm"));
    run_well(f);
    assert_int_equal(f->report.skipped, f->report.pairs); /* they have rows */
}

static void spilling_kernels_are_run_when_so_many_bytes_are_allowed(void **state) {
    fixture *f = *state;
    static const int32_t limits[] = {28, -1, 27};
    kw_target target;
    become_amd(f, &target);
    f->options.overwrite = true;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        fake_reset();
        fake.target = &target;
        f->options.build.spill_limit = limits[i];
        run_well(f);
        assert_int_equal(was_asked("conv.depthwise_block"), limits[i] != 27);
        assert_int_equal(f->report.outcome[KW_SPILLS], limits[i] == 27);
        assert_int_equal(f->report.outcome[KW_TOO_MUCH_LDS], 1);
    }
    f->options.build.spill_limit = 0;
    assert_int_equal(setenv("KW_SPILL_LIMIT", "28", 1), 0);
    run_well(f);
    assert_int_equal(f->report.outcome[KW_SPILLS], 0);
    assert_int_equal(setenv("KW_SPILL_LIMIT", "much", 1), 0);
    assert_int_equal(run(f), KW_ILLEGAL);
    assert_non_null(strstr(f->err.text, "KW_SPILL_LIMIT=much"));
    unsetenv("KW_SPILL_LIMIT");
}

static void kernels_are_kept_beside_the_store_when_the_cache_is_of_no_use(void **state) {
    fixture *f = *state;
    char beside[3 * SCRATCH_MAX];
    snprintf(beside, sizeof beside, "%s.kernels", f->out);
    f->options.build.cache_dir = "/proc/nowhere";
    run_well(f);
    assert_int_equal(access(beside, F_OK), 0);
    assert_true(f->report.built > 0);
    assert_int_equal(rows_of(&f->report), f->report.pairs);
    unlink(f->out);
    run_well(f);
    assert_int_equal(f->report.built, 0);
    assert_true(f->report.cached > 0);
}

static void without_compiler_and_cache_the_environment_is_to_blame(void **state) {
    fixture *f = *state;
    f->options.build.compiler = "";
    assert_int_equal(run(f), KW_ENVIRONMENT);
    assert_non_null(strstr(f->err.text, "compiler"));
    assert_int_equal(fake.count, 0);
}

/* The fake worker's kernels are as slow as it takes somebody to clear the cache. */
static kw_outcome clear_the_cache(const char *problem, const char *config) {
    (void)problem;
    (void)config;
    const char *folder = getenv("KW_TEST_CACHE");
    for (unsigned i = 0; folder && i < 256; i++) {
        char path[2 * SCRATCH_MAX], digits[4];
        snprintf(digits, sizeof digits, "%02x", i & 255);
        scratch_remove(scratch_path(path, folder, digits));
    }
    return KW_GOOD;
}

static void a_kernel_that_left_the_cache_is_made_again(void **state) {
    fixture *f = *state;
    setenv("KW_TEST_CACHE", f->cache, 1);
    fake.outcome = clear_the_cache;
    f->options.workers.batch = 1;
    run_well(f);
    unsetenv("KW_TEST_CACHE");
    assert_int_equal(f->report.outcome[KW_GOOD], f->report.pairs - f->report.outcome[KW_UNFIT]);
    for (size_t i = 0; i < fake.count; i++) {
        assert_true(fake.asked[i].present);
    }
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */

static void the_order_is_decided_by_texts_and_seed(void **state) {
    fixture *f = *state;
    fake_asked *first = calloc(FAKE_ASKED_MAX, sizeof *first);
    assert_non_null(first);
    run_well(f);
    size_t count = fake.count;
    memcpy(first, fake.asked, count * sizeof *first);
    for (int round = 0; round < 3; round++) { /* the same lists, turned around, another seed */
        for (size_t i = 0; round == 1 && i < 2; i++) {
            kw_problem held = f->problems[i];
            f->problems[i] = f->problems[3 - i];
            f->problems[3 - i] = held;
        }
        for (size_t i = 0; round == 1 && i < f->config_count / 2; i++) {
            const char *held = f->configs[i];
            f->configs[i] = f->configs[f->config_count - 1 - i];
            f->configs[f->config_count - 1 - i] = held;
        }
        f->options.timing.seed = round == 2 ? 12345 : 0;
        unlink(f->out);
        fake_reset();
        run_well(f);
        assert_int_equal(fake.count, count);
        bool same = true;
        for (size_t i = 0; i < count; i++) {
            same = same && !strcmp(first[i].problem, fake.asked[i].problem) && !strcmp(first[i].config, fake.asked[i].config);
        }
        assert_int_equal(same, round != 2);
    }
    free(first);
}

static void batches_are_as_large_as_asked_and_carry_the_best_time(void **state) {
    fixture *f = *state;
    f->options.timing.verify_only = false;
    f->options.workers.batch = 1;
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        f->options.timing.exhaustive = exhaustive;
        unlink(f->out);
        fake_reset();
        run_well(f);
        double best = 0;
        for (size_t i = 0; i < fake.count; i++) {
            const fake_asked *a = &fake.asked[i];
            best = i && !strcmp(a->problem, fake.asked[i - 1].problem) ? best : 0;
            assert_int_equal(a->batch, 1);
            assert_true(a->has_control);
            assert_true(a->best_ns == best);
            assert_true(exhaustive ? a->drop_ratio == 0 : a->drop_ratio == 3);
            double ns = 1000 + (double)(kw_hash64(a->config, strlen(a->config)) % 1000);
            best = best <= 0 || ns < best ? ns : best;
        }
        assert_true(f->report.kernel_s > 0);
    }
}

static void options_reach_the_worker(void **state) {
    fixture *f = *state;
    f->options.timing.cold = f->options.timing.fresh_weights = true;
    run_well(f);
    assert_true(fake.count > 0);
    for (size_t i = 0; i < fake.count; i++) {
        assert_true(fake.asked[i].cold && fake.asked[i].verify_only);
        assert_false(fake.asked[i].pack_weights || fake.asked[i].has_control);
    }
    f->options.timing.cold = f->options.timing.fresh_weights = false;
    fake_reset();
    run_well(f); /* other times are other pairs */
    assert_true(fake.count > 0 && fake.asked[0].pack_weights && !fake.asked[0].cold);
}

static kw_outcome some_fail(const char *problem, const char *config) {
    static const kw_outcome outcomes[] = {KW_WRONG, KW_CRASHED, KW_TIMED_OUT, KW_SLOW, KW_MISTRUSTED, KW_UNLAUNCHED};
    return outcomes[(strlen(problem) + strlen(config)) % (sizeof outcomes / sizeof *outcomes)];
}

static void failures_are_rows_and_are_not_tried_again(void **state) {
    fixture *f = *state;
    fake.outcome = some_fail;
    run_well(f);
    assert_int_equal(rows_of(&f->report), f->report.pairs);
    assert_int_equal(f->report.outcome[KW_GOOD], 0);
    fake_reset();
    run_well(f);
    assert_int_equal(fake.count, 0);
}

static void progress_never_goes_back_and_ends_at_its_total(void **state) {
    fixture *f = *state;
    f->options.workers.batch = 1;
    run_well(f);
    assert_true(f->told >= 3);
    assert_false(f->went_back);
    assert_int_equal(f->last_done, fake.count);
    assert_true(f->last_eta >= 0 && f->last_eta < 1e-6);
}

static void a_pool_that_fails_ends_the_sweep_and_loses_nothing(void **state) {
    fixture *f = *state;
    f->options.workers.batch = 1;
    fake.fail_after = 3;
    assert_int_equal(run(f), KW_ENVIRONMENT);
    assert_non_null(strstr(f->err.text, "told to fail"));
    assert_int_equal(f->report.outcome[KW_GOOD], 3);
    assert_int_equal(look(f, f->out, KW_GOOD).matched, 3);
    fake_reset();
    fake.open_status = KW_ENVIRONMENT;
    assert_int_equal(run(f), KW_ENVIRONMENT);
    fake_reset();
    run_well(f);
    assert_int_equal(look(f, f->out, KW_GOOD).answers, f->report.pairs);
}

static void devices_share_problems_and_cores(void **state) {
    fixture *f = *state;
    cpu_set_t set;
    f->options.workers.devices = "cpu,cpu";
    if (sched_getaffinity(0, sizeof set, &set) || CPU_COUNT(&set) < 2) {
        assert_int_equal(run(f), KW_ILLEGAL);
        assert_non_null(strstr(f->err.text, "disturb"));
        return;
    }
    f->options.workers.batch = 1;
    run_well(f);
    assert_int_equal(fake.opened, 2);
    assert_int_equal(rows_of(&f->report), f->report.pairs);
    assert_int_equal(look(f, f->out, KW_GOOD).answers, f->report.pairs);
    f->options.workers.threads = CPU_COUNT(&set);
    assert_int_equal(run(f), KW_ILLEGAL);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

static void a_sweep_without_sense_is_refused_before_anything_starts(void **state) {
    fixture *f = *state;
    kw_sweep_options good = f->options;
    const struct {
        kw_sweep_options options;
        kw_status status;
        const char *words;
    } cases[] = {
        {{.configs = f->configs, .config_count = 1, .out = f->out}, KW_ILLEGAL, "nothing to do"},
        {{.problems = f->problems, .problem_count = 1, .out = f->out}, KW_ILLEGAL, "nothing to do"},
        {{.configs = f->configs, .config_count = 1, .problems = f->problems, .problem_count = 1}, KW_ILLEGAL, "place for its rows"},
        {{.pairs = "/nonexistent", .out = f->out}, KW_MISSING, "/nonexistent"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f->options = cases[i].options;
        f->options.size = sizeof f->options;
        kw_status status = run(f);
        if (status != cases[i].status && !(status == KW_IO && i == 3)) {
            fail_msg("case %zu: %s %s", i, kw_status_name(status), f->err.text);
        }
        assert_non_null(strstr(f->err.text, cases[i].words));
    }
    f->options = good;
    f->options.shard.count = 2;
    f->options.shard.index = 2;
    assert_int_equal(run(f), KW_ILLEGAL);
    f->options = good;
    f->options.out = "/nonexistent/folder/results.db";
    assert_true(run(f) == KW_IO || f->err.status == KW_MISSING);
    assert_int_equal(fake.opened, 0);
    f->options = good;
    f->options.workers.devices = "cpu,,cpu";
    assert_int_equal(run(f), KW_MALFORMED);
    f->options = good;
    f->options.workers.program = NULL;
    assert_int_equal(run(f), KW_MISSING); /* this test program is no kwright */
    assert_int_equal(kw_sweep(NULL, NULL, &f->err), KW_ILLEGAL);
    assert_int_equal(fake.opened, 0);
}

static void the_control_kernel_serves_every_known_architecture(void **state) {
    (void)state;
    static const char *const archs[] = {"generic", "x86-64-v3", "x86-64-v4", "x86-64-v4-bf16"};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        kw_target target;
        kw_config config;
        kw_problem problem;
        char text[KW_TARGET_TEXT_MAX];
        snprintf(text, sizeof text, "cpu:%s model=any units=1 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432", archs[i]);
        assert_int_equal(kw_target_parse(&target, text, NULL), KW_OK);
        assert_true(kw_sweep_control_find(&config, &problem, &target));
        assert_int_equal(kw_config_fits(&config, &problem, &target, NULL), KW_OK);
    }
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_fixture, close_fixture)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(every_pair_has_one_row),
        WITH(what_comes_twice_counts_once),
        WITH(pairs_are_of_one_operation_and_type),
        WITH(problems_are_shared_out_whole),
        WITH(what_has_a_row_is_skipped),
        WITH(a_budget_ends_a_sweep_in_good_order),
        WITH(a_stop_keeps_what_was_measured_and_the_rest_comes_later),
        WITH(overwriting_drops_these_pairs_and_no_others),
        WITH(counting_leaves_no_trace),
        WITH(a_kernel_that_does_not_compile_is_a_row_for_each_problem),
        WITH(a_kernel_that_spills_or_is_too_large_is_a_row_and_is_not_run),
        WITH(spilling_kernels_are_run_when_so_many_bytes_are_allowed),
        WITH(kernels_are_kept_beside_the_store_when_the_cache_is_of_no_use),
        WITH(without_compiler_and_cache_the_environment_is_to_blame),
        WITH(a_kernel_that_left_the_cache_is_made_again),
        WITH(the_order_is_decided_by_texts_and_seed),
        WITH(batches_are_as_large_as_asked_and_carry_the_best_time),
        WITH(options_reach_the_worker),
        WITH(failures_are_rows_and_are_not_tried_again),
        WITH(progress_never_goes_back_and_ends_at_its_total),
        WITH(a_pool_that_fails_ends_the_sweep_and_loses_nothing),
        WITH(devices_share_problems_and_cores),
        WITH(a_sweep_without_sense_is_refused_before_anything_starts),
        cmocka_unit_test(the_control_kernel_serves_every_known_architecture),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fake_drop();
    return failed;
}
