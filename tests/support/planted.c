/* planted.c: see planted.h. */
#include "support/planted.h"

#include "backend/backend.h"
#include "jit/jit.h"
#include "support/kw_test.h"

#include <stdlib.h>
#include <string.h>

void planted_open(planted *texts) {
    char command[4 * SCRATCH_MAX];
    scratch_make(texts->folder);
    scratch_path(texts->kernels, texts->folder, "kernels");
    snprintf(command, sizeof command, "cp -r '%s' '%s'", KW_KERNEL_FOLDER, texts->kernels);
    assert_int_equal(system(command), 0);
    setenv("KW_KERNELS", texts->kernels, 1);
}

void planted_close(planted *texts) {
    unsetenv("KW_KERNELS");
    scratch_remove(texts->folder);
}

void planted_change(const planted *texts, const char *file, const char *text, const char *other) {
    char path[2 * SCRATCH_MAX];
    size_t size;
    scratch_path(path, texts->kernels, file);
    char *from = scratch_read(path, &size), *at = strstr(from, text);
    kw_text to = {0};
    if (!at) {
        fail_msg("%s has no '%s'", file, text);
    }
    kw_text_add_bytes(&to, from, (size_t)(at - from));
    kw_text_add(&to, other);
    kw_text_add(&to, at + strlen(text));
    scratch_write(path, kw_text_string(&to), to.size, 0600);
    kw_text_drop(&to);
    free(from);
}

void planted_verify(const char *config_text, const char *problem_text, kw_record *record) {
    planted_verify_on("emu:sm_90", config_text, problem_text, record);
}

void planted_verify_on(const char *device_name, const char *config_text, const char *problem_text, kw_record *record) {
    const kw_backend *backend = NULL;
    kw_device *device = NULL;
    kw_problem problem;
    kw_config config;
    kw_compiler compiler;
    kw_code code;
    kw_blob blob;
    kw_jit_result result;
    kw_kernel *kernel = NULL;
    kw_bench *bench = NULL;
    kw_error err = {0};
    int index = 0;
    assert_ok(kw_backend_find(&backend, &index, device_name, &err), &err);
    assert_ok(backend->open(&device, index, 1, &err), &err);
    assert_ok(kw_config_parse(&config, config_text, &err), &err);
    assert_ok(kw_problem_parse(&problem, problem_text, &err), &err);
    assert_ok(kw_config_serves(&config, &config, &problem, backend->target(device), &err), &err);
    assert_ok(kw_code_for(&code, backend->target(device)->backend, backend->target(device)->arch, &err), &err);
    if (kw_compiler_find(&compiler, getenv("KW_TEST_CC"), code, &err)) {
        print_message("skipped: %s\n", err.text);
        backend->close(&device);
        skip();
    }
    kw_jit jit = {.code = code, .compiler = &compiler};
    assert_ok(kw_jit_blob(&jit, &config, &blob, &result, &err), &err);
    assert_ok(backend->load(device, &config, &blob, &kernel, &err), &err);
    kw_blob_drop(&blob);
    assert_ok(kw_bench_open(&bench, backend, device, &problem, 0, &err), &err);
    assert_ok(kw_bench_verify(bench, kernel, &config, record, &err), &err);
    kw_bench_close(&bench);
    backend->unload(device, &kernel);
    backend->close(&device);
}

/* Whether the pair is as the fault says; tells it where not. */
static bool is_as_said(const planted_fault *fault, const planted_pair *pair) {
    kw_record record = {0};
    planted_verify(pair->config, pair->problem, &record);
    bool same = (record.outcome == KW_GOOD) == !fault->wrong;
    if (!same) {
        print_message("%s -> %s, %s: %s %s\n", fault->text, fault->other, pair->problem, kw_outcome_name(record.outcome), record.detail);
    }
    return same;
}

void planted_find(const planted_fault faults[], size_t fault_count, const planted_pair pairs[], size_t pair_count, const char *units) {
    int unlike = 0;
    setenv("KW_EMU_UNITS", units, 1);
    for (size_t i = 0; i < fault_count; i++) {
        planted texts;
        planted_open(&texts);
        planted_change(&texts, faults[i].file, faults[i].text, faults[i].other);
        for (size_t k = 0; k < pair_count; k++) {
            bool played = !faults[i].wrong || faults[i].wrong >> k & 1;
            unlike += played && !is_as_said(&faults[i], &pairs[k]);
        }
        planted_close(&texts);
    }
    unsetenv("KW_EMU_UNITS");
    assert_int_equal(unlike, 0);
}
