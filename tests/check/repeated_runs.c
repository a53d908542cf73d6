/* repeated_runs.c: see the header. */
#include "check/repeated_runs.h"

#include "measure/bench.h"
#include "problem/reference.h"

#include <stdlib.h>
#include <string.h>

static kw_status run_into(unsigned char *bytes, size_t size, kw_prepared *ready, kw_error *err) {
    kw_buffer *result = &ready->bench->result;
    kw_status status = kw_buffer_poison(result, 0x7f, err);
    status = status ? status : kw_prepared_run(ready, KW_SET_REAL, KW_RUN_ALL, true, err);
    return status ? status : kw_buffer_read(result, 0, bytes, size, err);
}

/* Which element is the first to differ. */
static kw_status compare_runs(const repeated_result *first, const unsigned char *now, const kw_problem *problem, kw_error *err) {
    kw_tensor result = kw_problem_result(problem);
    size_t width = kw_dtype_size(kw_problem_dtype(problem, result)), at = 0;
    while (at < first->size && first->bytes[at] == now[at]) {
        at++;
    }
    if (at == first->size) {
        return KW_OK;
    }
    char name[128];
    int64_t index = (int64_t)(at / width);
    kw_dtype dtype = kw_problem_dtype(problem, result);
    kw_element_name(name, problem, result, index);
    return kw_fail(err, KW_FAILED, "another run gives other bits: %s is %.9g and was %.9g", name, kw_dtype_load(dtype, now, index),
                   kw_dtype_load(dtype, first->bytes, index));
}

kw_status repeated_run(repeated_result *first, kw_bench *bench, const kw_kernel *kernel, const kw_config *config, kw_error *err) {
    kw_problem problem = bench->problem;
    kw_tensor result = kw_problem_result(&problem);
    size_t size = kw_dtype_size(kw_problem_dtype(&problem, result)) * (size_t)kw_problem_elements(&problem, result);
    unsigned char *bytes = malloc(size);
    kw_record record = {0};
    kw_prepared ready = {0};
    kw_status status = bytes ? KW_OK : kw_fail_memory(err, "a result");
    if (!status) {
        kw_prepared_open(&ready, bench, kernel, config, KW_TEAM_ALL, &record);
        status = ready.bound ? run_into(bytes, size, &ready, err) : kw_fail(err, KW_FAILED, "not launched: %.200s", record.detail);
        kw_prepared_close(&ready);
    }
    if (!status && !first->bytes) {
        *first = (repeated_result){bytes, size};
        return KW_OK;
    }
    status = status ? status : compare_runs(first, bytes, &problem, err);
    free(bytes);
    return status;
}
